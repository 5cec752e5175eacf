"""Models under one name: which ids mean which model, and every change that a person made to it."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone

LONGEST_NAME = 255
"""Characters of a name in a list; longer ones would fit no index of PostgreSQL."""
LONGEST_SLUG = 80


class LanguageModel(models.Model):
    """A model as the board names it. Its slug is for addresses, and old slugs lead here for ever.

    One that was merged into another has no alias left; its slug leads to the other.
    """

    slug = models.CharField(max_length=LONGEST_SLUG, unique=True)
    name = models.CharField(max_length=LONGEST_NAME)
    canonical = models.CharField(  # noqa: DJ001
        max_length=LONGEST_NAME,
        unique=True,
        null=True,
        editable=False,
        help_text="What the rules call it; ids that they read so come here. Null: split by hand.",
    )
    family = models.CharField(max_length=LONGEST_NAME, null=True, blank=True)  # noqa: DJ001
    parameters_b = models.FloatField(null=True, blank=True, help_text="Billions in all.")
    merged_into = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="merged"
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["name", "pk"]
        verbose_name = "model"

    def __str__(self) -> str:
        return self.name

    def current(self) -> LanguageModel:
        """The model that stands for this one: itself, or what it was merged into."""
        model = self
        while model.merged_into is not None:
            model = model.merged_into
        return model


class ModelSlug(models.Model):
    """A slug that is or was a model's. None is ever given to another model."""

    slug = models.CharField(max_length=LONGEST_SLUG, unique=True)
    model = models.ForeignKey(LanguageModel, on_delete=models.PROTECT, related_name="slugs")

    def __str__(self) -> str:
        return self.slug


class ModelAlias(models.Model):
    """An id as uploaded, in lower case, read as `canonical` by the rules: which model it means."""

    name = models.CharField(max_length=LONGEST_NAME)
    canonical = models.CharField(max_length=LONGEST_NAME)
    model = models.ForeignKey(LanguageModel, on_delete=models.PROTECT, related_name="aliases")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["name", "pk"]
        verbose_name = "model alias"
        verbose_name_plural = "model aliases"
        constraints = [
            models.UniqueConstraint(fields=["name", "canonical"], name="one_alias_per_name")
        ]

    def __str__(self) -> str:
        return self.name


class NameChange(models.Model):
    """What a person changed about models' names. Rows are added and never changed.

    `before` and `after` hold the touched rows: `{"models": {pk: {field: value}}, "aliases":
    {pk: model}}`, so that a change is undone by putting `before` back.
    """

    class Kind(models.TextChoices):
        MERGE = "merge"
        SPLIT = "split"
        RENAME = "rename"
        UNDO = "undo"

    kind = models.CharField(max_length=6, choices=Kind.choices)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="name_changes"
    )
    reason = models.TextField()
    summary = models.CharField(max_length=1000)
    before: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField()
    after: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField()
    undoes = models.OneToOneField(
        "self", null=True, on_delete=models.PROTECT, related_name="undone_by"
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-pk"]
        verbose_name = "change of names"
        verbose_name_plural = "changes of names"

    def __str__(self) -> str:
        return self.summary
