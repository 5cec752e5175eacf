"""A submission as moderators see it: all that a decision needs on one page, and the decision."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils import timezone

from bench_loop.report import views as report
from bench_loop.report.trials import with_outcome
from runs.admin import ReadOnlyAdmin
from submissions import distribution
from submissions.admin.forms import DecisionForm, number
from submissions.exhibits import TRIALS_ON_A_PAGE, Bench, exhibits, grouped
from submissions.models import Decision, ModerationError, ModeratorNote, Report, Submission
from submissions.moderation_queue import age, queue, waits_for

EARLIER_RUNS = 12


def case_page(admin: ReadOnlyAdmin, request: HttpRequest, object_id: str) -> HttpResponse:
    """The page, and what its forms do. Whoever may not moderate is refused."""
    if not admin.has_view_permission(request):
        raise PermissionDenied
    submission = queue().filter(pk=number(object_id) or 0).first()
    if submission is None:
        raise Http404
    assert isinstance(request.user, User)
    case = Case(submission, request.user)
    if request.method != "POST":
        return _page(admin, request, case)
    try:
        done = case.act(request)
    except ModerationError as error:
        return _page(admin, request, case, str(error), status=409)
    if done is None:
        return _page(admin, request, case)
    admin.message_user(request, done, messages.SUCCESS)
    return HttpResponseRedirect(request.get_full_path())


class Case:
    """One submission under one moderator's eyes."""

    def __init__(self, submission: Submission, moderator: User) -> None:
        self.submission = submission
        self.moderator = moderator
        self.is_own = submission.owner_id == moderator.pk
        self.possible = [one for one in Decision if not submission.why_not(one)]
        self.form = DecisionForm(decision=None, offered=self.possible)
        self.note = ""

    def act(self, request: HttpRequest) -> str | None:
        """Do what was asked for; gives what was done. None: the form says what it lacks.

        Raises ModerationError.
        """
        data = request.POST
        if "note" in data:
            self.note = data["note"]
            ModeratorNote.write(self.submission, self.moderator, self.note)
            return "The note is kept, for moderators only."
        if "resolve" in data:
            report_id = number(data["resolve"]) or 0
            found = Report.objects.filter(pk=report_id, submission=self.submission).first()
            if found is None:
                raise ModerationError("There is no such report.")
            found.resolve(self.moderator, data.get("resolution", ""))
            return "The report is resolved."
        if data.get("decision") not in Decision.values:
            raise ModerationError("Choose a decision.")
        return self._decide(Decision(data["decision"]), request)

    def _decide(self, decision: Decision, request: HttpRequest) -> str | None:
        # A decision that is not possible any more is tried all the same: the error says why.
        offered = [one for one in Decision if one in {*self.possible, decision}]
        self.form = DecisionForm(request.POST, decision=decision, offered=offered)
        if not self.form.is_valid():
            return None
        self.form.take(self.submission, self.moderator, number(request.POST.get("version")))
        return f"{decision.label}: done."


def _page(
    admin: ReadOnlyAdmin, request: HttpRequest, case: Case, error: str = "", status: int = 200
) -> HttpResponse:
    # Read anew: what failed may have failed because something changed. The version comes first, so
    # that a change between the two reads is met by the next decision.
    version = case.submission.version
    submission = queue().get(pk=case.submission.pk)
    case.possible = [one for one in Decision if not submission.why_not(one)]
    run = submission.run
    result = run.result()
    bench = Bench(run.filed_result(), run.verdicts)
    shown = exhibits(bench, submission.findings)
    pages = Paginator(range(bench.trials), TRIALS_ON_A_PAGE)
    page = pages.get_page(request.GET.get("trials"))
    compared_by, others = distribution.same_stack(run)
    upcoming = waits_for(case.moderator).exclude(pk=submission.pk).first()
    context = {
        **admin.admin_site.each_context(request),
        "title": report.one_line(str(run.header["subject"]["model_id"]), 100),
        "opts": admin.model._meta,
        "is_nav_sidebar_enabled": False,
        "submission": submission,
        "waits": age(timezone.now() - getattr(submission, "waiting_since", submission.created_at)),
        "stack": report.stack_name(result),
        "stats": report.stats(result, with_outcome(result.trials)),
        "error": error,
        "form": case.form,
        "possible": case.possible,
        "is_own": case.is_own,
        "version": version,
        "groups": grouped(shown),
        "trials": [bench.trial(index) for index in page],
        "page": page,
        "compared_by": report.one_line(compared_by),
        "strips": distribution.strips(run, others),
        "width": distribution.WIDTH,
        **_owner(submission),
        "trail": submission.audit.select_related("actor", "submission"),
        "next": upcoming,
    }
    if not case.is_own:
        context["reports"] = submission.reports.select_related("reporter", "resolved_by")
        context["notes"] = submission.moderator_notes.select_related("author")
        context["note_text"] = case.note
    return TemplateResponse(request, "submissions/admin/case.html", context, status=status)


def _owner(submission: Submission) -> dict[str, Any]:
    """The owner's other runs with what was decided about them, newest first."""
    others = (
        Submission.objects.filter(owner=submission.owner_id)
        .exclude(pk=submission.pk)
        .select_related("run")
        .defer("run__result_bytes")
    )
    statuses = Counter(others.order_by().values_list("status", flat=True))
    return {
        "owner_counts": sorted(statuses.items()),
        "earlier": [
            (one, report.one_line(str(one.run.header["subject"]["model_id"]), 60))
            for one in others[:EARLIER_RUNS]
        ],
    }
