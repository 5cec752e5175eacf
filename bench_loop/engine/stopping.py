"""What ends a run before its time, and how that is told."""

from __future__ import annotations


class StopEarly(Exception):  # noqa: N818 - not an error
    """A listener ends the run, because the rest would tell nothing; the message says why."""


OUT_OF_TIME = "The machine was slower than predicted, and the budget of the run was spent"


def is_out_of_time(reason: str | None) -> bool:
    """Whether a run's status reason says that its budget was spent."""
    return (reason or "").startswith(OUT_OF_TIME)


def why_stopped(stop: BaseException) -> str:
    """A sentence for the result; a plain Ctrl-C brings none of its own."""
    return str(stop) or "Stopped by the user."
