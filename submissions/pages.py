"""Pages about submissions: a run before it is shown, what its owner can do, and the figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from bench_loop.report import views as report
from leaderboard import views as leaderboard
from submissions import moderation_queue
from submissions.models import ModerationError, Submission
from submissions.moderation_figures import figures


@dataclass(frozen=True, slots=True)
class Verb:
    """What an owner can do with a submission on its page. `label` empty: nothing is written."""

    name: str
    title: str
    button: str
    label: str
    consequence: str
    do: Callable[[Submission, User, str], None]


VERBS = {
    verb.name: verb
    for verb in (
        Verb(
            "appeal",
            "Appeal against the decision",
            "Appeal",
            "Why the decision is wrong",
            "A moderator reads it and decides anew. It becomes part of the public history.",
            Submission.appeal,
        ),
        Verb(
            "answer",
            "Answer what was asked",
            "Send the answer",
            "Your answer",
            "The run waits for a moderator again. The answer becomes part of the public history.",
            Submission.answer_request,
        ),
        Verb(
            "withdraw",
            "Withdraw this run",
            "Withdraw for good",
            "",
            "It is taken off the board for good and cannot come back. Its history stays.",
            lambda submission, actor, text: submission.withdraw(actor),
        ),
    )
}


@require_safe
def run(request: HttpRequest, public_id: str) -> HttpResponse:
    """The run's page; of a run that was never shown, only for its owner and for moderators."""
    submission = (
        Submission.objects.select_related("run__entry", "owner")
        .defer("run__result_bytes", "run__header")
        .filter(run__public_id=public_id)
        .first()
    )
    if submission is None or hasattr(submission.run, "entry"):
        return leaderboard.run(request, public_id)
    if not submission.is_readable_by(request.user):
        raise Http404
    context = {"submission": submission, "run": report.run_view(submission.run.result())}
    return render(request, "submissions/not_shown.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def owner_verb(request: HttpRequest, public_id: str, name: str) -> HttpResponse:
    """The form of a verb on a page of its own, and what it does. Refusals keep what was typed."""
    verb = VERBS[name]
    submission = _own(request, public_id)
    text, error = request.POST.get("text", ""), ""
    if request.method == "POST":
        assert isinstance(request.user, User)
        try:
            verb.do(submission, request.user, text)
        except ModerationError as refused:
            error = str(refused)
        else:
            return HttpResponseRedirect(f"{submission.run.get_absolute_url()}#history")
    context = {"submission": submission, "verb": verb, "text": text, "error": error}
    return render(request, "submissions/verb.html", context, status=409 if error else 200)


def _own(request: HttpRequest, public_id: str) -> Submission:
    """The submission of the person who asks. Raises Http404 and PermissionDenied."""
    submission = Submission.objects.select_related("run").filter(run__public_id=public_id).first()
    if submission is None or not submission.is_readable_by(request.user):
        raise Http404
    if submission.owner_id != request.user.pk:
        raise PermissionDenied("Only the owner of a run can do this.")
    return submission


@require_safe
def moderation(request: HttpRequest) -> HttpResponse:
    """How much waits, how long decisions take, and what was decided for which reasons."""
    found = figures(timezone.now())
    context = {
        "figures": found,
        "median": _age(found.median_to_decision_s),
        "oldest": _age(found.oldest_pending_s),
    }
    return render(request, "submissions/moderation.html", context)


@require_safe
def moderation_json(request: HttpRequest) -> HttpResponse:
    """The same figures, unrounded."""
    return JsonResponse(figures(timezone.now()).as_json())


def _age(seconds: float | None) -> tuple[str, str] | None:
    """`("3", "days")`; None: there is none."""
    if seconds is None:
        return None
    if seconds < 60:
        return "<1", "minute"
    number, _, unit = moderation_queue.age(timedelta(seconds=seconds)).partition(" ")
    return number, unit
