"""JSON lines of speed experiments: a tag is a run, and a summary is believed only with its runs."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median, stdev
from typing import Any

import pytest

from bench_loop.errors import ResultError
from bench_loop.importers import import_file
from bench_loop.importers.building import Wishes
from bench_loop.result.records import RunResult

FILE = Path(__file__).parent / "files" / "speed.jsonl"
SUMMARY = {
    "kind": "summary",
    "tag": "a",
    "gen_tps_peak": 3.0,
    "gen_tps_mean": 2.0,
    "gen_tps_median": 2.0,
    "gen_tps_stdev": 1.0,
    "n_runs": 3,
    "repeats": 1,
    "max_tokens": 64,
}


def imported(file: Path, model: str | None = None) -> list[RunResult]:
    return import_file(file, Wishes(model=model))


def lines(folder: Path, *rows: dict[str, Any] | str) -> Path:
    file = folder / "lines.jsonl"
    texts = (row if isinstance(row, str) else json.dumps(row) for row in rows)
    file.write_text("".join(f"{text}\n" for text in texts))
    return file


def runs(*rates: float, tag: str = "a") -> list[dict[str, Any]]:
    return [{"kind": "run", "tag": tag, "gen_tps": rate} for rate in rates]


def findings(result: RunResult) -> tuple[str, ...]:
    assert result.imported is not None
    return result.imported.findings


def test_each_tag_is_a_run_from_its_own_lines() -> None:
    first, second = imported(FILE)
    rates = [
        row["gen_tps"]
        for row in map(json.loads, FILE.read_text().splitlines())
        if row["kind"] == "run" and row["tag"] == "dmax16-pmin0.6"
    ]
    assert first.speed is not None
    assert first.speed.generation_tps is not None
    assert first.speed.generation_tps.median == median(rates)
    assert first.speed.generation_tps.stdev == pytest.approx(stdev(rates))
    assert first.imported is not None
    assert first.imported.samples == {"generation": tuple(rates)}
    assert first.imported.stated["tag"] == "dmax16-pmin0.6"
    assert first.imported.stated["max_tokens"] == "512"
    assert findings(first) == ()
    assert "claims mean" in findings(second)[0]


@pytest.mark.parametrize(
    ("claim", "word"),
    [
        ({"gen_tps_peak": 4.0}, "peak"),
        ({"gen_tps_mean": 2.5}, "mean"),
        ({"gen_tps_median": 2.2}, "median"),
        ({"gen_tps_stdev": 0.2}, "stdev"),
        ({"n_runs": 4}, "n 4"),
    ],
)
def test_every_claim_is_computed_again(tmp_path: Path, claim: dict[str, Any], word: str) -> None:
    (result,) = imported(lines(tmp_path, *runs(1.0, 2.0, 3.0), SUMMARY | claim), "m")
    (finding,) = findings(result)
    assert f"claims {word}" in finding
    assert result.speed is not None
    assert result.speed.generation_tps is not None
    assert (result.speed.generation_tps.peak, result.speed.generation_tps.n) == (3.0, 3)


@pytest.mark.parametrize("deviation", [1.0, 0.81650])
def test_both_ways_of_dividing_are_a_standard_deviation(tmp_path: Path, deviation: float) -> None:
    row = SUMMARY | {"gen_tps_stdev": deviation}
    (result,) = imported(lines(tmp_path, *runs(1.0, 2.0, 3.0), row), "m")
    assert findings(result) == ()


def test_a_summary_alone_is_taken_with_a_finding(tmp_path: Path) -> None:
    (result,) = imported(lines(tmp_path, SUMMARY), "m")
    assert findings(result) == ("tag a: it has no run lines, so its summary is not checked.",)
    assert result.speed is not None
    assert result.speed.generation_tps is not None
    assert result.speed.generation_tps.n == 3


def test_runs_without_a_summary_are_enough(tmp_path: Path) -> None:
    (result,) = imported(lines(tmp_path, *runs(1.0, 2.0)), "m")
    assert findings(result) == ()


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ({"kind": "run", "tag": "a", "gen_tps": -1}, "line 2, gen_tps"),
        ({"kind": "run", "tag": "a", "gen_tps": 1e308}, "line 2, gen_tps"),
        ({"kind": "run", "tag": "a", "gen_tps": "fast"}, "line 2, gen_tps"),
        ({"kind": "run", "tag": "a", "gen_tps": False}, "line 2, gen_tps"),
        ({"kind": "run", "tag": "a"}, "line 2, gen_tps"),
        ({"kind": "run", "gen_tps": 1}, "line 2, tag"),
        ({"kind": "other", "tag": "a"}, "line 2, kind"),
        (SUMMARY | {"n_runs": 0}, "line 2, n_runs"),
        ('{"kind":"run","tag":"a","gen_tps":NaN}', "line 2, gen_tps"),
        ('{"kind":"run","tag":"a","gen_tps":1e999}', "line 2, gen_tps"),
        ('{"kind":"run","tag":"a","gen_tps":1,"gen_tps":2}', "line 2, gen_tps"),
        ('{"kind":"run","tag":"a","gen_tps":' + "9" * 5000 + "}", "line 2"),
        ('{"kind":"run","tag":"a","gen', "line 2"),
        ("[1]", "line 2"),
    ],
)
def test_a_wrong_line_is_named_with_its_field_and_a_remedy(
    tmp_path: Path, row: dict[str, Any] | str, field: str
) -> None:
    with pytest.raises(ResultError) as refused:
        imported(lines(tmp_path, *runs(1.0), row, *runs(3.0)), "m")
    assert refused.value.field == field
    assert refused.value.remedy is not None


def test_a_second_summary_of_a_tag_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ResultError, match="second summary"):
        imported(lines(tmp_path, SUMMARY, SUMMARY), "m")


def test_a_file_without_a_model_needs_its_name(tmp_path: Path) -> None:
    with pytest.raises(ResultError) as refused:
        imported(lines(tmp_path, *runs(1.0, 2.0)))
    assert refused.value.remedy == "Name it with --model."


def test_a_summary_that_no_values_can_give_is_a_finding(tmp_path: Path) -> None:
    (result,) = imported(lines(tmp_path, SUMMARY | {"gen_tps_peak": 1.5}), "m")
    assert findings(result)[1:] == (
        "tag a: its peak 1.5 is below its mean 2.",
        "tag a: its peak 1.5 is below its median 2.",
    )
