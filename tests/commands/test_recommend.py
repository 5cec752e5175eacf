"""`bench-loop recommend` on a server whose models have abilities that the test gives them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from bench_loop.cli import group
from bench_loop.engine.recommend import PURPOSES, recommend_plan
from bench_loop.result.store import load, result_files
from tests.fakes.ollama import FakeModel, FakeOllama

PLAN = recommend_plan("chat", 8192)
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
    first = [suite.pack.name for suite, _, _ in PLAN.quality_trials[:3]]
    assert sorted(first) == sorted(PURPOSES["chat"])
    assert len(PLAN.quality_trials) == sum(len(suite.tasks) for suite in PLAN.quality_suites)


def test_a_clear_leader_ends_the_race_before_all_tasks_are_done(tmp_path: Path) -> None:
    found = found_by(recommend({"weak:1b": set(), "strong:7b": ALL}, tmp_path, "--json"))
    assert (found["kind"], found["pick"], found["runner_up"]) == ("clear", "strong:7b", "weak:1b")
    strong, weak = found["tried"]
    # Seven wins in a row are the evidence of 20 that two models need.
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
    assert any("its share of the budget was spent" in note for note in notes)
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
    plan = recommend_plan(purpose, 8192)
    assert plan.quality_trials
    assert plan.profile.speed_plans == ("minimum",)
