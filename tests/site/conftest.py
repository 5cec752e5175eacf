"""Three people around a public site: the owner of uploads, a moderator, and a stranger."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core.cache import cache
from django.test import Client

from submissions.keys import create_key
from submissions.models import Submission
from tests.site.make_result import make_bytes
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
    user.groups.add(Group.objects.get(name="moderator"))
    return user


@pytest.fixture
def maintainer(db: None) -> User:
    user = User.objects.create_user("maintainer", is_staff=True)
    user.groups.add(Group.objects.get(name="maintainer"))
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


@pytest.fixture
def submission(uploader: Uploader) -> Submission:
    """One upload of the owner, that waits."""
    assert uploader.post(make_bytes()).status_code == 201
    return Submission.objects.get()
