"""What people decide about the names of models: merge, split, rename, and undo.

Every decision is one transaction: names, stacks, shown runs and bands change together, and a
NameChange says who did it, when, why, and how it was before. No upload's bytes change.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from django.contrib.auth.models import User
from django.db import transaction

from bench_loop.report.printable import one_line
from leaderboard import locks, name_history, stacks
from leaderboard.models import Entry, LanguageModel, ModelAlias, ModelSlug, NameChange
from leaderboard.models.names import LONGEST_NAME, LONGEST_SLUG
from leaderboard.name_history import NamesError
from leaderboard.names import new_model

PERMISSION = "leaderboard.change_modelalias"
MOST_AT_ONCE = 200
"""Models or aliases in one change."""


def merge(into: LanguageModel, others: Collection[LanguageModel], by: User, reason: str) -> None:
    """From now on `others` are `into`: their ids count for it, and their slugs lead to it."""
    _allow(by, reason, others)
    with transaction.atomic():
        locks.own_names()
        target = _fresh(into)
        merged = [_fresh(model) for model in others if model.pk != target.pk]
        if not merged:
            raise NamesError("Choose two models or more: one stays, the others become it.")
        aliases = list(ModelAlias.objects.filter(model__in=merged))
        names = ", ".join(model.name for model in merged)
        with name_history.recorded(
            NameChange.Kind.MERGE,
            by,
            reason,
            f"{names} merged into {target.name}",
            [target, *merged],
            aliases,
        ):
            for model in merged:
                model.merged_into = target
                model.save(update_fields=["merged_into"])
            move(aliases, target)


def split(aliases: Sequence[ModelAlias], by: User, reason: str, name: str = "") -> LanguageModel:
    """Take ids out of a model, into one of their own.

    If they were a model before and that one was merged, it comes back with its slug. Else a new one
    is made, called `name` or like the first id.
    """
    _allow(by, reason, aliases)
    with transaction.atomic():
        locks.own_names()
        moved = list(
            ModelAlias.objects.filter(pk__in=[alias.pk for alias in aliases])
            .select_related("model")
            .order_by("pk")
        )
        if not moved or len({alias.model_id for alias in moved}) != 1:
            raise NamesError("Choose ids of one model.")
        source = moved[0].model
        if source.aliases.count() == len(moved):
            raise NamesError(f"These are all the ids of {source}: nothing would be left of it.")
        target = _split_off(source, moved, name)
        with name_history.recorded(
            NameChange.Kind.SPLIT,
            by,
            reason,
            f"{target.name} split from {source.name}",
            [source, target],
            moved,
        ):
            target.merged_into = None
            target.save(update_fields=["merged_into"])
            move(moved, target)
    return target


def rename(model: LanguageModel, name: str, by: User, reason: str, slug: str = "") -> None:
    """Show `model` under another name, and with `slug` at another address; the old one leads on."""
    _allow(by, reason, [model])
    wanted = _valid_name(name)
    with transaction.atomic():
        locks.own_names()
        found = _fresh(model)
        _require_free(wanted, found)
        new_slug = _valid_slug(slug, found) if slug else found.slug
        if (wanted, new_slug) == (found.name, found.slug):
            raise NamesError(f"It is called {wanted} already.")
        with name_history.recorded(
            NameChange.Kind.RENAME, by, reason, f"{found.name} renamed {wanted}", [found], []
        ):
            found.name, found.slug = wanted, new_slug
            found.save(update_fields=["name", "slug"])
            ModelSlug.objects.get_or_create(slug=new_slug, defaults={"model": found})


def undo(change: NameChange, by: User, reason: str) -> None:
    """Put names back as they were before `change`; raises NamesError after a later one on them."""
    _allow(by, reason, [change])
    with transaction.atomic():
        locks.own_names()
        name_history.require_last(change)
        models, aliases = name_history.touched(change)
        followers = _followers(change, models, aliases)
        with name_history.recorded(
            NameChange.Kind.UNDO,
            by,
            reason,
            f"Undone: {change.summary}",
            models,
            [*aliases, *followers],
            undoes=change,
        ):
            name_history.restore(change.before)
            for alias in followers:
                ModelAlias.objects.filter(pk=alias.pk).update(model=_own_model(alias).current())
            regroup([*aliases, *followers])


def move(aliases: Collection[ModelAlias], target: LanguageModel) -> None:
    """Make `aliases` ids of `target`, and their runs its runs."""
    ModelAlias.objects.filter(pk__in=[alias.pk for alias in aliases]).update(model=target)
    regroup(aliases)


def regroup(aliases: Collection[ModelAlias]) -> None:
    """Bring stacks, shown runs and bands up to where these aliases now belong."""
    fresh = ModelAlias.objects.filter(pk__in=[alias.pk for alias in aliases])
    locks.lock_leagues(
        Entry.objects.filter(alias__in=fresh, stack__isnull=False)
        .order_by()
        .values_list("stack__league__key", flat=True)
        .distinct()
    )
    stacks.refresh(stacks.move_entries(fresh.select_related("model")))


def _followers(
    change: NameChange, models: Collection[LanguageModel], aliases: Collection[ModelAlias]
) -> list[ModelAlias]:
    """Ids that came since `change` and went by the rules where it had sent their kind."""
    names = [model.canonical for model in models if model.canonical is not None]
    since = ModelAlias.objects.filter(
        canonical__in=names, model__in=models, created_at__gt=change.created_at
    )
    return list(since.exclude(pk__in=[alias.pk for alias in aliases]))


def _own_model(alias: ModelAlias) -> LanguageModel:
    """The model that the rules mean by an alias, whatever it was merged into."""
    return LanguageModel.objects.get(canonical=alias.canonical)


def _split_off(source: LanguageModel, moved: Sequence[ModelAlias], name: str) -> LanguageModel:
    """The model for split ids: for now merged into `source`, from which the split frees it."""
    own = LanguageModel.objects.filter(canonical__in={alias.canonical for alias in moved})
    earlier = own.filter(merged_into=source)
    if not name and own.count() == 1 and (found := earlier.first()):
        return found
    shown = _valid_name(name or moved[0].name)
    _require_free(shown, None)
    target = new_model(shown, None, family=source.family, parameters_b=source.parameters_b)
    target.merged_into = source
    target.save(update_fields=["merged_into"])
    return target


def _allow(by: User, reason: str, chosen: Collection[object]) -> None:
    if not by.is_active or not by.has_perm(PERMISSION):
        raise NamesError("Only a maintainer can change the names of models.")
    if not reason.strip():
        raise NamesError("A reason is needed; it stays in the history.")
    if len(chosen) > MOST_AT_ONCE:
        raise NamesError(f"At most {MOST_AT_ONCE} at once.")


def _fresh(model: LanguageModel) -> LanguageModel:
    found = LanguageModel.objects.get(pk=model.pk)
    if found.merged_into_id is not None:
        raise NamesError(f"{found} was merged into another model already.")
    return found


def _require_free(name: str, own: LanguageModel | None) -> None:
    named = LanguageModel.objects.filter(name__iexact=name, merged_into__isnull=True)
    if any(model != own for model in named):
        raise NamesError(f"Another model is called {name}; merge them if they are the same.")


def _valid_name(name: str) -> str:
    cleaned = " ".join(name.split())
    if not cleaned or len(cleaned) > LONGEST_NAME or one_line(cleaned, LONGEST_NAME) != cleaned:
        raise NamesError(f"A name has 1 to {LONGEST_NAME} visible characters.")
    return cleaned


def _valid_slug(slug: str, model: LanguageModel) -> str:
    if len(slug) > LONGEST_SLUG or not re.fullmatch(r"[a-z0-9]+([.-][a-z0-9]+)*", slug):
        raise NamesError("An address has small letters, digits, and single dashes or dots between.")
    if ModelSlug.objects.filter(slug=slug).exclude(model=model).exists():
        raise NamesError(f"The address {slug} is or was another model's.")
    return slug
