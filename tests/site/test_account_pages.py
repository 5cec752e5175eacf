"""One's own runs on the account page, and closing the account."""

from __future__ import annotations

from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from leaderboard.models import Entry
from submissions.keys import create_key
from submissions.models import ApiKey, Submission
from tests.look.reader import HOSTILE, Page
from tests.site.accounts import PASSWORD, is_logged_in, log_in, logged_in, person, sign_up
from tests.site.make_result import make_bytes
from tests.site.uploads import SUBMISSIONS, Uploader

pytestmark = pytest.mark.usefixtures("public_site")


@pytest.fixture
def ada() -> User:
    return person()


def send(owner: User, body: bytes | None = None) -> Submission:
    answer = Uploader(create_key(owner)[1]).post(body or make_bytes())
    assert answer.status_code == 201, answer.content
    return Submission.objects.get(run__public_id=answer.json()["id"])


def account(client: Client) -> Page:
    answer = client.get("/account/")
    assert answer.status_code == 200
    return Page(answer.content.decode())


def links(page: Page) -> set[str | None]:
    return {one["href"] for one in page.named("a")}


def test_without_runs_the_page_says_how_to_send_one(ada: User) -> None:
    page = account(logged_in(ada))
    assert "bench-loop submit latest --site http://testserver" in page.text
    assert "/account/keys/" in links(page)


def test_a_run_is_listed_with_its_status_level_and_next_step(ada: User) -> None:
    submission = send(ada)
    page = account(logged_in(ada))
    for part in ("pending", f"level {submission.level}", "Wait: a moderator", str(submission)):
        assert part in page.text
    assert f"/runs/{submission}/" in links(page)


def test_a_shown_run_needs_nothing(ada: User, moderator: User) -> None:
    submission = send(ada)
    submission.approve(moderator)
    text = account(logged_in(ada)).text
    assert "approved" in text
    assert "Nothing: it is on the board." in text


def test_what_a_moderator_asks_is_the_next_step(ada: User, moderator: User) -> None:
    submission = send(ada)
    submission.request_changes(moderator, "Which driver was it?")
    page = account(logged_in(ada))
    assert "Which driver was it?" in page.text
    assert "Answer what a moderator asks" in page.text
    assert f"/runs/{submission}/answer/" in links(page)


def test_an_appeal_is_offered_once(ada: User, moderator: User) -> None:
    submission = send(ada)
    submission.reject(moderator, "The clock is wrong.")
    client = logged_in(ada)
    assert f"/runs/{submission}/appeal/" in links(account(client))
    submission.appeal(ada, "It is right.")
    page = account(client)
    assert "a moderator reads your appeal" in page.text
    assert f"/runs/{submission}/appeal/" not in links(page)


def test_a_duplicate_names_the_first_copy(ada: User, moderator: User) -> None:
    first, second = send(ada), send(ada, make_bytes(generation_tps=40.0))
    second.mark_duplicate(moderator, "It is the same run.", original=first)
    assert f"a copy of {first}" in account(logged_in(ada)).text


def test_every_verb_of_a_run_leads_to_a_form(ada: User, moderator: User) -> None:
    submission = send(ada)
    client = logged_in(ada)
    for change in (
        lambda: None,
        lambda: submission.request_changes(moderator, "Which driver was it?"),
        lambda: submission.reject(moderator, "The clock is wrong."),
        lambda: submission.withdraw(ada),
    ):
        change()
        ours = [link for link in links(account(client)) if link and f"{submission}/" in link]
        assert ours
        assert {client.get(link).status_code for link in ours} == {200}


def test_the_reason_of_a_moderator_is_shown_as_text(ada: User, moderator: User) -> None:
    submission = send(ada)
    hostile = HOSTILE.replace("\x00", "")  # PostgreSQL keeps none
    submission.reject(moderator, f"The clock is wrong. {hostile}")
    answer = logged_in(ada).get("/account/").content.decode()
    assert "The clock is wrong." in answer
    assert "Read the reason" in answer
    assert hostile not in answer


def test_a_withdrawn_run_does_not_tell_why_it_was_approved(ada: User, moderator: User) -> None:
    submission = send(ada)
    submission.approve(moderator, "Nothing speaks against it.")
    client = logged_in(ada)
    submission.withdraw(ada)
    page = account(client).text
    assert "a withdrawn run stays so" in page
    assert "Nothing speaks against it." not in page


