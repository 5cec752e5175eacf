"""Uploads with filled windows, several streams, sustained load: computed again, none left out."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bench_loop.result.records import RequestRecord, RunResult, Trial
from submissions import checks
from tests.site.make_result import make_result, rescored, speed_trial

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


def grouped(task_id: str, number: int, sent_s: float, tps: float = 50.0) -> Trial:
    """A request of 128 tokens sent at a moment on the clock of its group."""
    trial = speed_trial(512, 128, number, tps)
    request = RequestRecord(sent_s=sent_s, latency_s=trial.latency_s or 0.0, status=200)
    return trial.model_copy(update={"task_id": task_id, "requests": (request,)})


EXTRAS = (
    *(speed_trial(7680, 256, number, 50.0) for number in (1, 2)),
    *(grouped("c4-p512x128", number, 0.0) for number in (1, 2, 3, 4)),
    *(grouped("s-p128x128", number, 3.1 * number) for number in range(1, 21)),
)


def uploaded(extras: tuple[Trial, ...] = EXTRAS) -> RunResult:
    honest = make_result(finished_at=NOW - timedelta(hours=1))
    more_s = sum(trial.latency_s or 0.0 for trial in extras)
    trials = (*honest.trials, *extras)
    changes = {"trials": trials, "total_runtime_s": honest.total_runtime_s + more_s}
    return rescored(
        honest.model_copy(
            update=changes | {"started_at": honest.started_at - timedelta(seconds=more_s)}
        )
    )


def codes(result: RunResult) -> set[tuple[str, str]]:
    found = checks.findings(result, NOW)
    return {(one.code, one.field) for one in found if one.severity == "refused"}


def with_speed(result: RunResult, **changes: Any) -> RunResult:
    assert result.speed is not None
    return result.model_copy(update={"speed": result.speed.model_copy(update=changes)})


def test_an_honest_upload_of_all_of_them_is_accepted() -> None:
    result = uploaded()
    assert codes(result) == set()
    assert result.speed is not None
    assert result.speed.curve is not None
    assert result.speed.concurrency is not None
    assert result.speed.sustained is not None


def test_several_streams_take_the_time_of_one() -> None:
    streams = tuple(trial for trial in EXTRAS if trial.task_id.startswith("c4"))
    result = uploaded(streams)
    taken_s = 3 / 4 * sum(trial.latency_s or 0.0 for trial in streams)
    quicker = {"total_runtime_s": result.total_runtime_s - taken_s}
    assert codes(result.model_copy(update=quicker)) == set()


@pytest.mark.parametrize("name", ["curve", "concurrency", "sustained"])
def test_a_figure_that_the_trials_do_not_give_is_refused(name: str) -> None:
    forged = with_speed(uploaded(), **{name: None})
    assert ("score_mismatch", f"speed.{name}") in codes(forged)


@pytest.mark.parametrize("left_out", [("c4-p512x128", 2), ("s-p128x128", 7)])
def test_a_slow_one_cannot_be_left_out(left_out: tuple[str, int]) -> None:
    kept = tuple(trial for trial in EXTRAS if (trial.task_id, trial.trial) != left_out)
    assert ("missing_trial", "trials") in codes(uploaded(kept))


@pytest.mark.parametrize("task_id", ["c0-p512x128", "c4", "s-", "x-p1x1", "c4-p512x128\n"])
def test_other_names_are_refused(task_id: str) -> None:
    odd = grouped("c4-p512x128", 1, 0.0).model_copy(update={"task_id": task_id})
    assert "unknown_task" in {code for code, _ in codes(uploaded((odd,)))}
