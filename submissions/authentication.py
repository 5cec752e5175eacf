"""Who is asking: `Authorization: Bearer <key>`."""

from __future__ import annotations

from django.contrib.auth.models import User
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from submissions.keys import BadKeyError, find_key
from submissions.models import ApiKey


class KeyAuthentication(BaseAuthentication):
    """A request that shows a key which is not good is refused, never taken as anonymous."""

    def authenticate(self, request: Request) -> tuple[User, ApiKey] | None:
        parts = get_authorization_header(request).split()
        if not parts:
            return None
        if len(parts) != 2 or parts[0].lower() != b"bearer":
            raise AuthenticationFailed("Send the header: Authorization: Bearer <API key>.")
        try:
            key = find_key(parts[1].decode("latin-1"))
        except BadKeyError as error:
            raise AuthenticationFailed(str(error)) from error
        return key.owner, key

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"
