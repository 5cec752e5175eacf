"""`import` from the command line, and how what it made is shown, compared, listed and repeated."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench_loop.cli import main
from bench_loop.engine.like import plan_like
from bench_loop.engine.ranking import not_ranked_reason
from bench_loop.engine.rescore import rescore
from bench_loop.errors import SetupError, UsageError
from bench_loop.report.dashboard import dashboard
from bench_loop.result.compare import not_comparable, speed_not_comparable
from bench_loop.result.records import RunResult
from bench_loop.result.store import load, result_files
from tests.console.make_run import make_run
from tests.look.packs import packed_text

FILES = Path(__file__).parent.parent / "importers" / "files"
LLAMA_BENCH = FILES / "llama-bench-new.json"


def import_into(folder: Path, *arguments: str) -> list[RunResult]:
    with pytest.raises(SystemExit) as ended:
        main(["import", *arguments, "--output", str(folder)])
    assert ended.value.code == 0
    return [load(file) for file in result_files(folder)]


def test_an_import_is_a_file_and_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (result,) = import_into(tmp_path, str(LLAMA_BENCH))
    said = capsys.readouterr().out
    assert "130" in said
    assert "Not ranked, imported." in said
    assert result.imported is not None
    assert result.imported.file_name == LLAMA_BENCH.name


def test_the_same_file_is_not_written_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import_into(tmp_path, str(LLAMA_BENCH))
    assert len(import_into(tmp_path, str(LLAMA_BENCH))) == 1
    assert "0 imported, 1 known already." in capsys.readouterr().out


def test_json_is_one_result_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import_into(tmp_path, str(FILES / "llama-bench-old.jsonl"), "--json")
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line)["settings"]["threads"] for line in lines] == [8, 4]


def test_a_wrong_file_is_told_with_its_remedy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "lines.jsonl"
    file.write_text('{"kind":"run","tag":"a","gen_tps":1}\n{"kind":"run","tag":"a","gen_tps":-1}\n')
    with pytest.raises(SystemExit) as ended:
        main(["import", str(file), "--model", "m", "--output", str(tmp_path / "results")])
    said = capsys.readouterr().err
    assert ended.value.code == 4
    assert "line 2, gen_tps" in said
    assert "Try:" in said
    assert list((tmp_path / "results").glob("*.json")) == []


def test_an_import_is_never_ranked_nor_compared(tmp_path: Path) -> None:
    (result,) = import_into(tmp_path, str(LLAMA_BENCH))
    own = make_run()
    assert not_ranked_reason(result) == "Imported from llama-bench."
    sentence = (
        "One of them was imported from llama-bench: shown, and never compared with a verdict.",
    )
    assert not_comparable(own, result) == sentence
    assert speed_not_comparable(own, result) == sentence


def test_an_import_cannot_be_judged_again_nor_repeated(tmp_path: Path) -> None:
    (result,) = import_into(tmp_path, str(LLAMA_BENCH))
    with pytest.raises(UsageError):
        rescore(result)
    with pytest.raises(SetupError):
        plan_like(result)


def test_a_page_shows_an_import_beside_other_runs(tmp_path: Path) -> None:
    results = import_into(tmp_path, str(FILES / "speed.jsonl"))
    page = dashboard([make_run(), *results])
    assert "Not ranked, imported: speed experiment" in packed_text(page)
    assert "it claims mean" in packed_text(page)
    assert "Imported from a speed experiment." in page


def test_only_an_import_may_lack_what_bench_loop_knows() -> None:
    run = make_run()
    fields = run.model_dump(mode="json")
    fields["settings"]["sampling"] = None
    with pytest.raises(ValueError, match=r"settings\.sampling is null"):
        RunResult.model_validate_json(json.dumps(fields))


def test_an_import_with_a_score_of_its_own_is_refused(tmp_path: Path) -> None:
    (result,) = import_into(tmp_path, str(LLAMA_BENCH))
    fields = result.model_dump(mode="json")
    fields["aggregates"]["overall_score"] = 99.0
    with pytest.raises(ValueError, match="no aggregates"):
        RunResult.model_validate_json(json.dumps(fields))
