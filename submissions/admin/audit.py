"""The audit trail in the admin."""

from __future__ import annotations

from django.contrib import admin

from runs.admin import ReadOnlyAdmin
from submissions.models import AuditEvent


@admin.register(AuditEvent)
class AuditEventAdmin(ReadOnlyAdmin):
    list_display = ["created_at", "submission", "kind", "actor"]
    list_filter = ["kind"]
