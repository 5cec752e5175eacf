"""Thinking as a setting of a real llama.cpp server, by a chat template that opens `<think>`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from bench_loop.cli import group
from bench_loop.contracts.chat import ChatReply
from bench_loop.engine.thinking import thinking_mode
from bench_loop.errors import UsageError
from bench_loop.providers import openai_compat
from bench_loop.result import store
from tests.engine.test_validate import GOOD, TEN
from tests.llama_cpp import THINKING_TEMPLATE, LlamaCpp, llama_cpp
from tests.packs.test_packs import MANIFEST
from tests.providers.replay import question

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def thinker() -> Iterator[LlamaCpp]:
    with llama_cpp(THINKING_TEMPLATE, window=768) as server:
        yield server


def ask(server: LlamaCpp, thinking: bool | None) -> ChatReply:
    with closing(openai_compat.connect(server.url, None)) as provider:
        return provider.chat(
            question("What is 2+3?", model_id=server.model_id, max_tokens=48, thinking=thinking)
        )


def test_thinking_comes_in_a_stream_of_its_own(thinker: LlamaCpp) -> None:
    reply = ask(thinker, True)
    assert reply.thinking
    assert reply.t_first_thinking_s is not None
    assert "<think>" not in reply.thinking + reply.text
    if reply.t_first_answer_s is not None:
        assert reply.t_first_thinking_s <= reply.t_first_answer_s


def test_without_it_there_is_only_an_answer(thinker: LlamaCpp) -> None:
    reply = ask(thinker, False)
    assert (reply.thinking, reply.t_first_thinking_s) == ("", None)
    assert reply.text


@pytest.mark.parametrize("wanted", [True, False])
def test_the_switch_is_found_and_obeyed(thinker: LlamaCpp, wanted: bool) -> None:
    with closing(openai_compat.connect(thinker.url, None)) as provider:
        model = provider.model(thinker.model_id)
        assert model.capabilities is not None
        assert "thinking" in model.capabilities
        assert thinking_mode(provider, model, wanted, 768) is wanted
        assert thinking_mode(provider, model, None, 768) is False


def test_a_model_without_the_switch_is_refused(real_server: LlamaCpp) -> None:
    with closing(openai_compat.connect(real_server.url, None)) as provider:
        model = provider.model(real_server.model_id)
        with pytest.raises(UsageError, match="no switch for thinking"):
            thinking_mode(provider, model, True, 8192)


@pytest.mark.slow
def test_a_run_records_the_setting_and_sends_it(thinker: LlamaCpp, tmp_path: Path) -> None:
    pack = tmp_path / "packs" / "sums"
    pack.mkdir(parents=True)
    for name, text in (("pack", MANIFEST), ("two", GOOD), ("ten", TEN)):
        (pack / f"{name}.yaml").write_text(text)
    arguments = ["run", "--model", thinker.model_id, "--provider", "openai_compat"]
    arguments += ["--endpoint", thinker.url, "--thinking", "on", "--context-window", "512"]
    arguments += ["--packs", str(pack.parent), "--suites", "sums", "--output", str(tmp_path)]
    outcome = CliRunner().invoke(group, arguments)
    assert outcome.exit_code == 0, outcome.output
    result = store.load(tmp_path / "latest.json")
    assert result.subject.thinking is True
    # Into so small a window the budget for thinking does not fit whole, and yet they are asked.
    assert len(result.trials) == 2
    assert all(trial.thinking for trial in result.trials)
