"""The plan: suites that are run in a way of their own, and what the result says of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import rfc8785

from bench_loop.commands._setup import load_harness, prepare
from bench_loop.contracts.chat import Sampling
from bench_loop.contracts.provider import ModelFacts
from bench_loop.engine import resume, shelf
from bench_loop.engine.assemble import planned_settings
from bench_loop.engine.budget import quality_work
from bench_loop.engine.journal import JOURNAL
from bench_loop.engine.like import plan_like, refuse_other_plan
from bench_loop.engine.packs import Pack, PackSettings, load_pack
from bench_loop.engine.plan import RunPlan, make_plan
from bench_loop.engine.recorded import read_journal
from bench_loop.engine.run import Run
from bench_loop.engine.run_folder import find_run
from bench_loop.result.compare import core_settings, not_comparable
from bench_loop.result.fingerprint import tagged_hash
from bench_loop.result.records import RunResult
from bench_loop.result.store import to_bytes
from tests.engine.doubles import ScriptedProvider

WARM = Sampling(temperature=0.7, top_p=0.95)
SUITE_IDENTITY = ("suite", "version", "pack_hash")
SUITES = ["instructfollow", "reasonmath"]


@pytest.fixture
def thrice(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the pack of `reasonmath` asked for three trials at a temperature."""

    def load(name: str) -> Pack:
        pack = load_pack(name)
        own = PackSettings(trials=3, sampling=WARM)
        return replace(pack, settings=own) if name == "reasonmath" else pack

    monkeypatch.setattr(shelf, "load_pack", load)


def _of_old(trial: dict[str, Any]) -> dict[str, Any]:
    """The trial as it was before there were families, and harnesses that are programs."""
    known = {"sent_s", "latency_s", "status", "retry", "finish_reason", "tokens", "error"}
    requests = [{name: one[name] for name in known} for one in trial["requests"]]
    new = ("family", "harness", "is_cold")
    return {name: value for name, value in trial.items() if name not in new} | {
        "requests": requests
    }


def run(plan: RunPlan, folder: Path, provider: ScriptedProvider | None = None) -> RunResult:
    setup = prepare(provider or ScriptedProvider(), "tiny", load_harness("raw"))
    return Run(plan, setup, folder, lambda event: None).go()


def test_the_agent_suite_is_run_three_times_at_a_temperature() -> None:
    plan = make_plan(suites=["agent", "reasonmath"])
    agent, math = plan.suites
    assert (plan.trials_of(agent), plan.sampling_of(agent)) == (3, WARM)
    assert (plan.trials_of(math), plan.sampling_of(math)) == (1, Sampling())
    assert plan.quality_counts == {
        "agent": 3 * len(agent.tasks),
        "reasonmath": len(math.tasks),
    }


@pytest.mark.usefixtures("thrice")
def test_all_tasks_come_once_before_some_come_again() -> None:
    plan = make_plan(suites=SUITES)
    numbers = [number for _, _, number in plan.quality_trials]
    assert numbers == sorted(numbers)
    again = {suite.pack.name for suite, _, number in plan.quality_trials if number > 1}
    assert again == {"reasonmath"}
    assert len(list(quality_work(plan, plan.context_window))) == len(numbers)


def test_the_window_is_the_largest_that_a_suite_needs_unless_it_is_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert make_plan(suites=SUITES).context_window == 8192
    pack = load_pack("reasonmath")
    wide = replace(pack, settings=PackSettings(context_window=40960))
    monkeypatch.setattr(
        shelf, "load_pack", lambda name: wide if name == pack.name else load_pack(name)
    )
    assert make_plan(suites=SUITES).context_window == 40960
    assert make_plan(suites=["instructfollow"]).context_window == 8192
    assert make_plan(suites=SUITES, context_window=4096).context_window == 4096


@pytest.mark.usefixtures("thrice")
def test_what_the_user_gives_is_for_every_suite() -> None:
    plan = make_plan(suites=SUITES, trials=2)
    assert {plan.trials_of(suite) for suite in plan.suites} == {2}
    assert plan.sampling_of(plan.suites[1]) == WARM
    card = Sampling(temperature=0.6)
    plan = make_plan(suites=SUITES, sampling=card, is_thinking=True)
    assert {plan.sampling_of(suite) for suite in plan.suites} == {card}
    assert plan.trials_of(plan.suites[1]) == 3
    once = make_plan(suites=SUITES, trials=1)
    assert planned_settings(once).trials_of("reasonmath") == 1


