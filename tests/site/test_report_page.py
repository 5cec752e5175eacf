"""The form on which readers report a run: the rules of the API, on a page."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from submissions.models import Report, Submission
from tests.site.test_reports_api import report as report_by_api

DOUBT = {"kind": "implausible", "text": "No 8B model runs at 900 tok/s there."}


@pytest.fixture
def approved(submission: Submission, moderator: User) -> Submission:
    submission.approve(moderator)
    return submission


def send(submission: Submission, client: Client | None = None, **fields: str) -> Any:
    return (client or Client()).post(f"/runs/{submission}/report/", {**DOUBT, **fields})


def test_a_reader_without_an_account_reports_a_run(approved: Submission) -> None:
    reader = Client()
    assert f"/runs/{approved}/report/" in reader.get(f"/runs/{approved}/").content.decode()
    answer = send(approved, reader)
    assert (answer.status_code, answer["Location"]) == (302, f"/runs/{approved}/")
    made = Report.objects.get()
    assert (made.kind, made.text, made.reporter) == (DOUBT["kind"], DOUBT["text"], None)
    assert "The moderators have your report" in reader.get(answer["Location"]).content.decode()


def test_a_reader_with_an_account_is_known_by_it(approved: Submission, stranger: User) -> None:
    reader = Client()
    reader.force_login(stranger)
    send(approved, reader)
    assert Report.objects.get().reporter == stranger


def test_a_page_of_another_site_cannot_report(approved: Submission) -> None:
    assert send(approved, Client(enforce_csrf_checks=True)).status_code == 403
    assert not Report.objects.exists()


def test_the_run_itself_sets_no_cookie(approved: Submission) -> None:
    assert not Client().get(f"/runs/{approved}/").cookies


@pytest.mark.parametrize(
    ("field", "text"), [("kind", ""), ("kind", "boring"), ("text", ""), ("text", "word " * 401)]
)
def test_a_wrong_field_is_named_and_nothing_typed_is_lost(
    approved: Submission, field: str, text: str
) -> None:
    answer = send(approved, **{field: text})
    page = answer.content.decode()
    assert answer.status_code == 400
    assert f'id="{field}-error"' in page
    assert ({**DOUBT, field: text}["text"]) in page
    assert not Report.objects.exists()


def test_a_reader_counts_once_on_the_page_and_in_the_api(approved: Submission) -> None:
    assert report_by_api(approved).status_code == 201
    answer = send(approved)
    assert answer.status_code == 409
    assert "You have reported this run" in answer.content.decode()
    assert DOUBT["text"] in answer.content.decode()


def test_reports_are_slowed_down_and_the_text_kept(approved: Submission, settings: Any) -> None:
    settings.API_RATES = {**settings.API_RATES, "report": (1, 3600)}
    assert send(approved).status_code == 302
    answer = send(approved)
    assert answer.status_code == 429
    assert 0 < int(answer["Retry-After"]) <= 2 * 3600
    assert DOUBT["text"] in answer.content.decode()


def test_a_wrong_field_costs_no_report(approved: Submission, settings: Any) -> None:
    settings.API_RATES = {**settings.API_RATES, "report": (1, 3600)}
    assert send(approved, kind="").status_code == 400
    assert send(approved).status_code == 302


def test_a_run_that_was_never_shown_cannot_be_reported(submission: Submission) -> None:
    assert Client().get(f"/runs/{submission}/report/").status_code == 404
    assert send(submission).status_code == 404
    assert not Report.objects.exists()


def test_what_is_typed_is_text_and_no_markup(approved: Submission) -> None:
    page = send(approved, kind="", text="</textarea><script>alert(1)</script>").content.decode()
    assert "<script>alert" not in page
    assert "&lt;/textarea&gt;" in page


def test_the_owner_is_not_asked_to_report(approved: Submission, owner: User) -> None:
    client = Client()
    client.force_login(owner)
    assert f"/runs/{approved}/report/" not in client.get(f"/runs/{approved}/").content.decode()