def test_findings_of_the_checks_are_shown(ada: User) -> None:
    submission = send(ada)
    Submission.objects.filter(pk=submission.pk).update(
        findings=[
            {
                "severity": "needs_review",
                "code": "x",
                "field": "trials[3].t_last_s",
                "sentence": "It is faster than the device.",
                "numbers": {},
            }
        ]
    )
    text = account(logged_in(ada)).text
    for part in ("needs review", "trials[3].t_last_s", "It is faster than the device."):
        assert part in text


def test_runs_of_others_are_not_listed(ada: User) -> None:
    submission = send(person("grace"))
    assert str(submission) not in account(logged_in(ada)).text


def test_the_page_asks_as_much_for_many_runs(
    ada: User, moderator: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    client = logged_in(ada)
    for number in range(3):
        send(ada, make_bytes(generation_tps=40.0 + number)).approve(moderator)
    with django_assert_num_queries(4):
        client.get("/account/")


def test_nobody_else_reads_an_address(ada: User, moderator: User) -> None:
    submission = send(ada)
    submission.approve(moderator)
    grace = logged_in(person("grace"))
    for address in (
        *("/", "/trending/", f"/runs/{submission}/", "/api/v1/leaderboard/"),
        *(f"{SUBMISSIONS}{submission}/", f"/api/v1/runs/{submission}/"),
    ):
        answer = grace.get(address)
        assert answer.status_code == 200, address
        assert ada.email not in answer.content.decode()


def close(client: Client, name: str = "ada", runs: str = "keep") -> Any:
    return client.post("/account/close/", {"runs": runs, "username": name})


def test_closing_forgets_the_person_and_keeps_the_runs(ada: User, moderator: User) -> None:
    submission = send(ada)
    submission.approve(moderator)
    client = logged_in(ada)
    assert close(client)["Location"] == "/account/closed/"
    left = User.objects.get(pk=ada.pk)
    assert left.username.startswith("deleted-")
    assert (left.email, left.is_active, left.has_usable_password()) == ("", False, False)
    assert not EmailAddress.objects.filter(user=left).exists()
    assert not ApiKey.objects.filter(owner=left).exists()
    assert Entry.objects.shown().count() == 1
    assert [event.kind for event in submission.audit.all()] == [
        *("submitted", "approved", "account_closed")
    ]
    assert {event.actor_id for event in submission.audit.all()} == {ada.pk, moderator.pk}


def test_closing_takes_the_runs_along_where_that_is_chosen(ada: User, moderator: User) -> None:
    submission = send(ada)
    submission.approve(moderator)
    close(logged_in(ada), runs="withdraw")
    submission.refresh_from_db()
    assert submission.status == "withdrawn"
    assert Entry.objects.shown().count() == 0
    assert Entry.objects.count() == 1


def test_a_closed_account_lets_nobody_in(ada: User) -> None:
    _, text = create_key(ada)
    other, client = logged_in(ada), logged_in(ada)
    close(client)
    assert not is_logged_in(client)
    assert not is_logged_in(other)
    log_in(client)
    assert not is_logged_in(client)
    assert Uploader(text).get(SUBMISSIONS).status_code == 401


def test_its_name_and_address_are_free_again(ada: User) -> None:
    close(logged_in(ada))
    sign_up(Client())
    assert User.objects.filter(username="ada", email="ada@x.example").exists()


def test_closing_asks_for_the_name_and_the_password(ada: User) -> None:
    client = logged_in(ada)
    assert "not your user name" in close(client, "grace").content.decode()
    cold = Client()
    log_in(cold)
    asked = close(cold)
    assert asked["Location"].startswith("/account/reauthenticate/")
    assert User.objects.get().is_active
    done = cold.post(asked["Location"], {"password": PASSWORD, "next": "/account/close/"})
    assert done["Location"] == "/account/closed/"
    assert not User.objects.get().is_active


def test_staff_is_not_closed_by_a_form() -> None:
    boss = person("boss", is_staff=True)
    client = logged_in(boss)
    assert "account with duties" in close(client, "boss").content.decode()
    boss.refresh_from_db()
    assert boss.is_active
