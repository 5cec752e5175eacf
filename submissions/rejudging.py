"""Keeps what this site says of a run where it judged its outputs itself: old and new."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.db import transaction
from django.utils import timezone

from bench_loop.result.records import RunResult
from leaderboard import publish
from leaderboard.bands import update_bands
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


def apply(one: Judgement) -> frozenset[str]:
    """Give the run and its entry what was judged. Gives the leagues whose bands are to be made."""
    if one.header_after is None:
        return frozenset()
    run = Run.objects.get(pk=one.run_id)
    run.header, run.verdicts = one.header_after, one.verdicts_after
    run.save(update_fields=["header", "verdicts"])
    return publish.update(run)


def applied(one: Judgement, *, is_kept: bool = True) -> None:
    """Note that it is shown, and in which band; call it when the bands are made."""
    one.applied_at = timezone.now()
    one.band_after = _band(Entry.objects.filter(run=one.run_id).first())
    if is_kept:
        one.save()


def lock(leagues: Collection[str]) -> None:
    """Hold all entries of `leagues` in one order, so that no two writers wait for each other."""
    list(Entry.objects.select_for_update().filter(league__in=leagues).order_by("pk"))


@transaction.atomic
def keep(run: Run, filed: RunResult, judged: RunResult) -> None:
    """Give `run` the verdicts and scores of `judged`, with a record of what it had before."""
    one = judgement(run, filed, judged)
    lock([one.league])
    for league in sorted(apply(one)):
        update_bands(league)
    applied(one)
