"""Who may decide about submissions: the roles `moderator` and `maintainer`, groups of the site."""

from __future__ import annotations

from typing import Any

from django.apps.registry import Apps
from django.apps.registry import apps as installed
from django.contrib.auth.management import create_permissions
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User

MODERATOR = "moderator"
MAINTAINER = "maintainer"

MODERATES = (
    "submissions.moderate_submission",
    "submissions.view_submission",
    "submissions.view_auditevent",
    "submissions.view_reasontemplate",
    "runs.view_run",
)
"""What a moderator may: decide about submissions and their reports."""

MAINTAINS = (
    *(f"submissions.{what}_reasontemplate" for what in ("add", "change")),
    *(f"submissions.{what}_apikey" for what in ("add", "change", "view")),
    *(f"leaderboard.{what}_modelalias" for what in ("add", "change", "delete", "view")),
    *(f"auth.{what}_user" for what in ("change", "view")),
)
"""What a maintainer may besides: reason templates, names of models, keys, and who has a role."""

ROLES = {MODERATOR: MODERATES, MAINTAINER: (*MODERATES, *MAINTAINS)}


def is_moderator(user: AbstractBaseUser | AnonymousUser) -> bool:
    """Whether `user` may decide about other people's submissions."""
    return bool(
        isinstance(user, User)
        and user.is_active
        and user.has_perm("submissions.moderate_submission")
    )


def make_roles(apps: Apps, using: str) -> None:
    """Make the groups and give them what is theirs; what they were given besides stays.

    Permissions of models that this site does not have are left out.
    """
    wanted = {name for names in ROLES.values() for name in names}
    for label in sorted({name.partition(".")[0] for name in wanted}):
        create_permissions(installed.get_app_config(label), verbosity=0, using=using, apps=apps)
    group_model: Any = apps.get_model("auth", "Group")
    permissions: Any = apps.get_model("auth", "Permission").objects.using(using)
    known = {
        f"{one.content_type.app_label}.{one.codename}": one
        for one in permissions.select_related("content_type")
    }
    for role, names in ROLES.items():
        group, _ = group_model.objects.using(using).get_or_create(name=role)
        group.permissions.add(*(known[name] for name in names if name in known))


def let_in_by_role(person: User, *, had_role: bool) -> None:
    """Open the admin to who has a role, and close it to who has lost the last one."""
    has_role = person.groups.filter(name__in=ROLES).exists()
    if has_role or (had_role and not person.is_superuser):
        User.objects.filter(pk=person.pk).update(is_staff=has_role)
