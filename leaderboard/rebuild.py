"""Names, stacks, shown runs and bands worked out anew from the entries, league by league."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction

from bench_loop.result.records import Subject
from leaderboard import locks, names, stacks
from leaderboard.models import Entry, League, Stack

AT_ONCE = 500
"""Entries held in memory."""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """How much was looked at, and how many entries were in no stack or in another one."""

    leagues: int
    stacks: int
    entries: int
    moved: int


def is_needed() -> bool:
    """Whether entries were stored by a version that knew no stacks."""
    return Entry.objects.filter(stack__isnull=True).exists()


def rebuild_stacks() -> Rebuilt:
    """Bring everything that follows from the entries up to the present rules.

    Idempotent. Publishing waits for one league at a time. What people decided about names stays.
    """
    entries = moved = 0
    keys = set(Entry.objects.order_by().values_list("league", flat=True).distinct())
    for key in sorted(keys | set(League.objects.values_list("key", flat=True))):
        seen, changed = _rebuild_league(key)
        entries += seen
        moved += changed
    return Rebuilt(len(keys), Stack.objects.count(), entries, moved)


@transaction.atomic
def _rebuild_league(key: str) -> tuple[int, int]:
    locks.share_names()
    league = locks.lock_leagues([key])[key]
    seen = moved = 0
    entries = Entry.objects.filter(league=key).select_related("alias__model")
    for entry in entries.order_by("pk").iterator(AT_ONCE):
        seen += 1
        moved += _place(entry, league)
    stacks.refresh(list(Stack.objects.filter(league=league).values_list("pk", flat=True)))
    return seen, moved


def _place(entry: Entry, league: League) -> bool:
    """Put an entry into its stack. Gives whether it was elsewhere."""
    header, owner = (
        Entry.objects.filter(pk=entry.pk)
        .values_list("run__header__subject", "run__submission__owner")
        .get()
    )
    alias = names.alias_again(Subject.model_validate(header, strict=False), entry.alias)
    stack = stacks.stack_for(alias.model, entry.quantization, entry.device_class, league)
    before = (entry.alias_id, entry.stack_id, entry.owner_id)
    if before == (alias.pk, stack.pk, owner):
        return False
    Entry.objects.filter(pk=entry.pk).update(alias=alias, stack=stack, owner=owner)
    return True