@pytest.mark.usefixtures("thrice")
def test_every_request_is_sampled_and_every_suite_recorded_as_its_own_settings_say(
    tmp_path: Path,
) -> None:
    provider = ScriptedProvider()
    plan = make_plan(suites=SUITES)
    result = run(plan, tmp_path, provider)
    assert result.status == "complete"
    settings = result.settings
    assert [(own.suite, own.trials, own.sampling) for own in settings.by_suite] == [
        ("reasonmath", 3, WARM)
    ]
    assert (settings.trials, settings.sampling) == (1, Sampling())
    prompts = {task.messages for task in load_pack("reasonmath").tasks}
    asked = [request for request in provider.requests if request.messages in prompts]
    assert {(request.sampling, request.seed) for request in asked} == {
        (WARM, seed) for seed in (1001, 1002, 1003)
    }
    others = [request for request in provider.requests if request.messages not in prompts]
    assert {request.sampling for request in others} == {Sampling()}
    cubed = {suite.suite: suite.pass_cubed for suite in result.suites}
    assert cubed["instructfollow"] is None
    assert cubed["reasonmath"] is not None
    assert plan_like(result) == plan
    refuse_other_plan(result, plan)


@pytest.mark.usefixtures("thrice")
@pytest.mark.parametrize("trials", [1, 3])
def test_a_run_with_a_number_of_trials_for_all_is_repeated_with_it(
    trials: int, tmp_path: Path
) -> None:
    plan = make_plan(suites=SUITES, trials=trials)
    assert plan_like(run(plan, tmp_path)) == plan


@pytest.mark.usefixtures("thrice")
def test_a_run_lacks_a_suite_until_all_its_own_trials_are_done(tmp_path: Path) -> None:
    result = run(make_plan(suites=SUITES), tmp_path)
    assert len(result.trials) == sum(make_plan(suites=SUITES).quality_counts.values())
    known, _ = read_journal(find_run(result.run_id) / JOURNAL)
    assert known.missing_suites() == ()
    known.trials.pop()
    assert known.missing_suites() == ("reasonmath",)
    assert resume.plan_again(known) == make_plan(suites=SUITES)


@pytest.mark.usefixtures("thrice")
def test_runs_that_ran_a_suite_in_another_way_are_not_comparable(tmp_path: Path) -> None:
    own = run(make_plan(suites=SUITES), tmp_path)
    alike = run(make_plan(suites=SUITES), tmp_path)
    once = run(make_plan(suites=SUITES, trials=1), tmp_path)
    assert not_comparable(own, alike) == ()
    assert not_comparable(own, once) == (
        "They differ in number of trials of reasonmath: 3 against 1.",
    )
    greedy = once.model_copy(update={"settings": once.settings.model_copy(update={"by_suite": ()})})
    assert "They differ in temperature of reasonmath: 0.7 against 0.0." in not_comparable(
        own, greedy
    )
    assert len({str(core_settings(one)) for one in (own, once, greedy)}) == 3
    assert core_settings(own) == core_settings(alike)


def test_results_from_before_suites_had_settings_of_their_own_keep_their_identity(
    tmp_path: Path,
) -> None:
    result = run(make_plan(suites=["reasonmath"]), tmp_path)
    old = json.loads(to_bytes(result))
    for name in ("by_suite", "harness"):
        del old["settings"][name]
    read = RunResult.model_validate_json(json.dumps(old))
    assert read == result
    assert "suites' own settings" not in core_settings(read)
    identity = {
        "subject": old["subject"],
        "settings": old["settings"],
        "suites": [{name: one[name] for name in SUITE_IDENTITY} for one in old["suites"]],
        "trials": sorted(map(_of_old, old["trials"]), key=rfc8785.dumps),
    }
    assert read.fingerprint == tagged_hash(identity)


class Narrow(ScriptedProvider):
    """A server with so small a window loaded that no task and its answer fit."""

    def model(self, model_id: str) -> ModelFacts:
        return super().model(model_id).model_copy(update={"context_loaded": 270})


def test_what_the_loaded_window_cannot_hold_fails_for_it_and_is_not_sent(tmp_path: Path) -> None:
    provider = Narrow()
    result = run(make_plan(suites=["reasonmath"]), tmp_path, provider)
    assert result.status == "complete"
    assert {(trial.outcome, trial.reason) for trial in result.trials} == {
        ("fail", "context_overflow")
    }
    assert all("nothing was sent" in (trial.message or "") for trial in result.trials)
    assert all(trial.requests == () and trial.output is None for trial in result.trials)
    asked = {message.content for one in provider.requests for message in one.messages}
    assert asked == {"Hello."}


def test_thinking_takes_what_the_window_leaves(tmp_path: Path) -> None:
    # The window of 2,048 tokens is smaller than the budget for thinking alone.
    result = run(make_plan(suites=["reasonmath"], is_thinking=True), tmp_path)
    assert result.settings.thinking_budget == 4096
    assert [trial.task_id for trial in result.trials if trial.reason == "context_overflow"] == []
