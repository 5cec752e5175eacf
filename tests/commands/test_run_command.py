"""`run` from the command line: what is found out before anything is measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench_loop.cli import main


def test_no_run_begins_where_its_result_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BENCHLOOP_HOME", str(tmp_path))
    (tmp_path / "file").touch()
    folder = tmp_path / "file" / "results"
    with pytest.raises(SystemExit) as ended:
        main(["run", "--model", "tiny", "--provider", "embedded", "--output", str(folder)])
    assert ended.value.code == 3
    assert "Results cannot be written to" in capsys.readouterr().err
