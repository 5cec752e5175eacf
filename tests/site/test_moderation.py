"""From pending to shown and back: who may decide, and what is left of it."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from leaderboard.models import Entry
from submissions.keys import create_key
from submissions.models import AuditEvent, ModerationError, Submission
from tests.site.make_result import make_bytes, make_document
from tests.site.uploads import SUBMISSIONS, Uploader

CHANGELIST = "/admin/submissions/submission/"


def shown(client: Client) -> int:
    count: int = client.get("/api/v1/leaderboard/").json()["count"]
    return count


def act(client: Client, action: str, submission: Submission, **more: str) -> Any:
    data = {"action": action, "_selected_action": [str(submission.pk)], **more}
    return client.post(CHANGELIST, data, follow=True)


def test_an_upload_waits_and_is_not_shown(submission: Submission, client: Client) -> None:
    assert submission.status == "pending"
    assert shown(client) == 0


def test_approving_in_the_admin_shows_the_run(
    submission: Submission, moderator_client: Client
) -> None:
    act(moderator_client, "approve", submission, reason="Read it all.")
    submission.refresh_from_db()
    assert submission.status == "approved"
    assert shown(Client()) == 1


def test_rejecting_asks_for_a_reason_first(
    submission: Submission, moderator_client: Client
) -> None:
    page = act(moderator_client, "reject", submission)
    submission.refresh_from_db()
    assert submission.status == "pending"
    assert b'name="reason"' in page.content
    assert submission.run.public_id.encode() in page.content


def test_rejecting_without_a_reason_asks_again(
    submission: Submission, moderator_client: Client
) -> None:
    page = act(moderator_client, "reject", submission, reason="  ")
    submission.refresh_from_db()
    assert submission.status == "pending"
    assert b"A reason is needed" in page.content


def test_rejecting_with_a_reason_keeps_the_run_off(
    submission: Submission, moderator_client: Client
) -> None:
    act(moderator_client, "reject", submission, reason="The label is wrong.")
    submission.refresh_from_db()
    assert (submission.status, submission.reason) == ("rejected", "The label is wrong.")
    assert shown(Client()) == 0


def test_flagging_withdraws_the_entry_and_leaves_a_tombstone(
    submission: Submission, moderator_client: Client
) -> None:
    act(moderator_client, "approve", submission, reason="Read it all.")
    act(moderator_client, "flag", submission, reason="Two owners claim it.")
    entry = Entry.objects.get()
    assert entry.withdrawn_at is not None
    assert entry.withdrawn_reason == "Two owners claim it."
    assert shown(Client()) == 0


def test_a_flagged_run_can_be_shown_again(submission: Submission, moderator_client: Client) -> None:
    act(moderator_client, "flag", submission, reason="Why so fast?")
    act(moderator_client, "approve", submission, reason="Read it all.")
    assert shown(Client()) == 1


def test_every_change_is_in_the_audit_trail(
    submission: Submission, moderator_client: Client, moderator: User, owner: User
) -> None:
    act(moderator_client, "approve", submission, reason="Read it all.")
    act(moderator_client, "flag", submission, reason="Why?")
    trail = [(event.kind, event.actor) for event in AuditEvent.objects.all()]
    assert trail == [("submitted", owner), ("approved", moderator), ("flagged", moderator)]
    assert AuditEvent.objects.last().data == {"from": "approved", "reason": "Why?"}


def test_the_audit_trail_is_never_changed(submission: Submission) -> None:
    event = AuditEvent.objects.get()
    event.kind = "approved"
    with pytest.raises(ModerationError):
        event.save()
    with pytest.raises(ModerationError):
        event.delete()


def test_nobody_decides_about_their_own(submission: Submission, owner: User) -> None:
    owner.is_superuser = True
    owner.save()
    with pytest.raises(ModerationError, match="their own"):
        submission.approve(owner)
    submission.refresh_from_db()
    assert submission.status == "pending"


def test_a_stranger_cannot_decide(submission: Submission, stranger: User) -> None:
    with pytest.raises(ModerationError, match="Only a moderator"):
        submission.approve(stranger)


def test_the_same_decision_twice_is_refused(submission: Submission, moderator: User) -> None:
    submission.approve(moderator)
    with pytest.raises(ModerationError, match="already"):
        Submission.objects.get().approve(moderator)
    assert AuditEvent.objects.filter(kind="approved").count() == 1


def test_a_stranger_sees_no_admin(submission: Submission, stranger: User) -> None:
    client = Client()
    client.force_login(stranger)
    assert client.get(CHANGELIST).status_code == 302


def test_staff_without_the_permission_sees_no_queue(submission: Submission, stranger: User) -> None:
    stranger.is_staff = True
    stranger.save()
    client = Client()
    client.force_login(stranger)
    assert client.get(CHANGELIST).status_code == 403


def test_the_queue_filters_by_status_and_level(
    submission: Submission, moderator_client: Client
) -> None:
    listed = moderator_client.get(CHANGELIST, {"status__exact": "pending"})
    assert submission.run.public_id.encode() in listed.content
    listed = moderator_client.get(CHANGELIST, {"status__exact": "flagged"})
    assert submission.run.public_id.encode() not in listed.content
    assert moderator_client.get(CHANGELIST, {"level__exact": "reported"}).status_code == 200


def test_findings_are_readable_and_escaped(
    submission: Submission, moderator_client: Client
) -> None:
    submission.findings = [
        {
            "severity": "needs_review",
            "code": "x",
            "field": "trials[0].output",
            "sentence": "<script>alert(1)</script>",
            "numbers": {"tokens": 3},
        }
    ]
    submission.save()
    page = moderator_client.get(f"{CHANGELIST}{submission.pk}/change/").content.decode()
    assert "needs review" in page
    assert "tokens <b>3</b>" in page
    assert "<script>alert(1)" not in page


def test_only_owner_and_moderator_read_a_pending_submission(
    submission: Submission, uploader: Uploader, stranger: User, moderator_client: Client
) -> None:
    address = f"{SUBMISSIONS}{submission.run.public_id}/"
    run = f"/api/v1/runs/{submission.run.public_id}/"
    other = Uploader(create_key(stranger)[1])
    for where in (address, run, f"{run}result.json"):
        assert uploader.get(where).status_code == 200
        assert moderator_client.get(where).status_code == 200
        assert other.get(where).status_code == 404
        assert Client().get(where).status_code == 404


def test_everybody_reads_an_approved_run_byte_for_byte(uploader: Uploader, moderator: User) -> None:
    body = b"  " + make_bytes()
    uploader.post(body)
    submission = Submission.objects.get()
    submission.approve(moderator)
    response = Client().get(f"/api/v1/runs/{submission.run.public_id}/result.json")
    assert response.content == body


def test_findings_and_reasons_are_not_for_strangers(
    submission: Submission, moderator: User, uploader: Uploader
) -> None:
    submission.approve(moderator, "Looks right.")
    address = f"{SUBMISSIONS}{submission.run.public_id}/"
    assert "findings" not in Client().get(address).json()
    assert uploader.get(address).json()["reason"] == "Looks right."


def test_the_owner_withdraws_for_good(
    submission: Submission, moderator: User, uploader: Uploader
) -> None:
    submission.approve(moderator)
    address = f"{SUBMISSIONS}{submission.run.public_id}/"
    assert uploader.delete(address).status_code == 204
    assert shown(Client()) == 0
    with pytest.raises(ModerationError, match="withdrawn"):
        Submission.objects.get().approve(moderator)
    assert uploader.delete(address).status_code == 409


def test_a_dry_run_stores_nothing_and_tells_all(uploader: Uploader) -> None:
    response = uploader.post(make_bytes(), address=f"{SUBMISSIONS}?dry_run=1")
    assert response.status_code == 200
    assert response.json()["would_be_accepted"] is True
    assert response.json()["level"] == "consistent"
    assert Submission.objects.count() == 0


def test_a_dry_run_of_a_forged_run_tells_what_is_wrong(uploader: Uploader) -> None:
    document = make_document()
    document["suites"][0]["pass_count"] += 90
    response = uploader.post(document, address=f"{SUBMISSIONS}?dry_run=1")
    assert response.json()["would_be_accepted"] is False
    [finding] = [one for one in response.json()["findings"] if one["severity"] == "refused"]
    assert finding["numbers"]["claimed"] == finding["numbers"]["computed"] + 90


def test_the_answer_names_id_status_level_and_page(uploader: Uploader) -> None:
    body = uploader.post(make_bytes()).json()
    public_id = Submission.objects.get().run.public_id
    assert body == {
        "id": public_id,
        "status": "pending",
        "level": "consistent",
        "url": f"http://testserver/runs/{public_id}/",
    }


def test_a_local_site_takes_no_upload(uploader: Uploader, settings: Any) -> None:
    settings.BENCHLOOP_ROLE = "local"
    response = uploader.post(make_bytes())
    assert response.status_code == 403
    assert response.json()["code"] == "uploads_off"


def test_the_audit_trail_grows_and_nothing_else(uploader: Uploader) -> None:
    uploader.post(make_bytes())
    submission = Submission.objects.get()
    [event] = submission.audit.all()
    for change in (
        lambda: submission.audit.all().delete(),
        lambda: AuditEvent.objects.update(kind="approved"),
        lambda: AuditEvent.objects.bulk_update([event], ["kind"]),
        event.delete,
        event.save,
    ):
        with pytest.raises(ModerationError):
            change()
    assert AuditEvent.objects.get() == event
