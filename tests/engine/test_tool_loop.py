"""The tool loop of `raw`: native calls, their replies back to the model, and its limits."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bench_loop.commands._setup import load_harness
from bench_loop.contracts.chat import ChatReply, Sampling, TokenCounts, ToolCall
from bench_loop.contracts.harness import HarnessConfig
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.packs import Pack, PackSuite, load_pack
from bench_loop.engine.recorder import Recorder, TrialSettings
from bench_loop.engine.toolbox import make_toolbox
from bench_loop.engine.trial import run_trial
from bench_loop.result.records import Trial
from bench_loop.scoring.rates import generation_rate
from bench_loop.verifiers.judging import judge
from tests.engine.doubles import ScriptedProvider, reply

LAMP = next(task for task in load_pack("toolcall").tasks if task.id == "toolcall.lamp-off")
CHAIRS = next(task for task in load_pack("agent").tasks if task.id == "agent.chair-count")
OFF = ("switch_lamp", {"lamp": "L-4", "state": "off"})
DONE = reply("ANSWER: done")


def calling(*calls: tuple[str, Any], **fields: object) -> ChatReply:
    """A reply that makes calls; arguments that are text are sent as they are."""
    made = tuple(
        ToolCall(id=None, name=name, arguments=args if isinstance(args, str) else json.dumps(args))
        for name, args in calls
    )
    return reply(**{"text": "", "tool_calls": made, "finish_reason": "tool_calls", **fields})  # type: ignore[arg-type]


def run(
    answers: Iterable[ChatReply],
    task: BenchmarkTask = LAMP,
    *,
    max_tokens: int = 5000,
    wall_limit_s: float = 600.0,
) -> tuple[Trial, ScriptedProvider]:
    """One trial of `task`; a model that has nothing more to say repeats its last answer."""
    script = list(answers)
    provider = ScriptedProvider(script, default=lambda request: script[-1])
    recorder = Recorder(provider, pause=lambda seconds: None)
    harness = load_harness("raw")
    harness.setup(
        HarnessConfig(recorder.chat, Path("unused"), lambda task: make_toolbox(task, None))
    )
    settings = TrialSettings("tiny", Sampling(), 1001, max_tokens, 8192, wall_limit_s)
    suite = PackSuite(pack_of(task))
    return run_trial(suite, task, 1, harness, recorder, settings), provider


def pack_of(task: BenchmarkTask) -> Pack:
    return load_pack(task.suite)


def test_the_replies_of_tools_come_back_to_the_model() -> None:
    trial, provider = run([calling(OFF), DONE])
    assert trial.outcome == "pass"
    first, second = provider.requests
    assert first.messages == LAMP.messages
    asked, answered = second.messages[-2:]
    assert (asked.role, answered.role, answered.name) == ("assistant", "tool", "switch_lamp")
    assert json.loads(answered.content) == {"ok": True}
    assert asked.tool_calls[0].id == answered.tool_call_id == "call_1_1"


def test_the_tools_are_offered_with_every_request() -> None:
    _, provider = run([calling(OFF), DONE])
    names = [[tool["function"]["name"] for tool in one.tools] for one in provider.requests]
    assert names == [["switch_lamp"], ["switch_lamp"]]
    assert provider.requests[0].tools[0]["function"]["parameters"]["required"] == ["lamp", "state"]


def test_calls_made_together_are_all_answered_in_their_order() -> None:
    other = ("switch_lamp", {"lamp": "L-99", "state": "off"})
    _, provider = run([calling(OFF, other), DONE])
    contents = [message.content for message in provider.requests[1].messages[-2:]]
    assert [json.loads(text) for text in contents] == [{"ok": True}, {"error": "no such lamp"}]


def test_every_call_is_recorded_with_what_it_was() -> None:
    calls = [
        ("Switch_Lamp", OFF[1]),
        ("switch_lamp", '{"lamp": "L-4"'),
        ("switch_lamp", {"lamp": "L-99", "state": "off"}),
        ("switch_lamp", {"lamp": "L-99", "state": "off"}),
        OFF,
    ]
    trial, _ = run([*[calling(call) for call in calls], DONE], LAMP_SLOW)
    facts = [
        (one.turn, one.is_offered, one.is_well_formed, one.is_repeated, one.is_useful)
        for one in trial.tool_calls
    ]
    assert facts == [
        (1, False, False, False, False),
        (2, True, False, False, False),
        (3, True, True, False, True),
        (4, True, True, True, False),
        (5, True, True, False, True),
    ]
    assert trial.turns == 6


LAMP_SLOW = LAMP.model_copy(update={"expected_turns": 5})


def test_the_same_call_over_and_over_ends_at_three_times_the_shortest_way() -> None:
    stuck = ("switch_lamp", {"lamp": "L-99", "state": "off"})
    trial, provider = run([calling(stuck)])
    assert len(provider.requests) == 3 * LAMP.expected_turns
    assert (trial.outcome, trial.reason, trial.limit) == ("truncated", "turn_limit", "turns")
    assert sum(one.is_repeated or False for one in trial.tool_calls) == 5


def test_what_was_reached_when_the_loop_was_cut_is_kept_and_is_no_pass() -> None:
    trial, _ = run([calling(OFF)])
    assert (trial.outcome, trial.state_at_cut) == ("truncated", "no_answer")
    talking = calling(OFF, text="ANSWER: done")
    trial, _ = run([talking])
    assert (trial.outcome, trial.state_at_cut) == ("truncated", "pass")


def test_the_calls_of_a_cut_reply_are_not_done() -> None:
    cut = calling(("switch_lamp", '{"lamp": "L-4", "sta'), finish_reason="length")
    trial, provider = run([cut])
    assert (trial.outcome, trial.reason, len(provider.requests)) == (
        "truncated",
        "answer_budget",
        1,
    )
    assert trial.tool_calls == ()


def test_a_call_written_as_text_is_not_done_and_has_its_own_reason() -> None:
    text = json.dumps({"name": OFF[0], "arguments": OFF[1]})
    trial, provider = run([reply(text)])
    assert (trial.outcome, trial.reason) == ("fail", "tool_call_as_text")
    assert len(provider.requests) == 1


def test_the_answer_budget_is_for_all_replies_together() -> None:
    spent = TokenCounts(prompt=10, completion=100, basis="usage")
    trial, provider = run([calling(OFF, tokens=spent)], max_tokens=250)
    assert [one.max_tokens for one in provider.requests] == [250, 150, 50]
    assert (trial.outcome, trial.reason, trial.limit) == ("truncated", "answer_budget", "tokens")


def test_the_wall_limit_is_for_all_replies_together() -> None:
    trial, provider = run([calling(OFF)], wall_limit_s=1e-9)
    assert len(provider.requests) == 1
    assert (trial.outcome, trial.reason, trial.limit) == ("truncated", "wall_limit", "wall")


def test_the_tokens_of_several_replies_are_never_rated_by_the_clocks_of_one() -> None:
    trial, _ = run([calling(OFF), DONE])
    assert trial.tokens.completion == 2 * 116
    assert (trial.t_first_answer_s, trial.t_last_s, trial.engine_timings) == (0.3, None, None)
    assert generation_rate(trial) is None
    assert trial.latency_s is not None
    assert trial.latency_s >= 2 * 2.6


def test_the_conversation_is_kept_in_full() -> None:
    trial, _ = run([calling(OFF), DONE])
    assert trial.transcript is not None
    assert [one["role"] for one in trial.transcript] == ["assistant", "tool", "assistant"]
    assert trial.transcript[-1]["content"] == "ANSWER: done"


def test_a_workspace_is_kept_and_judged_from_what_is_kept() -> None:
    patch = ("patch_file", {"path": "stock.csv", "old": "chair,86", "new": "chair,98"})
    read = ("read_file", {"path": "stock.csv"})
    trial, provider = run([calling(read), calling(patch), reply("ANSWER: 98")], CHAIRS)
    assert trial.outcome == "pass"
    assert provider.requests[1].messages[-1].content == CHAIRS.files["stock.csv"]
    kept = trial.artifacts[0]
    assert (kept.path, kept.text) == ("stock.csv", "item,count\ntable,14\nchair,98\nlamp,9\n")
    stored = Trial.model_validate_json(trial.model_dump_json())
    again = judge(load_pack("agent").stored_output(stored), CHAIRS)
    assert (again.outcome, again.answer) == (trial.outcome, trial.answer)


def test_a_stored_trial_of_scripted_tools_is_judged_again_alike() -> None:
    for script in ([calling(OFF), DONE], [calling(("switch_lamp", {"lamp": "L-5"})), DONE]):
        trial, _ = run(script)
        stored = Trial.model_validate_json(trial.model_dump_json())
        again = judge(load_pack("toolcall").stored_output(stored), LAMP)
        assert (again.outcome, again.reason, again.score) == (
            trial.outcome,
            trial.reason,
            trial.score,
        )


def test_an_empty_workspace_is_not_taken_for_an_untouched_one() -> None:
    trial, _ = run([calling(("delete_file", {"path": "stock.csv"})), reply("ANSWER: 98")], CHAIRS)
    assert trial.reason == "file_missing:stock.csv"
    again = judge(load_pack("agent").stored_output(trial), CHAIRS)
    assert again.reason == "file_missing:stock.csv"
