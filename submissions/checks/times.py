"""Times: of the run in the past and in order, of a trial in order and inside it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise

from bench_loop.result.records import Trial
from bench_loop.scoring.load import streams_of
from submissions.checks.finding import Finding, needs_review, refused
from submissions.checks.upload import Upload

CLOCK_SKEW = timedelta(minutes=5)
SLACK_S = 1.0
SLACK_SHARE = 0.02


def check_times(upload: Upload) -> Iterator[Finding]:
    """Wall times lie in the past and in order, and the serial run had time for its trials."""
    result = upload.result
    for name in ("started_at", "finished_at"):
        if getattr(result, name) > upload.now + CLOCK_SKEW:
            yield refused("in_the_future", name, "This time lies in the future.")
    if result.finished_at < result.started_at:
        yield refused("times_reversed", "finished_at", "The run finished before it started.")
    busy_s = sum(_own_time_s(trial) for trial in result.trials)
    if result.speed and result.speed.load_s:
        busy_s += result.speed.load_s.median
    runtime_s = result.total_runtime_s
    if runtime_s is None:  # an import that does not state it
        return
    if runtime_s < busy_s * (1 - SLACK_SHARE) - SLACK_S:
        yield refused(
            "runtime_too_short",
            "total_runtime_s",
            "Loading and all trials together took longer than the whole run.",
            total_runtime_s=result.total_runtime_s,
            trials_s=busy_s,
        )
    wall_s = (result.finished_at - result.started_at).total_seconds()
    if runtime_s > wall_s * (1 + SLACK_SHARE) + 60:
        yield needs_review(
            "runtime_too_long",
            "total_runtime_s",
            "The run claims more time than lies between its start and its end.",
            total_runtime_s=result.total_runtime_s,
            wall_s=wall_s,
        )


def _own_time_s(trial: Trial) -> float:
    """The time of the run that a trial needed: of several at once each needs its share."""
    streams = streams_of(trial.task_id) if trial.suite == "speed" else None
    return (trial.latency_s or 0.0) / (streams or 1)


def check_time_marks(upload: Upload) -> Iterator[Finding]:
    """Within a trial the time marks come in order and inside its latency."""
    for index, trial in enumerate(upload.result.trials):
        marks = [
            ("t_first_byte_s", trial.t_first_byte_s),
            ("t_first_thinking_s", trial.t_first_thinking_s),
            ("t_first_answer_s", trial.t_first_answer_s),
            ("t_last_s", trial.t_last_s),
        ]
        known = [(name, mark) for name, mark in marks if mark is not None]
        for (_, earlier), (name, later) in pairwise(known):
            if later < earlier - 1e-6:
                yield refused(
                    "marks_reversed", f"trials[{index}].{name}", "The time marks are out of order."
                )
        if trial.t_last_s is None or trial.latency_s is None:
            continue
        if trial.t_last_s > trial.latency_s * (1 + SLACK_SHARE) + 0.05:
            yield refused(
                "marks_reversed",
                f"trials[{index}].t_last_s",
                "The last token came after the trial had ended.",
                t_last_s=trial.t_last_s,
                latency_s=trial.latency_s,
            )
