"""Submissions, what was decided about them, and the keys they come with."""

from __future__ import annotations

from submissions.models.audit import AuditEvent
from submissions.models.copies import TimingMark
from submissions.models.errors import ModerationError
from submissions.models.keys import ApiKey
from submissions.models.submission import Submission
from submissions.roles import is_moderator

__all__ = ["ApiKey", "AuditEvent", "ModerationError", "Submission", "TimingMark", "is_moderator"]
