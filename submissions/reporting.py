"""Readers' reports: one of each reader and run."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from submissions.addresses import keyed_hash
from submissions.models import Report, Submission


class AlreadyReportedError(Exception):
    """This reader has reported this run before."""


def reporter_hash(reporter: User | None, address_hash: str) -> str:
    """What stands for one reporter: their account or, without one, their address."""
    return keyed_hash(f"user:{reporter.pk}" if reporter else address_hash)


def report(
    submission: Submission, kind: str, text: str, reporter: User | None, reporter_hash: str
) -> Report:
    """Keep a doubt for the moderators. `reporter_hash` tells reporters apart without naming them.

    Raises AlreadyReportedError.
    """
    try:
        with transaction.atomic():
            return Report.objects.create(
                submission=submission,
                kind=kind,
                text=text,
                reporter=reporter,
                reporter_hash=reporter_hash,
            )
    except IntegrityError as error:
        raise AlreadyReportedError("You have reported this run; the moderators see it.") from error
