"""`bench-loop endpoints`, and the names that it keeps in `--endpoint`."""

from __future__ import annotations

import json

import pytest

from bench_loop import cli
from tests.fakes.ollama import FakeOllama


def bench_loop(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        cli.main(list(arguments))
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_endpoints_are_added_listed_and_removed(capfd: pytest.CaptureFixture[str]) -> None:
    assert bench_loop("endpoints") == 0
    assert bench_loop("endpoints", "add", "lab", "192.168.1.20:8080/v1") == 0
    assert (
        bench_loop("endpoints", "add", "o", "http://127.0.0.1:11434", "--provider", "ollama") == 0
    )
    assert bench_loop("endpoints", "list") == 0
    assert bench_loop("endpoints", "remove", "lab") == 0
    assert capfd.readouterr().out.splitlines() == [
        "No endpoint is saved. Save one with: bench-loop endpoints add NAME URL",
        "Saved lab: http://192.168.1.20:8080",
        "Saved o: http://127.0.0.1:11434",
        "lab  http://192.168.1.20:8080",
        "o    http://127.0.0.1:11434  ollama",
        "Removed lab.",
    ]
    assert bench_loop("endpoints", "--json") == 0
    assert json.loads(capfd.readouterr().out) == [
        {"name": "o", "url": "http://127.0.0.1:11434", "provider": "ollama"}
    ]


def test_removing_what_is_not_there_is_an_error(capfd: pytest.CaptureFixture[str]) -> None:
    assert bench_loop("endpoints", "remove", "lab") == 2
    assert "No endpoint is saved." in capfd.readouterr().err


def test_a_name_stands_for_its_address(capfd: pytest.CaptureFixture[str]) -> None:
    with FakeOllama() as server:
        bench_loop("endpoints", "add", "lab", server.url)
        bench_loop("run", "--endpoint", "lab", "--model", "nope", "--profile", "smoke")
    assert f"Ollama at {server.url} has no model 'nope:latest'" in capfd.readouterr().err
