"""Personal API keys."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone


class ApiKey(models.Model):
    """A personal key. Only its first part and a hash are kept, so it can be shown just once."""

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_keys"
    )
    name = models.CharField(max_length=100, blank=True)
    prefix = models.CharField(max_length=11, unique=True, editable=False)
    hashed = models.CharField(max_length=64, editable=False, help_text="SHA-256 of the whole key.")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    last_used_at = models.DateTimeField(null=True, editable=False)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
        verbose_name = "API key"

    def __str__(self) -> str:
        return f"{self.prefix}..."

    def revoke(self) -> None:
        """From now on the key is refused. A key that was revoked before keeps its time."""
        now = timezone.now()
        if ApiKey.objects.filter(pk=self.pk, revoked_at__isnull=True).update(revoked_at=now):
            self.revoked_at = now
