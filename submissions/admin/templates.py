"""Reason templates in the admin: maintainers write them, and retire them."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from submissions.models import ReasonTemplate


@admin.register(ReasonTemplate)
class ReasonTemplateAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = ["code", "decision", "text", "is_offered"]
    list_filter = ["decision", "is_offered"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """The code stays: figures count by it."""
        return ["code", "decision"] if obj else []

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
