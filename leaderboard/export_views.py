"""The current view as a file: the filters of the page, and all its rows, not one page of them."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from leaderboard import exports
from leaderboard.board import board_entries
from leaderboard.filters import EntryFilter, faults, view_query
from leaderboard.models import Entry


@require_safe
def leaderboard_csv(request: HttpRequest) -> HttpResponse:
    """For spreadsheets: unrounded, every column of the API."""
    found = _entries(request)
    if isinstance(found, HttpResponse):
        return found
    return _file(exports.as_csv(found[0], request.build_absolute_uri), "csv", "text/csv")


@require_safe
def leaderboard_markdown(request: HttpRequest) -> HttpResponse:
    """To paste: the figures of the board as a table, with its link."""
    found = _entries(request)
    if isinstance(found, HttpResponse):
        return found
    entries, is_cut = found
    absolute = request.build_absolute_uri
    text = exports.as_markdown(entries, absolute, _address(request), is_cut=is_cut)
    return _file(text, "md", "text/markdown")


@require_safe
def leaderboard_json(request: HttpRequest) -> HttpResponse:
    """For programs: the same columns as the CSV, with the link of the view."""
    found = _entries(request)
    if isinstance(found, HttpResponse):
        return found
    entries, is_cut = found
    absolute = request.build_absolute_uri
    text = exports.as_json(entries, absolute, _address(request), is_cut=is_cut)
    return _file(text, "json", "application/json")


def _entries(request: HttpRequest) -> tuple[list[Entry], bool] | HttpResponse:
    """The rows of the view, and whether there are more; or what is wrong with the address."""
    chosen = EntryFilter(request.GET, queryset=board_entries(Entry.objects.rows()))
    if wrong := faults(chosen):
        lines = [f"{name}: {line}" for name, sentences in wrong.items() for line in sentences]
        text = "\n".join(["No rows: this address does not say which are meant.", *lines, ""])
        return HttpResponse(text, status=400, content_type="text/plain; charset=utf-8")
    entries = list(chosen.qs[: exports.MOST_ROWS + 1])
    return entries[: exports.MOST_ROWS], len(entries) > exports.MOST_ROWS


def _address(request: HttpRequest) -> str:
    query = view_query(request.GET)
    return request.build_absolute_uri(f"/?{query}" if query else "/")


def _file(text: str, ending: str, content_type: str) -> HttpResponse:
    response = HttpResponse(text, content_type=f"{content_type}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="leaderboard.{ending}"'
    return response
