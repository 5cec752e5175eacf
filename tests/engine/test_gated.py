"""Trials of a program behind the gateway: what came of them is judged by what the gateway saw."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from bench_loop.contracts.chat import CallRecord, ChatReply
from bench_loop.contracts.harness import (
    Capability,
    HarnessConfig,
    HarnessRunResult,
    Installation,
    ModelAccess,
    Needs,
)
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.gated import GatedRecorder, ending_of
from bench_loop.engine.harness_limits import TrialLimits
from bench_loop.engine.packs import PackSuite, load_pack
from bench_loop.engine.recorder import Recorder
from bench_loop.engine.trial import run_trial
from bench_loop.errors import HarnessError
from bench_loop.gateway.http import HttpUpstream
from bench_loop.gateway.server import Gateway
from bench_loop.result.records import Trial
from bench_loop.verifiers.judging import judge
from tests.engine.doubles import ScriptedProvider, make_task, outage, reply
from tests.engine.test_trial import SETTINGS
from tests.fakes.server import Piece, Reply, json_reply
from tests.gateway.gated import Scripted

PACK = load_pack("reasonmath")
DOWN = json_reply({"error": {"message": "out of memory"}}, status=500)
TOO_LONG = json_reply(
    {"error": {"type": "exceed_context_size_error", "message": "exceeds the context size"}},
    status=400,
)

Ask = Callable[..., str]
"""Asks the model a text, with so many messages before it; its words, or what the error says."""
Work = Callable[[Ask], HarnessRunResult]


def said(text: str, finish_reason: str = "stop", tokens: int = 3) -> Reply:
    """A streamed reply of the model server."""
    chunks: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": {"content": text}}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": finish_reason}]},
        {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": tokens}},
    ]
    lines = [*(json.dumps(chunk) for chunk in chunks), "[DONE]"]
    return Reply(
        [Piece(f"data: {line}\n\n".encode()) for line in lines], content_type="text/event-stream"
    )


def calling(name: str) -> Reply:
    """A streamed reply that calls a tool and says nothing."""
    call = {"index": 0, "id": "1", "type": "function", "function": {"name": name, "arguments": ""}}
    chunks: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
    ]
    lines = [*(json.dumps(chunk) for chunk in chunks), "[DONE]"]
    return Reply(
        [Piece(f"data: {line}\n\n".encode()) for line in lines], content_type="text/event-stream"
    )


@dataclass
class Program:
    """A harness that does `work`, and asks as programs do: over HTTP, with the trial's key."""

    access: Callable[[], ModelAccess]
    work: Work
    name: str = "program"
    version: str = "1"
    capabilities: frozenset[Capability] = frozenset({"plain_answer"})
    needs = Needs()
    installation: Installation | None = None
    config_hash: str | None = None

    def run_task(self, task: BenchmarkTask) -> HarnessRunResult:
        return self.work(self._ask)

    def setup(self, config: HarnessConfig) -> None: ...

    def teardown(self) -> None: ...

    def _ask(self, text: str, before: int = 0) -> str:
        access = self.access()
        messages = [{"role": "user", "content": text}] * (before + 1)
        answer = httpx.post(
            f"{access.base_url}/chat/completions",
            json={"model": access.model_id, "messages": messages, "stream": True},
            headers={"Authorization": f"Bearer {access.key}"},
        )
        lines = [line.removeprefix("data: ") for line in answer.text.split("\n\n")]
        chunks = [json.loads(line) for line in lines if line.startswith("{")]
        texts = [choice["delta"] for chunk in chunks for choice in chunk.get("choices", ())]
        return "".join(delta.get("content", "") for delta in texts)


@pytest.fixture
def trial_of() -> Iterator[Callable[..., Trial]]:
    """One trial of a task in a program that does `work`, before a server with these `replies`."""
    with ExitStack() as stack:

        def run(
            work: Work,
            *replies: Reply,
            provider: ScriptedProvider | None = None,
            limits: TrialLimits = TrialLimits(12, 30.0),  # noqa: B008
        ) -> Trial:
            server = stack.enter_context(Scripted(*replies))
            gateway = stack.enter_context(Gateway(HttpUpstream(server.url)))
            direct = Recorder(provider or ScriptedProvider(), pause=lambda seconds: None)
            gated = GatedRecorder(gateway, direct, lambda request: {})
            gated.limits = limits
            program = Program(gated.access, work)
            return run_trial(PackSuite(PACK), make_task(), 1, program, gated, SETTINGS)

        yield run


