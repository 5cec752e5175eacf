"""Uploads over HTTP: idempotency keys, anonymous ones, and the one error body."""

from __future__ import annotations

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from submissions.anonymous import anonymous_owner
from submissions.keys import create_key
from submissions.levels import look_at_levels
from submissions.models import ModerationError, Submission
from tests.site.make_result import make_bytes, make_document
from tests.site.uploads import SUBMISSIONS, Uploader, refused_fields, rows

KEY = {"Idempotency_Key": "of-the-first"}


@pytest.fixture
def open_site(public_site: None, settings: Any) -> Uploader:
    """Somebody without a key, at a site that takes uploads from such."""
    settings.ANONYMOUS_UPLOADS = True
    return Uploader(None)


def test_the_same_key_and_body_get_the_first_answer(uploader: Uploader) -> None:
    first = uploader.post(make_bytes(), **KEY)
    again = uploader.post(make_bytes(), **KEY)
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json() == first.json()
    assert rows() == (1, 1)


def test_a_key_that_was_used_is_refused_for_a_run_that_is_known(uploader: Uploader) -> None:
    uploader.post(make_bytes(model_id="known:1b"))
    uploader.post(make_bytes(), **KEY)
    response = uploader.post(make_bytes(model_id="known:1b"), **KEY)
    assert (response.status_code, response.json()["code"]) == (409, "key_reused")
    assert list(refused_fields(response)) == ["Idempotency-Key"]


def test_a_key_belongs_to_its_owner(uploader: Uploader, stranger: User) -> None:
    uploader.post(make_bytes(), **KEY)
    other = Uploader(create_key(stranger)[1])
    assert other.post(make_bytes(model_id="other:1b"), **KEY).status_code == 201


def test_a_refused_upload_does_not_use_up_its_key(uploader: Uploader) -> None:
    assert uploader.post(b"{}", **KEY).status_code == 422
    assert uploader.post(make_bytes(), **KEY).status_code == 201


@pytest.mark.parametrize("key", ["", "x" * 101, "ü"])
def test_a_key_that_cannot_be_is_refused(uploader: Uploader, key: str) -> None:
    response = uploader.post(make_bytes(), Idempotency_Key=key)
    assert response.status_code == 400
    assert list(refused_fields(response)) == ["Idempotency-Key"]
    assert rows() == (0, 0)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("models", "right"), [(1, {201: 1, 200: 7}), (2, {201: 1, 200: 3, 409: 4})]
)
def test_one_key_at_the_same_moment_makes_one_row(
    public_site: None, owner: User, models: int, right: dict[int, int]
) -> None:
    key = create_key(owner)[1]
    bodies = [make_bytes(model_id=f"m{number}:1b") for number in range(models)]

    def send(number: int) -> int:
        try:
            status: int = Uploader(key).post(bodies[number % models], **KEY).status_code
            return status
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        statuses = Counter(threads.map(send, range(8)))
    assert statuses == right
    assert rows() == (1, 1)


def test_without_a_key_nothing_is_taken(public_site: None) -> None:
    response = Uploader(None).post(make_bytes())
    assert response.status_code == 401
    assert response["WWW-Authenticate"] == "Bearer"
    refused_fields(response)
    assert rows() == (0, 0)


def test_an_anonymous_upload_is_at_the_lowest_level(open_site: Uploader) -> None:
    response = open_site.post(make_bytes())
    assert (response.status_code, response.json()["level"]) == (201, "reported")
    submission = Submission.objects.get()
    assert (submission.owner.username, submission.level) == ("(anonymous)", "reported")


def test_an_anonymous_dry_run_tells_the_lowest_level(open_site: Uploader) -> None:
    body = open_site.post(make_bytes(), address=f"{SUBMISSIONS}?dry_run=1").json()
    assert (body["would_be_accepted"], body["level"]) == (True, "reported")
    assert rows() == (0, 0)


def test_a_bad_key_is_never_anonymous(open_site: Uploader) -> None:
    assert Uploader("bl_aaaaaaaa_" + "A" * 43).post(make_bytes()).status_code == 401
    assert rows() == (0, 0)


def test_a_good_key_is_not_anonymous_where_that_is_allowed(
    open_site: Uploader, uploader: Uploader, owner: User
) -> None:
    uploader.post(make_bytes())
    assert Submission.objects.get().owner == owner


def test_the_anonymous_account_cannot_log_in(db: None) -> None:
    account = anonymous_owner()
    assert not account.is_active
    assert not account.has_usable_password()
    assert not Client().login(username=account.username, password="!")
    assert anonymous_owner() == account


