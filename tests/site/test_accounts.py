"""Signing up, logging in and out, and everything that an e-mail confirms."""

from __future__ import annotations

from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.hashers import MD5PasswordHasher
from django.contrib.auth.models import User
from django.core import mail
from django.test import Client

from benchloop_site.local_login import fresh_token
from tests.look.reader import Page
from tests.site.accounts import PASSWORD, is_logged_in, link_in, log_in, logged_in, person, sign_up

pytestmark = pytest.mark.usefixtures("public_site")

OPEN_PAGES = (
    *("/account/login/", "/account/signup/", "/account/password/reset/", "/account/inactive/"),
    *(
        "/account/confirm-email/",
        "/account/password/reset/done/",
        "/account/closed/",
        "/account/no-address/",
    ),
    *("/account/password/reset/key/done/", "/account/confirm-email/wrong/"),
    "/account/password/reset/key/1-wrong/",
)
OWN_PAGES = ("/account/", "/account/keys/", "/account/email/", "/account/password/change/")


def test_who_signs_up_is_let_in_once_the_address_is_confirmed(client: Client) -> None:
    sign_up(client)
    log_in(client)
    assert not is_logged_in(client)
    client.post(link_in(mail.outbox[0]))
    log_in(client)
    assert is_logged_in(client)


def test_opening_the_link_alone_confirms_nothing(client: Client) -> None:
    sign_up(client)
    client.get(link_in(mail.outbox[0]))
    assert not EmailAddress.objects.get().verified


def test_a_changed_link_confirms_nothing(client: Client) -> None:
    sign_up(client)
    link = link_in(mail.outbox[0])
    assert client.post(link[:-3] + "xx/").status_code == 404
    assert "not good any more" in client.get(link[:-3] + "xx/").content.decode()
    assert not EmailAddress.objects.get().verified


def test_the_address_may_be_given_in_place_of_the_name(client: Client) -> None:
    person()
    log_in(client, "Ada@X.example")
    assert is_logged_in(client)


def test_a_taken_address_is_told_to_its_owner_alone(client: Client) -> None:
    person()
    new, taken = Client(), Client()
    first = sign_up(new, "grace")
    second = sign_up(taken, "edsger", "ada@x.example")
    assert (first.status_code, first["Location"]) == (second.status_code, second["Location"])
    assert (
        new.get("/account/confirm-email/").content == taken.get("/account/confirm-email/").content
    )
    assert mail.outbox[-1].to == ["ada@x.example"]
    assert "has an account already" in mail.outbox[-1].body
    assert not User.objects.filter(username="edsger").exists()


class CountedHasher(MD5PasswordHasher):
    """Counts what costs the time of a sign-up."""

    hashed = 0

    def encode(self, password: str, salt: str) -> str:
        CountedHasher.hashed += 1
        return super().encode(password, salt)


def test_a_taken_address_costs_as_many_hashes_as_a_new_one(settings: Any) -> None:
    person()
    settings.PASSWORD_HASHERS = [f"{__name__}.CountedHasher"]
    counts = []
    for name, email in (("grace", ""), ("edsger", "ada@x.example")):
        CountedHasher.hashed = 0
        sign_up(Client(), name, email)
        counts.append(CountedHasher.hashed)
    assert counts[0] == counts[1] > 0


def test_a_wrong_password_and_an_unknown_name_get_the_same_answer(client: Client) -> None:
    person()
    wrong = Page(log_in(client, "ada", "wrong").content.decode()).text
    unknown = Page(log_in(client, "nobody-here", "wrong").content.decode()).text
    assert wrong == unknown


def test_a_reset_for_an_unknown_address_looks_the_same_and_sends_nothing(client: Client) -> None:
    person()
    known = client.post("/account/password/reset/", {"email": "ada@x.example"})
    unknown = client.post("/account/password/reset/", {"email": "stranger@x.example"})
    assert known["Location"] == unknown["Location"] == "/account/password/reset/done/"
    assert [message.to for message in mail.outbox] == [["ada@x.example"]]


