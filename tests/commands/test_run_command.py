"""`run` from the command line: what is found out before anything is measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench_loop.cli import main
from tests.fakes.ollama import FakeModel, FakeOllama
from tests.fakes.openai_server import FakeOpenAI


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


def refusal(
    arguments: list[str],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> str:
    """What `run` says when it cannot begin; no result file is left and the exit code is 5."""
    monkeypatch.setenv("BENCHLOOP_HOME", str(folder / "home"))
    output = folder / "results"
    with pytest.raises(SystemExit) as ended:
        main(["run", "--profile", "smoke", "--output", str(output), *arguments])
    assert ended.value.code == 5
    assert list(output.glob("*")) == []
    said = capsys.readouterr().err
    assert "Try:" in said
    return said


def test_a_server_that_is_down_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with FakeOllama() as server:
        url = server.url
    said = refusal(
        ["--model", "tiny", "--provider", "ollama", "--endpoint", url],
        tmp_path,
        monkeypatch,
        capsys,
    )
    assert "ollama serve" in said


def test_a_model_that_does_not_exist_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with FakeOllama() as server:
        arguments = ["--model", "does-not-exist", "--provider", "ollama", "--endpoint", server.url]
        said = refusal(arguments, tmp_path, monkeypatch, capsys)
        assert "does-not-exist" in said
        assert not server.asked("/api/chat")


def test_an_engine_with_a_known_fault_is_refused_before_anything_is_asked_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model = FakeModel("gemma3:4b", family="gemma3")
    with FakeOllama(models=[model], version="0.13.3") as server:
        arguments = ["--model", model.name, "--endpoint", server.url]
        said = refusal(arguments, tmp_path, monkeypatch, capsys)
        assert "ollama 0.13.3 gives incoherent output for Gemma 3 models" in said
        assert "https://github.com/ollama/ollama/issues/13444" in said
        assert "Install ollama 0.13.2" in said
        assert not server.asked("/api/chat")


def test_what_makes_figures_worse_is_told_before_a_run_that_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BENCHLOOP_HOME", str(tmp_path / "home"))
    with FakeOllama() as server:
        arguments = ["--model", "tiny:1b", "--endpoint", server.url, "--suites", "reasonmath"]
        with pytest.raises(SystemExit):
            main(["run", *arguments, "--output", str(tmp_path / "results"), "--json"])
        assert server.asked("/api/chat")
    said = capsys.readouterr()
    assert "chat template: Ollama has none for this model" in said.err
    assert "Ollama has none" not in said.out


def test_an_embedding_model_is_refused_before_anything_is_asked_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model = FakeModel("dengcao/Qwen3-Embedding-8B:Q5_K_M", capabilities=("embedding",))
    with FakeOllama(models=[model]) as server:
        arguments = ["--model", model.name, "--provider", "ollama", "--endpoint", server.url]
        said = refusal(arguments, tmp_path, monkeypatch, capsys)
        assert "mbedding" in said
        assert not server.asked("/api/chat")


def test_a_server_that_is_still_loading_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("bench_loop.providers.discover.LOADING_LIMIT_S", 1.5)
    with FakeOpenAI(engine="llama.cpp", loading=1000) as server:
        arguments = ["--model", "tiny", "--provider", "openai_compat", "--endpoint", server.url]
        said = refusal(arguments, tmp_path, monkeypatch, capsys)
        assert "oading" in said
