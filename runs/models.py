"""Runs as the site keeps them: the exact bytes of the result file, and what happened to them.

The file never changes. Where the site has judged its outputs otherwise, the run has the site's
verdicts and scores, kept beside it.
"""

from __future__ import annotations

import base64
import json
import secrets
import zlib
from typing import Any

from django.db import models, transaction
from django.utils import timezone

from bench_loop.result import store
from bench_loop.result.fingerprint import fingerprint
from bench_loop.result.records import RunHeader, RunResult
from bench_loop.result.signature import BadSignatureError, signer_of
from bench_loop.result.upgrades import UPGRADES
from runs.verdicts import rejudged


def new_public_id() -> str:
    """12 lower-case base32 characters: 60 random bits."""
    return base64.b32encode(secrets.token_bytes(8)).decode().lower()[:12]


class Run(models.Model):
    """One run result. The bytes never change; older schema versions are met when reading."""

    class Source(models.TextChoices):
        LOCAL = "local", "this machine's results folder"
        UPLOAD = "upload", "uploaded"

    public_id = models.CharField(max_length=12, unique=True, default=new_public_id, editable=False)
    fingerprint = models.CharField(max_length=71, unique=True, editable=False)
    result_bytes = models.BinaryField(help_text="The file's exact bytes, zlib-compressed.")
    header = models.JSONField(
        help_text="The result without its trials; its scores are those that this site gives it."
    )
    verdicts: models.JSONField[dict[str, Any] | None, dict[str, Any] | None] = models.JSONField(
        null=True,
        editable=False,
        help_text="Verdicts of this site that are not the file's, by the trial's place in it. "
        "Null: verdicts and scores are those of the file.",
    )
    source = models.CharField(max_length=6, choices=Source.choices)
    signing_key = models.CharField(
        max_length=64,
        blank=True,
        db_index=True,
        editable=False,
        help_text="Public key under whose signature the bytes stand; empty: they are not signed.",
    )
    created_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.public_id

    def get_absolute_url(self) -> str:
        return f"/runs/{self.public_id}/"

    @classmethod
    def of(cls, result: RunResult, data: bytes, source: str) -> Run:
        """An unsaved Run of `data`, which was read as `result`."""
        return cls(
            fingerprint=fingerprint(result),
            result_bytes=zlib.compress(data, 6),
            header=result.model_dump(mode="json", exclude={"trials"}),
            source=source,
            signing_key=_signer(data),
        )

    def data(self) -> bytes:
        """The result file, byte for byte as it came."""
        return zlib.decompress(self.result_bytes)

    def result(self) -> RunResult:
        """The whole result, trials included, with the verdicts and scores of this site."""
        filed = self.filed_result()
        return filed if self.verdicts is None else rejudged(filed, self.run_header(), self.verdicts)

    def filed_result(self) -> RunResult:
        """The result as the file says it is."""
        return store.from_bytes(self.data(), self.public_id)

    def run_header(self) -> RunHeader:
        """The result without its trials, from the header column alone."""
        return RunHeader.model_validate(UPGRADES.upgraded(self.header), strict=False)

    def record(self, kind: str, data: dict[str, Any]) -> RunEvent:
        """Append an event. Events go to everybody who watches: `data` holds nothing private."""
        with transaction.atomic():
            last = self.events.aggregate(last=models.Max("seq"))["last"]
            return self.events.create(seq=(last or 0) + 1, kind=kind, data=data)


def _signer(data: bytes) -> str:
    """The public key under whose signature `data` stands; empty: not signed, or changed since."""
    try:
        return signer_of(json.loads(data)) or ""
    except BadSignatureError:
        return ""


class RunEvent(models.Model):
    """Something that happened to a run, kept so that no watcher misses it.

    `seq` counts from 1 within the run; `id` orders the events of all runs.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="events")
    seq = models.PositiveIntegerField()
    kind = models.CharField(max_length=40)
    data = models.JSONField(default=dict)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["run", "seq"], name="one_event_per_seq")]

    def __str__(self) -> str:
        return f"{self.run_id}/{self.seq} {self.kind}"

    def message(self) -> dict[str, Any]:
        """The event as watchers get it."""
        return {
            "id": self.pk,
            "run": self.run.public_id,
            "seq": self.seq,
            "kind": self.kind,
            "data": self.data,
            "created_at": self.created_at.isoformat(),
        }


class ResultFile(models.Model):
    """A file of the local results folder: what was made of it, so that only changes are read."""

    name = models.CharField(max_length=255, unique=True)
    size = models.PositiveBigIntegerField()
    modified_ns = models.BigIntegerField()
    run = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="files")
    problem = models.TextField(blank=True, help_text="Why it is no run; empty when it is one.")
    seen_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
