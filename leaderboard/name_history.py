"""The record of changes to names: each with the rows before and after, so that it can be undone."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

from django.contrib.auth.models import User

from leaderboard.models import LanguageModel, ModelAlias, NameChange

Snapshot = dict[str, Any]

LONGEST_SUMMARY = 1000


class NamesError(Exception):
    """This change of names is not possible; the text says why."""


@contextmanager
def recorded(
    kind: NameChange.Kind,
    by: User,
    reason: str,
    summary: str,
    models: Collection[LanguageModel],
    aliases: Collection[ModelAlias],
    undoes: NameChange | None = None,
) -> Iterator[None]:
    """Do the change inside: it is recorded with these rows as they were and as they have become."""
    before = snapshot(models, aliases)
    yield
    NameChange.objects.create(
        kind=kind,
        actor=by,
        reason=reason.strip(),
        summary=summary[:LONGEST_SUMMARY],
        before=before,
        after=snapshot(models, aliases),
        undoes=undoes,
    )


def snapshot(models: Collection[LanguageModel], aliases: Collection[ModelAlias]) -> Snapshot:
    """These rows as they now are in the database."""
    found = LanguageModel.objects.filter(pk__in=[model.pk for model in models])
    owners = ModelAlias.objects.filter(pk__in=[alias.pk for alias in aliases])
    return {
        "models": {
            str(model.pk): {
                "name": model.name,
                "slug": model.slug,
                "merged_into": model.merged_into_id,
            }
            for model in found.order_by("pk")
        },
        "aliases": {str(pk): model for pk, model in owners.values_list("pk", "model_id")},
    }


def touched(change: NameChange) -> tuple[list[LanguageModel], list[ModelAlias]]:
    """The rows that a change is about."""
    models = LanguageModel.objects.filter(pk__in=change.after["models"]).order_by("pk")
    aliases = ModelAlias.objects.filter(pk__in=change.after["aliases"]).order_by("pk")
    return list(models), list(aliases)


def require_last(change: NameChange) -> None:
    """Raises NamesError where undoing `change` would lose another change."""
    if NameChange.objects.filter(undoes=change).exists():
        raise NamesError("It was undone already.")
    if snapshot(*touched(change)) != change.after:
        raise NamesError("The same names were changed again since; undo that first.")


def restore(state: Snapshot) -> None:
    """Write the rows of a snapshot back."""
    for pk, fields in state["models"].items():
        LanguageModel.objects.filter(pk=pk).update(
            name=fields["name"], slug=fields["slug"], merged_into_id=fields["merged_into"]
        )
    for pk, model in state["aliases"].items():
        ModelAlias.objects.filter(pk=pk).update(model_id=model)
