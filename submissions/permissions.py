"""What a key may do: the scope that a view asks for."""

from __future__ import annotations

from rest_framework.exceptions import PermissionDenied
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from submissions.authentication import where_keys_are_made
from submissions.models import ApiKey


class HasScope(BasePermission):
    """A view declares `key_scopes`: the scope that each method needs, or none for everybody.

    Whoever is logged in at the site has all scopes; a key has those that it was given. Without
    either a method with a scope is refused with 401.
    """

    def has_permission(self, request: Request, view: APIView) -> bool:
        scope = getattr(view, "key_scopes", {}).get(request.method)
        if scope is None:
            return True
        if not request.user.is_authenticated:
            return False
        require_scope(request, scope)
        return True


def has_scope(request: Request, scope: str) -> bool:
    """Whether the request's key has `scope`; a log-in has all."""
    return not isinstance(request.auth, ApiKey) or request.auth.allows(scope)


def require_scope(request: Request, scope: str) -> None:
    """Raises PermissionDenied when the request's key lacks `scope`."""
    if not has_scope(request, scope):
        raise PermissionDenied(
            f"This API key was not made for that: it lacks the scope {scope!r}. "
            f"{where_keys_are_made(request)}",
            code="scope_missing",
        )
