"""`bench-loop info`: what it finds and how it says it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench_loop import cli
from bench_loop.commands.info import window_text
from tests.fakes.ollama import FakeModel, FakeOllama

MODELS = (
    FakeModel("qwen2.5-coder:7b-instruct-q4_K_M", family="qwen2", parameters=7_615_616_512),
    FakeModel("nomic-embed-text:latest", family="nomic-bert", capabilities=("embedding",)),
)


def info(*arguments: str) -> None:
    """Run the command to its end, as a shell does."""
    with pytest.raises(SystemExit) as ended:
        cli.main(["info", *arguments])
    assert ended.value.code == 0


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """The JSON of the command beside an Ollama with two models."""
    with FakeOllama(MODELS) as ollama:
        monkeypatch.setenv("OLLAMA_HOST", ollama.url)
        info("--json")
    document = json.loads(capfd.readouterr().out)
    assert isinstance(document, dict)
    return document


def ollama_in(found: dict[str, Any]) -> dict[str, Any]:
    (server,) = [server for server in found["servers"] if server["engine"] == "ollama"]
    assert isinstance(server, dict)
    return server


def test_a_running_server_is_shown_with_its_version(found: dict[str, Any]) -> None:
    assert ollama_in(found)["version"] == "0.33.0"


def test_a_model_is_shown_with_its_parsed_name(found: dict[str, Any]) -> None:
    model = ollama_in(found)["models"][0]
    assert model["model_id"] == "qwen2.5-coder:7b-instruct-q4_K_M"
    assert model["model_line"] == "qwen2.5-coder"
    assert model["quantization"] == "Q4_K_M"
    assert model["refuse_reason"] is None


def test_a_model_that_cannot_chat_says_why(found: dict[str, Any]) -> None:
    assert "embedding" in ollama_in(found)["models"][1]["refuse_reason"]


def test_the_machine_is_shown_without_names_of_user_or_host(found: dict[str, Any]) -> None:
    machine = found["machine"]
    assert machine["cpu_model"]
    assert machine["system_memory_gb"] > 0
    assert "machine_label" not in machine


def test_suites_harnesses_and_folder_are_shown(found: dict[str, Any], benchloop_home: Path) -> None:
    assert "reasonmath" in [suite["name"] for suite in found["suites"]]
    assert "raw" in found["harnesses"]
    assert found["data_folder"] == str(benchloop_home)
    assert found["results"] == 0


def test_text_is_for_reading(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with FakeOllama(MODELS) as ollama:
        monkeypatch.setenv("OLLAMA_HOST", ollama.url)
        info()
    shown = capfd.readouterr().out
    assert f"ollama 0.33.0 {ollama.url}" in shown
    assert "cannot be run: This is a model for embedding, not for chat." in shown


@pytest.mark.parametrize(
    ("loaded", "declared", "text"),
    [
        (4096, 8192, "window 4,096 of 8,192"),
        (8192, 8192, "window 8,192"),
        (None, 8192, "window 8,192"),
        (4096, None, "window 4,096"),
        (None, None, None),
    ],
)
def test_the_window_that_is_loaded_comes_before_what_the_model_is_made_for(
    loaded: int | None, declared: int | None, text: str | None
) -> None:
    assert window_text(loaded, declared) == text


def test_names_from_a_server_cannot_steer_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with FakeOllama((FakeModel("a\x1b[2Jb"),)) as ollama:
        monkeypatch.setenv("OLLAMA_HOST", ollama.url)
        info()
    assert "\x1b" not in capfd.readouterr().out
