"""Who may do what: owner, moderator, maintainer and stranger, over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import CommandError, call_command
from django.test import Client

from submissions.models import ApiKey, AuditEvent, ModeratorNote, ReasonTemplate, Report, Submission
from tests.site.make_result import make_bytes

QUEUE = "/admin/submissions/submission/"
TEMPLATES = "/admin/submissions/reasontemplate/"
PEOPLE = "/admin/auth/user/"
KEYS = "/admin/submissions/apikey/"

Act = Callable[[Client, Submission], Any]


def case(submission: Submission) -> str:
    return f"{QUEUE}{submission.pk}/change/"


def decide(decision: str, **more: str) -> Act:
    """A decision on the page of a submission."""

    def act(client: Client, submission: Submission) -> Any:
        data = {"decision": decision, "reason": "Because.", "version": str(submission.version)}
        return client.post(case(submission), data | more)

    return act


def decide_in_the_list(client: Client, submission: Submission) -> Any:
    data = {"action": "approve", "_selected_action": [submission.pk], "reason": "Because."}
    return client.post(f"{QUEUE}?queue=all", data)


def note(client: Client, submission: Submission) -> Any:
    return client.post(case(submission), {"note": "Ask the other one."})


def resolve(client: Client, submission: Submission) -> Any:
    report = submission.reports.get()
    return client.post(case(submission), {"resolve": report.pk, "resolution": "All is well."})


def write_template(client: Client, submission: Submission) -> Any:
    data = {"code": "of-ours", "decision": "reject", "text": "No.", "is_offered": "on"}
    return client.post(f"{TEMPLATES}add/", data)


def make_key(client: Client, submission: Submission) -> Any:
    data = {"owner": submission.owner_id, "name": "new", "scopes": ["submit"]}
    return client.post(f"{KEYS}add/", data)


def give_role(client: Client, submission: Submission) -> Any:
    role = Group.objects.get(name="moderator")
    stranger = User.objects.get(username="stranger")
    return client.post(f"{PEOPLE}{stranger.pk}/change/", {"groups": [role.pk]})


def owner_verb(name: str) -> Act:
    def act(client: Client, submission: Submission) -> Any:
        return client.post(f"/runs/{submission}/{name}/", {"text": "Because."})

    return act


def state() -> Any:
    """All that any of these acts could change."""
    submission = Submission.objects.order_by("pk").first()
    assert submission is not None
    return (
        (submission.status, submission.level, submission.requested_changes),
        AuditEvent.objects.count(),
        ModeratorNote.objects.count(),
        Report.objects.filter(resolved_at=None).count(),
        ReasonTemplate.objects.count(),
        ApiKey.objects.count(),
        sorted(User.objects.filter(groups__name="moderator").values_list("username", flat=True)),
    )


MODERATORS = {"moderator", "maintainer"}

MATRIX: dict[str, tuple[str, Act, set[str]]] = {
    "approve": ("pending", decide("approve"), MODERATORS),
    "approve in the list": ("pending", decide_in_the_list, MODERATORS),
    "reject": ("pending", decide("reject"), MODERATORS),
    "flag": ("pending", decide("flag"), MODERATORS),
    "request changes": ("pending", decide("request_changes"), MODERATORS),
    "verify": ("approved", decide("verify"), MODERATORS),
    "unverify": ("verified", decide("unverify"), MODERATORS),
    "mark duplicate": ("pending", decide("mark_duplicate", original="other"), MODERATORS),
    "note": ("pending", note, MODERATORS),
    "resolve a report": ("approved", resolve, MODERATORS),
    "appeal": ("rejected", owner_verb("appeal"), {"owner"}),
    "answer": ("asked", owner_verb("answer"), {"owner"}),
    "withdraw": ("approved", owner_verb("withdraw"), {"owner"}),
    "write a template": ("pending", write_template, {"maintainer"}),
    "make a key": ("pending", make_key, {"maintainer"}),
    "give a role": ("pending", give_role, {"maintainer"}),
}


@pytest.fixture
def prepared(
    submission: Submission, moderator: User, stranger: User
) -> Callable[[str], Submission]:
    """Brings the submission into a state, with an open report."""

    def prepare(wanted: str) -> Submission:
        Report.objects.create(submission=submission, text="Hm.", kind="other", reporter_hash="a")
        if wanted in ("approved", "verified"):
            submission.approve(moderator)
        if wanted == "verified":
            submission.verify(moderator, "Read it all.")
        if wanted == "rejected":
            submission.reject(moderator, "Too fast.")
        if wanted == "asked":
            submission.request_changes(moderator, "Which driver?")
        return submission

    return prepare


@pytest.mark.parametrize("person", ["owner", "moderator", "maintainer", "stranger", "nobody"])
@pytest.mark.parametrize("name", MATRIX)
def test_who_may_do_what(
    name: str,
    person: str,
    prepared: Callable[[str], Submission],
    request: pytest.FixtureRequest,
    maintainer: User,
) -> None:
    wanted, act, allowed = MATRIX[name]
    submission = prepared(wanted)
    if name == "mark duplicate":
        request.getfixturevalue("uploader").post(make_bytes(model_id="llama3.1:8b"))
        act = decide("mark_duplicate", original=str(Submission.objects.latest("pk")))
    client = Client(raise_request_exception=False)
    if person != "nobody":
        client.force_login(request.getfixturevalue(person))
    before = state()
    response = act(client, submission)
    assert response.status_code < 500
    assert (state() != before) == (person in allowed), response.content.decode()[:3000]
    if person not in allowed:
        assert response.status_code in (302, 403, 404, 409)


@pytest.mark.parametrize("name", [name for name, one in MATRIX.items() if one[2] == MODERATORS])
def test_a_moderator_does_nothing_about_their_own(
    name: str, prepared: Callable[[str], Submission], owner: User, moderator: User
) -> None:
    wanted, act, _ = MATRIX[name]
    submission = prepared(wanted)
    owner.groups.add(Group.objects.get(name="moderator"))
    owner.is_staff = True
    owner.save()
    client = Client()
    client.force_login(owner)
    before = state()
    act(client, submission)
    assert state() == before


def test_own_reports_and_notes_are_not_shown(
    prepared: Callable[[str], Submission], owner: User, moderator: User
) -> None:
    submission = prepared("pending")
    ModeratorNote.write(submission, moderator, "Looks like the one of May.")
    owner.groups.add(Group.objects.get(name="moderator"))
    owner.is_staff = True
    owner.save()
    client = Client()
    client.force_login(owner)
    page = client.get(case(submission)).content.decode()
    assert "another moderator decides" in page
    assert "the one of May" not in page
    assert "Reports of readers" not in page


@pytest.fixture
def as_maintainer(public_site: None, maintainer: User) -> Client:
    client = Client()
    client.force_login(maintainer)
    return client


def test_a_role_opens_the_admin_and_losing_it_closes_it(
    as_maintainer: Client, stranger: User
) -> None:
    role = Group.objects.get(name="moderator")
    address = f"{PEOPLE}{stranger.pk}/change/"
    as_maintainer.post(address, {"groups": [role.pk]})
    stranger.refresh_from_db()
    assert stranger.is_staff
    as_maintainer.post(address, {"groups": []})
    stranger.refresh_from_db()
    assert not stranger.is_staff


def test_a_maintainer_makes_nobody_a_superuser(as_maintainer: Client, stranger: User) -> None:
    data = {"groups": [], "is_superuser": "on", "is_staff": "on", "user_permissions": ["1"]}
    as_maintainer.post(f"{PEOPLE}{stranger.pk}/change/", data)
    stranger.refresh_from_db()
    assert (stranger.is_superuser, stranger.is_staff) == (False, False)
    assert not stranger.user_permissions.exists()


def test_a_maintainer_touches_no_superuser(as_maintainer: Client) -> None:
    root = User.objects.create_superuser("root")
    role = Group.objects.get(name="moderator")
    answer = as_maintainer.post(f"{PEOPLE}{root.pk}/change/", {"groups": [role.pk]})
    assert answer.status_code == 403
    assert not root.groups.exists()


def test_a_maintainer_sets_nobodys_password(as_maintainer: Client, stranger: User) -> None:
    data = {"password1": "correct horse battery", "password2": "correct horse battery"}
    answer = as_maintainer.post(f"{PEOPLE}{stranger.pk}/password/", data)
    assert answer.status_code == 403
    stranger.refresh_from_db()
    assert not stranger.check_password("correct horse battery")


@pytest.mark.parametrize("query", ["email__startswith={}", "email={}", "q={}", "first_name=x"])
def test_a_maintainer_finds_nobody_by_what_is_not_shown(
    as_maintainer: Client, stranger: User, query: str
) -> None:
    stranger.email = "hidden@x.example"
    stranger.save()
    page = as_maintainer.get(f"{PEOPLE}?{query.format(stranger.email)}")
    found = f"{PEOPLE}{stranger.pk}/change/" in page.content.decode()
    assert (page.status_code, found) in [(400, False), (200, False)]
    by_name = as_maintainer.get(f"{PEOPLE}?q={stranger.username}").content.decode()
    assert f"{PEOPLE}{stranger.pk}/change/" in by_name


def test_groups_that_are_no_roles_stay(as_maintainer: Client, stranger: User) -> None:
    other = Group.objects.create(name="press")
    stranger.groups.add(other)
    as_maintainer.post(f"{PEOPLE}{stranger.pk}/change/", {"groups": []})
    assert list(stranger.groups.all()) == [other]


def test_migrating_again_keeps_what_was_given_and_retired(db: None) -> None:
    from django.contrib.auth.models import Permission

    role = Group.objects.get(name="moderator")
    role.permissions.add(Permission.objects.get(codename="view_session"))
    ReasonTemplate.objects.filter(code="copied-run").update(text="Ours.", is_offered=False)
    before = set(role.permissions.values_list("codename", flat=True))
    call_command("migrate", verbosity=0)
    assert set(role.permissions.values_list("codename", flat=True)) == before
    kept = ReasonTemplate.objects.get(code="copied-run")
    assert (kept.text, kept.is_offered) == ("Ours.", False)


def test_a_moderator_is_no_superuser_and_no_maintainer(moderator: User, maintainer: User) -> None:
    assert not moderator.is_superuser
    assert not maintainer.is_superuser
    assert not moderator.has_perm("submissions.change_reasontemplate")
    assert not moderator.has_perm("auth.change_user")
    assert maintainer.has_perm("submissions.moderate_submission")
    assert not maintainer.has_perm("auth.delete_user")


def test_a_role_is_given_on_the_command_line(stranger: User) -> None:
    call_command("give_role", "stranger", "moderator")
    stranger.refresh_from_db()
    assert stranger.is_staff
    assert [group.name for group in stranger.groups.all()] == ["moderator"]


def test_a_role_for_nobody_names_the_remedy(db: None) -> None:
    with pytest.raises(CommandError, match="no user 'nobody'"):
        call_command("give_role", "nobody", "moderator")
