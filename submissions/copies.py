"""Copied trials: a timing that was measured once is never measured again.

Equal outputs say nothing, since the same weights at temperature 0 give them to everybody. Equal
timings do: clocks tell them to the microsecond and finer. So of each run a sketch is kept, the
`MARKS` smallest hashes of its trials' timings, and an upload's is looked up in all others.

Found is a copy whatever else was changed: outputs, verdicts, the order of the trials, the machine,
the model's name; timings of the client all stretched by one factor in a trial; and a run of which a
part is copied, down to about a seventh of its trials. Not found is a copy whose clocks were all
changed, each in a way of its own, by more than a hundred thousandth, or rounded: what was invented
can only contradict the tokens, the hardware, or itself, which is for `submissions.checks`.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db.models import Count

from bench_loop.result.records import RunResult, Trial
from runs.models import Run
from submissions.checks import Finding
from submissions.models.copies import TimingMark

MARKS = 64
"""Marks that are kept of a run: two smoke runs' worth, half a `core` run's."""
LEAST_SHARED = 5
LEAST_SHARE = 0.1
"""Of the marks of an upload, before it is said to share timings: coarse clocks give a few."""
MOST_RUNS = 3


@dataclass(frozen=True, slots=True)
class Shared:
    """Timings that a result shares with a run that is stored."""

    run: Run
    marks: int
    compared: int


def remember(run: Run, result: RunResult) -> None:
    """Keep the sketch of `run`, which was read as `result`."""
    TimingMark.objects.bulk_create(TimingMark(run=run, mark=mark) for mark in sketch(result))


def shared_timings(result: RunResult) -> list[Shared]:
    """The stored runs with which `result` shares timings, those with the most first.

    The same run itself, by the fingerprint that it names, is left out.
    """
    own = sketch(result)
    least = max(LEAST_SHARED, math.ceil(LEAST_SHARE * len(own)))
    counts = (
        TimingMark.objects.filter(mark__in=own)
        .exclude(run__fingerprint=result.fingerprint)
        .values("run_id")
        .annotate(shared=Count("id"))
        .filter(shared__gte=least)
        .order_by("-shared", "run_id")[:MOST_RUNS]
    )
    shared = {row["run_id"]: row["shared"] for row in counts}
    runs = Run.objects.select_related("submission").in_bulk(shared)
    return [Shared(runs[pk], marks, len(own)) for pk, marks in shared.items()]


def findings(result: RunResult, owner: User) -> list[Finding]:
    """For a moderator to judge, never refused: a refusal would teach a forger what to change."""
    return [_finding(one, result, owner) for one in shared_timings(result)]


def _finding(one: Shared, result: RunResult, owner: User) -> Finding:
    numbers = {"run": one.run.public_id, "shared": one.marks, "compared": one.compared}
    submission = getattr(one.run, "submission", None)
    amount = f"{one.marks} of {one.compared} timings that were compared are those of the run "
    if submission is None or submission.owner_id != owner.pk:
        sentence = f"{amount}{one.run.public_id}, which is somebody else's."
        return Finding("needs_review", "copied_trials", "trials", sentence, numbers)
    if result.rescored and result.rescored.first_fingerprint == one.run.fingerprint:
        sentence = f"This is the run {one.run.public_id}, judged again."
        return Finding("note", "judged_again", "rescored", sentence, numbers)
    sentence = f"{amount}{one.run.public_id} of the same owner: a run has trials of its own."
    return Finding("needs_review", "shared_trials", "trials", sentence, numbers)


def sketch(result: RunResult) -> list[int]:
    """The smallest marks of the trials: the same for any order of them."""
    return sorted({mark for trial in result.trials for mark in _marks(trial)})[:MARKS]


def _marks(trial: Trial) -> Iterator[int]:
    """One for the client's clock and one for the engine's, where they tell enough."""
    client = _client_times(trial)
    if len(set(client)) > 1:
        # With the task: a coarse clock gives several tasks the same few ticks.
        yield _hashed(f"{trial.suite}/{trial.task_id}", *client)
    engine = trial.engine_timings
    if engine and engine.prompt_s and engine.generation_s:
        yield _hashed("engine", f"{engine.prompt_s:.5e}", f"{engine.generation_s:.5e}")


def _client_times(trial: Trial) -> tuple[str, ...]:
    """Times of the client as shares of the whole trial, to five digits."""
    whole_s = trial.latency_s
    if not whole_s:
        return ()
    marks = (
        trial.t_first_byte_s,
        trial.t_first_thinking_s,
        trial.t_first_answer_s,
        trial.t_last_s,
        *(request.latency_s for request in trial.requests or ()),
    )
    return tuple(f"{mark / whole_s:.4e}" for mark in marks if mark)


def _hashed(*parts: str) -> int:
    """64 bits, signed as columns are."""
    digest = hashlib.blake2b("|".join(parts).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
