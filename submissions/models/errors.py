"""What a change of a submission raises where it is not allowed."""

from __future__ import annotations


class ModerationError(Exception):
    """This change is not allowed now; the text says why."""


class ChangedMeanwhileError(ModerationError):
    """Somebody changed the submission after the page was made that this decision comes from."""
