"""Whether two accounts are two people, as far as their runs tell: one installation is one.

Every run names the machine that it ran on, and most are signed with the key of their installation.
A key cannot be borrowed by a stranger; a machine's id can be, but whoever does so says only that
he is no independent witness. Who uses another installation for each account is not found.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from django.contrib.auth.models import User

from bench_loop.result.records import RunResult
from submissions.checks import Finding
from submissions.models import Submission

Traces = frozenset[str]


class Witnesses:
    """Tells for one submission which accounts are independent of its owner."""

    def __init__(self, submission: Submission) -> None:
        self._own = traces_of(submission.owner_id)
        self.are_independent = cache(self._are_independent)

    def _are_independent(self, owner_id: int) -> bool:
        """Whether no run of that account, withdrawn ones included, shares an installation."""
        return self._own.isdisjoint(traces_of(owner_id))


def traces_of(owner_id: int) -> Traces:
    """The signing keys and machine ids of all runs that an account ever sent."""
    rows = Submission.objects.filter(owner=owner_id).values_list(
        "run__signing_key", "run__header__machine__machine_id"
    )
    return frozenset(
        f"{kind} {value}"
        for row in rows.distinct()
        for kind, value in zip(("key", "machine"), row, strict=True)
        if value
    )


def findings(result: RunResult, owner: User) -> Iterator[Finding]:
    """That other accounts sent runs of the installation that signed this one: for moderators."""
    if result.signature is None:
        return
    others = Submission.objects.filter(run__signing_key=result.signature.public_key)
    accounts = others.exclude(owner=owner).order_by().values("owner").distinct().count()
    if accounts:
        yield Finding(
            "note",
            "shared_installation",
            "signature.public_key",
            "Other accounts sent runs that the same installation signed: they are no independent "
            "evidence for each other, and one owner where they meet in a row of the board.",
            {"accounts": accounts},
        )
