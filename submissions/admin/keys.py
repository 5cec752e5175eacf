"""API keys in the admin: made for somebody, ended, and never read again."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone

from submissions.keys import create_key
from submissions.models import ApiKey
from submissions.models.keys import DEFAULT_SCOPES, SCOPES


class KeyForm(forms.ModelForm):  # type: ignore[type-arg]
    """A key for `owner`."""

    scopes = forms.MultipleChoiceField(
        choices=[(scope, f"{scope}: {what}") for scope, what in SCOPES.items()],
        initial=list(DEFAULT_SCOPES),
        widget=forms.CheckboxSelectMultiple,
    )

    class Meta:
        model = ApiKey
        fields = ["owner", "name", "scopes", "expires_at"]

    def clean_expires_at(self) -> Any:
        expires_at = self.cleaned_data["expires_at"]
        if expires_at is not None and expires_at <= timezone.now():
            raise forms.ValidationError("This time has passed: the key would be good for nothing.")
        return expires_at


@admin.register(ApiKey)
class ApiKeyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """A key's text stands in the answer to the request that made it, and nowhere else."""

    form = KeyForm
    list_display = [
        *("prefix", "owner", "name", "scopes_text", "state", "made_by"),
        *("created_at", "last_used_at", "expires_at", "revoked_at"),
    ]
    list_filter = ["created_at", "last_used_at", "expires_at", "revoked_at"]
    list_select_related = ["owner", "made_by"]
    search_fields = ["prefix", "owner__username"]
    raw_id_fields = ["owner"]
    actions = ["revoke", "expire"]

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    @admin.display(description="scopes")
    def scopes_text(self, key: ApiKey) -> str:
        return ", ".join(key.scopes)

    @admin.display(description="state")
    def state(self, key: ApiKey) -> str:
        return key.state()

    def save_model(self, request: HttpRequest, obj: ApiKey, form: Any, change: bool) -> None:
        maker = request.user
        assert isinstance(maker, User)
        made_by = maker if maker != obj.owner else None
        key, text = create_key(obj.owner, obj.name, obj.scopes, obj.expires_at, made_by)
        obj.pk, obj.prefix, obj.hashed = key.pk, key.prefix, key.hashed
        request.new_key_text = text  # type: ignore[attr-defined]

    def response_add(
        self, request: HttpRequest, obj: ApiKey, post_url_continue: str | None = None
    ) -> HttpResponse:
        """The key on a page of its own: a message would lie in a cookie until it is read."""
        context = {
            **self.admin_site.each_context(request),
            "title": f"A new key of {obj.owner}",
            "key": obj,
            "text": request.new_key_text,  # type: ignore[attr-defined]
            "opts": self.opts,
        }
        return TemplateResponse(request, "submissions/key_made.html", context)

    @admin.action(description="Revoke: refuse them from now on", permissions=["add"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        for key in queryset:
            key.revoke()
        self.message_user(request, f"{len(queryset)} revoked.", messages.SUCCESS)

    @admin.action(description="Let them expire now", permissions=["add"])
    def expire(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        for key in queryset:
            key.expire()
        self.message_user(request, f"{len(queryset)} expired.", messages.SUCCESS)
