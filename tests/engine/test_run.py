"""A whole run against a scripted server, on the real packs."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager as Context
from dataclasses import replace
from pathlib import Path

import pytest

from bench_loop.commands._setup import load_harness, prepare
from bench_loop.contracts.chat import ChatReply, ChatRequest, TokenCounts, ToolCall
from bench_loop.contracts.provider import Watch
from bench_loop.contracts.sandbox import Program, Sandbox, SandboxRecord, SandboxRun, Talk
from bench_loop.contracts.task import Say, Turn
from bench_loop.engine.events import (
    Event,
    RunFinished,
    RunStarted,
    SpeedPlanned,
    SuitesLeftOut,
    TrialFinished,
)
from bench_loop.engine.plan import RunPlan, make_plan
from bench_loop.engine.run import Run
from bench_loop.engine.telemetry import Telemetry
from bench_loop.errors import ProviderError, SandboxError
from bench_loop.machine.sampling import Sampler, SystemMemory
from bench_loop.result.fingerprint import fingerprint
from bench_loop.result.records import RunResult
from bench_loop.result.store import load
from tests.engine.doubles import ScriptedProvider, outage, reply


def reference_answer(plan: RunPlan, request: ChatRequest) -> ChatReply:
    """What a model would say that knows every answer by heart."""
    for _, task, _ in plan.quality_trials:
        if task.messages == request.messages:
            return reply(task.reference)
    return reply("Prose.", finish_reason="length")


def plain_smoke() -> RunPlan:
    """Smoke as far as it neither needs a sandbox nor offers tools."""
    smoke = make_plan(profile="smoke")
    kept = (suite for suite in smoke.suites if suite.pack.name not in CODE_SUITES)
    return replace(smoke, suites=tuple(kept))


def run(
    provider: ScriptedProvider,
    folder: Path,
    plan: RunPlan | None = None,
    events: list[Event] | None = None,
    sandbox: Sandbox | None = None,
) -> RunResult:
    setup = prepare(provider, "tiny", load_harness("raw"), sandbox=sandbox)
    listen = (events if events is not None else []).append
    return Run(plan or plain_smoke(), setup, folder, listen).go()


def test_right_answers_to_everything_score_one_hundred(tmp_path: Path, sandbox: Sandbox) -> None:
    plan = make_plan(profile="smoke")
    provider = ScriptedProvider(default=lambda request: code_answer(plan, request))
    result = run(provider, tmp_path, plan, sandbox=sandbox)
    assert result.status == "complete"
    quality = [suite for suite in result.suites if suite.dimension == "quality"]
    assert {suite.score for suite in quality} == {100.0}
    assert result.aggregates.quality_score == 100.0
    assert result.aggregates.overall_score is None  # Smoke has no speed score.


def test_a_model_that_says_abc_to_everything_scores_zero(tmp_path: Path) -> None:
    result = run(ScriptedProvider(default=lambda request: reply("abc")), tmp_path)
    quality = [suite for suite in result.suites if suite.dimension == "quality"]
    assert {suite.score for suite in quality} == {0.0}
    assert {suite.diagnostic_score for suite in quality} == {0.0}
    assert result.aggregates.quality_score == 0.0


def test_every_planned_trial_is_recorded_with_its_full_output(tmp_path: Path) -> None:
    plan = plain_smoke()
    provider = ScriptedProvider(default=lambda request: reference_answer(plan, request))
    result = run(provider, tmp_path, plan)
    done = {(trial.task_id, trial.output) for trial in result.trials if trial.suite != "speed"}
    assert done == {(task.id, task.reference) for _, task, _ in plan.quality_trials}


def test_the_file_holds_the_result_and_latest_is_the_same(tmp_path: Path) -> None:
    result = run(ScriptedProvider(), tmp_path)
    assert load(tmp_path / f"{result.run_id}.json") == result
    assert load(tmp_path / "latest.json") == result
    assert result.fingerprint == fingerprint(result)


def test_earlier_complete_runs_of_the_configuration_are_counted(tmp_path: Path) -> None:
    plan = make_plan(suites=["reasonmath"])
    assert [run(ScriptedProvider(), tmp_path, plan).run_index for _ in range(3)] == [0, 1, 2]


def test_it_tells_what_happens_in_order(tmp_path: Path) -> None:
    events: list[Event] = []
    result = run(ScriptedProvider(), tmp_path, events=events)
    assert isinstance(events[0], RunStarted)
    assert isinstance(events[1], SpeedPlanned)
    assert isinstance(events[-1], RunFinished)
    assert events[1].total == len(result.trials)
    finished = [event for event in events if isinstance(event, TrialFinished)]
    assert [event.trial for event in finished] == list(result.trials)


def test_speed_prompts_are_cold_and_quality_prompts_are_not(tmp_path: Path) -> None:
    provider = ScriptedProvider()
    run(provider, tmp_path)
    forced = [request for request in provider.requests if request.force_length]
    assert len({request.messages[0].content[:8] for request in forced}) == len(forced)
    assert not any(request.use_prompt_cache for request in forced)


def test_speed_prompts_have_the_length_of_their_shape(tmp_path: Path) -> None:
    provider = ScriptedProvider()
    run(provider, tmp_path)
    timed = [request for request in provider.requests if request.force_length][1:]
    # The scripted server counts words and has no template, so no overhead is seen.
    assert {len(request.messages[0].content.split()) for request in timed} == {1024}


def test_a_server_that_fails_before_anything_is_measured_leaves_no_file(tmp_path: Path) -> None:
    provider = ScriptedProvider(
        [ProviderError("Connection refused.")], default=lambda request: outage()
    )
    with pytest.raises(ProviderError):
        run(provider, tmp_path / "results")
    assert not (tmp_path / "results").exists()


def test_a_server_that_dies_on_the_way_makes_the_run_incomplete(tmp_path: Path) -> None:
    class Dying(ScriptedProvider):
        def chat(self, request: ChatRequest, watch: Watch | None = None) -> ChatReply:
            if len(self.requests) >= 8:
                raise ProviderError("Connection refused.")
            return super().chat(request, watch)

    result = run(Dying(), tmp_path)
    assert result.status == "incomplete"
    assert [trial.outcome for trial in result.trials[-2:]] == ["infrastructure_error"] * 2
    assert result.aggregates.quality_score is None


def test_a_server_whose_settings_change_makes_the_run_incomplete(tmp_path: Path) -> None:
    class Changing(ScriptedProvider):
        def chat(self, request: ChatRequest, watch: Watch | None = None) -> ChatReply:
            self.slots = 4 if len(self.requests) > 8 else 1
            return super().chat(request, watch)

    result = run(Changing(), tmp_path)
    assert result.status == "incomplete"
    assert result.status_reason == "The server's settings changed during the run."


def test_ctrl_c_keeps_what_is_finished(tmp_path: Path) -> None:
    class Interrupted(ScriptedProvider):
        def chat(self, request: ChatRequest, watch: Watch | None = None) -> ChatReply:
            if len(self.requests) >= 8:
                raise KeyboardInterrupt
            return super().chat(request, watch)

    with pytest.raises(KeyboardInterrupt):
        run(Interrupted(), tmp_path)
    kept = load(tmp_path / "latest.json")
    assert (kept.status, kept.status_reason) == ("aborted", "Stopped by the user.")
    # One request loads the model, one calibrates; the others are trials.
    assert len(kept.trials) == 6


def code_answer(plan: RunPlan, request: ChatRequest) -> ChatReply:
    """What a model would say that writes right code, and uses tools as the reference does."""
    for _, task, _ in plan.quality_trials:
        if task.messages == request.messages[: len(task.messages)]:
            if isinstance(task.reference, str):
                return reply(task.reference)
            turn = sum(message.role == "assistant" for message in request.messages)
            return reply_of(task.reference.trajectory[turn])
    return reply("Prose.", finish_reason="length")


FEW = TokenCounts(prompt=120, completion=20, basis="usage")


def reply_of(turn: Turn) -> ChatReply:
    """One turn of a trajectory as a server's reply."""
    if isinstance(turn, Say):
        return reply(turn.say, tokens=FEW)
    calls = [
        ToolCall(id=f"c{number}", name=name, arguments=json.dumps(args))
        for number, named in enumerate(turn)
        for name, args in named.items()
    ]
    return reply("", tool_calls=tuple(calls), finish_reason="tool_calls", tokens=FEW)


