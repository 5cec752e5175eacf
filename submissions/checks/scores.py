"""Scores: suites, speed and aggregates, recomputed from the trials."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from pydantic import BaseModel

from bench_loop.engine.packs import pack_names
from bench_loop.engine.rescore import scored_task_ids
from bench_loop.engine.shelf import Shelf
from bench_loop.errors import PackError
from bench_loop.result.records import RunResult, SuiteResult
from bench_loop.scoring.constants import EARLIER_SCORING_VERSIONS
from bench_loop.scoring.differences import differences
from bench_loop.scoring.recompute import RunScores, SuiteKey, score_run
from submissions.checks.finding import Finding, needs_review, refused
from submissions.checks.upload import Upload

PACK_FIELDS = {"suite", "version", "pack_hash", "dimension"}
"""Fields of a suite's result that `check_packs` is for."""


def check_scores(upload: Upload) -> Iterator[Finding]:
    """Suites, speed and aggregates, recomputed from the trials, are what the upload says."""
    result = upload.result
    scores = scores_of(upload)
    if scores is None:
        return
    if result.scoring_version in EARLIER_SCORING_VERSIONS:
        yield from _earlier_findings(result, scores)
        return
    yield from _score_findings("aggregates", result.aggregates, scores.aggregates)
    yield from _score_findings("speed", result.speed, scores.speed)
    computed = {suite.suite: suite for suite in scores.suites}
    for index, suite in enumerate(result.suites):
        yield from _score_findings(f"suites[{index}]", suite, computed.get(suite.suite))


def _earlier_findings(result: RunResult, scores: RunScores) -> Iterator[Finding]:
    """Formulas that are gone can't be computed; where those of today differ, a person looks."""
    for path, ours, theirs in differences(
        _plain(result.aggregates), _plain(scores.aggregates), "aggregates"
    ):
        yield needs_review(
            "earlier_version",
            path,
            f"The formulas of today give {_figure(theirs)}, the file says {_figure(ours)} by "
            f"those of version {result.scoring_version}.",
            claimed=ours,
            computed=theirs,
        )


def scores_of(upload: Upload) -> RunScores | None:
    """Every score, from the trials as they are judged here; None: a suite is not known here."""
    result = upload.result
    if any(suite.suite not in upload.packs for suite in result.suites):
        return None
    load = result.speed.load_s if result.speed else None
    return score_run(
        upload.judged_trials,
        [_suite_key(upload, suite) for suite in result.suites],
        result.profile,
        result.speed.plan if result.speed else None,
        load_s=load.median if load else None,
        missing_suites=missing_suites(result),
    )


def _suite_key(upload: Upload, suite: SuiteResult) -> SuiteKey:
    pack = upload.packs[suite.suite]
    return SuiteKey(
        suite=pack.name,
        version=pack.version,
        pack_hash=pack.pack_hash,
        dimension=pack.dimension,
        task_ids=scored_task_ids(upload.result, pack) if pack.dimension == "quality" else (),
        left_out=pack.left_out_of(upload.result.profile),
    )


def missing_suites(result: RunResult) -> list[str]:
    """Suites that the profile asks for and the run does not hold."""
    ran, shelf = {suite.suite for suite in result.suites}, Shelf(result.settings.fresh_seed)
    missing = []
    for name in pack_names():
        with suppress(PackError):  # Nothing can be drawn of it, and so nothing is missing.
            if name not in ran and result.profile in shelf.pack(name).profiles:
                missing.append(name)
    return missing


def _score_findings(
    where: str, claimed: BaseModel | None, computed: BaseModel | None
) -> Iterator[Finding]:
    for path, ours, theirs in differences(_plain(claimed), _plain(computed), where):
        yield refused(
            "score_mismatch",
            path,
            f"The trials give {_figure(theirs)}, the file says {_figure(ours)}.",
            claimed=ours,
            computed=theirs,
        )


def _plain(record: BaseModel | None) -> Any:
    return None if record is None else record.model_dump(mode="json", exclude=PACK_FIELDS)


def _figure(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6f}".rstrip("0").rstrip(".")
    return "nothing" if value is None else str(value)[:60]
