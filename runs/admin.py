"""Runs in the admin: to look at, never to edit."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest

from runs.models import ResultFile, Run, RunEvent


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """A table that moderators may read; its rows are written by the site alone."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object | None = None) -> bool:
        return False


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    list_display = ["public_id", "model_id", "harness", "source", "created_at"]
    list_filter = ["source"]
    search_fields = ["public_id", "fingerprint"]
    exclude = ["result_bytes"]

    @admin.display(description="model")
    def model_id(self, run: Run) -> str:
        return str(run.header["subject"]["model_id"])

    @admin.display(description="harness")
    def harness(self, run: Run) -> str:
        return str(run.header["subject"]["harness"])


@admin.register(RunEvent)
class RunEventAdmin(ReadOnlyAdmin):
    list_display = ["id", "run", "seq", "kind", "created_at"]
    list_filter = ["kind"]


@admin.register(ResultFile)
class ResultFileAdmin(ReadOnlyAdmin):
    list_display = ["name", "run", "problem", "seen_at"]
