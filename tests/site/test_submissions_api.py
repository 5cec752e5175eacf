"""Lists, details, changes and withdrawals of submissions, as three people see them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from submissions.keys import create_key
from submissions.models import AuditEvent, Submission
from tests.site.make_result import make_bytes
from tests.site.uploads import SUBMISSIONS, Uploader, refused_fields

NOTES = {"notes": "Two cards, one of them idle.", "labels": ["desk", "undervolted"]}


@pytest.fixture
def manager(public_site: None, owner: User) -> Uploader:
    """The owner's client with a key that may do everything."""
    return with_all_scopes(owner)


def with_all_scopes(user: User) -> Uploader:
    key, text = create_key(user)
    key.scopes = ["submit", "read", "manage"]
    key.save()
    return Uploader(text)


@pytest.fixture
def pending(manager: Uploader) -> Submission:
    return upload(manager, "waiting:1b")


@pytest.fixture
def approved(manager: Uploader, moderator: User) -> Submission:
    submission = upload(manager, "shown:8b")
    submission.approve(moderator, "It is plausible.")
    return submission


def upload(uploader: Uploader, model_id: str) -> Submission:
    public_id = uploader.post(make_bytes(model_id=model_id)).json()["id"]
    return Submission.objects.get(run__public_id=public_id)


def address(submission: Submission, more: str = "") -> str:
    return f"{SUBMISSIONS}{submission.run.public_id}/{more}"


def listed(client: Any, query: str = "") -> list[str]:
    response = client.get(SUBMISSIONS + query)
    assert response.status_code == 200, response.content
    return [row["model_id"] for row in response.json()["results"]]


def patch(uploader: Uploader, submission: Submission, body: Any, **more: Any) -> Any:
    return uploader.client.patch(
        address(submission), body, content_type="application/json", headers=uploader.headers, **more
    )


def test_the_public_lists_what_is_approved(
    pending: Submission, approved: Submission, client: Client
) -> None:
    assert listed(client) == ["shown:8b"]


def test_the_owner_lists_their_own_newest_first(
    pending: Submission, approved: Submission, manager: Uploader
) -> None:
    assert listed(manager) == ["shown:8b", "waiting:1b"]


def test_a_moderator_lists_all(
    pending: Submission, approved: Submission, moderator_client: Client
) -> None:
    assert listed(moderator_client) == ["shown:8b", "waiting:1b"]


def test_a_stranger_lists_what_the_public_does(
    pending: Submission, approved: Submission, stranger: User
) -> None:
    assert listed(with_all_scopes(stranger)) == ["shown:8b"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("?status=pending", ["waiting:1b"]),
        ("?status=pending&status=approved", ["shown:8b", "waiting:1b"]),
        ("?model=SHOWN", ["shown:8b"]),
        ("?model=ing:1", ["waiting:1b"]),
        ("?owner=owner", ["shown:8b", "waiting:1b"]),
        ("?owner=own", []),
        ("?mine=1", ["shown:8b", "waiting:1b"]),
        ("?level=reported&level=consistent", ["shown:8b", "waiting:1b"]),
        ("?level=verified", []),
        ("?since=2000-01-01&until=9999-12-31", ["shown:8b", "waiting:1b"]),
        ("?until=2000-01-01", []),
        ("?model=&since=", ["shown:8b", "waiting:1b"]),
    ],
)
def test_filters_narrow_the_list(
    pending: Submission, approved: Submission, manager: Uploader, query: str, found: list[str]
) -> None:
    assert listed(manager, query) == found


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("?statuss=approved", "statuss"),
        ("?status=aproved", "status"),
        ("?level=best", "level"),
        ("?since=yesterday", "since"),
        ("?mine=yes", "mine"),
        ("?model=%00", "model"),
        ("?cursor=abc", "cursor"),
        ("?cursor=0", "cursor"),
        ("?cursor=" + "9" * 30, "cursor"),
        ("?page_size=0", "page_size"),
        ("?page_size=201", "page_size"),
        ("?page_size=ten", "page_size"),
    ],
)
def test_what_is_no_filter_or_no_value_is_named(manager: Uploader, query: str, name: str) -> None:
    response = manager.get(SUBMISSIONS + query)
    assert response.status_code == 400
    assert list(refused_fields(response)) == [name]


def test_a_misspelt_filter_is_told_the_known_ones(manager: Uploader) -> None:
    sentence = manager.get(f"{SUBMISSIONS}?modle=x").json()["message"]
    assert "cursor, level, mine, model, owner, page_size, since, status, until" in sentence


