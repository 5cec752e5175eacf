"""The moderation queue: a list that says what waits, and decisions about several at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import F, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.html import format_html

from bench_loop.report.printable import one_line
from runs.admin import ReadOnlyAdmin
from submissions.admin.case import case_page
from submissions.admin.filters import AgeFilter, QueueFilter, SeverityFilter
from submissions.admin.forms import DecisionForm, number
from submissions.models import Decision, ModerationError, Submission, is_moderator
from submissions.moderation_queue import age, counts, queue

SEVERITY_WORDS = {3: "refused", 2: "needs review", 1: "note", 0: "none"}
MOST_AT_ONCE = 100

Action = Callable[["SubmissionAdmin", HttpRequest, QuerySet[Submission]], HttpResponse | None]


def _action(decision: Decision) -> Action:
    """The action of the list that takes `decision`."""

    @admin.action(description=f"{decision.label}, with a reason", permissions=["moderate"])
    def act(
        self: SubmissionAdmin, request: HttpRequest, queryset: QuerySet[Submission]
    ) -> HttpResponse | None:
        return self.decide_about_several(request, decision)

    act.__name__ = decision.value
    return act


@admin.register(Submission)
class SubmissionAdmin(ReadOnlyAdmin):
    """What waits for the moderator, the longest first. Nothing is edited: decisions are taken."""

    list_display = ["named", "model_id", "owner", "state", "findings_told", "asked", "waiting"]
    list_filter = [QueueFilter, "status", "level", SeverityFilter, AgeFilter]
    list_per_page = 50
    search_fields = ["run__public_id", "owner__username", "run__header__subject__model_id"]
    search_help_text = "Run, owner or model"
    show_full_result_count = False
    actions = [_action(decision) for decision in Decision]
    change_list_template = "submissions/admin/queue.html"

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return is_moderator(request.user)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return is_moderator(request.user)

    def has_moderate_permission(self, request: HttpRequest) -> bool:
        """Asked by the actions."""
        return is_moderator(request.user)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Submission]:
        return queue()

    def get_ordering(self, request: HttpRequest) -> Any:
        return [F("waiting_since").asc(), "pk"]

    @admin.display(description="run", ordering="run__public_id")
    def named(self, submission: Any) -> str:
        return format_html('<span class="mono">{}</span>', submission.run.public_id)

    @admin.display(description="model and device")
    def model_id(self, submission: Submission) -> str:
        header = submission.run.header
        return format_html(
            '{}<br><span class="quiet">{}</span>',
            one_line(str(header["subject"]["model_id"]), 60),
            one_line(str(header["machine"]["device_class"]), 60),
        )

    @admin.display(description="status", ordering="status")
    def state(self, submission: Submission) -> str:
        return format_html(
            '<span class="status {}">{}</span><br><span class="quiet">{}</span>',
            *(submission.status, submission.status, submission.level),
        )

    @admin.display(description="findings", ordering="-severity")
    def findings_told(self, submission: Any) -> str:
        worst = SEVERITY_WORDS[submission.severity]
        found = [one.get("severity") for one in submission.findings]
        count = found.count(worst.replace(" ", "_"))
        shape = worst.replace(" ", "-")
        return format_html(
            '<span class="severity {}">{}{}</span>', shape, f"{count} " if count else "", worst
        )

    @admin.display(description="asked")
    def asked(self, submission: Any) -> str:
        told = [
            "appeal" if submission.appealed_at else "",
            _counted(submission.open_reports, "report"),
            _answer(submission),
        ]
        return ", ".join(filter(None, told)) or "-"

    @admin.display(description="waits", ordering="waiting_since")
    def waiting(self, submission: Any) -> str:
        return age(timezone.now() - submission.waiting_since)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        if not self.has_view_permission(request):
            return super().changelist_view(request, extra_context)
        assert isinstance(request.user, User)
        told = counts(request.user)
        more = {
            "title": "Moderation queue",
            "is_nav_sidebar_enabled": False,
            "counts": told,
            "oldest": age(timezone.now() - told.oldest) if told.oldest else "",
        }
        return super().changelist_view(request, {**more, **(extra_context or {})})

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        return case_page(self, request, object_id)

    def response_action(
        self, request: HttpRequest, queryset: QuerySet[Submission], *more: Any, **named: Any
    ) -> HttpResponse | None:
        if any(number(text) is None for text in request.POST.getlist("_selected_action")):
            self.message_user(request, "Choose submissions from the list.", messages.ERROR)
            return HttpResponseRedirect(request.get_full_path())
        return super().response_action(request, queryset, *more, **named)

    def decide_about_several(self, request: HttpRequest, decision: Decision) -> HttpResponse | None:
        """Ask for the reason on a page of its own, then decide about each by itself.

        By the ids of the form, not by the list's filters: one that another moderator decided about
        meanwhile has left the list, and its moderator must be told.
        """
        chosen = request.POST.getlist("_selected_action")
        if request.POST.get("select_across") == "1":
            self.message_user(request, "Choose them page by page, please.", messages.ERROR)
            return None
        if len(chosen) > MOST_AT_ONCE:
            self.message_user(request, f"At most {MOST_AT_ONCE} at once, please.", messages.ERROR)
            return None
        submissions = list(queue().filter(pk__in=chosen).order_by(F("waiting_since"), "pk"))
        form = DecisionForm(
            request.POST if "reason" in request.POST else None,
            decision=decision,
            offered=[decision],
        )
        if form.is_valid():
            self._decide_about_each(request, submissions, form, decision)
            return None
        context = {
            **self.admin_site.each_context(request),
            "title": f"{decision.label}: {_counted(len(submissions), 'submission')}",
            "decision": decision,
            "is_nav_sidebar_enabled": False,
            "submissions": [
                (one, _seen(request, one), one.why_not(decision)) for one in submissions
            ],
            "form": form,
            "opts": self.model._meta,
        }
        return TemplateResponse(request, "submissions/admin/decide.html", context)

    def _decide_about_each(
        self,
        request: HttpRequest,
        submissions: list[Submission],
        form: DecisionForm,
        decision: Decision,
    ) -> None:
        """One that cannot be changed does not hold up the others; each failure says why."""
        assert isinstance(request.user, User)
        done = []
        for submission in submissions:
            try:
                form.take(submission, request.user, _seen(request, submission))
            except ModerationError as error:
                self.message_user(request, f"Unchanged: {submission}. {error}", messages.ERROR)
            else:
                done.append(str(submission))
        if done:
            told = f"{decision.label}: {len(done)} done ({', '.join(done)})."
            self.message_user(request, told, messages.SUCCESS)


def _seen(request: HttpRequest, submission: Submission) -> int:
    """The version that the form was made from; at first the present one."""
    given = number(request.POST.get(f"version-{submission.pk}"))
    return submission.version if given is None else given


def _answer(submission: Any) -> str:
    """Whose turn it is in a pending submission that a moderator asked about."""
    if submission.requested_changes:
        return "owner asked"
    return "answer" if submission.status == "pending" and submission.answered_at else ""


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}" if count else ""