def one_question(ask: Ask) -> HarnessRunResult:
    return HarnessRunResult(final_text=ask("2 + 2?"), wall_s=1.0)


def tries(number: int) -> Work:
    """Ask up to so often, until there is an answer."""

    def work(ask: Ask) -> HarnessRunResult:
        answers = (ask(f"2 + 2? Try {one}") for one in range(number))
        return HarnessRunResult(final_text=next(filter(None, answers), ""), wall_s=1.0)

    return work


def test_a_reply_that_was_cut_is_truncated_and_no_wrong_answer(
    trial_of: Callable[..., Trial],
) -> None:
    trial = trial_of(one_question, said("2 + 2 is a sum which", "length"))
    assert (trial.outcome, trial.reason) == ("truncated", "answer_budget")


@pytest.mark.parametrize("ending", ["stop", "length"])
@pytest.mark.parametrize("text", ["ANSWER: 4", "ANSWER: 5"])
def test_a_stored_trial_is_judged_as_it_was(
    trial_of: Callable[..., Trial], text: str, ending: str
) -> None:
    def with_a_title(ask: Ask) -> HarnessRunResult:
        answer = ask("2 + 2?")
        ask("A title, please.")
        return HarnessRunResult(final_text=answer, wall_s=1.0)

    trial = trial_of(with_a_title, said(text, ending), said("Sums"))
    again = judge(PACK.stored_output(trial), make_task())
    assert (again.outcome, again.reason) == (trial.outcome, trial.reason)
    assert trial.finish_reason == ending


def test_the_answers_own_ending_counts_and_not_that_of_a_title() -> None:
    answer, title = reply("ANSWER: 4", finish_reason="length"), reply("Sums")
    assert ending_of("ANSWER: 4", [answer, title]) == "length"
    assert ending_of("The program's own words.", [answer, title]) == "stop"
    assert ending_of("ANSWER: 4", list[ChatReply]()) is None


def test_a_server_that_fails_for_good_says_nothing_of_the_model(
    trial_of: Callable[..., Trial],
) -> None:
    trial = trial_of(tries(2), DOWN)
    assert (trial.outcome, trial.reason) == ("infrastructure_error", "server_failed")


def test_it_is_so_too_where_the_program_broke_for_it(trial_of: Callable[..., Trial]) -> None:
    def breaks(ask: Ask) -> HarnessRunResult:
        ask("2 + 2?")
        raise HarnessError("It ended with status 1 and told nothing.")

    assert trial_of(breaks, DOWN).outcome == "infrastructure_error"
    assert trial_of(breaks, said("ANSWER: 4")).outcome == "harness_error"


def test_the_stack_is_to_blame_where_it_answers_others(trial_of: Callable[..., Trial]) -> None:
    trial = trial_of(tries(3), DOWN, provider=ScriptedProvider())
    assert (trial.outcome, trial.reason) == ("fail", "engine_crashed")


def test_what_the_model_wrote_and_its_server_cannot_take_is_no_outage_even_once(
    trial_of: Callable[..., Trial],
) -> None:
    """Not every harness asks a second time; that the server answers others says enough."""
    unparsed = json_reply(
        {"error": {"message": "The model produced output that does not match the format"}},
        status=500,
    )
    trial = trial_of(tries(1), unparsed, provider=ScriptedProvider())
    assert (trial.outcome, trial.reason) == ("fail", "engine_rejected_output")
    down = ScriptedProvider(control=outage())
    assert trial_of(tries(1), unparsed, provider=down).outcome == "infrastructure_error"


def test_a_failure_that_is_made_good_in_other_words_is_over(
    trial_of: Callable[..., Trial],
) -> None:
    trial = trial_of(tries(2), DOWN, said("ANSWER: 5"))
    assert (trial.outcome, trial.reason) == ("fail", "wrong_value")


