"""The capabilities of a run as text: the share of the tasks with each tag that were passed."""

from __future__ import annotations

from collections.abc import Iterable

from bench_loop.report import figures
from bench_loop.report.printable import one_line
from bench_loop.report.records import Reading
from bench_loop.result.records import Trial
from bench_loop.scoring.capabilities import CapabilityScore, capability_scores


def capability_readings(trials: Iterable[Trial]) -> tuple[Reading, ...]:
    """A reading for each tag, in the order of the alphabet: `33 (6–79), 1 of 3 tasks`."""
    return tuple(
        Reading(tag_words(found), f"{_score(found)}, {passed_tasks(found)} {_noun(found)}")
        for found in capability_scores(trials)
    )


def tag_words(found: CapabilityScore) -> str:
    """The tag as words: `tool choice`."""
    return one_line(found.tag).replace("_", " ")


def passed_tasks(found: CapabilityScore) -> str:
    """`1 of 3`; with several trials of a task to one decimal: `1.7 of 3`."""
    passed = figures.number(found.passed, 0 if found.passed.is_integer() else 1)
    return f"{passed} of {figures.count(found.task_count)}"


def _noun(found: CapabilityScore) -> str:
    return "task" if found.task_count == 1 else "tasks"


def _score(found: CapabilityScore) -> str:
    figure = figures.score(found.score, found.interval)
    return f"{figure.value} ({figure.interval})"
