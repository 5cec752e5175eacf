"""From a checked upload to rows: the same run is stored once, and so is one idempotency key."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from bench_loop.result.fingerprint import fingerprint
from bench_loop.result.records import RunResult
from runs.models import Run
from submissions import checks, copies, grading
from submissions.anonymous import LEVEL as ANONYMOUS_LEVEL
from submissions.anonymous import is_anonymous
from submissions.checks import Finding
from submissions.models import AuditEvent, Submission


class KeyReusedError(Exception):
    """The idempotency key was used for another run."""


def store(
    result: RunResult,
    data: bytes,
    owner: User,
    found: Sequence[Finding],
    idempotency_key: str | None = None,
) -> tuple[Submission, bool]:
    """Store a checked upload. Gives the submission and whether it is new.

    The same run, whoever sends it and however often at once, is stored once, and so is one
    idempotency key of an owner. Raises KeyReusedError.
    """
    known = _known(result, owner, idempotency_key)
    if known is not None:
        return known, False
    try:
        with transaction.atomic():
            return _store(result, data, owner, found, idempotency_key), True
    except IntegrityError:
        # Somebody else stored the run, or used the key, since it was looked for.
        known = _known(result, owner, idempotency_key)
        if known is None:
            raise
        return known, False


def _known(result: RunResult, owner: User, idempotency_key: str | None) -> Submission | None:
    """The first submission of this run. Raises KeyReusedError."""
    stored = Submission.objects.select_related("run").defer("run__result_bytes")
    digest = fingerprint(result)
    if idempotency_key is not None:
        first = stored.filter(owner=owner, idempotency_key=idempotency_key).first()
        if first is not None and first.run.fingerprint != digest:
            raise KeyReusedError
    return stored.filter(run__fingerprint=digest).first()


def _store(
    result: RunResult,
    data: bytes,
    owner: User,
    found: Sequence[Finding],
    idempotency_key: str | None,
) -> Submission:
    run = Run.of(result, data, Run.Source.UPLOAD)
    run.save(force_insert=True)
    copies.remember(run, result)
    submission = Submission.objects.create(
        run=run,
        owner=owner,
        level=first_level(found, owner),
        findings=[finding.as_json() for finding in found],
        idempotency_key=idempotency_key,
    )
    AuditEvent.objects.create(submission=submission, actor=owner, kind="submitted")
    grading.enqueue(run, result)
    return submission


def first_level(found: Sequence[Finding], owner: User) -> str:
    """The level of a new submission: what nobody answers for stays at the lowest."""
    return ANONYMOUS_LEVEL if is_anonymous(owner) else checks.level(found)
