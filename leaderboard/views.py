"""The pages: each asks one question of the entries and prints the answer."""

from __future__ import annotations

from collections import defaultdict

from django.conf import settings
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe

from bench_loop.report import figures
from bench_loop.report import views as report
from bench_loop.report.board import COLUMNS, band_text, board
from bench_loop.report.side_by_side import LETTERS, side_by_side
from bench_loop.scoring.constants import SCORING_VERSION
from leaderboard import board as rows
from leaderboard import matrix as matrices
from leaderboard.facets import facets, hidden_matches
from leaderboard.filters import EntryFilter, faults, view_query, with_present_models
from leaderboard.models import LEVELS, Entry
from leaderboard.names import model_at
from leaderboard.prose import methodology_page
from leaderboard.versions import entry_with_stack, versions_of

THEMES = ("dark", "light", "system")
THEME_SECONDS = 365 * 24 * 3600
TRENDING_DAYS = 14
EVIDENCE = {
    "reported": "The file follows the schema and every trial is stored.",
    "consistent": "Every score was computed again from the trials, every verdict from the stored "
    "output, and all came out the same.",
    "reproduced": "Another owner measured the same weights with the same settings on the same "
    "class of device: generation within 10 %, time to first token within 20 %, quality neither "
    "better nor worse.",
    "verified": "A moderator looked at it and decided.",
}
"""What stands behind each rung of trust, where an entry does not tell it by figures."""


@require_safe
def leaderboard(request: HttpRequest) -> HttpResponse:
    """Which model works on your machine?"""
    chosen = EntryFilter(request.GET, queryset=rows.board_entries(Entry.objects.rows()))
    if wrong := faults(chosen):
        return _bad_filter(request, wrong)
    if present := with_present_models(request.GET):
        return redirect(f"/?{present.urlencode()}")
    page = Paginator(chosen.qs, rows.ROWS).get_page(request.GET.get("page"))
    keep_order = bool(request.GET.get("ordering"))
    filters = _active(request)
    context = {
        "board": board([rows.row(entry) for entry in page], keep_order=keep_order),
        "columns": rows.columns(request.GET),
        "facets": facets(request.GET, Entry.objects.rows()),
        "filters": filters,
        "hidden": hidden_matches(request.GET) if filters else 0,
        "page": page,
        "previous": _page_address(request, page.number - 1) if page.has_previous() else None,
        "next": _page_address(request, page.number + 1) if page.has_next() else None,
        "ordering": request.GET.get("ordering", ""),
        "searched": request.GET.get("q", ""),
        "view": view_query(request.GET),
        "shown": rows.shown(),
        "scoring_version": SCORING_VERSION,
    }
    return render(request, "leaderboard/leaderboard.html", context)


def _bad_filter(request: HttpRequest, wrong: dict[str, list[str]]) -> HttpResponse:
    return render(request, "leaderboard/bad_filter.html", {"wrong": wrong}, status=400)


@require_safe
def model(request: HttpRequest, slug: str) -> HttpResponse:
    """A model's lasting address: the board with its rows. Old slugs lead on for ever."""
    found = model_at(slug)
    if found is None:
        raise Http404
    return redirect(f"/?model={found.slug}")


def _active(request: HttpRequest) -> list[str]:
    """The filters in force, as text."""
    skipped = ("ordering", "page")
    return [
        report.one_line(value)
        for name, values in request.GET.lists()
        if name not in skipped
        for value in values
        if value
    ]


def _page_address(request: HttpRequest, number: int) -> str:
    parameters = request.GET.copy()
    parameters["page"] = str(number)
    return f"?{parameters.urlencode()}"


@require_safe
def run(request: HttpRequest, public_id: str) -> HttpResponse:
    """One run with every suite and trial. Runs that were never published are not there."""
    entry = entry_with_stack(public_id)
    if entry is None:
        raise Http404
    if entry.withdrawn_at is not None:
        return render(request, "leaderboard/withdrawn.html", _tombstone(entry))
    standing, versions = rows.standing(entry), versions_of(entry)
    context = {
        "versions": versions,
        "versions_template": "leaderboard/versions.html" if versions else "",
        "run": report.run_view(entry.run.result()),
        "entry": entry,
        "trust": standing.trust,
        "band": band_text(standing.band) if standing.band and not standing.not_ranked else "",
        "levels": _evidence(entry),
        "signature": rows.signature(entry),
        "not_ranked": standing.not_ranked,
        "file": f"/api/v1/runs/{public_id}/result.json",
    }
    return render(request, "leaderboard/run.html", context)


def _tombstone(entry: Entry) -> dict[str, object]:
    """What stays of a withdrawn entry: that it was there, and why it is not. Nothing of the run."""
    assert entry.withdrawn_at is not None
    return {
        "entry": entry,
        "public_id": entry.run.public_id,
        "published": figures.moment(entry.published_at),
        "withdrawn": figures.moment(entry.withdrawn_at),
        "reason": report.one_line(entry.withdrawn_reason, 400),
        "trust": rows.trust(entry),
    }


def _evidence(entry: Entry) -> list[tuple[str, str, bool]]:
    """The rungs of trust: name, what stands behind it, and whether this run has reached it.

    A moderator can verify a run that nobody reproduced: a rung below its level counts only where
    its evidence does.
    """
    names = [level for level, _ in LEVELS]
    reached = set() if entry.is_local else {"reported", entry.level}
    if not entry.is_local and entry.level != "verified":
        reached |= set(names[: names.index(entry.level)])
    told: dict[str, list[str]] = defaultdict(list)
    for one in entry.evidence:
        told[one["level"]].append(report.one_line(one["sentence"], 400))
        if one.get("is_met"):  # Rows written before this was kept do not say it.
            reached.add(one["level"])
    return [
        (level.capitalize(), " ".join(told[level]) or EVIDENCE[level], level in reached)
        for level in names
    ]


