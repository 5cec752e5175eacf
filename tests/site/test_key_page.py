"""The page where people make and revoke their own keys."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from submissions.keys import create_key, find_key
from submissions.models import ApiKey
from tests.look.reader import HOSTILE, Page
from tests.site.accounts import KEY, PASSWORD, log_in, logged_in, person

pytestmark = pytest.mark.usefixtures("public_site")

KEYS = "/account/keys/"
NEW = {"name": "laptop", "scopes": ["submit", "read"], "expires": "30"}


def test_a_new_key_is_shown_once_and_works() -> None:
    ada = person()
    client = logged_in(ada)
    made = client.post(KEYS, NEW)
    text = KEY.search(made.content.decode())
    assert text
    assert find_key(text[0]).owner == ada
    assert "no-store" in made["Cache-Control"]
    for address in (KEYS, "/account/", "/"):
        assert text[0] not in client.get(address).content.decode()
    assert text[0] not in f"{client.cookies} {dict(client.session)}"


def test_a_key_is_what_the_form_says() -> None:
    logged_in(person()).post(KEYS, {"name": "ci", "scopes": ["manage"], "expires": "365"})
    key = ApiKey.objects.get()
    assert (key.name, key.scopes, key.made_by) == ("ci", ["manage"], None)
    assert key.expires_at is not None
    assert abs(key.expires_at - timezone.now() - timedelta(days=365)) < timedelta(minutes=1)


def test_a_key_may_live_until_it_is_revoked() -> None:
    logged_in(person()).post(KEYS, NEW | {"expires": "never"})
    assert ApiKey.objects.get().expires_at is None


@pytest.mark.parametrize(
    "change",
    [
        {"name": ""},
        {"name": "a\u202eb"},
        {"name": "x" * 61},
        {"scopes": []},
        {"scopes": ["admin"]},
        {"expires": "31"},
        {"expires": "-1"},
    ],
)
def test_a_form_with_a_fault_makes_no_key(change: dict[str, object]) -> None:
    answer = logged_in(person()).post(KEYS, NEW | change)
    assert answer.status_code == 400
    assert not ApiKey.objects.exists()


def test_a_form_that_is_sent_twice_makes_one_key() -> None:
    client = logged_in(person())
    client.post(KEYS, NEW)
    again = client.post(KEYS, NEW)
    assert "of this name already" in again.content.decode()
    assert ApiKey.objects.count() == 1


def test_nobody_has_keys_without_end() -> None:
    ada = person()
    for number in range(25):
        create_key(ada, f"key {number}")
    answer = logged_in(ada).post(KEYS, NEW)
    assert "Revoke one of them first" in answer.content.decode()


def test_making_a_key_asks_for_the_password_and_goes_on(client: Client) -> None:
    person()
    log_in(client)
    asked = client.post(KEYS, NEW)
    assert asked["Location"] == "/account/reauthenticate/?next=%2Faccount%2Fkeys%2F"
    assert not ApiKey.objects.exists()
    client.post(asked["Location"], {"password": "wrong"})
    assert not ApiKey.objects.exists()
    made = client.post(asked["Location"], {"password": PASSWORD, "next": KEYS})
    assert KEY.search(made.content.decode())
    assert "no-store" in made["Cache-Control"]


def test_the_list_has_all_but_the_key() -> None:
    ada = person()
    key, text = create_key(ada, "laptop", ["read"])
    find_key(text)
    page = Page(logged_in(ada).get(KEYS).content.decode())
    for part in ("laptop", key.prefix, "read", "active", "Last used"):
        assert part in page.text
    assert "never" in page.text  # it does not expire
    assert text not in page.text
    assert key.hashed not in page.text


def test_a_key_that_somebody_else_made_says_so() -> None:
    ada = person()
    create_key(ada, "given", made_by=person("boss", is_staff=True))
    assert "boss, who runs this site" in Page(logged_in(ada).get(KEYS).content.decode()).text


def test_names_of_keys_are_text() -> None:
    ada = person()
    create_key(ada, HOSTILE[:60])
    page = logged_in(ada).get(KEYS).content.decode()
    assert "alert(1)" in page
    assert "<script>" not in page


def test_a_revoked_key_is_refused_from_then_on() -> None:
    ada = person()
    key, text = create_key(ada)
    client = logged_in(ada)
    client.post(f"{KEYS}{key.prefix}/revoke/")
    answer = Client().get("/api/v1/leaderboard/", headers={"Authorization": f"Bearer {text}"})
    assert answer.status_code == 401
    assert "revoked" in Page(client.get(KEYS).content.decode()).text


def test_revoking_takes_a_form() -> None:
    ada = person()
    key, _ = create_key(ada)
    assert logged_in(ada).get(f"{KEYS}{key.prefix}/revoke/").status_code == 405
    assert ApiKey.objects.get().revoked_at is None


def test_keys_of_others_are_neither_seen_nor_revoked() -> None:
    key, _ = create_key(person(), "private")
    grace = logged_in(person("grace"))
    assert "private" not in grace.get(KEYS).content.decode()
    assert key.prefix not in grace.get(KEYS).content.decode()
    assert grace.post(f"{KEYS}{key.prefix}/revoke/").status_code == 404
    assert ApiKey.objects.get().revoked_at is None


def test_the_list_asks_as_much_for_many_keys(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    ada = person()
    for number in range(10):
        create_key(ada, f"key {number}")
    client = logged_in(ada)
    with django_assert_num_queries(3):
        client.get(KEYS)