def test_a_reset_link_sets_the_password_once(client: Client) -> None:
    person()
    client.post("/account/password/reset/", {"email": "ada@x.example"})
    link = link_in(mail.outbox[0])
    form = client.get(link)["Location"]
    new = {"password1": "another orchid 43", "password2": "another orchid 43"}
    assert client.post(form, new)["Location"] == "/account/password/reset/key/done/"
    log_in(client, "ada", "another orchid 43")
    assert is_logged_in(client)
    assert "not good any more" in Client().get(link, follow=True).content.decode()


def test_a_reset_logs_other_devices_out(client: Client) -> None:
    other = logged_in(person())
    client.post("/account/password/reset/", {"email": "ada@x.example"})
    form = client.get(link_in(mail.outbox[-1]))["Location"]
    client.post(form, {"password1": "another orchid 43", "password2": "another orchid 43"})
    assert not is_logged_in(other)


def test_a_new_password_needs_the_old_one() -> None:
    client = logged_in(person())
    new = {"password1": "another orchid 43", "password2": "another orchid 43"}
    assert client.post("/account/password/change/", {"oldpassword": "x", **new}).status_code == 200
    client.post("/account/password/change/", {"oldpassword": PASSWORD, **new})
    assert User.objects.get().check_password("another orchid 43")
    assert mail.outbox[-1].subject == "[BenchLoop] Your password was changed"


@pytest.mark.parametrize("password", ["short1", "password", "1234567890", "ada@x.example"])
def test_a_weak_password_is_refused(client: Client, password: str) -> None:
    assert sign_up(client, password=password).status_code == 200
    assert not User.objects.exists()


def test_the_address_changes_when_the_new_one_is_confirmed() -> None:
    client = logged_in(person())
    client.post("/account/email/", {"email": "new@x.example", "action_add": ""})
    assert User.objects.get().email == "ada@x.example"
    client.post(link_in(mail.outbox[-1]))
    assert User.objects.get().email == "new@x.example"
    assert list(EmailAddress.objects.values_list("email", flat=True)) == ["new@x.example"]


def test_changing_the_address_asks_for_the_password(client: Client) -> None:
    person()
    log_in(client)
    answer = client.post("/account/email/", {"email": "new@x.example", "action_add": ""})
    assert answer["Location"].startswith("/account/reauthenticate/")
    assert mail.outbox == []


def test_logging_out_takes_a_form() -> None:
    client = logged_in(person())
    client.get("/account/logout/")
    assert is_logged_in(client)
    client.post("/account/logout/")
    assert not is_logged_in(client)


def test_forms_without_their_token_are_refused() -> None:
    person()
    client = Client(enforce_csrf_checks=True)
    answer = log_in(client)
    assert answer.status_code == 403
    assert "The form was not taken" in answer.content.decode()


@pytest.mark.parametrize(
    "target",
    [
        *("//evil.example", "https://evil.example/", "http:///evil.example", "javascript:alert(1)"),
        *("/\\evil.example", "http://testserver.evil.example/", "///evil.example"),
        "http://127.0.0.1:9/",
    ],
)
def test_logging_in_leads_nowhere_else(client: Client, target: str) -> None:
    person()
    assert log_in(client, next=target)["Location"] == "/account/"
    assert client.post("/account/logout/", {"next": target})["Location"] == "/"


def test_logging_in_leads_back(client: Client) -> None:
    person()
    assert log_in(client, next="/compare/")["Location"] == "/compare/"


def test_guessing_passwords_is_slowed_down(client: Client) -> None:
    person()
    for _ in range(6):
        answer = log_in(client, "ada", "wrong")
    assert "Too many failed login attempts" in answer.content.decode()
    log_in(client)
    assert not is_logged_in(client)


def test_many_attempts_from_one_address_are_refused(client: Client) -> None:
    codes = [log_in(client, f"nobody{number}", "wrong").status_code for number in range(40)]
    assert codes[-1] == 429
    page = log_in(client)
    assert "Too many attempts" in page.content.decode()


def test_signing_up_in_bulk_is_refused() -> None:
    codes = [sign_up(Client(), f"person{number}x").status_code for number in range(21)]
    assert codes[0] == 302
    assert codes[-1] == 429


def test_the_admin_has_no_door_of_its_own(client: Client) -> None:
    boss = person("boss", is_staff=True)
    answer = client.post("/admin/login/", {"username": boss.username, "password": PASSWORD})
    assert answer["Location"].startswith("/account/login/?next=")
    assert client.get("/admin/", follow=True).redirect_chain[-1][0].startswith("/account/login/")
    log_in(client, "boss", next="/admin/")
    assert client.get("/admin/").status_code == 200


