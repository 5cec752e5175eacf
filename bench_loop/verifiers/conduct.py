"""How an outcome was reached: the credit for calls beside it, and what was looked at first.

The diagnostic score has a quarter each for: the right outcome, no more calls than the shortest way
and its slack, no hallucinated tool, all required evidence. It is 0 without the right outcome.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any

from bench_loop.contracts.chat import CallRecord
from bench_loop.verifiers.documents import parse_object
from bench_loop.verifiers.reports import Broken

SLACK = 0.5
"""Calls beyond the shortest way that are still efficient, as a share of its calls."""

_READS = "read_file"
_SHOWS = {"search_files", "run_command"}
"""Tools whose replies may show any file."""
_CHANGES = {"write_file", "patch_file", "delete_file"}


def is_efficient(calls: int, least: int) -> bool:
    """Whether `calls` are no more than those of the shortest way, its slack and one more."""
    return calls <= least * (1 + SLACK) + 1


def over_bound(calls: Sequence[CallRecord], most: int | None) -> Broken | None:
    """Whether more than `most` calls were made; None for `most`: there is no bound.

    Every call counts, whatever its tool and whatever came of it. Calls that a harness does not tell
    are none here: who edits by text alone, or keeps silent, can't be held to a bound, and is judged
    by the outcome.
    """
    if most is None or len(calls) <= most:
        return None
    return "too_many_calls", f"{len(calls)} calls were made where {most} are allowed."


def credit(*, is_efficient: bool, is_sober: bool, has_evidence: bool) -> float:
    """The diagnostic score of a right outcome."""
    return (1 + is_efficient + is_sober + has_evidence) / 4


def is_sober(calls: Sequence[CallRecord]) -> bool:
    """Whether no tool was called that is not offered, as far as is known."""
    return all(call.is_offered is not False for call in calls)


def unnecessary(calls: Sequence[CallRecord]) -> int | None:
    """How many calls brought nothing; None: of one at least it is not known.

    They were not offered, not well formed, or their reply was known before.
    """
    if any(call.is_useful is None for call in calls):
        return None
    return sum(not call.is_useful for call in calls)


def blind_change(
    calls: Sequence[CallRecord], look_first: Collection[str], files: Collection[str]
) -> Broken | None:
    """Whether one of `files` was changed in a turn before all of `look_first` had been looked at.

    Only BenchLoop's own tools tell: where another harness's did the work, None. A search or a
    program may have shown any file, so it counts as a look at all of them.
    """
    if any(call.is_useful is None or call.turn is None for call in calls):
        return None
    deeds = [(call, _path(call)) for call in calls if call.is_well_formed]
    first_change = min(_turns(deeds, _CHANGES, files), default=None)
    if first_change is None:
        return None
    shown = min((turn for turn in _turns(deeds, _SHOWS, None)), default=first_change)
    for path in look_first:
        seen = min(_turns(deeds, {_READS}, {path}), default=first_change)
        if min(seen, shown) >= first_change:
            sentence = f"A file was changed before {path} had been looked at."
            return f"changed_before_looking:{path}", sentence
    return None


def _turns(
    deeds: Sequence[tuple[CallRecord, str]], tools: Collection[str], paths: Collection[str] | None
) -> Iterator[int]:
    """The turns of the calls of `tools` on one of `paths`; None: on whatever."""
    for call, path in deeds:
        if call.name in tools and (paths is None or path in paths):
            yield call.turn or 0


def _path(call: CallRecord) -> str:
    """The path that a call is about, from the workspace's top; "": it is about none."""
    args: dict[str, Any] = parse_object(call.arguments) or {}
    path = args.get("path")
    return str(PurePosixPath(path)) if isinstance(path, str) else ""
