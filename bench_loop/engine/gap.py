"""Finds the frozen run that a fresh one is held against, among the results on this machine."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from bench_loop.config import results_folder
from bench_loop.engine.shelf import Shelf
from bench_loop.errors import PackError
from bench_loop.result.compare import is_same_model, not_comparable
from bench_loop.result.records import RunResult, SuiteResult
from bench_loop.result.store import readable, result_files
from bench_loop.scoring.gap import Gap, family_shares, fresh_gap


@dataclass(frozen=True, slots=True)
class FoundGap:
    """The gap of a fresh run to a frozen one of the same model, settings and suites."""

    gap: Gap
    frozen_run_id: str


def find_gap(fresh: RunResult, folders: Iterable[Path] = ()) -> FoundGap | None:
    """The gap to the newest frozen run in `folders` or in the usual one.

    None where `fresh` is no complete fresh run, there is no such run, or the packs of here are
    others than those of the two.
    """
    if fresh.settings.fresh_seed is None:
        return None
    places = dict.fromkeys((results_folder(), *(folder.resolve() for folder in folders)))
    newest_first = sorted(
        (file for place in places for file in result_files(place)),
        key=lambda file: file.name,
        reverse=True,
    )
    return gap_among(fresh, readable(newest_first))


def gap_among(fresh: RunResult, runs: Iterable[RunResult]) -> FoundGap | None:
    """The gap to the first of `runs` that is its frozen counterpart; None: none is."""
    for frozen in runs:
        gap = gap_between(frozen, fresh)
        if gap is not None:
            return FoundGap(gap, frozen.run_id)
    return None


def gap_between(frozen: RunResult, fresh: RunResult) -> Gap | None:
    """The gap of two runs; None where more than the instances differs."""
    if not _are_counterparts(frozen, fresh):
        return None
    official, drawn = Shelf(), Shelf(fresh.settings.fresh_seed)
    suites = [
        suite.suite
        for suite in _quality(fresh)
        if _is_of(suite, drawn) and all(_is_of(one, official) for one in _named(frozen, suite))
    ]
    if len(suites) < len(_quality(fresh)):
        return None
    known = {
        (name, task.id): task.family
        for name in suites
        for shelf in (official, drawn)
        for task in shelf.pack(name).tasks
        if task.family is not None
    }
    return fresh_gap(family_shares(frozen.trials, known), family_shares(fresh.trials, known))


def _are_counterparts(frozen: RunResult, fresh: RunResult) -> bool:
    """Whether nothing but the instances tells the runs apart. Suites that were left out may."""
    return (
        fresh.settings.fresh_seed is not None
        and frozen.settings.fresh_seed is None
        and frozen.status == fresh.status == "complete"
        and is_same_model(frozen, fresh)
        and frozen.subject.quantization == fresh.subject.quantization
        and all(_named(frozen, suite) for suite in _quality(fresh))
        and not not_comparable(frozen, fresh, may_instances_differ=True)
    )


def _quality(run: RunResult) -> list[SuiteResult]:
    return [suite for suite in run.suites if suite.dimension == "quality"]


def _named(run: RunResult, suite: SuiteResult) -> list[SuiteResult]:
    return [one for one in run.suites if one.suite == suite.suite and not one.is_private]


def _is_of(suite: SuiteResult, shelf: Shelf) -> bool:
    """Whether the suite is the pack of `shelf`, so that its tasks and families are known."""
    try:
        has_pack = not suite.is_private and suite.suite in shelf.names()
        return has_pack and shelf.pack(suite.suite).pack_hash == suite.pack_hash
    except PackError:
        return False
