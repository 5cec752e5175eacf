"""API keys: `bl_<8>_<43 base64url>`, shown once, stored as a hash."""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db.models import Q
from django.utils import timezone

from submissions.models.keys import SCOPES, ApiKey

FORM = re.compile(r"(bl_[a-z2-7]{8})_[A-Za-z0-9_-]{43}")
USE_NOTED_EVERY = timedelta(minutes=1)


class BadKeyError(Exception):
    """The key is malformed, unknown, revoked, expired, or its owner's account is closed.

    The text says which.
    """


def create_key(
    owner: User,
    name: str = "",
    scopes: Sequence[str] = tuple(SCOPES),
    expires_at: datetime | None = None,
    made_by: User | None = None,
) -> tuple[ApiKey, str]:
    """A new key of `owner`, and its text, which cannot be had again.

    `made_by` is who made it for them. Raises ValueError for a scope that there is not, or for none.
    """
    if not scopes or set(scopes) - set(SCOPES):
        raise ValueError(f"A key has one or more of the scopes {', '.join(SCOPES)}.")
    prefix = "bl_" + base64.b32encode(secrets.token_bytes(5)).decode().lower()
    text = f"{prefix}_{secrets.token_urlsafe(32)}"
    key = ApiKey.objects.create(
        owner=owner,
        name=name,
        prefix=prefix,
        hashed=_hash(text),
        scopes=[scope for scope in SCOPES if scope in scopes],
        expires_at=expires_at,
        made_by=made_by,
    )
    return key, text


def find_key(text: str) -> ApiKey:
    """The usable key with this text, its use noted. Raises BadKeyError."""
    form = FORM.fullmatch(text)
    key = form and ApiKey.objects.select_related("owner").filter(prefix=form[1]).first()
    if not key or not secrets.compare_digest(key.hashed, _hash(text)):
        raise BadKeyError("This API key is not known here.")
    # Only who knows the whole key learns what became of it.
    if key.revoked_at is not None:
        raise BadKeyError(f"This API key was revoked on {key.revoked_at:%Y-%m-%d}.")
    if key.expires_at is not None and key.state() == "expired":
        raise BadKeyError(f"This API key expired on {key.expires_at:%Y-%m-%d}.")
    if not key.owner.is_active:
        raise BadKeyError("The owner of this API key is not active.")
    _note_use(key)
    return key


def _note_use(key: ApiKey) -> None:
    """At most one write a minute, however busy the key is."""
    now = timezone.now()
    stale = Q(last_used_at__isnull=True) | Q(last_used_at__lt=now - USE_NOTED_EVERY)
    if key.last_used_at is None or key.last_used_at < now - USE_NOTED_EVERY:
        ApiKey.objects.filter(stale, pk=key.pk).update(last_used_at=now)


def _hash(text: str) -> str:
    # A plain hash is enough: the key holds 256 random bits.
    return hashlib.sha256(text.encode()).hexdigest()
