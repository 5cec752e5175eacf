"""What a user declares of the machine, from the command line to the result and the report."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench_loop.cli import main
from bench_loop.report.stack import device
from bench_loop.result import store
from tests.fakes.ollama import FakeModel, FakeOllama


def test_a_declared_machine_is_kept_apart_from_the_detected_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BENCHLOOP_HOME", str(tmp_path / "home"))
    output = tmp_path / "results"
    with FakeOllama([FakeModel("tiny:1b")]) as server, pytest.raises(SystemExit) as ended:
        main(
            [
                "run",
                "--model",
                "tiny:1b",
                "--provider",
                "ollama",
                "--endpoint",
                server.url,
                "--suites",
                "reasonmath",
                "--trials",
                "1",
                "--output",
                str(output),
                "--machine",
                "studio",
                "--gpu",
                "RTX 4090",
                "--gpu-memory-gb",
                "24",
            ]
        )
    assert ended.value.code == 0
    machine = store.load(output / store.LATEST).machine
    assert machine.declared is not None
    assert machine.declared.model_dump() == {
        "label": "studio",
        "gpu": "RTX 4090",
        "gpu_memory_gb": 24.0,
    }
    assert "RTX 4090" not in {gpu.model for gpu in machine.gpus}
    assert machine.machine_label == "studio"
    assert "RTX 4090 (declared)" in device(machine.model_copy(update={"gpus": ()}))
    assert "RTX 4090 (declared)" in capsys.readouterr().out or machine.gpus
