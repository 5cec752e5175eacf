"""The entries as a matrix of models, harnesses and suites."""

from __future__ import annotations

import hashlib
import logging
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from django.core.cache import cache
from django.db.models import Count, F, Q, QuerySet
from django.http import QueryDict

import bench_loop
from bench_loop.programs.matrices import matrix_of_runs
from bench_loop.report.matrix import matrix_view
from bench_loop.report.matrix_csv import matrix_csv
from bench_loop.report.matrix_records import MatrixView
from bench_loop.result import outline
from bench_loop.result.pinned import RAW
from bench_loop.result.records import RunResult
from bench_loop.scoring.constants import SCORING_VERSION
from leaderboard.filters import EntryFilter
from leaderboard.models import Entry, Outline

logger = logging.getLogger(__name__)

MOST_RUNS = 200
"""Runs in one matrix: the best ones."""
KEPT_S = 24 * 3600
"""How long a matrix is kept that nobody asks for."""


@dataclass(frozen=True, slots=True)
class Made:
    """A matrix of entries, as it is shown and as it is downloaded."""

    view: MatrixView
    csv: str


@dataclass(frozen=True, slots=True)
class Chosen:
    """The runs of a matrix. `is_cut`: there are more, and the best were taken."""

    runs: tuple[int, ...]
    profile: str | None
    """Of all of them; None: the reader chose several, or there is none."""
    is_cut: bool


def filters_of(parameters: QueryDict) -> EntryFilter:
    """The filters but that by harness: raw is always in, or there is nothing to hold against."""
    others = parameters.copy()
    others.pop("harness", None)
    others.pop("ordering", None)
    shown = Entry.objects.shown().filter(outline__isnull=False, scoring_version=SCORING_VERSION)
    return EntryFilter(others, queryset=shown)


def chosen_runs(entries: QuerySet[Entry], parameters: QueryDict) -> Chosen:
    """The best of `entries` whose model was run in a harness at all; best by quality.

    Without a choice of profiles it is the one with most runs in harnesses, since runs of two
    profiles have no cell in common.
    """
    named = [name for name in parameters.getlist("harness") if name]
    if named:
        wanted = reduce(or_, (Q(harness__iexact=name) for name in (RAW, *named)))
        entries = entries.filter(wanted)
    in_harness = entries.exclude(harness__iexact=RAW).order_by()
    profiles = [name for name in parameters.getlist("profile") if name]
    if not profiles:
        counted = in_harness.values_list("profile").annotate(runs=Count("pk"))
        most = counted.order_by("-runs", "profile").first()
        profiles = [most[0]] if most else []
        entries = entries.filter(profile__in=profiles)
    best = entries.filter(model_id__in=in_harness.values("model_id")).order_by(
        F("quality_score").desc(nulls_last=True), "-finished_at", "pk"
    )
    found = tuple(best.values_list("pk", flat=True)[: MOST_RUNS + 1])
    profile = profiles[0] if len(profiles) == 1 else None
    return Chosen(found[:MOST_RUNS], profile, is_cut=len(found) > MOST_RUNS)


def made_of(runs: Sequence[int]) -> Made:
    """The matrix of these entries, reckoned once: an outline never changes."""
    named = f"{bench_loop.__version__} {SCORING_VERSION} {sorted(runs)}"
    key = f"matrix-{hashlib.sha256(named.encode()).hexdigest()}"
    made: Made | None = cache.get(key)
    if made is None:
        made = _made(runs)
        cache.set(key, made, KEPT_S)
    return made


def _made(runs: Sequence[int]) -> Made:
    outlines = Outline.objects.filter(pk__in=runs).order_by("pk")
    rows = outlines.values_list("pk", "data", "entry__run__submission__owner")
    matrix = matrix_of_runs(_in_order(_arms_of_one_owner(list(_readable(rows)))))
    return Made(matrix_view(matrix), matrix_csv(matrix))


def _readable(
    rows: Iterable[tuple[int, bytes | memoryview[int], int | None]],
) -> Iterator[tuple[RunResult, int | None]]:
    """Each outline with its owner. One that cannot be read costs its own run and no other."""
    for key, data, owner in rows:
        try:
            yield outline.from_bytes(bytes(data)), owner
        except (zlib.error, ValueError):
            logger.warning("The outline of entry %s cannot be read: it is in no matrix.", key)


def _arms_of_one_owner(results: Sequence[tuple[RunResult, int | None]]) -> list[RunResult]:
    """The results, each matrix left to the owner who published one of its runs first.

    A run says by itself of which matrix it is, and arms of one are believed to have had the same
    server: a stranger's run that says so would be what another's harnesses are held against.
    """
    owners: dict[str, int | None] = {}
    kept = []
    for result, owner in results:
        arm = result.matrix
        is_own = arm is None or owners.setdefault(arm.matrix_id, owner) == owner
        kept.append(result if is_own else result.model_copy(update={"matrix": None}))
    return kept


def _in_order(results: Sequence[RunResult]) -> list[RunResult]:
    """The best models in raw first, harnesses by name."""
    raw = {
        result.subject.model_id: result.aggregates.quality_score or 0.0
        for result in results
        if result.subject.harness == RAW
    }

    def place(result: RunResult) -> tuple[float, str, str]:
        model = result.subject.model_id
        return -raw.get(model, 0.0), model, result.subject.harness

    return sorted(results, key=place)
