"""Submissions, what was decided about them, and the keys they come with."""

from __future__ import annotations

from submissions.models.audit import AuditEvent
from submissions.models.copies import TimingMark
from submissions.models.errors import ChangedMeanwhileError, ModerationError
from submissions.models.grades import Grade, Judgement, Regrade
from submissions.models.keys import ApiKey
from submissions.models.notes import ModeratorNote
from submissions.models.reasons import ReasonTemplate
from submissions.models.reports import Report
from submissions.models.rules import Decision
from submissions.models.submission import Submission
from submissions.roles import is_moderator

__all__ = [
    "ApiKey",
    "AuditEvent",
    "ChangedMeanwhileError",
    "Decision",
    "Grade",
    "Judgement",
    "ModerationError",
    "ModeratorNote",
    "ReasonTemplate",
    "Regrade",
    "Report",
    "Submission",
    "TimingMark",
    "is_moderator",
]
