"""API keys: shown once, stored hashed, and good or refused."""

from __future__ import annotations

import re
from datetime import timedelta
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from submissions.keys import BadKeyError, create_key, find_key
from submissions.models import ApiKey
from tests.site.uploads import Uploader


def test_a_key_has_its_form_and_is_stored_hashed(owner: User) -> None:
    key, text = create_key(owner)
    assert re.fullmatch(r"bl_[a-z2-7]{8}_[A-Za-z0-9_-]{43}", text)
    assert text not in f"{vars(ApiKey.objects.get())}"
    assert text.startswith(f"{key.prefix}_")


def test_a_key_gives_its_owner_and_notes_its_use(owner: User) -> None:
    key, text = create_key(owner)
    assert find_key(text).owner == owner
    key.refresh_from_db()
    assert key.last_used_at is not None


@pytest.mark.parametrize("change", [lambda text: text[:-1] + "~", lambda text: "", str.upper])
def test_a_wrong_key_is_refused(owner: User, change: object) -> None:
    _, text = create_key(owner)
    with pytest.raises(BadKeyError):
        find_key(change(text))  # type: ignore[operator]


def test_the_right_prefix_with_another_secret_is_refused(owner: User) -> None:
    key, _ = create_key(owner)
    with pytest.raises(BadKeyError):
        find_key(f"{key.prefix}_{'A' * 43}")


def test_a_key_of_an_inactive_owner_is_refused(owner: User) -> None:
    _, text = create_key(owner)
    owner.is_active = False
    owner.save()
    with pytest.raises(BadKeyError):
        find_key(text)


def test_a_key_is_good_until_it_expires(owner: User) -> None:
    key, text = create_key(owner, expires_at=timezone.now() + timedelta(hours=1))
    assert find_key(text) == key
    key.expire()
    with pytest.raises(BadKeyError, match="expired on"):
        find_key(text)


def test_a_key_that_is_revoked_says_when(owner: User) -> None:
    key, text = create_key(owner)
    key.revoke()
    with pytest.raises(BadKeyError, match=f"revoked on {timezone.now():%Y-%m-%d}"):
        find_key(text)


def test_revoking_and_expiring_again_change_no_time(owner: User) -> None:
    key, _ = create_key(owner)
    key.expire()
    ended = ApiKey.objects.get().expires_at
    key.expire()
    assert ApiKey.objects.get().expires_at == ended
    key.revoke()
    revoked = ApiKey.objects.get().revoked_at
    key.revoke()
    assert ApiKey.objects.get().revoked_at == revoked
    assert ApiKey.objects.get().state() == "revoked"


@pytest.mark.parametrize("scopes", [(), ("all",), ("read", "admin")])
def test_a_key_has_scopes_that_there_are(owner: User, scopes: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="submit, read, manage"):
        create_key(owner, scopes=scopes)


@pytest.mark.parametrize("header", ["Bearer nonsense", "Bearer", "Basic abc", "Bearer a b"])
def test_a_bad_header_is_never_anonymous(public_site: None, header: str) -> None:
    response = Client().get("/api/v1/leaderboard/", headers={"Authorization": header})
    assert response.status_code == 401
    assert response["WWW-Authenticate"] == "Bearer"


def test_create_key_prints_a_key_that_works(public_site: None, owner: User) -> None:
    out = StringIO()
    call_command("create_key", "owner", "--name", "laptop", stdout=out)
    assert ApiKey.objects.get().name == "laptop"
    assert Uploader(out.getvalue().strip()).get("/api/v1/leaderboard/").status_code == 200


def test_create_key_names_an_unknown_user(db: None) -> None:
    with pytest.raises(CommandError, match="createsuperuser"):
        call_command("create_key", "nobody")


def test_create_key_takes_scopes_and_days(public_site: None, owner: User) -> None:
    call_command("create_key", "owner", "--scope", "read", "--days", "30", stdout=StringIO())
    key = ApiKey.objects.get()
    assert key.scopes == ["read"]
    assert key.expires_at is not None
    assert abs(key.expires_at - timezone.now() - timedelta(days=30)) < timedelta(minutes=1)


def test_create_key_refuses_days_that_are_none(db: None, owner: User) -> None:
    with pytest.raises(CommandError, match="1 to 3650"):
        call_command("create_key", "owner", "--days", "0")
