"""Runs with chosen scores, published without working anything out: for what follows from scores."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from django.contrib.auth.models import User

from bench_loop.result.records import RunResult
from bench_loop.result.store import to_bytes
from leaderboard.models import Entry
from leaderboard.publish import publish
from runs.models import Run
from submissions.models import Submission
from tests.site.make_result import make_machine, make_result, make_subject

FIRST = datetime(2026, 11, 1, tzinfo=UTC)


@cache
def _ranked() -> RunResult:
    return make_result(profile="quick")


def store_run(
    overall: float | None,
    *,
    number: int = 0,
    owner: User | None = None,
    model_id: str = "qwen3:8b",
    gpu: str = "RTX 4090",
    reach: float = 3.0,
    subject: dict[str, Any] | None = None,
    **changes: Any,
) -> Run:
    """A stored run of a ranked profile with this overall score, `reach` points to both sides.

    `number` tells runs apart, and orders them in time. With an owner it is an upload of theirs.
    """
    interval = None if overall is None else (max(overall - reach, 0.0), min(overall + reach, 100.0))
    known = _ranked()
    aggregates = known.aggregates.model_copy(
        update={"overall_score": overall, "overall_score_interval": interval}
    )
    finished = FIRST + timedelta(minutes=number)
    result = known.model_copy(
        update={
            "aggregates": aggregates,
            "subject": make_subject(model_id=model_id, **(subject or {})),
            "machine": make_machine(gpu),
            "finished_at": finished,
            "started_at": finished - timedelta(seconds=known.total_runtime_s),
            "trials": (
                known.trials[0].model_copy(update={"latency_s": 30.0 + number}),
                *known.trials[1:],
            ),
            **changes,
        }
    )
    run = Run.of(result, to_bytes(result), Run.Source.UPLOAD if owner else Run.Source.LOCAL)
    run.save()
    if owner is not None:
        Submission.objects.create(run=run, owner=owner, status=Submission.Status.APPROVED)
    return run


def show_run(overall: float | None, **changes: Any) -> Entry:
    """The same run, published."""
    is_local = changes.get("owner") is None
    return publish(store_run(overall, **changes), level="consistent", is_local=is_local)
