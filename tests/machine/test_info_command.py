"""`bench-loop info`: what it finds and how it says it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench_loop import cli
from bench_loop.providers.discover.endpoints import save_endpoint
from bench_loop.report.info import in_parts, window_text
from tests.fakes import engines
from tests.fakes.ollama import FakeModel, FakeOllama
from tests.fakes.openai_server import FakeOpenAI

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
    assert "raw" in [harness["name"] for harness in found["harnesses"]]
    assert found["data_folder"] == str(benchloop_home)
    assert found["results"] == 0


def test_text_is_for_reading(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with FakeOllama(MODELS) as ollama:
        monkeypatch.setenv("OLLAMA_HOST", ollama.url)
        info()
    shown = capfd.readouterr().out
    assert f"ollama 0.33.0 at {ollama.url}\n" in shown
    assert "nomic-embed-text:latest: This is a model for embedding, not for chat." in shown


def test_size_window_and_abilities_of_a_model_are_shown(found: dict[str, Any]) -> None:
    model = ollama_in(found)["models"][0]
    assert model["size_bytes"] == 807_694_464
    assert model["capabilities"] == ["completion"]
    assert model["is_remote"] is False


def test_a_model_of_a_cloud_is_marked(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    cloud = FakeModel("big:cloud", remote_host="https://cloud.example.invalid")
    with FakeOllama((cloud,)) as ollama:
        monkeypatch.setenv("OLLAMA_HOST", ollama.url)
        info()
    assert "big:cloud: The local server only forwards" in capfd.readouterr().out


def test_the_window_that_is_loaded_is_told_of_a_running_model(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with FakeOllama(MODELS) as ollama:
        ollama.loaded[MODELS[0].name] = 4096
        monkeypatch.setenv("OLLAMA_HOST", ollama.url)
        info("--json")
    models = ollama_in(json.loads(capfd.readouterr().out))["models"]
    assert [model["context_loaded"] for model in models] == [4096, None]


def test_a_saved_endpoint_is_shown_in_every_state(capfd: pytest.CaptureFixture[str]) -> None:
    with (
        FakeOpenAI(engine="llama.cpp", loading=9) as loading,
        engines.jan(api_key="k") as locked,
        engines.LMStudio() as ready,
    ):
        for name, url in (
            ("slow", loading.url),
            ("jan", locked.url),
            ("studio", ready.url),
            ("attic", "http://127.0.0.1:9"),
        ):
            save_endpoint(name, url)
        info()
    shown = capfd.readouterr().out
    assert f"llama.cpp at {loading.url}, saved as slow\n  still loading its model\n" in shown
    assert f"jan at {locked.url}, saved as jan\n  wants an API key" in shown
    assert "attic at http://127.0.0.1:9\n  does not answer\n" in shown
    assert "4,096 of 32,768" in shown


@pytest.mark.parametrize("columns", ["40", "80", "120"])
def test_no_line_is_wider_than_the_terminal(
    columns: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    name = FakeModel("hf.co/unsloth/Qwen3-30B-A3B-Instruct-2507-GGUF:Q4_K_XL")
    with FakeOllama((name, *MODELS)) as ollama:
        monkeypatch.setenv("OLLAMA_HOST", ollama.url)
        monkeypatch.setenv("COLUMNS", columns)
        info()
    lines = capfd.readouterr().out.splitlines()
    told = [line for line in lines if "benchloop-home" not in line]
    assert max(map(len, told)) <= min(int(columns), 88)


@pytest.mark.parametrize(
    ("loaded", "declared", "text"),
    [
        (4096, 8192, "4,096 of 8,192"),
        (8192, 8192, "8,192"),
        (None, 8192, "8,192"),
        (4096, None, "4,096"),
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


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("qwen3:8b", ["qwen3:8b"]),
        (
            "hf.co/unsloth/Qwen3-Coder-30B-A3B-Instruct-GGUF:Q4_K_XL",
            ["hf.co/unsloth/Qwen3-Coder-", "30B-A3B-Instruct-GGUF:", "Q4_K_XL"],
        ),
        ("x" * 60, ["x" * 28, "x" * 28, "xxxx"]),
    ],
)
def test_a_long_name_is_broken_where_its_parts_end(name: str, lines: list[str]) -> None:
    assert list(in_parts(name, 28)) == lines


def test_a_model_that_is_too_large_is_told_with_what_it_needs(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with FakeOllama((FakeModel("huge:900b", size=9000 * 2**30),)) as ollama:
        monkeypatch.setenv("OLLAMA_HOST", ollama.url)
        info("--json")
        (model,) = ollama_in(json.loads(capfd.readouterr().out))["models"]
        info()
    assert model["memory"] == "too_large"
    assert "huge:900b: It needs at least 9000.5 GiB" in capfd.readouterr().out


def test_a_server_that_wants_a_key_is_told_with_the_way_to_give_it_one(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BENCHLOOP_API_KEY", "key-of-jan")
    with engines.jan(api_key="key-of-jan") as jan:
        monkeypatch.setenv("OLLAMA_HOST", jan.url)
        info()
        assert f"wants an API key  bench-loop endpoints add NAME {jan.url}" in (
            capfd.readouterr().out.replace("python -m bench_loop", "bench-loop")
        )
        save_endpoint("jan", jan.url)
        info()
    assert "Jan-v3-4b-Q4_K_XL" in capfd.readouterr().out
