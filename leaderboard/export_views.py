"""The current view as a file: the filters of the page, and all its rows, not one page of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from leaderboard import exports
from leaderboard.board import board_entries
from leaderboard.filters import EntryFilter, faults, view_query
from leaderboard.models import Entry

Write = Callable[[Sequence[Entry], bool], str]
"""Makes the file of these rows; the second argument says whether there are more."""


@require_safe
def leaderboard_csv(request: HttpRequest) -> HttpResponse:
    """For spreadsheets: unrounded, every column of the API."""
    absolute = request.build_absolute_uri
    return _file(request, "csv", "text/csv", lambda rows, is_cut: exports.as_csv(rows, absolute))


@require_safe
def leaderboard_markdown(request: HttpRequest) -> HttpResponse:
    """To paste: the figures of the board as a table, with its link."""
    absolute, address = request.build_absolute_uri, _address(request)
    return _file(
        request,
        "md",
        "text/markdown",
        lambda rows, is_cut: exports.as_markdown(rows, absolute, address, is_cut=is_cut),
    )


@require_safe
def leaderboard_json(request: HttpRequest) -> HttpResponse:
    """For programs: the same columns as the CSV, with the link of the view."""
    absolute, address = request.build_absolute_uri, _address(request)
    return _file(
        request,
        "json",
        "application/json",
        lambda rows, is_cut: exports.as_json(rows, absolute, address, is_cut=is_cut),
    )


def _file(request: HttpRequest, ending: str, content_type: str, write: Write) -> HttpResponse:
    """The rows of the view as a file; or what is wrong with the address."""
    chosen = EntryFilter(request.GET, queryset=board_entries(Entry.objects.rows()))
    if wrong := faults(chosen):
        lines = [f"{name}: {line}" for name, sentences in wrong.items() for line in sentences]
        text = "\n".join(["No rows: this address does not say which are meant.", *lines, ""])
        return HttpResponse(text, status=400, content_type="text/plain; charset=utf-8")
    entries = list(chosen.qs[: exports.MOST_ROWS + 1])
    text = write(entries[: exports.MOST_ROWS], len(entries) > exports.MOST_ROWS)
    response = HttpResponse(text, content_type=f"{content_type}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="leaderboard.{ending}"'
    return response


def _address(request: HttpRequest) -> str:
    query = view_query(request.GET)
    return request.build_absolute_uri(f"/?{query}" if query else "/")
