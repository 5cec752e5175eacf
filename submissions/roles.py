"""Who may decide about submissions."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User


def is_moderator(user: AbstractBaseUser | AnonymousUser) -> bool:
    """Whether `user` may decide about other people's submissions."""
    return bool(
        isinstance(user, User)
        and user.is_active
        and user.has_perm("submissions.moderate_submission")
    )
