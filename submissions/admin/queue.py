"""The moderation queue."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from runs.admin import ReadOnlyAdmin
from submissions.models import AuditEvent, ModerationError, Submission, is_moderator

Decide = Callable[[Submission, User, str], None]


class ReasonForm(forms.Form):
    """The page between choosing submissions and deciding about them."""

    reason = forms.CharField(
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 4, "cols": 60}),
        help_text="The owner reads it. If the run was shown, its page says so to everybody.",
    )


class AuditInline(admin.TabularInline):  # type: ignore[type-arg]
    """What was decided before."""

    model = AuditEvent
    fields = readonly_fields = ("created_at", "actor", "kind", "data")
    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Submission)
class SubmissionAdmin(ReadOnlyAdmin):
    """Oldest pending first. Nothing is edited here: the actions decide."""

    list_display = ["run", "model_id", "owner", "status", "level", "worst", "created_at"]
    list_filter = ["status", "level", "created_at"]
    search_fields = ["run__public_id", "owner__username"]
    ordering = ["created_at"]
    list_select_related = ["run", "owner"]
    actions = ["approve", "reject", "flag"]
    inlines = [AuditInline]
    fields = readonly_fields = (
        "run_link",
        "model_id",
        "owner",
        "status",
        "level",
        "findings_table",
        "reason",
        "moderator",
        "decided_at",
        "created_at",
    )

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return is_moderator(request.user)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return is_moderator(request.user)

    def has_moderate_permission(self, request: HttpRequest) -> bool:
        """Asked by the actions below."""
        return is_moderator(request.user)

    @admin.display(description="model")
    def model_id(self, submission: Submission) -> str:
        return str(submission.run.header["subject"]["model_id"])

    @admin.display(description="worst finding")
    def worst(self, submission: Submission) -> str:
        severities = [finding["severity"] for finding in submission.findings]
        return "needs review" if "needs_review" in severities else "-"

    @admin.display(description="run")
    def run_link(self, submission: Submission) -> SafeString:
        return format_html(
            '<a href="/api/v1/runs/{0}/">{0}</a>, <a href="/api/v1/runs/{0}/result.json">file</a>',
            submission.run.public_id,
        )

    @admin.display(description="findings")
    def findings_table(self, submission: Submission) -> SafeString | str:
        if not submission.findings:
            return "none"
        rows = format_html_join(
            "",
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            (
                (
                    finding["severity"].replace("_", " "),
                    finding["field"],
                    finding["sentence"],
                    ", ".join(f"{name} {value}" for name, value in finding["numbers"].items()),
                )
                for finding in submission.findings
            ),
        )
        head = "<tr><th>severity</th><th>field</th><th>what</th><th>numbers</th></tr>"
        return format_html("<table>{}{}</table>", SafeString(head), rows)

    @admin.action(description="Approve: show on the leaderboard", permissions=["moderate"])
    def approve(self, request: HttpRequest, queryset: QuerySet[Submission]) -> None:
        self._decide(request, queryset, Submission.approve, "", "approved")

    @admin.action(description="Reject, with a reason", permissions=["moderate"])
    def reject(self, request: HttpRequest, queryset: QuerySet[Submission]) -> HttpResponse | None:
        return self._decide_with_reason(request, queryset, Submission.reject, "reject", "rejected")

    @admin.action(description="Flag, with a reason", permissions=["moderate"])
    def flag(self, request: HttpRequest, queryset: QuerySet[Submission]) -> HttpResponse | None:
        return self._decide_with_reason(request, queryset, Submission.flag, "flag", "flagged")

    def _decide_with_reason(
        self,
        request: HttpRequest,
        queryset: QuerySet[Submission],
        decide: Decide,
        action: str,
        done: str,
    ) -> HttpResponse | None:
        """Ask for the reason on a page of its own, then decide."""
        form = ReasonForm(request.POST if "reason" in request.POST else None)
        if form.is_valid():
            self._decide(request, queryset, decide, form.cleaned_data["reason"], done)
            return None
        context = {
            **self.admin_site.each_context(request),
            "title": f"{action.capitalize()} submissions",
            "action": action,
            "submissions": queryset,
            "form": form,
            "opts": self.model._meta,
        }
        return TemplateResponse(request, "submissions/decide.html", context)

    def _decide(
        self,
        request: HttpRequest,
        queryset: QuerySet[Submission],
        decide: Decide,
        reason: str,
        done: str,
    ) -> None:
        """Decide about each on its own: one that cannot be changed does not hold up the others."""
        assert isinstance(request.user, User)
        for submission in queryset:
            try:
                decide(submission, request.user, reason)
            except ModerationError as error:
                self.message_user(request, f"{submission}: {error}", messages.ERROR)
            else:
                self.message_user(request, f"{submission} is {done}.", messages.SUCCESS)