CODE_SUITES = ["agent", "coding", "loop_code_fix", "toolcall"]


def test_code_and_tools_are_run_in_the_sandbox_and_scored(tmp_path: Path, sandbox: Sandbox) -> None:
    plan = make_plan(suites=CODE_SUITES)
    provider = ScriptedProvider(default=lambda request: code_answer(plan, request))
    setup = prepare(provider, "tiny", load_harness("raw"), sandbox=sandbox)
    result = Run(plan, setup, tmp_path, lambda event: None).go()
    assert (result.status, {suite.score for suite in result.suites}) == ("complete", {100.0})
    assert result.sandbox is not None
    assert result.sandbox.kind == "bubblewrap"
    kinds = {
        trial.suite: trial.verifier.kind if trial.verifier else None for trial in result.trials
    }
    assert kinds == {
        "agent": None,
        "coding": "values_out",
        "loop_code_fix": "values_out",
        "toolcall": None,
    }
    assert load(tmp_path / "latest.json") == result


def test_without_a_sandbox_code_suites_are_left_out_and_the_remedy_is_told(tmp_path: Path) -> None:
    plan = make_plan(suites=[*CODE_SUITES, "reasonmath"])
    provider = ScriptedProvider(default=lambda request: code_answer(plan, request))
    events: list[Event] = []
    result = run(provider, tmp_path, plan, events)
    told = [event for event in events if isinstance(event, SuitesLeftOut)]
    assert [event.suites for event in told] == [("agent", "coding", "loop_code_fix")]
    assert "bubblewrap" in told[0].remedy
    assert {trial.suite for trial in result.trials} == {"reasonmath", "toolcall"}
    assert result.status == "incomplete"
    assert result.status_reason == (
        "There is no sandbox for code that a model wrote. Not run: agent, coding, loop_code_fix."
    )
    assert result.sandbox is None


