"""Tools and code with a real llama.cpp server and the smallest real model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bench_loop.commands._setup import load_harness, prepare
from bench_loop.contracts.chat import Message, Sampling, ToolCall
from bench_loop.contracts.sandbox import Sandbox
from bench_loop.engine.packs import load_pack
from bench_loop.engine.plan import make_plan
from bench_loop.engine.recorder import Recorder, TrialSettings
from bench_loop.engine.run import Run
from bench_loop.engine.toolbox import make_toolbox
from bench_loop.providers import openai_compat
from tests.llama_cpp import LlamaCpp


@pytest.mark.real
def test_a_small_model_fails_tools_and_code_with_verdicts_and_not_with_crashes(
    real_server: LlamaCpp, sandbox: Sandbox, tmp_path: Path
) -> None:
    provider = openai_compat.connect(real_server.url, None)
    plan = make_plan(suites=["agent", "coding", "toolcall"], trials=1)
    some = [replace(suite, tasks=suite.tasks[::6]) for suite in plan.suites]
    plan = replace(plan, suites=tuple(some))
    setup = prepare(provider, real_server.model_id, load_harness("raw"), sandbox=sandbox)
    result = Run(plan, setup, tmp_path, lambda event: None).go()
    provider.close()
    assert result.status == "complete"
    assert {trial.outcome for trial in result.trials} <= {"pass", "partial", "fail", "truncated"}
    assert [trial.task_id for trial in result.trials if trial.tokens.prompt is None] == []


@pytest.mark.real
def test_a_real_server_takes_the_reply_of_a_tool(real_server: LlamaCpp) -> None:
    provider = openai_compat.connect(real_server.url, None)
    task = next(task for task in load_pack("toolcall").tasks if task.id == "toolcall.lamp-off")
    toolbox = make_toolbox(task)
    call = ToolCall(id="call_1_1", name="switch_lamp", arguments='{"lamp": "L-4", "state": "off"}')
    _, answer = toolbox.call(call, 1)
    recorder = Recorder(provider)
    recorder.begin(TrialSettings(real_server.model_id, Sampling(), 1001, 16, 8192, 120.0))
    reply = recorder.chat(
        (
            *task.messages,
            Message(role="assistant", tool_calls=(call,)),
            Message(role="tool", content=answer, tool_call_id=call.id, name=call.name),
        ),
        toolbox.definitions,
    )
    provider.close()
    assert reply.finish_reason in ("stop", "length", "tool_calls")
    assert reply.tokens.prompt is not None