def test_mine_needs_somebody(public_site: None, client: Client) -> None:
    assert client.get(f"{SUBMISSIONS}?mine=1").status_code == 401


def test_pages_hold_every_row_once_while_rows_are_added(manager: Uploader) -> None:
    for number in range(5):
        upload(manager, f"m{number}:1b")
    first = manager.get(f"{SUBMISSIONS}?page_size=2").json()
    upload(manager, "later:1b")
    second = manager.get(first["next"]).json()
    third = manager.get(second["next"]).json()
    seen = [row["model_id"] for page in (first, second, third) for row in page["results"]]
    assert seen == ["m4:1b", "m3:1b", "m2:1b", "m1:1b", "m0:1b"]
    assert third["next"] is None


def test_a_list_costs_as_many_queries_however_long(
    pending: Submission, approved: Submission, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(1):
        listed(Client())


def test_a_pending_submission_is_for_owner_and_moderators(
    pending: Submission, manager: Uploader, moderator_client: Client, stranger: User
) -> None:
    assert "findings" in manager.get(address(pending)).json()
    assert "findings" in moderator_client.get(address(pending)).json()
    assert with_all_scopes(stranger).get(address(pending)).status_code == 404
    assert Client().get(address(pending)).status_code == 404


def test_the_public_reads_an_approved_submission_without_its_findings(
    approved: Submission, client: Client
) -> None:
    body = client.get(address(approved)).json()
    assert not {"findings", "reason", "reports"} & set(body)
    assert [(line["kind"], line["role"]) for line in body["history"]] == [
        ("submitted", "owner"),
        ("approved", "moderator"),
    ]


def test_the_owner_changes_notes_and_labels(approved: Submission, manager: Uploader) -> None:
    body = patch(manager, approved, NOTES).json()
    assert {name: body[name] for name in NOTES} == NOTES
    event = AuditEvent.objects.filter(submission=approved).latest("pk")
    assert event.kind == "edited"
    assert event.data == {"before": {"notes": "", "labels": []}, "after": NOTES}


def test_a_field_that_is_left_out_stays(approved: Submission, manager: Uploader) -> None:
    patch(manager, approved, NOTES)
    body = patch(manager, approved, {"labels": []}).json()
    assert (body["notes"], body["labels"]) == (NOTES["notes"], [])


def test_a_change_that_changes_nothing_is_not_in_the_history(
    approved: Submission, manager: Uploader
) -> None:
    patch(manager, approved, NOTES)
    before = AuditEvent.objects.count()
    assert patch(manager, approved, NOTES).status_code == 200
    assert AuditEvent.objects.count() == before


def test_what_cannot_be_seen_is_taken_out(approved: Submission, manager: Uploader) -> None:
    hostile = "a\u202eb\x00\x1b[31m c\u200b\ud800\r\nd \n"
    body = patch(manager, approved, {"notes": hostile, "labels": ["x\n\u2066y", "x y"]}).json()
    assert body["notes"] == "ab[31m c\nd"
    assert body["labels"] == ["x y"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"notes": "x" * 2001}, "notes"),
        ({"notes": 5}, "notes"),
        ({"notes": None}, "notes"),
        ({"notes": ["x"]}, "notes"),
        ({"labels": "x"}, "labels"),
        ({"labels": [str(number) for number in range(11)]}, "labels"),
        ({"labels": ["x" * 41]}, "labels"),
        ({"labels": ["\u200b"]}, "labels"),
        ({"labels": [True]}, "labels"),
        ({"label": ["x"]}, "label"),
        ({"status": "approved"}, "status"),
    ],
)
def test_what_an_owner_may_not_write_is_named(
    approved: Submission, manager: Uploader, body: Any, field: str
) -> None:
    response = patch(manager, approved, body)
    assert response.status_code == 400
    assert list(refused_fields(response)) == [field]
    approved.refresh_from_db()
    assert (approved.notes, approved.labels, approved.status) == ("", [], "approved")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b" ", 400),
        (b"[]", 400),
        (b"\xff", 400),
        (b'{"notes": NaN}', 400),
        (b'{"notes": "a", "notes": "b"}', 400),
        (b"[" * 30_000 + b"]" * 30_000, 400),
        (b'{"notes": "' + b"x" * 70_000 + b'"}', 413),
    ],
)
def test_a_body_that_is_no_small_object_is_refused(
    approved: Submission, manager: Uploader, body: bytes, status: int
) -> None:
    response = patch(manager, approved, body)
    assert response.status_code == status
    refused_fields(response)


