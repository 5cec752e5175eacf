"""What nobody but an attacker sends to the account pages."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.site.accounts import logged_in, person

pytestmark = pytest.mark.usefixtures("public_site")

HOSTILE_ADDRESSES = (
    "/account/password/reset/key/ZZZZZZZZZZZZZ-abc/",
    "/account/password/reset/key/1-%00/",
    "/account/password/reset/key/1-%0a%0d/",
    "/account/confirm-email/%F0%9D%92%B3/",
    "/account/confirm-email/-1:-1:-1/",
    f"/account/confirm-email/{'9' * 3000}/",
    "/account/login/?next=%00",
    "/account/login/?next=%ff%fe",
    "/account/?page=99999999999999999999999",
    "/account/?page=%00",
    "/account/keys/x/revoke/",
)
HOSTILE_TEXTS = (
    "\x00",
    "a\x00b@x.example",
    "\ud800",
    "x" * 5000,
    "\u202e",
    "' OR 1=1 --",
    "{{7*7}}",
)


@pytest.mark.parametrize("address", HOSTILE_ADDRESSES)
def test_no_address_breaks_the_site(address: str) -> None:
    client = Client(raise_request_exception=False)
    for one in (client, logged_in(person())):
        one.raise_request_exception = False
        assert one.get(address).status_code < 500
        assert one.post(address, {"password1": "x"}).status_code < 500


@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_no_text_breaks_a_form(text: str) -> None:
    own = logged_in(person())
    fields = (
        "login",
        "username",
        "email",
        "password",
        "password1",
        "name",
        "scopes",
        "expires",
        "next",
        "action_add",
    )
    data = dict.fromkeys(fields, text.encode("utf-8", "surrogatepass"))
    pages = ("login", "signup", "password/reset", "reauthenticate", "email", "keys", "close")
    for client in (Client(), own):
        client.raise_request_exception = False
        for page in pages:
            answer = client.post(f"/account/{page}/", data)
            assert answer.status_code < 500, page
    assert User.objects.count() == 1
