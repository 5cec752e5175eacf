"""Whole trials through the gateway: its counts are those of the scripted model's own log."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from bench_loop.gateway.cassette import CassetteUpstream, RecordingUpstream
from bench_loop.gateway.faults import FAULTS, Fault, FaultPlan, FaultyUpstream
from bench_loop.gateway.http import HttpUpstream
from bench_loop.gateway.limits import Limits
from bench_loop.gateway.pinning import Pins
from bench_loop.gateway.server import Gateway
from bench_loop.gateway.trial import GatedTrial
from bench_loop.gateway.upstream import Upstream
from bench_loop.simulator.scripted import Logged, ScriptedModel, scripted_model
from bench_loop.simulator.settings import read, run, say, write
from tests.simulator.tools import OFFERED

SCRIPT = (read("calc.py"), write("calc.py", "x = 'naïve 🙂'\n"), run("make"), say("It is done."))
PINS = Pins("scripted", answer_tokens=2000)
MOST_TURNS = 12


class Agent:
    """A small agent: it asks through the gateway, answers each call, and goes on until a text.

    It tries again what failed, and tells the model of a call that it cannot do.
    """

    def __init__(self, gateway: Gateway, trial: GatedTrial, *, is_streamed: bool = True) -> None:
        self._url = f"{gateway.base_url}/chat/completions"
        self._headers = {"Authorization": f"Bearer {trial.key}"}
        self._is_streamed = is_streamed
        self.messages: list[dict[str, Any]] = [{"role": "user", "content": "Fix it."}]
        self.done: list[str] = []
        """The calls that could be done, by the name of the tool."""

    def work(self) -> str:
        """The final text; empty after MOST_TURNS."""
        for _ in range(MOST_TURNS):
            message = self._ask()
            if message is None or not (message.get("content") or message.get("tool_calls")):
                continue
            self.messages.append({"role": "assistant"} | message)
            if not message.get("tool_calls"):
                return str(message["content"])
            for call in message["tool_calls"]:
                self.messages.append({"role": "tool", "content": self._do(call["function"])})
        return ""

    def _do(self, function: dict[str, str]) -> str:
        names = [tool["function"]["name"] for tool in OFFERED["openclaw"]]
        try:
            arguments = json.loads(function["arguments"])
        except ValueError:
            return "error: the arguments are no JSON"
        if function["name"] not in names or "/dev/null" in str(arguments):
            return "error: it cannot be done"
        self.done.append(function["name"])
        return "ok"

    def _ask(self) -> dict[str, Any] | None:
        body = {
            "model": "scripted",
            "messages": self.messages,
            "tools": OFFERED["openclaw"],
            "stream": self._is_streamed,
            "stream_options": {"include_usage": True},
        }
        try:
            answer = httpx.post(self._url, json=body, headers=self._headers, timeout=5)
        except httpx.HTTPError:
            return None
        if answer.status_code != 200:
            return None
        return _streamed(answer.text) if self._is_streamed else _whole(answer)


def _whole(answer: httpx.Response) -> dict[str, Any]:
    message: dict[str, Any] = answer.json()["choices"][0]["message"]
    return message


def _streamed(text: str) -> dict[str, Any]:
    content, calls = "", dict[int, dict[str, Any]]()
    for line in text.splitlines():
        if not line.startswith("data: {"):
            continue
        for choice in json.loads(line.removeprefix("data: "))["choices"]:
            content += choice["delta"].get("content") or ""
            for part in choice["delta"].get("tool_calls", ()):
                known = calls.setdefault(part["index"], {"function": {"name": "", "arguments": ""}})
                known["function"]["name"] += part["function"].get("name") or ""
                known["function"]["arguments"] += part["function"]["arguments"]
    return {"content": content, "tool_calls": list(calls.values())}


@contextmanager
def trial_of(upstream: Upstream, *, is_streamed: bool = True) -> Iterator[tuple[Agent, GatedTrial]]:
    with Gateway(upstream) as gateway:
        trial = gateway.open(PINS, Limits())
        yield Agent(gateway, trial, is_streamed=is_streamed), trial


@pytest.fixture
def server() -> Iterator[ScriptedModel]:
    with scripted_model(SCRIPT) as running:
        yield running


def logged_facts(logged: Logged) -> dict[str, Any]:
    return {
        "status": logged.status,
        "messages": logged.messages,
        "tools": len(logged.tools),
        "prompt": logged.prompt_tokens,
        "completion": logged.completion_tokens,
        "calls": [(call.name, call.arguments) for call in logged.calls],
    }


def recorded_facts(trial: GatedTrial) -> list[dict[str, Any]]:
    return [
        {
            "status": record.status,
            "messages": record.messages,
            "tools": record.tools_offered,
            "prompt": record.tokens.prompt,
            "completion": record.tokens.completion,
            "calls": [(call.name, call.arguments) for call in record.tool_calls],
        }
        for record in trial.requests()
    ]


@pytest.mark.parametrize("is_streamed", [True, False])
def test_the_gateway_counts_what_the_model_server_logged(
    server: ScriptedModel, is_streamed: bool
) -> None:
    with trial_of(HttpUpstream(server.address), is_streamed=is_streamed) as (agent, trial):
        assert agent.work() == "It is done."
    assert agent.done == ["read", "write", "exec"]
    assert recorded_facts(trial) == [logged_facts(one) for one in server.chats()]
    assert len(server.chats()) == 4


@pytest.mark.parametrize("fault", FAULTS)
def test_the_record_tells_which_request_got_the_fault(server: ScriptedModel, fault: Fault) -> None:
    upstream = FaultyUpstream(HttpUpstream(server.address), FaultPlan(fault, 2, stall_s=0.05))
    with trial_of(upstream) as (agent, trial):
        assert agent.work() == "It is done."
    faults = [record.fault for record in trial.requests()]
    assert [at for at, put_in in enumerate(faults, 1) if put_in is not None] == [2]
    assert faults[1] == fault


@pytest.mark.parametrize("fault", FAULTS)
def test_an_agent_that_goes_on_gets_the_task_done_all_the_same(
    server: ScriptedModel, fault: Fault
) -> None:
    upstream = FaultyUpstream(HttpUpstream(server.address), FaultPlan(fault, 2, stall_s=0.05))
    with trial_of(upstream) as (agent, trial):
        agent.work()
    assert agent.done == ["read", "write", "exec"]
    assert len(trial.requests()) == (4 if fault == "stall" else 5)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_put_in_is_no_failure_of_the_model_server(
    server: ScriptedModel, fault: Fault
) -> None:
    upstream = FaultyUpstream(HttpUpstream(server.address), FaultPlan(fault, stall_s=0.05))
    with trial_of(upstream) as (agent, trial):
        agent.work()
    assert trial.failures() == ()


def test_a_harness_that_leaves_in_a_stall_leaves_the_fault_in_the_record(
    server: ScriptedModel,
) -> None:
    upstream = FaultyUpstream(HttpUpstream(server.address), FaultPlan("stall", stall_s=60))
    with Gateway(upstream) as gateway:
        trial = gateway.open(PINS, Limits())
        body = {"model": "scripted", "stream": True, "messages": [], "tools": OFFERED["hermes"]}
        headers = {"Authorization": f"Bearer {trial.key}"}
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(
                f"{gateway.base_url}/chat/completions", json=body, headers=headers, timeout=1
            )
        trial.close()
    assert [record.fault for record in trial.requests()] == ["stall"]


def test_a_trial_can_be_played_again_without_a_model(server: ScriptedModel, tmp_path: Path) -> None:
    file = tmp_path / "trial.jsonl"
    with trial_of(RecordingUpstream(HttpUpstream(server.address), file)) as (agent, first):
        agent.work()
    cassette = CassetteUpstream(file)
    with trial_of(cassette) as (again, second):
        assert again.work() == "It is done."
    cassette.check()
    assert again.messages == agent.messages
    assert recorded_facts(second) == recorded_facts(first)
    assert len(server.chats()) == 4
