"""People with accounts, and what a visitor does with the forms."""

from __future__ import annotations

import re

from allauth.account.models import EmailAddress
from django.contrib.auth.models import User
from django.core.mail import EmailMessage
from django.test import Client

PASSWORD = "lantern orchid 42"
KEY = re.compile(r"bl_[a-z2-7]{8}_[A-Za-z0-9_-]{43}")


def person(name: str = "ada", *, is_confirmed: bool = True, is_staff: bool = False) -> User:
    """Somebody who signed up with PASSWORD; their address is `<name>@x.example`."""
    user = User.objects.create_user(name, f"{name}@x.example", PASSWORD, is_staff=is_staff)
    EmailAddress.objects.create(user=user, email=user.email, verified=is_confirmed, primary=True)
    return user


def sign_up(client: Client, name: str = "ada", email: str = "", password: str = PASSWORD) -> object:
    return client.post(
        "/account/signup/",
        {"username": name, "email": email or f"{name}@x.example", "password1": password},
    )


def log_in(client: Client, login: str = "ada", password: str = PASSWORD, **query: str) -> object:
    return client.post(
        "/account/login/", {"login": login, "password": password}, query_params=query
    )


def logged_in(user: User) -> Client:
    """The browser of `user`, who gave the password a moment ago for what is guarded by it."""
    client = Client()
    log_in(client, user.username)
    client.post("/account/reauthenticate/", {"password": PASSWORD})
    return client


def is_logged_in(client: Client) -> bool:
    return client.get("/account/").status_code == 200


def link_in(message: EmailMessage) -> str:
    """The path of the one link that the message is about."""
    found = re.search(
        r"http://testserver(/account/(?:confirm|password/reset/key)\S+)", message.body
    )
    assert found, message.body
    return found[1]
