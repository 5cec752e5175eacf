"""What the API answers to a request that shows a key."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from benchloop_site.logs import LineFormatter
from submissions.keys import create_key
from submissions.models import ApiKey
from tests.site.make_result import make_bytes
from tests.site.uploads import SUBMISSIONS, Uploader, refused_fields

KEYS_PAGE = "http://testserver/account/keys/"


def revoke(key: ApiKey) -> None:
    key.revoke()


def expire(key: ApiKey) -> None:
    key.expire()


def close(key: ApiKey) -> None:
    User.objects.filter(pk=key.owner_id).update(is_active=False)


@pytest.mark.parametrize(
    ("end", "reason"), [(revoke, "was revoked on"), (expire, "expired on"), (close, "not active")]
)
def test_a_key_that_has_ended_is_401_with_the_reason_and_never_anonymous(
    public_site: None, owner: User, end: Callable[[ApiKey], None], reason: str
) -> None:
    key, text = create_key(owner)
    end(key)
    for response in (
        Uploader(text).get("/api/v1/leaderboard/"),
        Uploader(text).post(make_bytes()),
    ):
        assert response.status_code == 401
        assert response["WWW-Authenticate"] == "Bearer"
        assert reason in response.json()["message"]
        assert KEYS_PAGE in response.json()["message"]


def test_an_unknown_key_says_nothing_of_others(public_site: None, owner: User) -> None:
    key, _ = create_key(owner)
    key.revoke()
    response = Uploader(f"{key.prefix}_{'A' * 43}").get("/api/v1/leaderboard/")
    assert response.status_code == 401
    assert "not known here" in response.json()["message"]


def test_without_a_key_the_answer_says_where_one_is_made(public_site: None) -> None:
    response = Uploader(None).post(make_bytes())
    assert response.status_code == 401
    assert response.json()["code"] == "not_authenticated"
    assert KEYS_PAGE in response.json()["message"]


def test_a_change_shows_no_more_than_its_key_may_read(public_site: None, owner: User) -> None:
    public_id = Uploader(create_key(owner)[1]).post(make_bytes()).json()["id"]
    answers = {}
    for scopes in (["manage"], ["manage", "read"]):
        key = create_key(owner, scopes=scopes)[1]
        answers[len(scopes)] = (
            Client()
            .patch(
                f"{SUBMISSIONS}{public_id}/",
                data={"notes": f"For {scopes[-1]}."},
                content_type="application/json",
                headers={"Authorization": f"Bearer {key}"},
            )
            .json()
        )
    assert answers[1]["notes"] == "For manage."
    assert answers[1]["history"] == []
    assert not {"reason", "findings"} & set(answers[1])
    assert len(answers[2]["history"]) == 3
    assert {"reason", "findings"} <= set(answers[2])


@pytest.mark.parametrize(
    ("scopes", "allowed"),
    [
        (["submit"], {"POST"}),
        (["read"], {"GET"}),
        (["manage"], {"DELETE"}),
        (["submit", "read", "manage"], {"POST", "GET", "DELETE"}),
    ],
)
def test_a_key_does_what_it_was_made_for_and_no_more(
    public_site: None, owner: User, scopes: list[str], allowed: set[str]
) -> None:
    public_id = Uploader(create_key(owner)[1]).post(make_bytes()).json()["id"]
    uploader = Uploader(create_key(owner, scopes=scopes)[1])
    answers = {
        "POST": uploader.post(make_bytes()),
        "GET": uploader.get(f"{SUBMISSIONS}{public_id}/"),
        "DELETE": uploader.delete(f"{SUBMISSIONS}{public_id}/"),
    }
    refused = {method for method, answer in answers.items() if answer.status_code == 403}
    assert refused == set(answers) - allowed
    for method in refused:
        assert answers[method].json()["code"] == "scope_missing"
        refused_fields(answers[method])


@pytest.mark.parametrize("name", ["key", "api_key", "token", "access_token", "authorization"])
def test_a_key_in_the_address_is_refused_with_a_warning(
    public_site: None, owner: User, name: str
) -> None:
    _, text = create_key(owner)
    for address in (f"/api/v1/leaderboard/?{name}={text}", f"{SUBMISSIONS}?{name}=Bearer%20{text}"):
        response = Uploader(None).post(make_bytes(), address=address)
        assert response.status_code == 401
        assert "revoke it" in response.json()["message"]
        assert text not in response.content.decode()
    assert ApiKey.objects.get().last_used_at is None


def test_a_good_key_beside_one_in_the_address_is_refused_too(
    public_site: None, owner: User
) -> None:
    _, text = create_key(owner)
    assert Uploader(text).get(f"/api/v1/leaderboard/?q={text}").status_code == 401


def test_a_key_opens_no_page(public_site: None, owner: User) -> None:
    _, text = create_key(owner)
    answer = Client().get("/account/", headers={"Authorization": f"Bearer {text}"})
    assert answer.status_code == 302


def test_no_log_line_holds_a_key(public_site: None, owner: User) -> None:
    key, text = create_key(owner)
    formatter = LineFormatter("%(message)s")
    line = logging.LogRecord("x", logging.INFO, "", 0, "Not Found: /%s", (text,), None)
    assert formatter.format(line) == f"Not Found: /{key.prefix}_..."
    try:
        raise ValueError(text)
    except ValueError as error:
        caught: Any = (type(error), error, error.__traceback__)
    line = logging.LogRecord("x", logging.ERROR, "", 0, "failed", None, caught)
    assert text not in formatter.format(line)


def test_a_request_that_is_refused_logs_no_key(
    public_site: None, owner: User, caplog: pytest.LogCaptureFixture
) -> None:
    key, text = create_key(owner)
    key.revoke()
    with caplog.at_level(logging.DEBUG):
        Uploader(text).post(make_bytes())
    assert text not in caplog.text
