"""A model that understands nothing scores nothing: whole runs of every suite, scored 0.0."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bench_loop.commands._setup import load_harness, prepare
from bench_loop.contracts.chat import ChatReply, ChatRequest, ToolCall
from bench_loop.contracts.sandbox import Sandbox
from bench_loop.engine.plan import make_plan
from bench_loop.engine.run import Run
from bench_loop.result.records import RunResult
from tests.engine.doubles import ScriptedProvider, reply
from tests.engine.test_speed_suite import steady

Answer = Callable[[ChatRequest], ChatReply]


def constant_call(request: ChatRequest) -> ChatReply:
    """The first tool that is offered, with the same arguments for ever."""
    if not request.tools:
        return reply("")
    name = request.tools[0]["function"]["name"]
    call = ToolCall(id="call_0", name=name, arguments='{"path": "."}')
    return reply("", tool_calls=(call,), finish_reason="tool_calls")


MODELS: dict[str, Answer] = {
    "abc": lambda request: reply("abc"),
    "an echo": lambda request: reply(request.messages[-1].content),
    "nothing": lambda request: reply(""),
    "a refusal": lambda request: reply("I'm sorry, but I can't help with that."),
    "yes": lambda request: reply("yes"),
    "valid-looking JSON": lambda request: reply('{"status": "ok", "items": [], "value": 1}'),
    "one constant tool call": constant_call,
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("profile", ["smoke", "full"])
def test_a_degenerate_model_scores_zero_in_every_suite(
    name: str, profile: str, tmp_path: Path, sandbox: Sandbox
) -> None:
    result = measured(MODELS[name], profile, tmp_path, sandbox)
    scores = {
        suite.suite: (suite.score, suite.diagnostic_score)
        for suite in result.suites
        if suite.dimension == "quality"
    }
    assert scores
    assert set(scores.values()) == {(0.0, 0.0)}, scores
    assert result.aggregates.quality_score == 0.0
    assert result.aggregates.overall_score in ({0.0} if profile == "full" else {None})


def measured(answer: Answer, profile: str, folder: Path, sandbox: Sandbox) -> RunResult:
    def tell(request: ChatRequest) -> ChatReply:
        return steady(request, 100.0) if request.force_length else answer(request)

    setup = prepare(ScriptedProvider(default=tell), "tiny", load_harness("raw"), sandbox=sandbox)
    return Run(make_plan(profile=profile), setup, folder, lambda event: None).go()
