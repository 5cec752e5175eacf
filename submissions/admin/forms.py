"""The forms of moderators: a decision with its reason, a note, an answer to a report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.forms.utils import ErrorList
from django.http import QueryDict

from submissions.models import Decision, ModerationError, ReasonTemplate, Submission
from submissions.models.reasons import LONGEST_REASON, required, unfilled

LONGEST_OPTION = 110


class DecisionForm(forms.Form):
    """Why, and of what it is a copy.

    A template alone is the whole reason; words beside it are added to it. One whose words in braces
    are to be replaced comes back as text to edit, so that no script is needed.
    """

    template = forms.ChoiceField(required=False, label="Reason")
    used_template = forms.CharField(required=False, widget=forms.HiddenInput)
    reason = forms.CharField(
        required=False,
        label="In your words",
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 4, "cols": 40}),
        help_text="The owner reads it, and everybody else once the run has a page.",
    )
    original = forms.CharField(
        required=False,
        max_length=60,
        label="Duplicate of",
        help_text="The id of the first copy; only for marking a duplicate.",
    )

    def __init__(
        self, data: Any = None, *, decision: Decision | None, offered: Sequence[Decision]
    ) -> None:
        super().__init__(data, prefix=None)
        self.decision = decision
        self.original_submission: Submission | None = None
        self.templates = {
            one.code: one for one in ReasonTemplate.objects.filter(decision__in=offered)
        }
        if Decision.MARK_DUPLICATE not in offered:
            del self.fields["original"]
        choice = self.fields["template"]
        assert isinstance(choice, forms.ChoiceField)
        choice.choices = [("", "choose, or write below"), *self._choices(offered)]

    def _choices(self, offered: Sequence[Decision]) -> list[tuple[str, list[tuple[str, str]]]]:
        groups = []
        for decision in offered:
            own = [
                (one.code, _cut(one.text))
                for one in self.templates.values()
                if one.decision == decision and one.is_offered
            ]
            if own:
                groups.append((str(decision.label), own))
        return groups

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if self.errors or self.decision is None:
            return cleaned
        code = cleaned.get("template") or cleaned.get("used_template", "")
        template = self.templates.get(code)
        if template and template.decision != self.decision:
            label = Decision(template.decision).label
            if cleaned.get("template"):
                self.add_error("template", f"This reason is for: {label}. Choose another one.")
                return cleaned
            template = None
        text = cleaned.get("reason", "").strip()
        if template and cleaned.get("template"):
            text = f"{template.text} {text}".strip()
        try:
            cleaned["reason"] = required(text)
        except ModerationError as error:
            self.add_error("reason", str(error))
            if unfilled(text) and template:
                self._give_back(text, template)
            return cleaned
        cleaned["code"] = template.code if template else ""
        if self.decision == Decision.MARK_DUPLICATE:
            self._find_original(cleaned.get("original", ""))
        return cleaned

    def _give_back(self, text: str, template: ReasonTemplate) -> None:
        """Put the template's text into the field, for its blanks to be filled in."""
        assert isinstance(self.data, QueryDict)
        given = self.data.copy()
        given["reason"], given["template"] = text, ""
        given["used_template"] = template.code
        self.data = given

    def _find_original(self, text: str) -> None:
        # A whole address may be pasted as well.
        public_id = text.strip().rstrip("/").rpartition("/")[2]
        found = Submission.objects.filter(run__public_id=public_id).first()
        if found is None:
            wrong = "There is no such submission." if public_id else "Name the first copy."
            self.add_error("original", wrong)
        self.original_submission = found

    def take(self, submission: Submission, moderator: User, seen: int | None) -> None:
        """Decide about `submission`. Raises ModerationError."""
        assert self.decision is not None
        extra: dict[str, Any] = {}
        if self.decision == Decision.MARK_DUPLICATE:
            extra["original"] = self.original_submission
        decide = getattr(submission, self.decision.value)
        decide(
            moderator,
            self.cleaned_data["reason"],
            seen=seen,
            template=self.cleaned_data["code"],
            **extra,
        )

    def all_errors(self) -> list[str]:
        """Every error as a sentence, for a list above the form."""
        lists: list[ErrorList] = list(self.errors.values())
        return [str(sentence) for errors in lists for sentence in errors]


def number(text: str | None) -> int | None:
    """A whole number that a form carries; None: it is none, as forged forms have."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) <= 18 else None


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_OPTION else text[: LONGEST_OPTION - 1] + "…"
