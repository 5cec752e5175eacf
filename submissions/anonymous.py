"""The account that owns uploads without a key, where the site takes them."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser, User

USERNAME = "(anonymous)"
"""With signs that no name may have at sign-up, so that nobody can be it."""

LEVEL = "reported"
"""The level of an anonymous submission, whatever was found: nobody answers for it."""


def is_anonymous(user: AbstractBaseUser) -> bool:
    """Whether `user` is the built-in account."""
    return user.get_username() == USERNAME


def anonymous_owner() -> User:
    """The built-in account: not active, without a password, made when first needed."""
    owner, _ = User.objects.get_or_create(
        username=USERNAME, defaults={"is_active": False, "password": "!"}
    )
    return owner
