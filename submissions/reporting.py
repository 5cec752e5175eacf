"""Readers' reports: one of each reader and run."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from submissions.models import Report, Submission


class AlreadyReportedError(Exception):
    """This reader has reported this run before."""


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
