"""Personal API keys."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db import models
from django.utils import timezone

SCOPES = {
    "submit": "Upload runs, and check them with ?dry_run=1.",
    "read": "Read what you may read when you are logged in: also your runs that are not shown yet.",
    "manage": "Change notes and labels of your runs, withdraw them, and answer moderators.",
}
"""What a key may be made for, each with its sentence."""

DEFAULT_SCOPES = ("submit", "read")


def default_scopes() -> list[str]:
    return list(DEFAULT_SCOPES)


class ApiKey(models.Model):
    """A personal key. Only its first part and a hash are kept, so it can be shown just once."""

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_keys"
    )
    name = models.CharField(max_length=100, blank=True)
    prefix = models.CharField(max_length=11, unique=True, editable=False)
    hashed = models.CharField(max_length=64, editable=False, help_text="SHA-256 of the whole key.")
    scopes: models.JSONField[list[str], list[str]] = models.JSONField(default=default_scopes)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        editable=False,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="Who made it, where that was not its owner.",
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    last_used_at = models.DateTimeField(null=True, editable=False)
    expires_at = models.DateTimeField(null=True, blank=True, help_text="Empty: it never expires.")
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
        verbose_name = "API key"

    def __str__(self) -> str:
        return f"{self.prefix}..."

    def allows(self, scope: str) -> bool:
        """Whether it was made for `scope`, one of SCOPES."""
        return scope in self.scopes

    def state(self, now: datetime | None = None) -> str:
        """`active`, `expired` or `revoked`, whichever says more."""
        if self.revoked_at is not None:
            return "revoked"
        if self.expires_at is not None and self.expires_at <= (now or timezone.now()):
            return "expired"
        return "active"

    def revoke(self) -> None:
        """From now on the key is refused. A key that was revoked before keeps its time."""
        now = timezone.now()
        if ApiKey.objects.filter(pk=self.pk, revoked_at__isnull=True).update(revoked_at=now):
            self.revoked_at = now

    def expire(self) -> None:
        """End its time now. One that has expired or was revoked keeps the time of that."""
        now = timezone.now()
        if self.state(now) == "active":
            ApiKey.objects.filter(pk=self.pk).update(expires_at=now)
            self.expires_at = now
