"""Runs of one configuration by one owner are versions of each other: which there are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from bench_loop.report import figures
from bench_loop.report.repeats import Repeats
from leaderboard import board
from leaderboard.models import Entry, Stack

MOST_SHOWN = 20
"""Versions that a page lists: the newest ones."""


@dataclass(frozen=True, slots=True)
class Version:
    """A run of the same stack by the same owner."""

    public_id: str
    href: str
    finished: str
    overall: figures.Figure | None
    not_ranked: str
    is_this: bool
    is_shown: bool


@dataclass(frozen=True, slots=True)
class Versions:
    """A run among the runs of its stack. `shown`: the run that stands for the stack."""

    repeats: Repeats
    own: tuple[Version, ...]
    """The owner's published ones, oldest first."""
    own_count: int
    own_withdrawn: int
    others: tuple[Version, ...]
    """Published ones of other owners, oldest first."""
    others_count: int
    shown: str
    shown_href: str

    @property
    def is_shown(self) -> bool:
        """Whether this run is the one on the board."""
        return any(version.is_this and version.is_shown for version in self.own)

    @property
    def groups(self) -> tuple[tuple[str, str, tuple[Version, ...]], ...]:
        """What there is to list: heading, basis, runs."""
        withdrawn = f"{self.own_withdrawn} withdrawn" if self.own_withdrawn else ""
        own = (f"{self.own_count} by this owner", withdrawn or _newest(self.own_count), self.own)
        others = (f"{self.others_count} by others", _newest(self.others_count), self.others)
        return (own, others) if self.others else (own,) if self.own_count > 1 else ()


def entry_with_stack(public_id: str) -> Entry | None:
    """The entry of a run, shown or withdrawn, with its stack and the run that stands for it."""
    return (
        Entry.objects.select_related("run", "stack__model", "stack__shown__run")
        .defer("stack__shown__run__result_bytes", "stack__shown__run__header")
        .filter(run__public_id=public_id)
        .first()
    )


def versions_of(entry: Entry) -> Versions | None:
    """The versions of a published run; None: it stands in no stack."""
    stack = entry.stack
    if stack is None or stack.shown is None:
        return None
    runs = board.without_results(Entry.objects.filter(stack=stack)).order_by("-finished_at", "-pk")
    is_own = Q(owner=entry.owner_id) if entry.owner_id else Q(owner__isnull=True)
    listed = list(runs.filter(is_own))
    published = [one for one in listed if one.withdrawn_at is None]
    others_count = stack.run_count + stack.uncounted_count - len(published)
    others = runs.filter(~is_own, withdrawn_at__isnull=True)[:MOST_SHOWN] if others_count else ()
    return Versions(
        repeats=board.repeats(stack),
        own=_listed(published[:MOST_SHOWN], entry, stack),
        own_count=len(published),
        own_withdrawn=len(listed) - len(published),
        others=_listed(others, entry, stack),
        others_count=others_count,
        shown=stack.shown.run.public_id,
        shown_href=stack.shown.get_absolute_url(),
    )


def _listed(newest_first: Iterable[Entry], this: Entry, stack: Stack) -> tuple[Version, ...]:
    versions = [
        Version(
            public_id=one.run.public_id,
            href=one.get_absolute_url(),
            finished=figures.moment(one.finished_at),
            overall=board.standing(one).overall_figure,
            not_ranked=board.not_ranked(one),
            is_this=one.pk == this.pk,
            is_shown=one.pk == stack.shown_id,
        )
        for one in newest_first
    ]
    return tuple(reversed(versions))


def _newest(count: int) -> str:
    return f"the newest {MOST_SHOWN}" if count > MOST_SHOWN else "same configuration"


def as_json(public_id: str) -> dict[str, Any] | None:
    """The same for the API; None: the run is on no board."""
    entry = entry_with_stack(public_id)
    found = versions_of(entry) if entry and entry.withdrawn_at is None else None
    if entry is None or entry.stack is None or found is None:
        return None
    stack = entry.stack
    return {
        "model": stack.model.slug,
        "model_name": stack.model.name,
        "shown_run": found.shown,
        "is_shown": found.is_shown,
        "run_count": stack.run_count,
        "owner_count": stack.owner_count,
        "uncounted_count": stack.uncounted_count,
        "withdrawn_count": stack.withdrawn_count,
        "overall_low": stack.overall_low,
        "overall_high": stack.overall_high,
        "versions": [version.public_id for version in found.own],
        "other_runs": [version.public_id for version in found.others],
    }