def test_a_run_of_code_suites_alone_stops_without_a_sandbox(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="Not run: coding"):
        run(ScriptedProvider(), tmp_path / "results", make_plan(suites=["coding"]))
    assert not (tmp_path / "results").exists()


def test_a_sandbox_that_fails_is_no_fault_of_the_model(tmp_path: Path, sandbox: Sandbox) -> None:
    class Broken:
        kind = sandbox.kind
        limits = sandbox.limits

        def run(self, program: Program, *, wall_s: float | None = None) -> SandboxRun:
            raise SandboxError("The engine is gone.")

        def talk(self, program: Program, *, wall_s: float | None = None) -> Context[Talk]:
            raise SandboxError("The engine is gone.")

        def record(self) -> SandboxRecord:
            return sandbox.record()

        def close(self) -> None:
            pass

    plan = make_plan(suites=["coding"])
    provider = ScriptedProvider(default=lambda request: code_answer(plan, request))
    setup = prepare(provider, "tiny", load_harness("raw"), sandbox=Broken())
    result = Run(plan, setup, tmp_path, lambda event: None).go()
    assert {(trial.outcome, trial.reason) for trial in result.trials} == {
        ("infrastructure_error", "sandbox_failed")
    }
    assert result.status == "incomplete"


def test_a_run_beside_its_server_keeps_the_most_memory_and_no_power_without_a_sensor(
    tmp_path: Path,
) -> None:
    plan = make_plan(suites=["reasonmath"])
    setup = prepare(ScriptedProvider(), "tiny", load_harness("raw"))
    with_no_sensor = Telemetry(Sampler(None, SystemMemory()))
    result = Run(plan, setup, tmp_path, [].append, telemetry=with_no_sensor).go()
    assert result.power is None
    assert result.peak_memory is not None
    assert result.peak_memory.ram_gb
    assert load(tmp_path / "latest.json") == result


def test_a_run_on_a_server_elsewhere_reads_no_memory(tmp_path: Path) -> None:
    setup = prepare(ScriptedProvider(), "tiny", load_harness("raw"))
    elsewhere = replace(setup, machine=setup.machine.model_copy(update={"is_local": False}))
    result = Run(make_plan(suites=["reasonmath"]), elsewhere, tmp_path, [].append).go()
    assert (result.power, result.peak_memory) == (None, None)
