"""The pages about submissions: for owners before a run is shown, and the figures for everybody."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from submissions.models import Report, Submission
from submissions.moderation_figures import figures
from tests.site.make_result import make_bytes
from tests.site.uploads import Uploader


@pytest.fixture
def owner_client(public_site: None, owner: User) -> Client:
    client = Client()
    client.force_login(owner)
    return client


def seen(client: Client, submission: Submission, status: int = 200) -> str:
    response = client.get(f"/runs/{submission}/")
    assert response.status_code == status
    return str(response.content.decode())


def test_the_owner_sees_a_run_before_it_is_shown(
    submission: Submission, owner_client: Client
) -> None:
    page = seen(owner_client, submission)
    assert "It waits for a moderator" in page
    assert submission.run.header["subject"]["model_id"] in page


def test_nobody_else_does(submission: Submission, stranger: User) -> None:
    other = Client()
    other.force_login(stranger)
    for client in (Client(), other):
        seen(client, submission, status=404)
        for verb in ("appeal", "answer", "withdraw"):
            address = f"/runs/{submission}/{verb}/"
            assert client.get(address).status_code == 404
            assert client.post(address, {"text": "x"}).status_code == 404


def test_a_moderator_is_led_to_the_queue(submission: Submission, moderator_client: Client) -> None:
    page = seen(moderator_client, submission)
    assert f"/admin/submissions/submission/{submission.pk}/change/" in page
    assert "Your submission" not in page


def test_the_page_of_a_shown_run_has_no_forms_for_others(
    submission: Submission, moderator: User, stranger: User
) -> None:
    submission.approve(moderator)
    other = Client()
    other.force_login(stranger)
    for client in (Client(), other):
        page = seen(client, submission)
        assert "Your submission" not in page
        assert f"/runs/{submission}/withdraw/" not in page
    assert not Client().get(f"/runs/{submission}/").cookies
    assert other.post(f"/runs/{submission}/withdraw/").status_code == 403


def test_the_owner_appeals_on_the_page(
    submission: Submission, moderator: User, owner_client: Client
) -> None:
    submission.reject(moderator, "Too fast.")
    page = seen(owner_client, submission)
    assert "Too fast." in page
    assert f'action="/runs/{submission}/appeal/"' in page
    answer = owner_client.post(f"/runs/{submission}/appeal/", {"text": "It is a 5090."})
    assert answer.status_code == 302
    submission.refresh_from_db()
    assert submission.appeal_text == "It is a 5090."
    assert f'action="/runs/{submission}/appeal/"' not in seen(owner_client, submission)


def test_an_appeal_against_a_flag_is_made_on_the_tombstone(
    submission: Submission, moderator: User, owner_client: Client
) -> None:
    submission.approve(moderator)
    submission.flag(moderator, "Two owners claim it.")
    assert f'action="/runs/{submission}/appeal/"' in seen(owner_client, submission)
    assert "Your submission" not in seen(Client(), submission)


def test_the_owner_answers_what_was_asked(
    submission: Submission, moderator: User, owner_client: Client
) -> None:
    submission.request_changes(moderator, "Which driver?")
    assert "Which driver?" in seen(owner_client, submission)
    owner_client.post(f"/runs/{submission}/answer/", {"text": "580.95"})
    submission.refresh_from_db()
    assert submission.requested_changes == ""


def test_a_refused_text_is_not_lost(
    submission: Submission, moderator: User, owner_client: Client
) -> None:
    text = "word " * 500
    submission.reject(moderator, "Too fast.")
    answer = owner_client.post(f"/runs/{submission}/appeal/", {"text": text})
    assert answer.status_code == 409
    assert text.strip() in answer.content.decode()
    assert "2,000 characters" in answer.content.decode()


def test_withdrawing_on_the_page_leaves_a_tombstone(
    submission: Submission, moderator: User, owner_client: Client
) -> None:
    submission.approve(moderator)
    assert owner_client.post(f"/runs/{submission}/withdraw/").status_code == 302
    page = seen(Client(), submission)
    assert "Withdrawn by its owner." in page
    assert owner_client.post(f"/runs/{submission}/withdraw/").status_code == 409


def test_forms_of_other_sites_are_refused(submission: Submission, owner: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(owner)
    assert client.post(f"/runs/{submission}/withdraw/").status_code == 403
    submission.refresh_from_db()
    assert submission.status == "pending"


def test_figures_of_an_empty_site(client: Client, db: None) -> None:
    assert client.get("/moderation/").status_code == 200
    found = client.get("/moderation.json").json()
    assert (found["pending"], found["median_to_decision_s"], found["reasons"]) == (0, None, [])


def test_figures_say_how_long_and_for_which_reasons(
    uploader: Uploader, moderator: User, owner: User, client: Client
) -> None:
    for model, hours in (("a:8b", 1), ("b:8b", 3), ("c:8b", 50), ("d:8b", 7)):
        uploader.post(make_bytes(model_id=model))
        one = Submission.objects.latest("pk")
        one.created_at -= timedelta(hours=hours)
        one.save()
    first, second, third, _ = Submission.objects.order_by("pk")
    first.approve(moderator)
    second.reject(moderator, "Too fast.", template="impossible-speed")
    second.appeal(owner, "It is a 5090.")
    third.reject(moderator, "Too fast.", template="impossible-speed")
    third.approve(moderator, "It was not.")
    Report.objects.create(submission=first, text="Hm.", kind="other", reporter_hash="a")
    found = figures(timezone.now())
    assert (found.pending, found.appeals_open, found.reports_open, found.decided) == (1, 1, 1, 3)
    assert found.median_to_decision_s == pytest.approx(3 * 3600, abs=60)
    assert found.oldest_pending_s == pytest.approx(7 * 3600, abs=60)
    assert found.decisions == {"approved": 2, "rejected": 2, "flagged": 0}
    assert ("rejected", "impossible speed", 2) in [
        (one.decision, one.reason, one.count) for one in found.reasons
    ]
    page = client.get("/moderation/").content.decode()
    assert "impossible speed" in page
    for one in Submission.objects.all():
        assert str(one) not in page, "figures name no single run"


def test_old_decisions_are_in_no_figure(submission: Submission, moderator: User) -> None:
    submission.approve(moderator)
    found = figures(timezone.now() + timedelta(days=91))
    assert (found.decided, found.decisions["approved"], found.reasons) == (0, 0, ())


def test_notes_and_labels_are_shown_as_the_owners_words(
    submission: Submission, moderator: User
) -> None:
    submission.approve(moderator)
    assert "In the owner’s words" not in seen(Client(), submission)
    submission.notes = "Case open.\n<b>No overclock.</b>\u202e"
    submission.labels = ["350 W", "<i>q8</i>"]
    submission.save()
    page = seen(Client(), submission)
    words = page.partition('id="words"')[2].partition("</section>")[0]
    assert "In the owner’s words" in words
    assert "<bdi>350 W</bdi>" in words
    assert "<bdi>&lt;i&gt;q8&lt;/i&gt;</bdi>" in words
    assert "Case open.\n&lt;b&gt;No overclock.&lt;/b&gt;" in words
    assert "\u202e" not in words
