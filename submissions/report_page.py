"""The page on which a reader reports a run. A run's own page stays free of forms and cookies."""

from __future__ import annotations

import math

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_http_methods
from rest_framework.request import Request

from bench_loop.report.printable import one_line
from submissions.addresses import address_hash
from submissions.api.records import NewReportSerializer
from submissions.models import Report, Submission
from submissions.models.reports import LONGEST_REPORT
from submissions.reporting import AlreadyReportedError, report, reporter_hash
from submissions.throttles import longest_wait_s
from submissions.visibility import readable_by

RECEIVED = "Thank you. The moderators have your report; what comes of it stands in the history."


@require_http_methods(["GET", "HEAD", "POST"])
def report_run(request: HttpRequest, public_id: str) -> HttpResponse:
    """The form of a report, for whoever can read the run. Refusals keep what was typed."""
    rows = readable_by(request.user).select_related("run").defer("run__result_bytes")
    submission = rows.filter(run__public_id=public_id).first()
    if submission is None:
        raise Http404
    if request.method != "POST":
        return _form(request, submission)
    checked = NewReportSerializer(
        data={name: request.POST.get(name, "") for name in ("kind", "text")}
    )
    if not checked.is_valid():
        return _form(request, submission, errors=checked.errors, status=400)
    wait = _wait_s(request)
    if wait is not None:
        minutes = math.ceil(wait / 60)
        when = f"{minutes} minutes" if minutes > 1 else "a minute"
        refused = _form(
            request,
            submission,
            refusal=f"Too many reports came from you. Send this one in {when}.",
            status=429,
        )
        refused["Retry-After"] = str(int(wait) + 1)
        return refused
    reporter = request.user if isinstance(request.user, User) else None
    who = reporter_hash(reporter, address_hash(Request(request)))
    try:
        report(
            submission,
            checked.validated_data["kind"],
            checked.validated_data["text"],
            reporter,
            who,
        )
    except AlreadyReportedError as error:
        return _form(request, submission, refusal=str(error), status=409)
    messages.success(request, RECEIVED)
    return HttpResponseRedirect(submission.run.get_absolute_url())


def _form(
    request: HttpRequest,
    submission: Submission,
    *,
    errors: dict[str, list[str]] | None = None,
    refusal: str = "",
    status: int = 200,
) -> HttpResponse:
    context = {
        "submission": submission,
        "model": one_line(str(submission.run.header["subject"]["model_id"])),
        "kinds": Report.Kind.choices,
        "kind": request.POST.get("kind", ""),
        "text": request.POST.get("text", ""),
        "longest": LONGEST_REPORT,
        "errors": errors or {},
        "refusal": refusal,
    }
    return render(request, "submissions/report.html", context, status=status)


def _wait_s(request: HttpRequest) -> float | None:
    """Count this report of its address and user. None: it may go on."""
    if settings.BENCHLOOP_ROLE != "public":
        return None
    clients = [address_hash(Request(request))]
    if request.user.is_authenticated:
        clients.append(f"user:{request.user.pk}")
    return longest_wait_s("report", clients)
