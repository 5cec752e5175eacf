"""Rank bands of a league, computed when its runs are published and stored with the entries."""

from __future__ import annotations

from bench_loop.scoring.bands import RankedRow, rank_bands
from leaderboard.models import Entry


def update_bands(league: str) -> None:
    """Store the bands of all entries of `league`; call it in the transaction that changed one."""
    entries = list(Entry.objects.filter(league=league).select_for_update().order_by("pk"))
    rows = {entry.pk: row for entry in entries if (row := _row(entry)) is not None}
    bands = dict(zip(rows, rank_bands(list(rows.values())), strict=True))
    for entry in entries:
        band = bands.get(entry.pk)
        entry.band_low = band.low if band else None
        entry.band_high = band.high if band else None
    Entry.objects.bulk_update(entries, ["band_low", "band_high"])


def _row(entry: Entry) -> RankedRow | None:
    """The entry's place in the comparison; None when it has none."""
    if entry.overall_score is None or not entry.is_ranked or entry.withdrawn_at is not None:
        return None
    return RankedRow(entry.overall_score, entry.overall_score_low, entry.overall_score_high)
