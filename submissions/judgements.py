"""Keeps what this site says of a run where it judged its outputs itself: old and new."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from bench_loop.result.records import RunResult
from leaderboard import publish
from leaderboard.models import Entry
from runs.models import Run
from runs.verdicts import differing_verdicts
from submissions.models import Judgement, Regrade


def judgement(
    run: Run, filed: RunResult | None, judged: RunResult | None, regrade: Regrade | None = None
) -> Judgement:
    """An unsaved record of a run as it is and as `judged`; None: it is judged as before."""
    entry = Entry.objects.filter(run=run).first()
    return Judgement(
        run=run,
        regrade=regrade,
        league=entry.league if entry else "",
        score_before=run.run_header().aggregates.overall_score,
        score_after=(judged or run.run_header()).aggregates.overall_score,
        header_before=run.header if judged else None,
        header_after=_header(judged) if judged else None,
        verdicts_before=run.verdicts if judged else None,
        verdicts_after=differing_verdicts(filed, judged) if filed and judged else None,
        band_before=_band(entry),
    )


def _header(result: RunResult) -> dict[str, Any]:
    header: dict[str, Any] = result.model_dump(mode="json", exclude={"trials"})
    return header


def _band(entry: Entry | None) -> list[int] | None:
    if entry is None or entry.band_low is None or entry.band_high is None:
        return None
    return [entry.band_low, entry.band_high]


def apply(judged: Sequence[Judgement], *, is_kept: bool = True) -> frozenset[str]:
    """Give the runs and their entries what was judged, all at once, and note how they stand then.

    Call it in a transaction that holds their submissions. Gives the leagues that were touched. A
    judgement that is not to be kept is only told how it would stand.
    """
    changed = [one for one in judged if one.header_after is not None]
    for one in changed:
        Run.objects.filter(pk=one.run_id).update(
            header=one.header_after, verdicts=one.verdicts_after
        )
    leagues = publish.update([one.run_id for one in changed])
    entries = {
        entry.run_id: entry
        for entry in Entry.objects.filter(run__in=[one.run_id for one in judged])
    }
    for one in judged:
        one.applied_at = timezone.now()
        one.band_after = _band(entries.get(one.run_id))
        if is_kept:
            one.save()
    return leagues


@transaction.atomic
def keep(run: Run, filed: RunResult, judged: RunResult) -> None:
    """Give `run` the verdicts and scores of `judged`, with a record of what it had before."""
    apply([judgement(run, filed, judged)])
