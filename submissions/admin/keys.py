"""API keys in the admin."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from submissions.keys import create_key
from submissions.models import ApiKey


@admin.register(ApiKey)
class ApiKeyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """A key's text is shown in a message when it is made, and never again."""

    list_display = ["prefix", "owner", "name", "created_at", "last_used_at", "revoked_at"]
    actions = ["revoke"]
    fields = ["owner", "name"]

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: ApiKey, form: Any, change: bool) -> None:
        key, text = create_key(obj.owner, obj.name)
        obj.pk, obj.prefix, obj.hashed = key.pk, key.prefix, key.hashed
        self.message_user(request, f"The key, shown only now: {text}", messages.WARNING)

    @admin.action(description="Revoke", permissions=["add"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        for key in queryset:
            key.revoke()
