"""Rank bands of a league, computed when one of its stacks changes, stored with the shown runs."""

from __future__ import annotations

from django.db.models import F

from bench_loop.scoring.bands import RankedRow, rank_bands
from bench_loop.scoring.constants import BAND_ROWS, SCORING_VERSION
from leaderboard.models import Entry, League

BANDS = ["band_low", "band_high"]


def update_bands(league: League) -> None:
    """Store the bands of the runs that stand for the league's stacks. Call it with the lock held.

    The best BAND_ROWS rows get one, and only runs scored by the present formulas are rows.
    """
    best = list(
        Entry.objects.filter(
            stack__league=league,
            stack__shown=F("pk"),
            is_ranked=True,
            scoring_version=SCORING_VERSION,
            overall_score__isnull=False,
        )
        .only("overall_score", "overall_score_low", "overall_score_high", *BANDS)
        .order_by("-overall_score", "pk")[:BAND_ROWS]
    )
    bands = rank_bands([_row(entry) for entry in best])
    changed = []
    for entry, band in zip(best, bands, strict=True):
        found = (band.low, band.high) if band else (None, None)
        if (entry.band_low, entry.band_high) != found:
            entry.band_low, entry.band_high = found
            changed.append(entry)
    Entry.objects.bulk_update(changed, BANDS)
    kept = [entry.pk for entry in best]
    others = Entry.objects.filter(league=league.key, band_low__isnull=False).exclude(pk__in=kept)
    others.update(band_low=None, band_high=None)


def _row(entry: Entry) -> RankedRow:
    assert entry.overall_score is not None
    return RankedRow(entry.overall_score, entry.overall_score_low, entry.overall_score_high)
