"""Who is asking: `Authorization: Bearer <key>`."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import User
from django.urls import NoReverseMatch, reverse
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from submissions.keys import FORM, BadKeyError, find_key
from submissions.models import ApiKey


class KeyAuthentication(BaseAuthentication):
    """A request that shows a key which is not good is refused, never taken as anonymous."""

    def authenticate(self, request: Request) -> tuple[User, ApiKey] | None:
        _refuse_key_in_address(request)
        parts = get_authorization_header(request).split()
        if not parts:
            return None
        if len(parts) != 2 or parts[0].lower() != b"bearer":
            raise AuthenticationFailed("Send the header: Authorization: Bearer <API key>.")
        try:
            key = find_key(parts[1].decode("latin-1"))
        except BadKeyError as error:
            raise AuthenticationFailed(f"{error} {where_keys_are_made(request)}") from error
        return key.owner, key

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


def where_keys_are_made(request: Request) -> str:
    """The sentence that sends a client's owner to the page of their keys."""
    try:
        page = reverse("account-keys")
    except NoReverseMatch:
        page = None
    if page is None or settings.BENCHLOOP_ROLE != "public":
        return "Who runs this site makes keys."
    return f"Keys are made at {request.build_absolute_uri(page)}."


def _refuse_key_in_address(request: Request) -> None:
    """Addresses are logged along the whole way: a key that stands in one is known to others."""
    if FORM.search(request.META.get("QUERY_STRING", "")):
        raise AuthenticationFailed(
            "An API key stands in the address of this request, where logs keep it: revoke it. "
            "A key is sent in the header: Authorization: Bearer <API key>."
        )
