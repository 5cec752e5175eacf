"""`bench-loop verify`: what of a result holds, what does not, and what cannot be told."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from bench_loop import cli
from bench_loop.result.fingerprint import fingerprint
from bench_loop.result.signature import signed
from bench_loop.result.store import from_bytes, to_bytes
from tests.result.documents import document as small_document
from tests.site.make_result import make_result

Document = dict[str, Any]
SUITES = ("instructfollow", "reasonmath", "speed")


@cache
def made(*suites: str) -> bytes:
    return to_bytes(make_result(suites=suites))


def honest(*suites: str) -> Document:
    read: Document = json.loads(made(*(suites or SUITES)))
    return read


def write(folder: Path, document: Document, *, is_fitted: bool = True) -> Path:
    """The document as a file; `is_fitted`: under the fingerprint that it would have."""
    file = folder / "run.json"
    data = json.dumps(document).encode()
    if is_fitted:
        result = from_bytes(data, "run.json")
        data = json.dumps(document | {"fingerprint": fingerprint(result)}).encode()
    file.write_bytes(data)
    return file


def verify(*arguments: str | Path) -> int:
    """The exit code of the command as a shell sees it."""
    with pytest.raises(SystemExit) as ended:
        cli.main(["verify", *map(str, arguments)])
    assert isinstance(ended.value.code, int)
    return ended.value.code


@pytest.fixture
def standings(capfd: pytest.CaptureFixture[str]) -> Callable[..., dict[str, str]]:
    """The standing of every check of a file, by name."""

    def read(*arguments: str | Path) -> dict[str, str]:
        code = verify(*arguments, "--json")
        found = json.loads(capfd.readouterr().out)
        assert code == (0 if found["holds"] else 1)
        return {check["name"]: check["standing"] for check in found["checks"]}

    return read


Standings = Callable[..., dict[str, str]]


def test_an_honest_run_holds(tmp_path: Path, standings: Standings) -> None:
    assert standings(write(tmp_path, honest())) == {
        "schema": "holds",
        "fingerprint": "holds",
        "signature": "unchecked",
        "packs": "holds",
        "trials": "holds",
        "verdicts": "holds",
        "scores": "holds",
    }


def test_an_honest_signed_run_holds(tmp_path: Path, standings: Standings) -> None:
    file = tmp_path / "run.json"
    file.write_bytes(to_bytes(signed(from_bytes(made(*SUITES), "run.json"))))
    assert standings(file)["signature"] == "holds"


def flip_outcome(run: Document) -> None:
    run["trials"][-1] |= {"outcome": "fail", "score": 0.0, "reason": "wrong_answer"}


def edit_output(run: Document) -> None:
    run["trials"][-1]["output"] = "I do not know."


def edit_answer(run: Document) -> None:
    run["trials"][-1]["answer"] = "another"


def edit_suite_score(run: Document) -> None:
    run["suites"][0]["score"] = 12.5


def edit_count(run: Document) -> None:
    run["suites"][0]["pass_count"] += 1


def edit_interval(run: Document) -> None:
    run["suites"][0]["score_interval"][0] -= 0.01


def edit_reliability(run: Document) -> None:
    run["aggregates"]["reliability_score"] = 99.9


def edit_speed(run: Document) -> None:
    run["speed"]["generation_tps"]["median"] += 0.5


def edit_shape(run: Document) -> None:
    run["speed"]["shapes"][0]["ttft_s"]["median"] += 0.001


def edit_timing(run: Document) -> None:
    next(one for one in run["trials"] if one["suite"] == "speed")["t_last_s"] += 0.2


def drop_trial(run: Document) -> None:
    del run["trials"][-1]


def double_trial(run: Document) -> None:
    run["trials"].append(run["trials"][-1])


@pytest.mark.parametrize(
    ("edit", "fails"),
    [
        (flip_outcome, {"verdicts"}),
        (edit_output, {"verdicts", "scores"}),
        (edit_answer, {"verdicts"}),
        (edit_suite_score, {"scores"}),
        (edit_count, {"scores"}),
        (edit_interval, {"scores"}),
        (edit_reliability, {"scores"}),
        (edit_speed, {"scores"}),
        (edit_shape, {"scores"}),
        (edit_timing, {"scores"}),
        (drop_trial, {"scores"}),
        (double_trial, {"trials"}),
    ],
)
def test_what_was_edited_does_not_hold(
    tmp_path: Path, standings: Standings, edit: Callable[[Document], None], fails: set[str]
) -> None:
    """Also where whoever did it computed a fingerprint anew, as anybody can."""
    run = honest("instructfollow", "speed", "reasonmath")
    edit(run)
    found = standings(write(tmp_path, run))
    failed = {name for name, standing in found.items() if standing == "fails"}
    assert fails <= failed
    assert not failed & {"schema", "fingerprint", "signature", "packs"}


def test_an_edit_without_a_new_fingerprint_is_seen_by_it(
    tmp_path: Path, standings: Standings
) -> None:
    run = honest()
    edit_output(run)
    assert standings(write(tmp_path, run, is_fitted=False))["fingerprint"] == "fails"


def test_any_edit_of_a_signed_file_is_seen_by_its_signature(
    tmp_path: Path, standings: Standings
) -> None:
    data = to_bytes(signed(from_bytes(made(*SUITES), "run.json")))
    run = json.loads(data)
    run["machine"]["cpu_model"] = "another"
    found = standings(write(tmp_path, run))
    assert {name for name, standing in found.items() if standing == "fails"} == {"signature"}


def test_code_is_run_on_request_only(tmp_path: Path, standings: Standings) -> None:
    file = write(tmp_path, honest("coding"))
    assert standings(file)["code verdicts"] == "unchecked"
    assert standings(file, "--code")["code verdicts"] == "holds"


def test_code_that_does_not_do_what_the_file_says_is_found(
    tmp_path: Path, standings: Standings
) -> None:
    run = honest("coding")
    run["trials"][0]["output"] = "```python\ndef nothing():\n    pass\n```"
    assert standings(write(tmp_path, run), "--code")["code verdicts"] == "fails"


def test_a_run_of_another_pack_is_not_judged_by_this_one(
    tmp_path: Path, standings: Standings
) -> None:
    run = honest("reasonmath")
    run["suites"][0]["pack_hash"] = "sha256:" + "1" * 64
    found = standings(write(tmp_path, run))
    assert (found["packs"], found["verdicts"]) == ("unchecked", "unchecked")
    assert found["scores"] == "holds"


def test_scores_of_other_formulas_cannot_be_told(tmp_path: Path, standings: Standings) -> None:
    run = honest("reasonmath") | {"scoring_version": "0.1"}
    assert standings(write(tmp_path, run))["scores"] == "unchecked"


def test_a_fresh_run_is_judged_by_the_instances_of_its_seed(
    tmp_path: Path, standings: Standings
) -> None:
    file = tmp_path / "fresh.json"
    file.write_bytes(to_bytes(make_result(suites=["reasonmath"], fresh_seed=7)))
    assert set(standings(file).values()) == {"holds", "unchecked"}


def test_an_import_has_nothing_to_be_judged(tmp_path: Path, standings: Standings) -> None:
    run = small_document(
        imported={
            "format": "llama_bench",
            "tool": "llama-bench",
            "file_name": "a.json",
            "file_hash": "sha256:" + "0" * 64,
            "at": "2026-11-29T14:02:00Z",
        }
    )
    assert standings(write(tmp_path, run))["scores"] == "unchecked"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"no json", "not JSON"),
        (b"[]", ""),
        (b"{}", ""),
        (b"\xff\xfe", "UTF-8"),
        (b"[" * 100_000, "not JSON"),
        (b'{"schema_version": 1, "schema_version": 1}', "twice"),
        (b'{"schema_version": 2}', "newer"),
        (b'{"schema_version": NaN}', "NaN"),
        (b'{"schema_version": 123456789012345678901234567890}', "integer"),
    ],
)
def test_what_is_no_result_is_an_error(
    tmp_path: Path, data: bytes, said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "run.json"
    file.write_bytes(data)
    assert verify(file) == 4
    assert said in capfd.readouterr().err


@pytest.mark.parametrize("seed", [0, 2**31 - 1])
def test_a_seed_that_was_not_the_runs_is_no_crash(
    tmp_path: Path, standings: Standings, seed: int
) -> None:
    run = honest("reasonmath")
    run["settings"]["fresh_seed"] = seed
    found = standings(write(tmp_path, run))
    assert found["packs"] == "unchecked"


def test_what_the_file_says_cannot_steer_the_terminal(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run = honest("reasonmath")
    run["subject"]["model_id"] = "\x1b[2J\u202e"
    run["suites"][0]["version"] = "\x1b]0;x\x07"
    run["suites"][0]["pack_hash"] = "sha256:" + "1" * 64
    assert verify(write(tmp_path, run)) == 0
    assert not set(capfd.readouterr().out) & set("\x1b\x07\u202e")


@pytest.mark.parametrize("columns", ["40", "60", "80", "120"])
def test_the_table_fits_the_terminal(
    tmp_path: Path,
    columns: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    run = honest()
    edit_output(run)
    assert verify(write(tmp_path, run)) == 1
    lines = capfd.readouterr().out.splitlines()
    assert "do not believe this file" in " ".join(line.strip() for line in lines)
    assert max(map(len, lines)) <= int(columns)


def test_the_newest_run_of_the_data_folder_is_latest(benchloop_home: Path) -> None:
    folder = benchloop_home / "results"
    folder.mkdir(parents=True)
    (folder / "latest.json").write_bytes(made("reasonmath"))
    assert verify("latest") == 0
