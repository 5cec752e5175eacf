"""The audit trail: it only grows, whoever writes, and its public face names nobody."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError, connection, transaction
from django.test import Client

from submissions.models import AuditEvent, ModeratorNote, Submission


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE submissions_auditevent SET kind = 'approved'",
        "UPDATE submissions_auditevent SET created_at = NULL WHERE id > 0",
        "DELETE FROM submissions_auditevent",
    ],
)
def test_the_database_itself_refuses_to_change_it(submission: Submission, statement: str) -> None:
    before = list(AuditEvent.objects.values())
    with (
        pytest.raises(DatabaseError, match="never changed"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)
    assert list(AuditEvent.objects.values()) == before


def test_events_are_added_all_the_same(submission: Submission, moderator: User) -> None:
    submission.approve(moderator)
    assert AuditEvent.objects.count() == 2


def test_no_one_edits_it_in_the_admin(submission: Submission) -> None:
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    event = AuditEvent.objects.get()
    address = f"/admin/submissions/auditevent/{event.pk}"
    assert client.get(f"{address}/change/").status_code == 200
    assert client.post(f"{address}/change/", {"kind": "approved"}).status_code == 403
    assert client.post(f"{address}/delete/", {"post": "yes"}).status_code == 403
    assert client.get("/admin/submissions/auditevent/add/").status_code == 403
    assert AuditEvent.objects.get().kind == "submitted"


def history(submission: Submission) -> str:
    page = Client().get(f"/runs/{submission}/").content.decode()
    return page[page.index('id="history"') :]


def test_everybody_reads_what_why_and_by_which_role(
    submission: Submission, moderator: User, owner: User
) -> None:
    submission.reject(moderator, "Too fast for a 3060.")
    submission.appeal(owner, "It is a 5090.")
    submission.approve(moderator, "It is.")
    seen = history(submission)
    for words in ("rejected", "Too fast for a 3060.", "appealed", "It is a 5090.", "approved"):
        assert words in seen
    assert ">owner</span>" in seen
    assert ">moderator</span>" in seen


def test_what_the_site_did_is_automatic(submission: Submission, moderator: User) -> None:
    submission.approve(moderator)
    with transaction.atomic():
        submission.change_level("reproduced", None, "Another owner measured the same.")
    seen = history(submission)
    assert "level changed, consistent to reproduced" in seen
    assert ">automatic</span>" in seen


def test_names_addresses_and_notes_stay_inside(
    submission: Submission, owner: User, django_user_model: type[User]
) -> None:
    from django.contrib.auth.models import Group

    person = django_user_model.objects.create_user("jane.doe", "jane@bench.example")
    person.groups.add(Group.objects.get(name="moderator"))
    ModeratorNote.write(submission, person, "Looks like the one of May.")
    submission.approve(person, "Confirmed by <someone.else@mail.example>, who was there.")
    seen = history(submission)
    for private in ("jane", "someone.else", "the one of May"):
        assert private not in seen
    assert "Confirmed by" in seen


def test_reasons_are_escaped(submission: Submission, moderator: User) -> None:
    submission.approve(moderator, "<script>alert(1)</script>")
    assert "<script>alert(1)" not in history(submission)


@pytest.mark.parametrize("verb", ["flag", "reject"])
def test_a_tombstone_keeps_its_history(submission: Submission, moderator: User, verb: str) -> None:
    submission.approve(moderator)
    getattr(submission, verb)(moderator, "Two owners claim it.")
    response = Client().get(f"/runs/{submission}/")
    assert submission.status in response.content.decode()
    assert "Two owners claim it." in history(submission)
