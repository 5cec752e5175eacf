"""The page on which readers report a run, as readers without an account meet it."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from submissions.models import Report, Submission

DOUBT = {"kind": "implausible", "text": "No 8B model runs at 900 tok/s there."}


@pytest.fixture
def address(public_site: None, submission: Submission, moderator: User) -> str:
    submission.approve(moderator, "It is plausible.")
    return f"/runs/{submission}/report/"


def post(address: str, body: dict[str, Any] = DOUBT, client: Client | None = None) -> Any:
    return (client or Client()).post(address, body)


def test_the_page_of_a_shown_run_leads_to_it(address: str, owner: User) -> None:
    run = address.removesuffix("report/")
    assert f'href="{address}"' in Client().get(run).content.decode()
    own = Client()
    own.force_login(owner)
    assert f'href="{address}"' not in own.get(run).content.decode()


def test_anybody_reports_a_run_once(address: str) -> None:
    reader = Client()
    sent = reader.post(address, DOUBT, follow=True)
    assert sent.redirect_chain == [(address, 302)]
    assert "The moderators have your report." in sent.content.decode()
    kept = Report.objects.get()
    assert (kept.kind, kept.text, kept.reporter) == (*DOUBT.values(), None)
    again = post(address)
    assert again.status_code == 409
    assert "You have reported this run" in again.content.decode()
    assert Report.objects.count() == 1


def test_who_is_logged_in_is_known_by_the_account(address: str, stranger: User) -> None:
    client = Client()
    client.force_login(stranger)
    assert post(address, client=client).status_code == 302
    assert Report.objects.get().reporter == stranger
    assert post(address).status_code == 302


@pytest.mark.parametrize(
    ("changes", "label"),
    [
        ({"kind": ""}, "What is wrong:"),
        ({"kind": "nonsense"}, "What is wrong:"),
        ({"text": "  "}, "How it shows:"),
        ({"text": "a\x00" * 2001}, "How it shows:"),
    ],
)
def test_what_is_lacking_is_named_and_nothing_is_lost(
    address: str, changes: dict[str, str], label: str
) -> None:
    refused = post(address, DOUBT | changes)
    page = refused.content.decode()
    assert refused.status_code == 422
    assert label in page
    assert "text" in changes or DOUBT["text"] in page
    assert not Report.objects.exists()


def test_a_form_of_another_page_is_refused(address: str) -> None:
    assert post(address, client=Client(enforce_csrf_checks=True)).status_code == 403


def test_a_run_that_is_not_shown_has_no_such_page(
    public_site: None, submission: Submission
) -> None:
    address = f"/runs/{submission}/report/"
    assert Client().get(address).status_code == 404
    assert post(address).status_code == 404


def test_reports_are_limited(address: str, settings: Any) -> None:
    settings.API_RATES = settings.API_RATES | {"report": (1, 3600)}
    assert post(address).status_code == 302
    limited = post(address)
    assert limited.status_code == 429
    assert "Try again in" in limited.content.decode()
