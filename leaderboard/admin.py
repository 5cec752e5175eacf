"""Entries, stacks and the names of models in the admin. Submissions decide what is shown."""

from __future__ import annotations

from django.contrib import admin

from leaderboard.models import Entry, Stack
from leaderboard.names_admin import LanguageModelAdmin, ModelAliasAdmin, NameChangeAdmin
from runs.admin import ReadOnlyAdmin

__all__ = [
    "EntryAdmin",
    "LanguageModelAdmin",
    "ModelAliasAdmin",
    "NameChangeAdmin",
    "StackAdmin",
]


@admin.register(Entry)
class EntryAdmin(ReadOnlyAdmin):
    list_display = ["model_id", "harness", "gpu_model", "overall_score", "level", "withdrawn_at"]
    list_filter = ["level", "is_local", "profile", "harness"]
    search_fields = ["model_id", "run__public_id"]


@admin.register(Stack)
class StackAdmin(ReadOnlyAdmin):
    list_display = ["model", "quantization", "device_class", "run_count", "owner_count", "shown"]
    list_select_related = ["model", "shown"]
    search_fields = ["model__name", "device_class"]