def test_a_request_that_a_healthy_server_refuses_is_no_outage(
    trial_of: Callable[..., Trial],
) -> None:
    """A command of the model can send such a one, and an outage would be another chance."""
    refused = json_reply({"error": {"message": "content is no text"}}, status=400)

    def work(ask: Ask) -> HarnessRunResult:
        answer = ask("2 + 2?")
        ask("Anything", before=9)
        return HarnessRunResult(final_text=answer, wall_s=1.0)

    trial = trial_of(work, said("ANSWER: 5"), refused)
    assert (trial.outcome, trial.reason) == ("fail", "engine_rejected_output")


def test_a_short_question_in_between_makes_no_long_one_good(
    trial_of: Callable[..., Trial],
) -> None:
    def work(ask: Ask) -> HarnessRunResult:
        ask("2 + 2?", before=4)
        return HarnessRunResult(final_text=ask("A title, please."), wall_s=1.0)

    assert trial_of(work, DOWN, said("Sums")).outcome == "infrastructure_error"


def test_a_prompt_made_shorter_than_the_window_is_made_good(
    trial_of: Callable[..., Trial],
) -> None:
    def work(ask: Ask) -> HarnessRunResult:
        return HarnessRunResult(final_text=ask("2 + 2?", before=4) or ask("2 + 2?"), wall_s=1.0)

    assert trial_of(work, TOO_LONG, said("ANSWER: 5")).reason == "wrong_value"
    assert trial_of(work, TOO_LONG).reason == "context_overflow"


def test_what_is_done_right_in_spite_of_the_server_is_done(
    trial_of: Callable[..., Trial],
) -> None:
    def work(ask: Ask) -> HarnessRunResult:
        answer = ask("2 + 2?")
        ask("Is that so?", before=2)
        return HarnessRunResult(final_text=answer, wall_s=1.0)

    assert trial_of(work, said("ANSWER: 4"), DOWN).outcome == "pass"


def test_a_refusal_by_the_gateway_does_not_hide_that_the_server_failed(
    trial_of: Callable[..., Trial],
) -> None:
    trial = trial_of(tries(4), DOWN, limits=TrialLimits(requests=2, wall_s=30.0))
    assert trial.outcome == "infrastructure_error"


def test_a_limit_of_the_gateway_is_told(trial_of: Callable[..., Trial]) -> None:
    def work(ask: Ask) -> HarnessRunResult:
        for turn in range(4):
            ask("Go on.", before=turn)
        return HarnessRunResult(final_text="I go on.", wall_s=1.0)

    trial = trial_of(work, said("I go on."), limits=TrialLimits(requests=3, wall_s=30.0))
    assert (trial.outcome, trial.reason, trial.limit) == ("truncated", "turn_limit", "turns")


def test_a_program_that_never_asks_the_model_has_broken(trial_of: Callable[..., Trial]) -> None:
    def work(ask: Ask) -> HarnessRunResult:
        return HarnessRunResult(final_text="ANSWER: 4", failure="No key.", wall_s=1.0)

    trial = trial_of(work, said("ANSWER: 4"))
    assert trial.outcome == "harness_error"
    assert "No key." in (trial.message or "")


def test_a_program_that_is_ended_before_it_asks_was_waited_for(
    trial_of: Callable[..., Trial],
) -> None:
    def work(ask: Ask) -> HarnessRunResult:
        return HarnessRunResult(final_text="", finish_reason="limit", limit="wall", wall_s=9.0)

    trial = trial_of(work, said("ANSWER: 4"))
    assert (trial.outcome, trial.reason) == ("truncated", "wall_limit")
    assert trial.harness is not None
    assert trial.harness.waited_for == "harness"


def test_calls_that_a_harness_does_not_tell_are_those_that_the_gateway_saw(
    trial_of: Callable[..., Trial],
) -> None:
    def work(told: tuple[CallRecord, ...]) -> Work:
        def ask_twice(ask: Ask) -> HarnessRunResult:
            ask("2 + 2?")
            text = ask("And now?", before=2)
            return HarnessRunResult(final_text=text, wall_s=1.0, tool_calls=told)

        return ask_twice

    own = CallRecord(id="1", name="add_up", arguments="{}", turn=1)
    for told, names in (((), ["add"]), ((own,), ["add_up"])):
        trial = trial_of(work(told), calling("add"), said("ANSWER: 4"))
        assert [call.name for call in trial.tool_calls] == names
