"""A run whose timings were taken from another one, and what was changed to hide it."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from bench_loop.result import store
from bench_loop.result.records import Rescoring, RunResult, Trial
from submissions.copies import MARKS, sketch
from submissions.keys import create_key
from submissions.models import Submission
from tests.site.make_result import make_result, nothing_right, rescored, to_bytes
from tests.site.uploads import Uploader

REFERENCE_RUNS = Path(__file__).parents[2] / "docs" / "reference-runs"

Forge = Callable[[RunResult], RunResult]


@pytest.fixture
def thief(uploader: Uploader, stranger: User) -> Uploader:
    """Somebody who has the result file of another."""
    return Uploader(create_key(stranger)[1])


def codes(uploader: Uploader, result: RunResult) -> set[str]:
    """What the site finds about an upload that it takes."""
    response = uploader.post(to_bytes(result))
    assert response.status_code == 201, response.content
    submission = Submission.objects.get(run__public_id=response.json()["id"])
    return {finding["code"] for finding in submission.findings}


def with_trials(result: RunResult, change: Callable[[Trial], dict[str, Any]]) -> RunResult:
    trials = tuple(trial.model_copy(update=change(trial)) for trial in result.trials)
    return rescored(result.model_copy(update={"trials": trials}))


def of(result: RunResult, field: str, **changes: Any) -> RunResult:
    record = getattr(result, field).model_copy(update=changes)
    return rescored(result.model_copy(update={field: record}))


def other_outputs(result: RunResult) -> RunResult:
    """The trials' timings under the outputs of a better model."""
    better = {(one.suite, one.task_id, one.trial): one for one in make_result().trials}
    fields = ("output", "outcome", "score", "reason", "message", "answer")

    def change(trial: Trial) -> dict[str, Any]:
        other = better[trial.suite, trial.task_id, trial.trial]
        return {name: getattr(other, name) for name in fields}

    return with_trials(result, change)


def stretched(result: RunResult) -> RunResult:
    """Every trial a little longer, each by a factor of its own."""
    dice = random.Random(5)

    def change(trial: Trial) -> dict[str, Any]:
        factor = 1 + 0.01 * dice.random()
        names = ("latency_s", "t_first_byte_s", "t_first_answer_s", "t_last_s")
        return {name: getattr(trial, name) * factor for name in names}

    return with_trials(result, change)


def partly(result: RunResult) -> RunResult:
    """A run of one's own with a third of another's timings."""
    own = make_result(seed=77, write=nothing_right)
    third = len(own.trials) // 3
    return rescored(own.model_copy(update={"trials": result.trials[:third] + own.trials[third:]}))


FORGERIES: dict[str, Forge] = {
    "other outputs": other_outputs,
    "another model": lambda result: of(result, "subject", model_id="mine:8b"),
    "another machine": lambda result: of(
        of(result, "subject", quantization="Q8_0"), "machine", machine_id="f" * 16
    ),
    "other settings": lambda result: of(result, "settings", context_window=4096),
    "reordered": lambda result: of(
        result.model_copy(update={"trials": result.trials[::-1]}), "subject", model_id="mine:8b"
    ),
    "stretched": stretched,
    "a third of it": partly,
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_copy_under_another_owner_is_found_whatever_was_changed(
    name: str, uploader: Uploader, thief: Uploader
) -> None:
    original = make_result(write=nothing_right)
    first = uploader.post(to_bytes(original)).json()["id"]
    response = thief.post(to_bytes(FORGERIES[name](original)))
    assert response.status_code == 201, response.content
    submission = Submission.objects.get(run__public_id=response.json()["id"])
    [found] = [one for one in submission.findings if one["code"] == "copied_trials"]
    assert found["severity"] == "needs_review"
    assert found["numbers"]["run"] == first
    assert submission.level == "reported"


def test_a_second_honest_run_shares_no_timing(uploader: Uploader, thief: Uploader) -> None:
    assert codes(uploader, make_result(seed=1)) == set()
    assert codes(thief, make_result(seed=2)) == set()
    assert codes(uploader, make_result(seed=3)) == set()


def test_a_run_put_together_from_ones_own_is_found(uploader: Uploader) -> None:
    first, second = make_result(seed=1, write=nothing_right), make_result(seed=2)
    half = len(first.trials) // 2
    best = rescored(
        second.model_copy(update={"trials": first.trials[:half] + second.trials[half:]})
    )
    for result in (first, second):
        assert codes(uploader, result) == set()
    assert codes(uploader, best) == {"shared_trials"}


def test_a_run_judged_again_by_its_owner_is_no_copy(uploader: Uploader) -> None:
    first = make_result()
    mark = Rescoring(first_fingerprint=first.fingerprint, bench_loop="0.1.0", at=first.finished_at)
    again = of(first.model_copy(update={"rescored": mark}), "settings", threads=3)
    assert codes(uploader, first) == set()
    assert codes(uploader, again) == {"judged_again"}


def test_a_dry_run_tells_of_copies_too(uploader: Uploader, thief: Uploader) -> None:
    original = make_result(write=nothing_right)
    uploader.post(to_bytes(original))
    body = to_bytes(other_outputs(original))
    answer = thief.post(body, address="/api/v1/submissions/?dry_run=1").json()
    assert "copied_trials" in {one["code"] for one in answer["findings"]}


def test_a_sketch_is_small_and_knows_no_order() -> None:
    result = make_result(profile="smoke")
    turned = result.model_copy(update={"trials": result.trials[::-1]})
    assert sketch(result) == sketch(turned)
    assert 0 < len(sketch(result)) <= MARKS
    assert all(-(2**63) <= mark < 2**63 for mark in sketch(result))


def test_the_reference_runs_share_no_timings() -> None:
    sketches = [set(sketch(store.load(file))) for file in REFERENCE_RUNS.glob("*.json")]
    assert len(sketches) > 10
    for one, other in combinations(sketches, 2):
        assert not one & other