def test_nobody_else_changes_or_withdraws_it(
    approved: Submission, stranger: User, moderator: User
) -> None:
    for user in (stranger, moderator):
        other = with_all_scopes(user)
        assert patch(other, approved, NOTES).status_code == 403
        assert other.delete(address(approved)).status_code == 403
    assert Client().delete(address(approved)).status_code == 401
    approved.refresh_from_db()
    assert (approved.notes, approved.status) == ("", "approved")


def test_a_withdrawn_run_leaves_its_history_for_everybody(
    approved: Submission, manager: Uploader, client: Client
) -> None:
    assert manager.delete(address(approved)).status_code == 204
    assert listed(client) == []
    body = client.get(address(approved)).json()
    assert body["status"] == "withdrawn"
    assert [line["kind"] for line in body["history"]] == ["submitted", "approved", "withdrawn"]
    assert client.get(f"/api/v1/runs/{body['id']}/result.json").status_code == 404


def test_a_run_that_was_never_shown_leaves_nothing_to_strangers(
    pending: Submission, manager: Uploader, client: Client
) -> None:
    assert manager.delete(address(pending)).status_code == 204
    assert client.get(address(pending)).status_code == 404
    assert manager.get(address(pending)).json()["status"] == "withdrawn"


def test_what_was_withdrawn_is_not_changed_any_more(
    approved: Submission, manager: Uploader
) -> None:
    manager.delete(address(approved))
    for response in (patch(manager, approved, NOTES), manager.delete(address(approved))):
        assert response.status_code == 409
        assert response.json()["code"] == "not_possible"


@pytest.mark.parametrize(
    ("scopes", "statuses"),
    [
        (["submit"], {"post": 422, "patch": 403, "delete": 403}),
        (["read"], {"post": 403, "patch": 403, "delete": 403}),
        (["manage"], {"post": 403, "patch": 200, "delete": 204}),
    ],
)
def test_a_key_does_what_it_was_made_for(
    approved: Submission, owner: User, scopes: list[str], statuses: dict[str, int]
) -> None:
    key, text = create_key(owner)
    key.scopes = scopes
    key.save()
    narrow = Uploader(text)
    assert narrow.post({}).status_code == statuses["post"]
    assert patch(narrow, approved, {"notes": "x"}).status_code == statuses["patch"]
    assert narrow.delete(address(approved)).status_code == statuses["delete"]


def say(uploader: Uploader, submission: Submission, verb: str, text: Any) -> Any:
    body = json.dumps({"text": text}).encode()
    return uploader.post(body, address=address(submission, f"{verb}/"))


def test_the_owner_appeals_once_against_a_decision(
    pending: Submission, manager: Uploader, moderator: User
) -> None:
    pending.reject(moderator, "The speeds cannot be.")
    said = say(manager, pending, "appeal", "It has\x00 two cards.")
    assert said.status_code == 200
    assert said.json()["history"][-1]["reason"] == "It has two cards."
    again = say(manager, pending, "appeal", "Really.")
    assert (again.status_code, again.json()["code"]) == (409, "not_possible")


def test_the_owner_answers_what_was_asked(
    pending: Submission, manager: Uploader, moderator: User
) -> None:
    assert say(manager, pending, "answer", "Nobody asked.").status_code == 409
    pending.request_changes(moderator, "Which engine was it?")
    assert say(manager, pending, "answer", "llama.cpp.").status_code == 200
    pending.refresh_from_db()
    assert pending.requested_changes == ""


@pytest.mark.parametrize("verb", ["appeal", "answer"])
def test_nobody_speaks_for_the_owner(
    pending: Submission, stranger: User, moderator: User, verb: str
) -> None:
    pending.reject(moderator, "The speeds cannot be.")
    assert say(Uploader(None), pending, verb, "x").status_code == 401
    assert say(with_all_scopes(stranger), pending, verb, "x").status_code == 404
    assert say(with_all_scopes(moderator), pending, verb, "x").status_code == 403


@pytest.mark.parametrize("text", ["", "\u200b", None, 5, "x" * 2001])
def test_words_that_say_nothing_are_refused(
    pending: Submission, manager: Uploader, moderator: User, text: Any
) -> None:
    pending.reject(moderator, "The speeds cannot be.")
    response = say(manager, pending, "appeal", text)
    assert response.status_code == 400
    assert list(refused_fields(response)) == ["text"]
