"""What every page knows."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest


def accounts(request: HttpRequest) -> dict[str, object]:
    """Whether people have accounts here: not on the local site, which has one user."""
    return {"has_accounts": settings.BENCHLOOP_ROLE == "public"}
