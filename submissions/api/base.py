"""What every view of the API has: its scopes, its rates, its parameters, and its errors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from django.contrib.auth.models import AnonymousUser, User
from rest_framework.exceptions import APIException, NotAuthenticated
from rest_framework.request import Request
from rest_framework.views import APIView

from submissions.permissions import HasScope, has_scope, require_scope

LONGEST_NAME = 100
MOST_NAMES = 10


class Refusal(APIException):
    """An answer with its own status, code, message and fields."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        fields: Mapping[str, list[str]] | None = None,
    ) -> None:
        super().__init__(message, code)
        self.status_code = status
        self.fields = dict(fields or {})


class ApiView(APIView):
    """Refuses parameters that it does not know: a misspelt one must not change the answer."""

    permission_classes = [HasScope]
    key_scopes: ClassVar[Mapping[str, str]] = {}
    """The scope that a method needs; one that is not named is for everybody."""
    parameters: ClassVar[Mapping[str, Iterable[str]]] = {}
    """The query parameters of each method; one that is not named has none."""
    rates: ClassVar[Mapping[str, str]] = {}
    """The rate of a method, where it is not `read`."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        method = "GET" if request.method == "HEAD" else str(request.method)
        if hasattr(self, method.lower()):
            refuse_unknown(request.query_params, self.parameters.get(method, ()))

    def rate_name(self, request: Request) -> str:
        return self.rates.get(str(request.method), "read")


def refuse_unknown(names: Iterable[str], known: Iterable[str], what: str = "parameter") -> None:
    """Raises Refusal that names every one of `names` that is not known, and lists the known."""
    unknown = sorted(set(names) - set(known))
    if not unknown:
        return
    listed = ", ".join(sorted(known))
    sentence = f"There is no such {what}. " + (
        f"The {what}s here are: {listed}." if listed else f"There are no {what}s here."
    )
    fields = {name[:LONGEST_NAME]: [sentence] for name in unknown[:MOST_NAMES]}
    raise Refusal(400, f"unknown_{what}", f"{unknown[0][:LONGEST_NAME]}: {sentence}", fields)


def reader_of(request: Request) -> User | AnonymousUser:
    """As whom a request reads: a key without the scope `read` sees what everybody sees."""
    if isinstance(request.user, User) and has_scope(request, "read"):
        return request.user
    return AnonymousUser()


def require_sign_in(request: Request) -> None:
    """Raises NotAuthenticated, or PermissionDenied for a key without the scope `read`."""
    if not request.user.is_authenticated:
        raise NotAuthenticated
    require_scope(request, "read")


def signed_in(request: Request) -> User:
    """The user of a request that HasScope let through to a method with a scope."""
    assert isinstance(request.user, User)
    return request.user
