"""What moderators and owners can do with a submission, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.contrib.auth.models import User
from django.db import connection

from leaderboard.models import Entry
from submissions.models import (
    AuditEvent,
    ChangedMeanwhileError,
    ModerationError,
    ModeratorNote,
    Report,
    Submission,
)
from submissions.models.reasons import LONGEST_REASON
from tests.site.make_result import make_bytes
from tests.site.uploads import Uploader

Decide = Callable[[Submission, User, str], None]
DECISIONS: dict[str, Decide] = {
    "approve": Submission.approve,
    "reject": Submission.reject,
    "flag": Submission.flag,
    "request_changes": Submission.request_changes,
}


def kinds(submission: Submission) -> list[str]:
    return [event.kind for event in AuditEvent.objects.filter(submission=submission)]


@pytest.fixture
def second(submission: Submission, uploader: Uploader) -> Submission:
    """Another upload of the same owner."""
    assert uploader.post(make_bytes(model_id="llama3.1:8b")).status_code == 201
    return Submission.objects.latest("pk")


@pytest.mark.parametrize("name", DECISIONS)
@pytest.mark.parametrize("reason", ["", "  \n", "x" * (LONGEST_REASON + 1), "Trial {which trial}."])
def test_every_decision_needs_a_whole_reason(
    submission: Submission, moderator: User, name: str, reason: str
) -> None:
    with pytest.raises(ModerationError):
        DECISIONS[name](submission, moderator, reason)
    submission.refresh_from_db()
    assert (submission.status, kinds(submission)) == ("pending", ["submitted"])


@pytest.mark.parametrize("name", DECISIONS)
def test_every_decision_names_its_moderator_and_reason(
    submission: Submission, moderator: User, name: str
) -> None:
    DECISIONS[name](submission, moderator, " Because of this. ")
    event = AuditEvent.objects.latest("pk")
    assert (event.actor, event.data["reason"]) == (moderator, "Because of this.")


@pytest.mark.parametrize("name", DECISIONS)
def test_owner_and_stranger_decide_nothing(
    submission: Submission, owner: User, stranger: User, name: str
) -> None:
    for person in (owner, stranger):
        with pytest.raises(ModerationError):
            DECISIONS[name](submission, person, "Mine.")
    assert kinds(submission) == ["submitted"]


def test_a_request_keeps_it_pending_until_the_owner_answers(
    submission: Submission, moderator: User, owner: User
) -> None:
    submission.request_changes(moderator, "Which driver?")
    assert (submission.status, submission.requested_changes) == ("pending", "Which driver?")
    submission.answer_request(owner, "580.95")
    assert (submission.status, submission.requested_changes) == ("pending", "")
    assert kinds(submission) == ["submitted", "changes_requested", "answered"]


def test_nothing_asked_is_nothing_answered(submission: Submission, owner: User) -> None:
    with pytest.raises(ModerationError, match="Nothing is asked"):
        submission.answer_request(owner, "580.95")


def test_a_decision_closes_the_request(submission: Submission, moderator: User) -> None:
    submission.request_changes(moderator, "Which driver?")
    submission.approve(moderator)
    assert submission.requested_changes == ""


def test_changes_are_requested_of_pending_ones_only(
    submission: Submission, moderator: User
) -> None:
    submission.approve(moderator)
    with pytest.raises(ModerationError, match="approved already"):
        submission.request_changes(moderator, "Which driver?")


@pytest.mark.parametrize("name", ["reject", "flag"])
def test_an_appeal_is_answered_by_the_opposite_decision(
    submission: Submission, moderator: User, owner: User, name: str
) -> None:
    DECISIONS[name](submission, moderator, "Too fast.")
    submission.appeal(owner, "It is a 5090.")
    assert submission.appeal_text == "It is a 5090."
    submission.approve(moderator, "It is.")
    assert (submission.status, submission.appeal_text, submission.appealed_at) == (
        "approved",
        "",
        None,
    )
    assert Entry.objects.shown().count() == 1


def test_an_appeal_is_answered_by_the_same_decision_again(
    submission: Submission, moderator: User, owner: User
) -> None:
    submission.reject(moderator, "Too fast.")
    submission.appeal(owner, "It is a 5090.")
    submission.reject(moderator, "The sensor says 3060.")
    assert submission.reason == "The sensor says 3060."
    assert submission.can_be_appealed


def test_a_decision_is_appealed_once(submission: Submission, moderator: User, owner: User) -> None:
    submission.reject(moderator, "Too fast.")
    submission.appeal(owner, "It is a 5090.")
    with pytest.raises(ModerationError, match="appealed already"):
        submission.appeal(owner, "Really.")
    assert kinds(submission).count("appealed") == 1


def test_only_rejected_and_flagged_ones_are_appealed(
    submission: Submission, moderator: User, owner: User
) -> None:
    for _ in range(2):
        with pytest.raises(ModerationError, match="Only a rejection or a flag"):
            submission.appeal(owner, "Why?")
        if submission.status == "pending":
            submission.approve(moderator)


@pytest.mark.parametrize("text", ["", " \n ", "x" * (LONGEST_REASON + 1)])
def test_an_appeal_says_why(
    submission: Submission, moderator: User, owner: User, text: str
) -> None:
    submission.reject(moderator, "Too fast.")
    with pytest.raises(ModerationError):
        submission.appeal(owner, text)
    assert submission.appealed_at is None


def test_a_stranger_and_a_moderator_cannot_appeal_or_withdraw(
    submission: Submission, moderator: User, stranger: User
) -> None:
    submission.reject(moderator, "Too fast.")
    for person in (stranger, moderator):
        with pytest.raises(ModerationError, match="Only its owner"):
            submission.appeal(person, "Let it be.")
        with pytest.raises(ModerationError, match="Only its owner"):
            submission.withdraw(person)


def test_verifying_raises_the_level_of_a_shown_run(submission: Submission, moderator: User) -> None:
    submission.approve(moderator)
    before = Entry.objects.get()
    submission.verify(moderator, "Read every trial.")
    after = Entry.objects.get()
    assert (before.level, after.level, submission.level) == ("consistent", "verified", "verified")
    assert after.published_at == before.published_at
    event = AuditEvent.objects.latest("pk")
    assert event.data == {"from": "consistent", "to": "verified", "reason": "Read every trial."}


def test_only_approved_ones_are_verified(submission: Submission, moderator: User) -> None:
    with pytest.raises(ModerationError, match="Only an approved"):
        submission.verify(moderator, "Read every trial.")
    assert submission.level == "consistent"


def test_approving_never_verifies(submission: Submission, moderator: User) -> None:
    submission.approve(moderator)
    assert Entry.objects.get().level == "consistent"


def test_a_verification_is_taken_back(submission: Submission, moderator: User) -> None:
    submission.approve(moderator)
    submission.verify(moderator, "Read every trial.")
    submission.unverify(moderator, "Another account has the same.")
    assert (submission.status, submission.level) == ("approved", "consistent")
    assert Entry.objects.get().level == "consistent"


@pytest.mark.parametrize("name", ["reject", "flag"])
def test_what_is_taken_off_is_not_verified_any_more(
    submission: Submission, moderator: User, name: str
) -> None:
    submission.approve(moderator)
    submission.verify(moderator, "Read every trial.")
    DECISIONS[name](submission, moderator, "Another account has the same.")
    submission.approve(moderator, "It was the first.")
    assert Entry.objects.get().level == "consistent"


def test_a_duplicate_is_rejected_and_names_the_original(
    submission: Submission, second: Submission, moderator: User
) -> None:
    second.mark_duplicate(moderator, "The same run.", original=submission)
    assert (second.status, second.duplicate_of) == ("rejected", submission)
    event = AuditEvent.objects.latest("pk")
    assert event.words == f"rejected as a duplicate of {submission}"


def test_a_duplicate_that_is_approved_after_all_is_none(
    submission: Submission, second: Submission, moderator: User
) -> None:
    second.mark_duplicate(moderator, "The same run.", original=submission)
    second.approve(moderator, "It is another one.")
    assert second.duplicate_of is None


def test_a_rejected_one_can_be_marked_as_a_duplicate_later(
    submission: Submission, second: Submission, moderator: User
) -> None:
    second.reject(moderator, "Too fast.")
    second.mark_duplicate(moderator, "The same run.", original=submission)
    assert second.duplicate_of == submission


def test_nothing_is_a_duplicate_of_itself_or_of_a_duplicate(
    submission: Submission, second: Submission, moderator: User
) -> None:
    with pytest.raises(ModerationError, match="itself"):
        submission.mark_duplicate(moderator, "The same.", original=submission)
    second.mark_duplicate(moderator, "The same.", original=submission)
    with pytest.raises(ModerationError, match=f"duplicate of {submission}"):
        submission.mark_duplicate(moderator, "The same.", original=second)


def test_the_second_of_two_moderators_is_told_what_happened(
    submission: Submission, moderator: User, maintainer: User
) -> None:
    seen = submission.version
    submission.reject(moderator, "The sensor says 3060.", seen=seen)
    late = Submission.objects.get()
    with pytest.raises(ChangedMeanwhileError, match=r"rejected by moderator .*says 3060"):
        late.approve(maintainer, "Fine.", seen=seen)
    assert Submission.objects.get().status == "rejected"


def test_what_the_owner_did_meanwhile_counts_too(
    submission: Submission, moderator: User, owner: User
) -> None:
    submission.request_changes(moderator, "Which driver?")
    seen = submission.version
    submission.answer_request(owner, "580.95")
    with pytest.raises(ChangedMeanwhileError, match="request answered"):
        submission.reject(moderator, "No answer came.", seen=seen)


@pytest.mark.django_db(transaction=True)
def test_of_two_decisions_at_the_same_moment_one_is_taken(
    submission: Submission, moderator: User, maintainer: User
) -> None:
    seen, start = submission.version, Barrier(2)

    def decide(person: User, verb: Decide) -> str:
        try:
            own = Submission.objects.get(pk=submission.pk)
            start.wait(10)
            verb(own, person, "Because.", seen=seen)  # type: ignore[call-arg]
        except ChangedMeanwhileError as error:
            return str(error)
        finally:
            connection.close()
        return "done"

    with ThreadPoolExecutor(2) as threads:
        answers = list(
            threads.map(decide, (moderator, maintainer), (Submission.approve, Submission.reject))
        )
    assert sorted(answer == "done" for answer in answers) == [False, True]
    assert len(kinds(submission)) == 2
    status = Submission.objects.get().status
    assert (Entry.objects.shown().count() == 1) == (status == "approved")


def test_withdrawing_ends_everything(submission: Submission, moderator: User, owner: User) -> None:
    submission.reject(moderator, "Too fast.")
    submission.appeal(owner, "It is a 5090.")
    submission.withdraw(owner)
    assert (submission.status, submission.appealed_at) == ("withdrawn", None)
    for verb in DECISIONS.values():
        with pytest.raises(ModerationError, match="withdrawn"):
            verb(submission, moderator, "Because.")
    with pytest.raises(ModerationError, match="withdrawn"):
        submission.appeal(owner, "Again.")


@pytest.fixture
def report(submission: Submission, stranger: User) -> Report:
    return Report.objects.create(
        submission=submission,
        reporter=stranger,
        reporter_hash="a" * 64,
        kind=Report.Kind.IMPLAUSIBLE,
        text="No card does that.",
    )


def test_a_report_is_resolved_once_and_in_public(report: Report, moderator: User) -> None:
    report.resolve(moderator, "It is a cluster.")
    event = AuditEvent.objects.latest("pk")
    assert (event.kind, event.public_reason) == ("report_resolved", "It is a cluster.")
    with pytest.raises(ModerationError, match="already"):
        Report.objects.get().resolve(moderator, "Once more.")
    assert AuditEvent.objects.filter(kind="report_resolved").count() == 1


def test_nobody_resolves_reports_about_their_own(
    report: Report, owner: User, stranger: User
) -> None:
    owner.is_superuser = True
    owner.save()
    for person in (owner, stranger):
        with pytest.raises(ModerationError):
            report.resolve(person, "All is well.")
    assert Report.objects.get().resolved_at is None


def test_notes_of_moderators_are_in_no_trail(submission: Submission, moderator: User) -> None:
    ModeratorNote.write(submission, moderator, "Looks like the one of May.")
    assert kinds(submission) == ["submitted"]


def test_only_moderators_of_others_write_notes(
    submission: Submission, owner: User, stranger: User
) -> None:
    owner.is_superuser = True
    owner.save()
    for person in (owner, stranger):
        with pytest.raises(ModerationError):
            ModeratorNote.write(submission, person, "Let it through.")
    assert not ModeratorNote.objects.exists()
