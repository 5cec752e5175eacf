"""What the leaderboard stores: entries, the stacks that they belong to, and models' names."""

from __future__ import annotations

from leaderboard.models.entries import CPU_ONLY, LEVELS, Entry, EntryQuerySet, Outline
from leaderboard.models.names import LanguageModel, ModelAlias, ModelSlug, NameChange
from leaderboard.models.stacks import League, Stack

__all__ = [
    "CPU_ONLY",
    "LEVELS",
    "Entry",
    "EntryQuerySet",
    "LanguageModel",
    "League",
    "ModelAlias",
    "ModelSlug",
    "NameChange",
    "Outline",
    "Stack",
]
