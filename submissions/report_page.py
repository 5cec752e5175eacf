"""The page on which a reader reports a run to the moderators, with an account or without."""

from __future__ import annotations

import math

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_http_methods
from rest_framework.request import Request

from submissions.addresses import address_hash, keyed_hash
from submissions.api.records import LONGEST_NOTES, NewReportSerializer
from submissions.models import Report
from submissions.reporting import AlreadyReportedError
from submissions.reporting import report as keep_report
from submissions.throttles import wait_s
from submissions.visibility import readable_by


@require_http_methods(["GET", "HEAD", "POST"])
def report(request: HttpRequest, public_id: str) -> HttpResponse:
    """The form, and what it does: the same as `/api/v1/submissions/<id>/report/`, at its rate."""
    submission = readable_by(request.user).filter(run__public_id=public_id).first()
    if submission is None:
        raise Http404
    said = {name: request.POST.get(name, "") for name in ("kind", "text")}
    errors: list[str] = []
    status = 200
    if request.method == "POST":
        form = NewReportSerializer(data=said)
        reporter = request.user if isinstance(request.user, User) else None
        address = address_hash(Request(request))
        who = f"user:{reporter.pk}" if reporter else address
        if not form.is_valid():
            errors, status = _sentences(form), 422
        elif wait := _wait_s([address, who] if reporter else [address]):
            errors, status = [f"Too many reports. Try again in {math.ceil(wait / 60)} min."], 429
        else:
            fields = form.validated_data
            try:
                keep_report(submission, fields["kind"], fields["text"], reporter, keyed_hash(who))
            except AlreadyReportedError as error:
                errors, status = [str(error)], 409
            else:
                messages.success(request, "The moderators have your report.")
                return HttpResponseRedirect(request.path)
    context = {
        "submission": submission,
        "said": said,
        "errors": errors,
        "kinds": Report.Kind.choices,
        "longest": LONGEST_NOTES,
    }
    return render(request, "submissions/report.html", context, status=status)


def _sentences(form: NewReportSerializer) -> list[str]:
    labels = {"kind": "What is wrong", "text": "How it shows"}
    return [f"{labels[field]}: {told[0]}" for field, told in form.errors.items()]


def _wait_s(clients: list[str]) -> float | None:
    """Seconds until one more report is taken; None: now. A local site counts nothing."""
    if settings.BENCHLOOP_ROLE != "public":
        return None
    waits = [wait_s("report", client) for client in clients]
    return max((wait for wait in waits if wait is not None), default=None)