def test_who_is_no_staff_finds_no_form_in_the_admin() -> None:
    answer = logged_in(person()).get("/admin/", follow=True)
    assert answer.status_code == 403
    assert b'name="password"' not in answer.content


def test_staff_made_on_the_command_line_needs_no_address(client: Client) -> None:
    User.objects.create_superuser("boss", "", PASSWORD)
    log_in(client, "boss")
    assert is_logged_in(client)


def test_an_account_without_an_address_says_what_is_missing(client: Client) -> None:
    User.objects.create_user("ada", "", PASSWORD)
    assert log_in(client)["Location"] == "/account/no-address/"
    assert not is_logged_in(client)


def test_an_account_made_in_the_admin_is_confirmed_at_the_first_log_in(client: Client) -> None:
    User.objects.create_user("ada", "ada@x.example", PASSWORD)
    log_in(client)
    assert not is_logged_in(client)
    client.post(link_in(mail.outbox[0]))
    log_in(client)
    assert is_logged_in(client)


def test_limits_hold_for_the_address_that_the_proxy_names(client: Client, settings: Any) -> None:
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = 1

    def attempt(forwarded: str) -> int:
        data = {"login": "nobody-here", "password": "wrong"}
        headers = {"X-Forwarded-For": forwarded}
        return client.post("/account/login/", data, headers=headers).status_code

    # The proxy appends the one it saw; what stands before it was sent along by the client.
    codes = [attempt(f"10.0.0.{number}, 203.0.113.7") for number in range(31)]
    assert codes[-1] == 429
    assert attempt("10.0.0.1, 203.0.113.8") == 200


def test_an_account_that_was_switched_off_is_not_let_in(client: Client) -> None:
    user = person()
    user.is_active = False
    user.save()
    assert log_in(client)["Location"] == "/account/inactive/"
    assert not is_logged_in(client)


def test_without_mail_nobody_can_sign_up(client: Client, settings: Any) -> None:
    settings.SENDS_MAIL = False
    assert "Sign-up is closed" in client.get("/account/signup/").content.decode()
    sign_up(client)
    assert not User.objects.exists()
    answer = client.post("/account/password/reset/", {"email": "ada@x.example"})
    assert answer.status_code == 503


@pytest.mark.parametrize("address", OPEN_PAGES)
def test_pages_for_everybody_keep_to_a_strict_policy(client: Client, address: str) -> None:
    answer = client.get(address, follow=True)
    assert answer.status_code == 200
    assert_strict(Page(answer.content.decode()))


@pytest.mark.parametrize("address", [*OWN_PAGES, "/account/close/", "/account/logout/"])
def test_own_pages_keep_to_a_strict_policy(address: str) -> None:
    answer = logged_in(person()).get(address)
    assert answer.status_code == 200
    assert_strict(Page(answer.content.decode()))


def assert_strict(seen: Page) -> None:
    assert [tag for tag, attributes in seen.tags if "style" in attributes] == []
    assert list(seen.named("style")) == []
    assert [one for one in seen.named("script") if "src" not in one] == []
    ids = [attributes["id"] for _, attributes in seen.tags if "id" in attributes]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("address", [*OWN_PAGES, "/account/close/"])
def test_own_pages_are_for_who_is_logged_in_and_for_no_cache(client: Client, address: str) -> None:
    assert client.get(address)["Location"] == f"/account/login/?next={address}"
    cache_control = logged_in(person()).get(address)["Cache-Control"]
    assert "no-store" in cache_control
    assert "private" in cache_control


def test_every_page_says_who_is_logged_in(client: Client) -> None:
    assert 'href="/account/signup/"' in client.get("/").content.decode()
    page = logged_in(person()).get("/").content.decode()
    assert ">ada</a>" in page
    assert 'action="/account/logout/"' in page
    assert "ada@x.example" not in page


def test_the_local_site_speaks_of_no_accounts(client: Client, settings: Any) -> None:
    settings.BENCHLOOP_ROLE = "local"
    client.get("/enter/", {"token": fresh_token()})
    assert "/account/" not in client.get("/").content.decode()
