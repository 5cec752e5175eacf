"""Which model an id means: the rules' first guess, or what people decided instead."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from secrets import token_hex

from django.db import IntegrityError, transaction

from bench_loop.names.canonical import CanonicalName, canonical_name
from bench_loop.report.printable import one_line
from bench_loop.result.records import Subject
from leaderboard.models import LanguageModel, ModelAlias, ModelSlug
from leaderboard.models.names import LONGEST_NAME, LONGEST_SLUG

SLUG = re.compile(rf"[a-z0-9.-]{{1,{LONGEST_SLUG}}}")


def alias_of(subject: Subject) -> ModelAlias:
    """The alias of what a run was made with, stored now if it is new.

    Names must be shared (`locks.share_names`), so that nobody moves it meanwhile.
    """
    return _stored_alias(subject, _canonical(subject), None)


def alias_again(subject: Subject, before: ModelAlias | None) -> ModelAlias:
    """The alias by the present rules of a run that had `before`; what people decided stays."""
    decided = None
    if before is not None:
        own = LanguageModel.objects.filter(canonical=before.canonical).first()
        decided = before.model if own is None or own.current() != before.model else None
    return _stored_alias(subject, _canonical(subject), decided)


def _canonical(subject: Subject) -> CanonicalName:
    return canonical_name(
        subject.model_id,
        provider=subject.provider,
        file_name=subject.file_name,
        parameters_b=subject.parameters_b,
        weights_digest=subject.weights_digest,
    )


def _stored_alias(
    subject: Subject, found: CanonicalName, decided: LanguageModel | None
) -> ModelAlias:
    name, canonical = _stored(subject.model_id.casefold()), _stored(found.key)
    aliases = ModelAlias.objects.select_related("model")
    known = aliases.filter(name=name, canonical=canonical).first()
    if known is not None:
        return known
    model = decided or _model_of(found).current()
    alias, _ = aliases.get_or_create(name=name, canonical=canonical, defaults={"model": model})
    return alias


def model_at(slug: str) -> LanguageModel | None:
    """The model that a slug leads to: old slugs, and those of merged models, lead to another's."""
    if not SLUG.fullmatch(slug):
        return None
    known = ModelSlug.objects.select_related("model").filter(slug=slug).first()
    return known.model.current() if known else None


def _model_of(found: CanonicalName) -> LanguageModel:
    canonical, name = _stored(found.key), _stored(found.name)
    known = LanguageModel.objects.filter(canonical=canonical).first()
    return known or new_model(name, canonical, family=found.family, parameters_b=found.parameters_b)


def new_model(
    name: str, canonical: str | None, *, family: str | None, parameters_b: float | None
) -> LanguageModel:
    """A model with a slug of its own; the same one where another process makes it meanwhile."""
    for slug in _slugs(name, canonical or name):
        try:
            with transaction.atomic():
                model = LanguageModel.objects.create(
                    slug=slug,
                    name=name,
                    canonical=canonical,
                    family=_stored(family) if family else None,
                    parameters_b=parameters_b,
                )
                ModelSlug.objects.create(slug=slug, model=model)
                return model
        except IntegrityError:
            if canonical and (made := LanguageModel.objects.filter(canonical=canonical).first()):
                return made
    raise IntegrityError(f"No address is free for the model {name}.")


def _slugs(name: str, seed: str) -> list[str]:
    """Addresses for a name, the shortest first: of two names with the same letters one gets a tail.

    `Qwen3 8B` and `qwen3-8b` are both `qwen3-8b`; of a name without Latin letters only the tail is
    left.
    """
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    stem = re.sub(r"[^a-z0-9.]+", "-", plain).strip("-.")[: LONGEST_SLUG - 18]
    digest = hashlib.sha256(seed.encode()).hexdigest()
    tails = [f"{stem}-{tail}".strip("-") for tail in (digest[:6], digest[:16], token_hex(8))]
    return [stem, *tails] if stem else tails


def _stored(text: str) -> str:
    """A name as a column and its index can hold it."""
    return one_line(text, LONGEST_NAME)