def test_anonymous_uploads_have_a_rate_of_their_own(open_site: Uploader, settings: Any) -> None:
    settings.API_RATES = {**settings.API_RATES, "anonymous_upload": (1, 3600)}
    assert [open_site.post(b"{}").status_code for _ in range(2)] == [422, 429]


def test_anonymous_idempotency_keys_belong_to_their_address(open_site: Uploader) -> None:
    def post(model_id: str, address: str) -> Any:
        return Client().post(
            SUBMISSIONS,
            make_bytes(model_id=model_id),
            content_type="application/json",
            headers={"Idempotency-Key": "k"},
            REMOTE_ADDR=address,
        )

    assert post("a:1b", "192.0.2.1").status_code == 201
    assert post("b:1b", "192.0.2.2").status_code == 201
    assert post("c:1b", "192.0.2.1").status_code == 409


def test_nobody_withdraws_an_anonymous_run_over_the_api(open_site: Uploader) -> None:
    public_id = open_site.post(make_bytes()).json()["id"]
    assert open_site.delete(f"{SUBMISSIONS}{public_id}/").status_code == 401


@pytest.mark.parametrize(
    ("method", "address", "status"),
    [
        ("put", SUBMISSIONS, 405),
        ("delete", SUBMISSIONS, 405),
        ("post", f"{SUBMISSIONS}aaaaaaaaaaaa/", 405),
        ("get", f"{SUBMISSIONS}aaaaaaaaaaaa/report/", 405),
        ("get", f"{SUBMISSIONS}aaaaaaaaaaaa/", 404),
        ("get", f"{SUBMISSIONS}%2e%2e/", 404),
        ("post", "/api/v1/audit/", 405),
        ("put", "/api/v1/leaderboard/", 405),
        ("get", "/api/v1/nothing/", 404),
        ("get", "/api/v2/submissions/", 404),
    ],
)
def test_every_refusal_has_the_one_body(
    uploader: Uploader, method: str, address: str, status: int
) -> None:
    response = uploader.client.generic(method.upper(), address, headers=uploader.headers)
    assert response.status_code == status
    refused_fields(response)
    if status == 405:
        assert response["Allow"]


@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "x"]
)
def test_another_content_type_is_refused(uploader: Uploader, content_type: str) -> None:
    response = uploader.post(make_bytes(), content_type=content_type)
    assert response.status_code == 415
    refused_fields(response)


def test_who_accepts_no_json_is_told(public_site: None) -> None:
    response = Client().get(SUBMISSIONS, headers={"Accept": "text/html"})
    assert response.status_code == 406
    refused_fields(response)


def test_head_is_get_without_a_body(public_site: None) -> None:
    response = Client().head(SUBMISSIONS)
    assert (response.status_code, response.content) == (200, b"")
    assert Client().head(f"{SUBMISSIONS}?x=1").status_code == 400


def test_options_tells_the_methods(public_site: None) -> None:
    response = Client().options(SUBMISSIONS)
    assert response.status_code == 200
    assert response["Allow"] == "GET, POST, HEAD, OPTIONS"


@pytest.mark.parametrize("query", ["?dry_run=yes", "?dry_run=", "?dryrun=1"])
def test_a_dry_run_that_is_misspelt_stores_nothing(uploader: Uploader, query: str) -> None:
    response = uploader.post(make_bytes(), address=SUBMISSIONS + query)
    assert response.status_code == 400
    assert "dry_run" in response.json()["message"]
    assert rows() == (0, 0)


def test_a_dry_run_gives_every_finding(uploader: Uploader) -> None:
    document = make_document()
    document["aggregates"]["quality_score"] = 12.0
    document["trials"][0]["output"] = "changed"
    response = uploader.post(json.dumps(document).encode(), address=f"{SUBMISSIONS}?dry_run=1")
    assert response.status_code == 200
    body = response.json()
    assert body["would_be_accepted"] is False
    assert len({finding["code"] for finding in body["findings"]}) > 1
    assert rows() == (0, 0)


def test_nothing_raises_the_level_of_an_anonymous_run(open_site: Uploader, moderator: User) -> None:
    open_site.post(make_bytes())
    submission = Submission.objects.get()
    submission.approve(moderator, "It is plausible.")
    look_at_levels()
    with pytest.raises(ModerationError, match="without an account"):
        submission.verify(moderator, "It looks right.")
    submission.refresh_from_db()
    assert submission.level == submission.run.entry.level == "reported"
