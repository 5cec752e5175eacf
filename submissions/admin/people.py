"""Accounts in the admin: maintainers give and take roles, and nothing else of an account."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group, User
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest

from submissions.roles import ROLES, let_in_by_role

OF_MAINTAINERS = ("username", "groups", "is_active", "date_joined", "last_login")

admin.site.unregister(User)


@admin.register(User)
class PersonAdmin(UserAdmin):  # type: ignore[type-arg]
    """Superusers edit all. For maintainers an account has roles, and the rest is to read."""

    list_display = ("username", "roles", "is_active", "is_superuser", "date_joined")
    list_filter = ("groups", "is_active", "is_superuser")

    @admin.display(description="roles")
    def roles(self, person: User) -> str:
        return ", ".join(group.name for group in person.groups.all()) or "-"

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        return super().get_queryset(request).prefetch_related("groups")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody but a superuser touches a superuser's account."""
        allowed = super().has_change_permission(request, obj)
        is_above = obj is not None and obj.is_superuser and not _is_superuser(request)
        return allowed and not is_above

    def get_search_fields(self, request: HttpRequest) -> list[str] | tuple[str, ...]:
        """Names; for who sees no more of an account a search by its e-mail would tell that too."""
        return super().get_search_fields(request) if _is_superuser(request) else ("username",)

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        """Likewise what is not shown cannot be asked for by the list's address."""
        is_shown = _is_superuser(request) or lookup.partition("__")[0] in self.list_filter
        return is_shown and super().lookup_allowed(lookup, value, request)

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        if _is_superuser(request):
            return super().get_fieldsets(request, obj)
        return [(None, {"fields": OF_MAINTAINERS})]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        if _is_superuser(request):
            return super().get_readonly_fields(request, obj)
        return [name for name in OF_MAINTAINERS if name != "groups"]

    def formfield_for_manytomany(self, db_field: Any, request: Any, **kwargs: Any) -> Any:
        if db_field.name == "groups" and not _is_superuser(request):
            kwargs["queryset"] = Group.objects.filter(name__in=ROLES)
        return super().formfield_for_manytomany(db_field, request, **kwargs)

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> Any:  # noqa: A002
        """Of superusers only: with another's password a maintainer would be that person."""
        if not _is_superuser(request):
            raise PermissionDenied
        return super().user_change_password(request, id, form_url)

    def save_related(
        self, request: HttpRequest, form: forms.BaseModelForm[Any], formsets: Any, change: bool
    ) -> None:
        """A role lets its holder into the admin; who loses the last one is let out."""
        had_role = form.instance.groups.filter(name__in=ROLES).exists()
        # Groups that are no roles are not in a maintainer's form, and stay.
        kept = list(form.instance.groups.exclude(name__in=ROLES))
        super().save_related(request, form, formsets, change)
        if not _is_superuser(request):
            form.instance.groups.add(*kept)
        let_in_by_role(form.instance, had_role=had_role)


def _is_superuser(request: HttpRequest) -> bool:
    return bool(getattr(request.user, "is_superuser", False))
