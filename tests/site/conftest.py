"""Three people around a public site: the owner of uploads, a moderator, and a stranger."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.cache import cache
from django.test import Client

from submissions.keys import create_key
from tests.site.uploads import Uploader


@pytest.fixture
def public_site(db: None, settings: Any) -> None:
    """The public role, with no throttle used up by another test."""
    settings.BENCHLOOP_ROLE = "public"
    cache.clear()


@pytest.fixture
def owner(db: None) -> User:
    return User.objects.create_user("owner")


@pytest.fixture
def stranger(db: None) -> User:
    return User.objects.create_user("stranger")


@pytest.fixture
def moderator(db: None) -> User:
    user = User.objects.create_user("moderator", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="moderate_submission"))
    return user


@pytest.fixture
def uploader(public_site: None, owner: User) -> Uploader:
    """The owner's client of the API."""
    return Uploader(create_key(owner)[1])


@pytest.fixture
def moderator_client(public_site: None, moderator: User) -> Client:
    """The moderator's browser."""
    client = Client()
    client.force_login(moderator)
    return client
