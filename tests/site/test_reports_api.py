"""Readers' reports: one of each reader and run, for moderators' eyes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from submissions.keys import create_key
from submissions.models import Report, Submission
from tests.site.make_result import make_bytes
from tests.site.uploads import SUBMISSIONS, Uploader, refused_fields

DOUBT = {"kind": "implausible", "text": "No 8B model runs at 900 tok/s there."}


@pytest.fixture
def approved(uploader: Uploader, moderator: User) -> Submission:
    uploader.post(make_bytes())
    submission = Submission.objects.get()
    submission.approve(moderator, "It is plausible.")
    return submission


def report(submission: Submission, body: Any = DOUBT, sender: Uploader | None = None, **more: Any):  # type: ignore[no-untyped-def]
    sender = sender or Uploader(None)
    return sender.client.post(
        f"{SUBMISSIONS}{submission.run.public_id}/report/",
        body,
        content_type="application/json",
        headers=sender.headers,
        **more,
    )


def test_anybody_reports_a_run_and_moderators_read_it(
    approved: Submission, moderator_client: Client
) -> None:
    assert report(approved).status_code == 201
    address = f"{SUBMISSIONS}{approved.run.public_id}/"
    (seen,) = moderator_client.get(address).json()["reports"]
    assert {name: seen[name] for name in DOUBT} == DOUBT
    assert "reports" not in Client().get(address).json()


def test_the_owner_does_not_read_who_doubts_them(approved: Submission, uploader: Uploader) -> None:
    report(approved)
    assert "reports" not in uploader.get(f"{SUBMISSIONS}{approved.run.public_id}/").json()


def test_an_address_reports_a_run_once(approved: Submission) -> None:
    report(approved, REMOTE_ADDR="192.0.2.7")
    again = report(approved, REMOTE_ADDR="192.0.2.7")
    assert (again.status_code, again.json()["code"]) == (409, "already_reported")
    assert report(approved, REMOTE_ADDR="192.0.2.8").status_code == 201
    assert Report.objects.count() == 2


def test_neighbours_of_one_ipv6_network_are_one_reporter(approved: Submission) -> None:
    assert report(approved, REMOTE_ADDR="2001:db8::1").status_code == 201
    assert report(approved, REMOTE_ADDR="2001:db8::2").status_code == 409
    assert report(approved, REMOTE_ADDR="2001:db8:0:1::1").status_code == 201


def test_a_person_reports_a_run_once_wherever_they_are(
    approved: Submission, stranger: User
) -> None:
    sender = Uploader(create_key(stranger)[1])
    assert report(approved, sender=sender, REMOTE_ADDR="192.0.2.7").status_code == 201
    assert report(approved, sender=sender, REMOTE_ADDR="192.0.2.8").status_code == 409
    assert Report.objects.get().reporter == stranger


def test_no_address_is_stored(approved: Submission) -> None:
    report(approved, REMOTE_ADDR="192.0.2.7")
    assert "192.0.2.7" not in str(Report.objects.values().get())


def test_a_run_that_is_not_shown_cannot_be_reported(uploader: Uploader) -> None:
    uploader.post(make_bytes())
    assert report(Submission.objects.get()).status_code == 404


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, ["kind", "text"]),
        ({**DOUBT, "kind": "spam"}, ["kind"]),
        ({**DOUBT, "text": " \u200b\n"}, ["text"]),
        ({**DOUBT, "text": "x" * 2001}, ["text"]),
        ({**DOUBT, "text": 7}, ["text"]),
        ({**DOUBT, "mail": "x"}, ["mail"]),
    ],
)
def test_a_wrong_report_names_its_fields(
    approved: Submission, body: dict[str, Any], fields: list[str]
) -> None:
    response = report(approved, body)
    assert response.status_code == 400
    assert sorted(refused_fields(response)) == fields
    assert not Report.objects.exists()


def test_reports_are_throttled(approved: Submission, settings: Any, uploader: Uploader) -> None:
    settings.API_RATES = {**settings.API_RATES, "report": (2, 3600)}
    assert [report(approved).status_code for _ in range(3)] == [201, 409, 429]


@pytest.mark.django_db(transaction=True)
def test_reports_at_the_same_moment_make_one_row(approved: Submission) -> None:
    def send(_: int) -> int:
        try:
            status: int = report(approved).status_code
            return status
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        statuses = sorted(threads.map(send, range(8)))
    assert statuses == [201] + [409] * 7
    assert Report.objects.count() == 1
