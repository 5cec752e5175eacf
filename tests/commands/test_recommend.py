"""`bench-loop recommend` on a server whose models have abilities that the test gives them."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from bench_loop.cli import group
from bench_loop.contracts.provider import ModelFacts
from bench_loop.engine import recommend as engine_recommend
from bench_loop.engine.packs import Pack, load_pack
from bench_loop.engine.recommend import (
    PURPOSES,
    Candidate,
    Outlook,
    Tried,
    decide,
    recommend_plan,
)
from bench_loop.errors import SetupError
from bench_loop.result.store import load, result_files
from tests.fakes.ollama import FakeModel, FakeOllama
from tests.scoring.make_runs import run_result
from tests.scoring.make_trials import task_trial

PLAN = recommend_plan("chat", 8192, 2)
REFERENCES = {
    task.messages[-1].content: (place, task.reference)
    for place, (_, task, _) in enumerate(PLAN.quality_trials)
}
GIB = 2**30
WORDS = "word " * 400


class Abilities:
    """Answers the tasks that a model passes by their reference, and all others wrong."""

    def __init__(self, passes: Mapping[str, set[int]]) -> None:
        self._passes = passes

    def __call__(self, body: dict[str, Any]) -> str:
        place, reference = REFERENCES.get(body["messages"][-1]["content"], (None, WORDS))
        is_right = place is None or place in self._passes[body["model"]]
        return str(reference) if is_right else "I do not know."


ALL = set(range(len(PLAN.quality_trials)))


def recommend(
    passes: Mapping[str, set[int]],
    folder: Path,
    *more: str,
    models: Sequence[FakeModel] = (),
    pause_s: float = 0.0,
) -> Result:
    listed = models or [
        FakeModel(name, size=(number + 1) * GIB) for number, name in enumerate(passes)
    ]
    with FakeOllama(listed, Abilities(passes), pause_s=pause_s) as server:
        where = ["recommend", "--for", "chat", "--endpoint", server.url, *more]
        return CliRunner().invoke(
            group, where, env={"BENCHLOOP_HOME": str(folder)}, catch_exceptions=False
        )


def found_by(outcome: Result) -> dict[str, Any]:
    assert outcome.exit_code == 0, outcome.output
    found: dict[str, Any] = json.loads(outcome.stdout)
    return found


def test_the_plan_takes_the_suites_in_turn() -> None:
    suites = PURPOSES["chat"]
    first = [suite.pack.name for suite, _, _ in PLAN.quality_trials[: len(suites)]]
    assert sorted(first) == sorted(suites)
    assert len(PLAN.quality_trials) == sum(len(suite.tasks) for suite in PLAN.quality_suites)


def test_a_clear_leader_ends_the_race_before_all_tasks_are_done(tmp_path: Path) -> None:
    found = found_by(recommend({"weak:1b": set(), "strong:7b": ALL}, tmp_path, "--json"))
    assert (found["kind"], found["pick"], found["runner_up"]) == ("clear", "strong:7b", "weak:1b")
    strong, weak = found["tried"]
    # Two equal models seldom reach seven wins in a row, or as much, in a race of so many tasks.
    assert (strong["right"], strong["tasks"]) == (7, 7)
    assert (weak["right"], weak["tasks"]) == (0, len(ALL))
    assert "clearly better than every other model" in strong["note"]


def test_a_model_that_is_clearly_behind_is_stopped(tmp_path: Path) -> None:
    found = found_by(recommend({"strong:1b": ALL, "weak:7b": set()}, tmp_path, "--json"))
    assert found["pick"] == "strong:1b"
    assert found["tried"][1]["tasks"] == 7
    assert found["tried"][1]["note"] == (
        f"Stopped after 7 of {len(ALL)} tasks: strong:1b is clearly better."
    )


def test_models_that_cannot_be_told_apart_are_equal_and_the_tie_rule_is_named(
    tmp_path: Path,
) -> None:
    outcome = recommend({"small:1b": {0, 1, 2, 3}, "large:7b": {0, 1, 2, 4}}, tmp_path)
    assert outcome.exit_code == 0
    shown = " ".join(outcome.output.split())
    assert "small:1b and large:7b are equal as far as measured for chat." in shown
    assert "Picked by the tie rule:" in shown
    assert "else the faster, else the smaller" in shown


def test_a_lead_that_may_be_chance_is_no_clear_one(tmp_path: Path) -> None:
    found = found_by(recommend({"a:1b": {0, 1}, "b:2b": {0, 1, 2, 3, 4}}, tmp_path, "--json"))
    assert (found["kind"], found["pick"]) == ("ahead", "b:2b")
    assert "may be chance" in found["grounds"]


def test_every_model_keeps_a_result_file_that_is_not_ranked(tmp_path: Path) -> None:
    found_by(recommend({"weak:1b": set(), "strong:7b": ALL}, tmp_path, "--json"))
    results = [load(file) for file in result_files(tmp_path / "results")]
    assert {result.subject.model_id for result in results} == {"weak:1b", "strong:7b"}
    assert {result.profile for result in results} == {"custom"}
    stopped = next(result for result in results if result.subject.model_id == "strong:7b")
    assert stopped.status == "aborted"
    assert stopped.status_reason is not None
    assert stopped.status_reason.startswith("Stopped after 7 of ")


def test_models_that_cannot_be_tried_are_named_with_the_reason(tmp_path: Path) -> None:
    models = [
        FakeModel("good:1b"),
        FakeModel("nomic-embed-text:latest", capabilities=("embedding",)),
        FakeModel("gpt-oss:120b-cloud", remote_host="https://cloud.example.invalid:443"),
        FakeModel("huge:900b", size=9000 * GIB),
    ]
    found = found_by(recommend({"good:1b": ALL}, tmp_path, "--json", models=models))
    assert (found["kind"], found["pick"]) == ("alone", "good:1b")
    reasons = {each["model"]: each["reason"] for each in found["skipped"]}
    assert "not for chat" in reasons["nomic-embed-text:latest"]
    assert "remote host" in reasons["gpt-oss:120b-cloud"]
    assert "at least 9000.5 GiB (weights 9000.0)" in reasons["huge:900b"]


def test_a_speed_that_would_take_most_of_the_time_is_not_measured(tmp_path: Path) -> None:
    # 64 tokens at 20 ms on the server's clock and ours: three times 1.3 s are above a third of 9 s.
    found = found_by(recommend({"a:1b": ALL}, tmp_path, "--json", "--budget", "9s", pause_s=0.02))
    (file,) = result_files(tmp_path / "results")
    assert load(file).speed is None
    assert found["tried"][0]["tasks"] > 0


def test_a_budget_that_is_spent_leaves_the_others_untold(tmp_path: Path) -> None:
    passes = {"a:1b": ALL, "b:2b": ALL}
    found = found_by(recommend(passes, tmp_path, "--json", "--budget", "0.001s"))
    notes = [each["note"] for each in found["tried"]]
    assert any("its share of the time was spent" in note for note in notes)
    assert "No time of the budget was left for it." in notes


def test_names_of_models_cannot_steer_the_terminal(tmp_path: Path) -> None:
    name = "evil\x1b[2J[bold]:1b"
    outcome = recommend({name: ALL}, tmp_path)
    assert outcome.exit_code == 0
    assert "\x1b[2J" not in outcome.output
    assert "[bold]" in outcome.output


def test_without_any_server_the_remedy_is_told(tmp_path: Path) -> None:
    with FakeOllama([]) as server:
        outcome = CliRunner().invoke(
            group,
            ["recommend", "--for", "chat", "--endpoint", server.url],
            env={"BENCHLOOP_HOME": str(tmp_path)},
        )
    assert "No model was found" in str(outcome.exception)


@pytest.mark.parametrize("purpose", sorted(PURPOSES))
def test_every_purpose_has_tasks_and_no_speed_score(purpose: str) -> None:
    plan = recommend_plan(purpose, 8192, 2)
    assert plan.quality_trials
    assert plan.profile.speed_plans == ("minimum",)


def test_what_can_be_shown_at_best_is_told_first(tmp_path: Path) -> None:
    shown = " ".join(recommend({"a:1b": ALL, "b:7b": ALL}, tmp_path).output.split())
    assert shown.startswith(
        f"2 models, {len(ALL)} tasks for chat, at most 15 min. A model is clearly better"
    )
    assert "with 7 tasks won and none lost" in shown


def two_tasks(name: str) -> Pack:
    """The pack `name` as if it had no more than two tasks."""
    pack = load_pack(name)
    return replace(pack, tasks=pack.tasks[:2])


def test_too_few_tasks_are_asked_three_times_and_said_to_settle_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_recommend, "load_pack", two_tasks)
    models = [FakeModel("a:1b"), FakeModel("b:7b")]
    with FakeOllama(models, lambda body: WORDS) as server:
        outcome = CliRunner().invoke(
            group,
            ["recommend", "--for", "agent", "--endpoint", server.url],
            env={"BENCHLOOP_HOME": str(tmp_path)},
            catch_exceptions=False,
        )
    assert outcome.exit_code == 0
    shown = " ".join(outcome.output.split())
    assert ", 3 times each, at most 15 min. So few tasks can't make a winner clear" in shown
    assert "At best one model leads, but not clearly." in shown
    assert "None can be recommended for agent: no task was done by any of the 2 models." in shown
    for file in result_files(tmp_path / "results"):
        result = load(file)
        numbers = [trial.trial for trial in result.trials if trial.suite != "speed"]
        assert numbers == sorted(numbers)
        assert set(numbers) == {1, 2, 3}
        assert result.settings.sampling is not None
        assert result.settings.sampling.temperature == 0.7


def test_trials_of_a_task_are_one_task_of_evidence() -> None:
    outlook = Outlook(model_count=2, task_count=5, trials=3)
    strong = tried("strong", {task: [True, True, task > 0] for task in range(5)})
    weak = tried("weak", {task: [False, True, False] for task in range(5)})
    found = decide("coding", [weak, strong], [], outlook)
    assert found.duel is not None
    assert (found.kind, found.duel.wins, found.duel.losses, found.duel.tasks) == ("ahead", 5, 0, 5)


def test_a_model_cut_in_a_round_is_compared_on_the_trials_that_both_have() -> None:
    outlook = Outlook(model_count=2, task_count=2, trials=3)
    whole = tried("whole", {0: [True, False, False], 1: [True, False, False]})
    cut = tried("cut", {0: [True], 1: [True]})
    found = decide("coding", [whole, cut], [], outlook)
    assert found.duel is not None
    assert (found.kind, found.duel.wins, found.duel.losses) == ("equal", 0, 0)


def tried(name: str, passes: Mapping[int, Sequence[bool]]) -> Tried:
    trials = [
        task_trial("coding", f"t{task}", "pass" if passed else "fail", trial=number)
        for number in range(1, 4)
        for task, outcomes in passes.items()
        for passed in outcomes[number - 1 : number]
    ]
    model = ModelFacts(model_id=name)
    return Tried(Candidate("ollama", "http://127.0.0.1:1", model), run_result(trials))


@pytest.mark.parametrize("pause_s", [0.4, 30.0])
def test_one_slow_answer_does_not_overrun_the_budget(tmp_path: Path, pause_s: float) -> None:
    # An answer of 400 words would take 160 s, or none would ever begin.
    began = time.monotonic()
    passes: dict[str, set[int]] = {"a:1b": set(), "b:2b": set()}
    found = found_by(recommend(passes, tmp_path, "--json", "--budget", "4s", pause_s=pause_s))
    assert time.monotonic() - began < 60
    assert all(each["note"] for each in found["tried"])


def test_a_run_that_a_recommendation_ended_is_not_gone_on_with(tmp_path: Path) -> None:
    found = found_by(recommend({"weak:1b": set(), "strong:7b": ALL}, tmp_path, "--json"))
    for each in found["tried"]:
        result = load(tmp_path / "results" / f"{each['run_id']}.json")
        if result.status == "complete":
            continue
        outcome = resume(each["run_id"], tmp_path)
        assert isinstance(outcome.exception, SetupError)
        assert "is part of a recommendation and cannot go on alone" in str(outcome.exception)
    assert "There is no run to go on with." in str(resume("newest", tmp_path).exception)


def test_a_recommendation_that_was_killed_is_not_gone_on_with_as_another_plan(
    tmp_path: Path,
) -> None:
    found = found_by(recommend({"only:1b": ALL}, tmp_path, "--json"))
    (journal,) = (tmp_path / "runs").glob("*/journal.jsonl")
    lines = journal.read_bytes().splitlines(keepends=True)
    # As a kill leaves it: in the middle of its tasks, the last line cut.
    journal.write_bytes(b"".join(lines[:9]) + lines[9][:40])
    outcome = resume(found["tried"][0]["run_id"], tmp_path)
    assert isinstance(outcome.exception, SetupError)
    assert "cannot go on alone" in str(outcome.exception)
    assert journal.read_bytes().splitlines(keepends=True)[:9] == lines[:9]


def resume(name: str, folder: Path) -> Result:
    return CliRunner().invoke(group, ["run", "--resume", name], env={"BENCHLOOP_HOME": str(folder)})
