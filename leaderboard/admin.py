"""Entries in the admin: to look at; submissions decide what is shown."""

from __future__ import annotations

from django.contrib import admin

from leaderboard.models import Entry
from runs.admin import ReadOnlyAdmin


@admin.register(Entry)
class EntryAdmin(ReadOnlyAdmin):
    list_display = ["model_id", "harness", "gpu_model", "overall_score", "level", "withdrawn_at"]
    list_filter = ["level", "is_local", "profile", "harness"]
    search_fields = ["model_id", "run__public_id"]
