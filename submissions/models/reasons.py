"""Reasons of decisions: what must be in one, and the templates that are offered for them."""

from __future__ import annotations

import re
from typing import Any

from django.apps.registry import Apps
from django.db import models

from submissions.models.errors import ModerationError
from submissions.models.rules import Decision

LONGEST_REASON = 2000
"""Characters of a reason, a request, an appeal or a report."""

_PLACEHOLDER = re.compile(r"\{[a-z][a-z ]{0,60}\}")


class ReasonTemplate(models.Model):
    """A reason that is offered for a decision. Words in braces must be replaced before it is used.

    Templates are retired rather than deleted: public figures count decisions by their code.
    """

    code = models.SlugField(unique=True, help_text="Figures count by it; it never changes.")
    decision = models.CharField(max_length=20, choices=Decision.choices)
    text = models.TextField(
        max_length=LONGEST_REASON,
        help_text="The owner and the public read it. Words in braces, like {which trial}, must be "
        "replaced by the moderator.",
    )
    is_offered = models.BooleanField(default=True)

    class Meta:
        ordering = ["decision", "code"]

    def __str__(self) -> str:
        return self.code.replace("-", " ")


TEMPLATES: tuple[tuple[str, str, str], ...] = (
    (
        "nothing-against-it",
        Decision.APPROVE,
        "A moderator read the findings and the trials and found nothing against the run.",
    ),
    (
        "findings-explained",
        Decision.APPROVE,
        "The findings have an innocent explanation: {the explanation}.",
    ),
    ("appeal-upheld", Decision.APPROVE, "The appeal is right; the earlier decision is undone."),
    (
        "evidence-read",
        Decision.VERIFY,
        "A moderator read every trial and compared the figures with other runs of the stack.",
    ),
    (
        "verification-undone",
        Decision.UNVERIFY,
        "The verification does not hold any more: {what came up}.",
    ),
    (
        "explain-the-speed",
        Decision.REQUEST_CHANGES,
        "The run is faster than its device should allow. How was it set up (engine, draft model, "
        "number of GPUs)? Please put it into the notes.",
    ),
    (
        "name-the-hardware",
        Decision.REQUEST_CHANGES,
        "The record does not tell the machine. Please say which {part of the machine} it has.",
    ),
    (
        "two-owners",
        Decision.FLAG,
        "Another account sent the same measurement; the run is not shown until this is settled.",
    ),
    (
        "reported-by-readers",
        Decision.FLAG,
        "Readers doubt this run; it is not shown until that is settled.",
    ),
    (
        "same-measurement",
        Decision.MARK_DUPLICATE,
        "The same measurement is stored already; the first copy stands for it.",
    ),
    (
        "impossible-speed",
        Decision.REJECT,
        "The speeds are beyond what this hardware can reach, and nothing recorded explains it.",
    ),
    (
        "outputs-edited",
        Decision.REJECT,
        "The stored outputs were not written by this model: {which trials}.",
    ),
    (
        "wrong-hardware",
        Decision.REJECT,
        "The machine in the record is not the one that was measured: {how it shows}.",
    ),
    ("copied-run", Decision.REJECT, "The trials were copied from another run: {which run}."),
    (
        "private-data",
        Decision.REJECT,
        "The outputs hold personal data. Please remove them at the source, and measure again.",
    ),
)
"""Code, decision and text of the templates that every site starts with."""


def add_templates(apps: Apps, using: str) -> None:
    """Add those of TEMPLATES that the site does not have; what was edited or retired stays so."""
    model: Any = apps.get_model("submissions", "ReasonTemplate")
    for code, decision, text in TEMPLATES:
        model.objects.using(using).get_or_create(
            code=code, defaults={"decision": str(decision), "text": text}
        )


def required(reason: str) -> str:
    """`reason` as it is kept. Raises ModerationError for one that says nothing yet."""
    reason = _storable(reason)
    if not reason:
        raise ModerationError("A reason is needed; the owner will read it.")
    if left := unfilled(reason):
        raise ModerationError(f"Replace {', '.join(left)} in the reason by what is the case here.")
    return reason


def unfilled(reason: str) -> list[str]:
    """The placeholders of a template that still stand in `reason`: `{which trial}`."""
    return _PLACEHOLDER.findall(reason)


def text_of(text: str, what: str) -> str:
    """`text` as it is kept; `what` it is. Raises ModerationError when there is none."""
    text = _storable(text)
    if not text:
        raise ModerationError(f"Write {what} first.")
    return text


def _storable(text: str) -> str:
    """`text` with the line breaks of this site and no blanks around it.

    Raises ModerationError for too much of it, and for what no database holds.
    """
    text = text.replace("\r\n", "\n").strip()
    if len(text) > LONGEST_REASON:
        raise ModerationError(f"At most {LONGEST_REASON:,} characters, please.")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ModerationError("The text holds half a character; write it again.") from None
    if "\x00" in text:
        raise ModerationError("The text holds a control character; write it again.")
    return text
