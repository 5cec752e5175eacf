"""Runs of tools and code come through intake: judged again where nothing has to be run."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bench_loop.commands._setup import load_harness, prepare
from bench_loop.contracts.chat import ChatReply, ChatRequest
from bench_loop.contracts.sandbox import Sandbox
from bench_loop.engine.plan import RunPlan, make_plan
from bench_loop.engine.run import Run
from bench_loop.result.fingerprint import fingerprint
from bench_loop.result.records import RunResult, Trial
from bench_loop.result.store import to_bytes
from submissions.checks import Finding, findings, level
from submissions.intake import parse
from tests.engine.doubles import ScriptedProvider
from tests.engine.test_run import CODE_SUITES, code_answer


def at_once(plan: RunPlan, request: ChatRequest) -> ChatReply:
    """The right answer, in no more time than the test takes."""
    marks = {"t_first_byte_s": 1e-4, "t_first_answer_s": 1e-4, "t_last_s": None, "stream": None}
    answer = code_answer(plan, request)
    return answer.model_copy(update={"latency_s": 3e-4, "engine_timings": None, **marks})


TASKS = {
    "agent.chair-count",
    "agent.downhill-fare",
    "coding.late-buses",
    "loop_code_fix.return-fee",
    "toolcall.lamp-off",
}
"""One of each kind: of agent, one whose files are judged and one whose program is run."""

RUN_AGAIN = {"agent.downhill-fare", "coding.late-buses", "loop_code_fix.return-fee"}
"""Those whose verdict needs code to be run."""


def small_plan() -> RunPlan:
    whole = make_plan(suites=CODE_SUITES)
    suites = (
        replace(suite, tasks=tuple(task for task in suite.tasks if task.id in TASKS))
        for suite in whole.suites
    )
    return replace(whole, suites=tuple(suites))


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory, sandbox: Sandbox) -> RunResult:
    plan = small_plan()
    provider = ScriptedProvider(default=lambda request: at_once(plan, request))
    folder = tmp_path_factory.mktemp("run")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCHLOOP_HOME", str(folder / "home"))
        setup = prepare(provider, "tiny", load_harness("raw"), sandbox=sandbox)
        return Run(plan, setup, folder / "results", lambda event: None).go()


def found_in(result: RunResult) -> list[Finding]:
    return findings(parse(to_bytes(result)), datetime.now(UTC))


def with_trial(result: RunResult, task_id: str, **fields: object) -> RunResult:
    """The result with one trial changed, and an honest fingerprint over that."""
    trials = tuple(
        trial.model_copy(update=fields) if trial.task_id == task_id else trial
        for trial in result.trials
    )
    changed = result.model_copy(update={"trials": trials})
    return changed.model_copy(update={"fingerprint": fingerprint(changed)})


def trial_of(result: RunResult, task_id: str) -> Trial:
    return next(trial for trial in result.trials if trial.task_id == task_id)


def test_an_honest_run_is_taken_and_its_code_verdicts_stay_as_reported(result: RunResult) -> None:
    found = found_in(result)
    assert [one for one in found if one.severity == "refused"] == []
    waiting = {one.field: one.numbers for one in found if one.code == "code_waiting"}
    assert waiting == {
        f"suites[{index}]": {"verdicts": count}
        for index, suite in enumerate(result.suites)
        if (count := sum(t.suite == suite.suite and t.task_id in RUN_AGAIN for t in result.trials))
    }
    assert level(found) == "reported"


@pytest.mark.parametrize("task_id", ["toolcall.lamp-off", "agent.chair-count"])
def test_a_verdict_on_tools_is_recomputed_from_the_calls(result: RunResult, task_id: str) -> None:
    claimed = with_trial(result, task_id, tool_calls=(), artifacts=())
    codes = {one.code for one in found_in(claimed) if one.severity == "refused"}
    assert "verdict_mismatch" in codes


def test_what_a_file_says_of_its_calls_counts_for_nothing(result: RunResult) -> None:
    calls = trial_of(result, "toolcall.lamp-off").tool_calls
    wrong = calls[0].model_copy(update={"arguments": '{"lamp": "L-14", "state": "off"}'})
    claimed = with_trial(result, "toolcall.lamp-off", tool_calls=(wrong, *calls[1:]))
    assert "verdict_mismatch" in {one.code for one in found_in(claimed)}
