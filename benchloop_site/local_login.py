"""Log-in of the local role: a token in the data folder, good once, for the user `local`."""

from __future__ import annotations

import secrets
from pathlib import Path

from django.conf import settings
from django.contrib.auth import get_user_model, login
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from bench_loop import config

TOKEN_FILE = "token"  # noqa: S105 - the name of the file, not a secret
LOCAL_USER = "local"


def fresh_token() -> str:
    """A new token in the data folder (mode 0600); the one before it is worthless from now on."""
    (config.home() / TOKEN_FILE).unlink(missing_ok=True)
    return config.private_text(TOKEN_FILE, lambda: secrets.token_urlsafe(32))


def local_user() -> User:
    """The built-in superuser, made when missing. It has no password: only the token lets in."""
    user, is_new = get_user_model().objects.get_or_create(
        username=LOCAL_USER, defaults={"is_staff": True, "is_superuser": True}
    )
    if is_new:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    return user


def spend_token(given: str) -> bool:
    """Whether `given` is the token of the data folder; it is gone then, whoever asks next."""
    file = config.home() / TOKEN_FILE
    if not _is_in(file, given):
        return False
    # Of two requests at the same moment only one can move the file.
    taken = file.with_name(f".{TOKEN_FILE}.{secrets.token_hex(4)}")
    try:
        file.rename(taken)
    except FileNotFoundError:
        return False
    try:
        return _is_in(taken, given)
    finally:
        taken.unlink()


def _is_in(file: Path, given: str) -> bool:
    try:
        known = file.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return False
    return bool(known) and secrets.compare_digest(known.encode(), given.encode())


@never_cache
@require_GET
def enter(request: HttpRequest) -> HttpResponse:
    """Exchange `?token=` for a session. The token is spent by it."""
    if settings.BENCHLOOP_ROLE != "local":
        raise Http404
    if not spend_token(request.GET.get("token", "")):
        raise PermissionDenied(
            "This link is not good any more: each works once. bench-loop serve prints a new one."
        )
    fresh_token()
    login(request, local_user(), backend="django.contrib.auth.backends.ModelBackend")
    return HttpResponseRedirect("/")
