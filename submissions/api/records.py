"""The bodies of the API: what is read from a request, and what stands in an answer."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from leaderboard.models import LEVELS
from submissions.models import Report, Submission
from submissions.plain_text import clean_line, clean_lines

LONGEST_NOTES = 2000
LONGEST_LABEL = 40
MOST_LABELS = 10
ROLES = ("owner", "moderator", "automatic")


class Words(serializers.CharField):
    """A text and nothing else: numbers are not taken for their digits. What is unseen goes out."""

    def __init__(self, *, has_lines: bool = False, **options: Any) -> None:
        super().__init__(trim_whitespace=False, **options)
        self.has_lines = has_lines

    def run_validation(self, data: Any = serializers.empty) -> Any:
        if isinstance(data, str):
            data = clean_lines(data) if self.has_lines else clean_line(data)
        elif data is not serializers.empty and data is not None:
            self.fail("invalid")
        return super().run_validation(data)


class Labels(serializers.ListField):
    """Short words, each once, in the order given."""

    def to_internal_value(self, data: Any) -> list[str]:
        return list(dict.fromkeys(super().to_internal_value(data)))


class ErrorSerializer(serializers.Serializer[Any]):
    """The one body of every error."""

    code = serializers.CharField(help_text="A word for programs; it stays the same.")
    message = serializers.CharField(help_text="A sentence for people.")
    fields = serializers.DictField(  # type: ignore[assignment]
        child=serializers.ListField(child=serializers.CharField()),
        help_text="Field path, parameter or empty, to the sentences about it.",
    )


class EventSerializer(serializers.Serializer[Any]):
    """One line of a submission's history."""

    at = serializers.DateTimeField(help_text="When, UTC.")
    kind = serializers.CharField(help_text="What happened, such as `approved` or `withdrawn`.")
    role = serializers.ChoiceField(choices=ROLES, help_text="Who did it, without a name.")
    reason = serializers.CharField(help_text="Why; empty where none is needed.")


class TrailEventSerializer(EventSerializer):
    """One line of the public trail: an event and the run that it is about."""

    run = serializers.CharField(help_text="The run's id.")
    url = serializers.URLField(help_text="The run's page.")


class FindingSerializer(serializers.Serializer[Any]):
    """What a check found."""

    code = serializers.CharField()
    severity = serializers.CharField(help_text="`refused`, `needs_review` or `note`.")
    field = serializers.CharField(help_text="Path into the result file.")
    sentence = serializers.CharField()
    numbers = serializers.DictField(help_text="The figures that were compared.")


class ReportSerializer(serializers.Serializer[Any]):
    """A reader's report as moderators see it."""

    kind = serializers.ChoiceField(choices=Report.Kind.choices)
    text = serializers.CharField()
    at = serializers.DateTimeField()


class ReceiptSerializer(serializers.Serializer[Any]):
    """The answer to an upload."""

    id = serializers.CharField(help_text="12 characters; the run's and the submission's id.")
    status = serializers.ChoiceField(choices=Submission.Status.choices)
    level = serializers.ChoiceField(choices=LEVELS, help_text="How well it is evidenced.")
    url = serializers.URLField(help_text="The run's page, shown once it is approved.")


class SubmissionSerializer(ReceiptSerializer):
    """A submission in a list."""

    owner = serializers.CharField(help_text="The owner's name at this site.")
    model_id = serializers.CharField()
    harness = serializers.CharField()
    profile = serializers.CharField()
    notes = serializers.CharField(help_text="The owner's, for readers.")
    labels = serializers.ListField(child=serializers.CharField())
    created_at = serializers.DateTimeField()
    decided_at = serializers.DateTimeField(allow_null=True)


class EvidenceSerializer(serializers.Serializer[Any]):
    """What speaks for a level, or what is missing for it."""

    level = serializers.ChoiceField(choices=LEVELS)
    is_met = serializers.BooleanField(help_text="False: the sentence says what is missing.")
    sentence = serializers.CharField(help_text="With the figures.")


class SubmissionDetailSerializer(SubmissionSerializer):
    """A submission by itself; the last three fields are for its owner and moderators."""

    history = EventSerializer(
        many=True, help_text="Empty in the answer to a change by a key that may not read the run."
    )
    evidence = EvidenceSerializer(many=True, help_text="Empty until the run is shown.")
    reason = serializers.CharField(required=False, help_text="The last decision's.")
    findings = FindingSerializer(many=True, required=False)
    reports = ReportSerializer(many=True, required=False, help_text="For moderators alone.")


class PageSerializer(serializers.Serializer[Any]):
    """A page of a list."""

    next = serializers.URLField(allow_null=True, help_text="The next page; null on the last.")


class SubmissionPageSerializer(PageSerializer):
    """A page of submissions, newest first."""

    results = SubmissionSerializer(many=True)


class TrailPageSerializer(PageSerializer):
    """A page of the public trail, newest first."""

    results = TrailEventSerializer(many=True)


class DryRunSerializer(serializers.Serializer[Any]):
    """What an upload would come to."""

    would_be_accepted = serializers.BooleanField()
    level = serializers.CharField(allow_null=True, help_text="Null where it would be refused.")
    duplicate_of = serializers.CharField(
        allow_null=True, help_text="The id of the same run, where it is stored already."
    )
    findings = FindingSerializer(many=True)


class RunSerializer(serializers.Serializer[Any]):
    """A run without its trials."""

    id = serializers.CharField()
    url = serializers.URLField()
    source = serializers.ChoiceField(choices=("local", "upload"))  # type: ignore[assignment]
    created_at = serializers.DateTimeField()
    stack = serializers.DictField(
        allow_null=True, help_text="The runs of the same stack; null: the run is not shown."
    )
    run = serializers.DictField(
        help_text="The result file without its trials, with this site's scores."
    )


class ChangesSerializer(serializers.Serializer[Any]):
    """What an owner may change. What is left out stays as it is."""

    notes = Words(
        has_lines=True,
        required=False,
        allow_blank=True,
        max_length=LONGEST_NOTES,
        help_text="For readers of the run; plain text with line breaks.",
    )
    labels = Labels(
        child=Words(max_length=LONGEST_LABEL),
        required=False,
        max_length=MOST_LABELS,
        help_text="Words to find it by.",
    )


class NewReportSerializer(serializers.Serializer[Any]):
    """A doubt about a run."""

    kind = serializers.ChoiceField(choices=Report.Kind.choices)
    text = Words(
        has_lines=True, max_length=LONGEST_NOTES, help_text="What is wrong, and how it shows."
    )


class ReportReceiptSerializer(serializers.Serializer[Any]):
    """The answer to a report; its text is for moderators."""

    run = serializers.CharField()
    kind = serializers.ChoiceField(choices=Report.Kind.choices)
    created_at = serializers.DateTimeField()


class WordsSerializer(serializers.Serializer[Any]):
    """What an owner says to moderators, and to everybody who reads the history."""

    text = Words(has_lines=True, max_length=LONGEST_NOTES)