@require_safe
def compare(request: HttpRequest) -> HttpResponse:
    """Two to six runs, paired by task against the first; further ones are left out."""
    named = ",".join(request.GET.getlist("runs")).split(",")
    wanted = list(dict.fromkeys(name for name in named if name.isalnum()))[: len(LETTERS)]
    found = rows.entries_in_order(wanted)
    context = {
        "wanted": len(wanted),
        "missing": len(wanted) - len(found),
        "choices": [],
        "comparison": None,
    }
    if len(found) >= 2:
        runs = [(entry.get_absolute_url(), entry.run.result()) for entry in found]
        context["comparison"] = side_by_side(runs)
    else:
        entries = rows.board_entries(Entry.objects.shown())[:50]
        chosen = {entry.run.public_id for entry in found}
        context["choices"] = [
            (
                entry.run.public_id,
                rows.standing(entry),
                figures.moment(entry.finished_at),
                entry.run.public_id in chosen,
            )
            for entry in entries
        ]
    return render(request, "leaderboard/compare.html", context)


@require_safe
def matrix(request: HttpRequest) -> HttpResponse:
    """What do harnesses gain and cost, with which models?"""
    made = _matrix_of(request)
    if isinstance(made, HttpResponse):
        return made
    chosen, found = made
    context = {
        "matrix": found.view if found else None,
        "chosen": chosen,
        "most": matrices.MOST_RUNS,
        "facets": facets(request.GET, Entry.objects.shown()),
        "filters": _active(request),
        "csv": f"/matrix.csv?{request.GET.urlencode()}",
        "scoring_version": SCORING_VERSION,
    }
    return render(request, "leaderboard/matrix.html", context)


@require_safe
def matrix_csv(request: HttpRequest) -> HttpResponse:
    """The same matrix, unrounded, as a file."""
    made = _matrix_of(request)
    if isinstance(made, HttpResponse):
        return made
    _, found = made
    response = HttpResponse(found.csv if found else "", content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="matrix.csv"'
    return response


def _matrix_of(
    request: HttpRequest,
) -> tuple[matrices.Chosen, matrices.Made | None] | HttpResponse:
    """The runs that the address means and their matrix; or the answer to a wrong address."""
    filters = matrices.filters_of(request.GET)
    if wrong := faults(filters):
        return _bad_filter(request, wrong)
    chosen = matrices.chosen_runs(filters.qs, request.GET)
    return chosen, matrices.made_of(chosen.runs) if chosen.runs else None


@require_safe
def trending(request: HttpRequest) -> HttpResponse:
    """What was measured lately."""
    entries = rows.trending_entries(TRENDING_DAYS)[: rows.ROWS]
    recent = [(figures.moment(one.published_at), rows.standing(one)) for one in entries]
    context = {"days": TRENDING_DAYS, "recent": recent}
    return render(request, "leaderboard/trending.html", context)


@require_safe
def my_gpu(request: HttpRequest) -> HttpResponse:
    """What runs well on one device; where nobody measured it, that."""
    devices = rows.devices()
    chosen = next((one for one in devices if _device_key(*one[:2]) == request.GET.get("gpu")), None)
    context: dict[str, object] = {
        "devices": [
            (_device_key(model, memory), rows.device(model, memory, None), count)
            for model, memory, count in devices
        ],
        "asked": report.one_line(request.GET.get("gpu", "")),
        "chosen": None,
    }
    if chosen:
        model, memory, _ = chosen
        entries = rows.device_entries(model, memory)[: rows.ROWS]
        context["chosen"] = rows.device(model, memory, None)
        context["chosen_key"] = _device_key(model, memory)
        context["board"] = board([rows.row(entry) for entry in entries])
        context["columns"] = COLUMNS
    return render(request, "leaderboard/my_gpu.html", context)


def _device_key(model: str, memory_gb: float | None) -> str:
    return f"{model}|{memory_gb:g}" if memory_gb is not None else model


@require_safe
def submit(request: HttpRequest) -> HttpResponse:
    """How a run comes onto this board."""
    context = {
        "is_local": settings.BENCHLOOP_ROLE == "local",
        "address": request.build_absolute_uri("/").rstrip("/"),
        "levels": [(level.capitalize(), EVIDENCE[level]) for level, _ in LEVELS],
    }
    return render(request, "leaderboard/submit.html", context)


@require_safe
def methodology(request: HttpRequest) -> HttpResponse:
    """How everything is measured and scored, generated from the scoring code."""
    context = {"blocks": methodology_page(), "scoring_version": SCORING_VERSION}
    return render(request, "leaderboard/methodology.html", context)


@csrf_exempt  # Sets a cosmetic cookie only; a token would put a cookie on every page.
@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """Remember the reader's colours, and go back to where they were."""
    chosen = request.POST.get("theme", "")
    target = request.POST.get("next", "/")
    if not url_has_allowed_host_and_scheme(target, allowed_hosts=None):
        target = "/"
    response = HttpResponseRedirect(target)
    if chosen in THEMES:
        response.set_cookie(
            "theme",
            chosen,
            max_age=THEME_SECONDS,
            samesite="Lax",
            httponly=True,
            secure=request.is_secure(),
        )
    return response
