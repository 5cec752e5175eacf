"""The hidden cases of the coding tasks by other ways than the references go."""

from __future__ import annotations

import datetime as dt
import re
from bisect import bisect_right
from typing import Any

import pytest

from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.packs import load_pack
from tests.packs.near_misses import faults

TASKS = {task.id.removeprefix("coding."): task for task in load_pack("coding").tasks}
Record = dict[str, Any]


def cases(name: str) -> list[tuple[list[Any], Any]]:
    """Arguments and value of every hidden call; "ValueError" where it is to be raised."""
    listed = TASKS[name].expected["cases"]
    return [(case["args"], case.get("raises") or case["value"]) for case in listed]


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_each_near_miss_is_caught_where_the_others_pass(task: BenchmarkTask) -> None:
    assert faults(task) == []


def test_the_fragile_parcels_on_two_scales() -> None:
    for (parcels,), value in cases("fragile-weight"):
        scales = {True: 0, False: 0}
        for parcel in parcels:
            scales[parcel["fragile"]] += parcel["kg"]
        assert scales[True] == value


def test_the_late_buses_by_their_place_among_the_sorted_delays() -> None:
    for (delays,), value in cases("late-buses"):
        assert len(delays) - bisect_right(sorted(delays), 5) == value


def test_the_overdue_loans_by_day_numbers() -> None:
    def day(text: str) -> int:
        return dt.date.fromisoformat(text).toordinal()

    for (loans, today), value in cases("overdue-loans"):
        left = {loan["number"]: day(today) - day(loan["due"]) for loan in loans}
        for loan in loans:
            if loan["returned"]:
                del left[loan["number"]]
        assert [number for number, days in left.items() if days >= 1] == value


def test_the_quiet_minutes_by_the_clock() -> None:
    def is_quiet(now: str, span: str) -> bool:
        start, end = span.split("-")
        return start <= now < end if start < end else now >= start or now < end

    clock = [f"{minute // 60:02d}:{minute % 60:02d}" for minute in range(1440)]
    for (spans,), value in cases("quiet-hours"):
        if value != "ValueError":
            quiet = [now for now in clock if any(is_quiet(now, span) for span in spans)]
            assert len(quiet) == value, spans


def test_what_is_no_span_is_none_for_the_clock_of_python_either() -> None:
    refused = [spans for (spans,), value in cases("quiet-hours") if value == "ValueError"]
    assert refused
    assert [spans for spans in refused if all(map(_is_span, spans))] == []


def _is_span(text: str) -> bool:
    try:
        start, end = text.split("-")
        dt.time.fromisoformat(start)
        dt.time.fromisoformat(end)
    except ValueError:
        return False
    return True


def test_the_longest_idle_run_by_trying_every_week_and_length() -> None:
    def is_taken(week: int, start: int, end: int) -> bool:
        return start <= week <= end if start <= end else week >= start or week <= end

    for (spans,), value in cases("idle-weeks"):
        free = {week for week in range(1, 53) if not any(is_taken(week, *span) for span in spans)}
        lengths = [
            length
            for first in range(1, 53)
            for length in range(1, 53)
            if {(first + step - 1) % 52 + 1 for step in range(length)} <= free
        ]
        assert max(lengths, default=0) == value


def read_letters(text: str, note: str | None) -> list[tuple[str, str | None]]:
    """Names and values, read letter by letter; None: the line has no colon."""
    found: list[tuple[str, str | None]] = []
    for line in text.split("\n"):
        parts = [""]
        for before, letter in zip(" " + line, line, strict=False):
            if letter == note and before == " ":
                break
            if letter == ":" and len(parts) == 1:
                parts.append("")
            else:
                parts[-1] += letter
        if "".join(parts).strip():
            found.append((parts[0].strip(), parts[1].strip() if len(parts) == 2 else None))
    return found


@pytest.mark.parametrize(("name", "note"), [("badge-lines", None), ("keeper-notes", ";")])
def test_the_values_of_lines_letter_by_letter(name: str, note: str | None) -> None:
    for (text,), value in cases(name):
        found = read_letters(text, note)
        is_bad = any(value is None for _, value in found)
        assert ("ValueError" if is_bad else dict(found)) == value


def test_the_fields_of_the_plots_looked_up_one_by_one() -> None:
    for (ours, theirs), value in cases("plot-survey"):
        names = [row["plot"] for row in ours]
        names += [row["plot"] for row in theirs if row["plot"] not in names]
        assert [row["plot"] for row in value] == names
        for row in value:
            for field in ("beds", "taps"):
                said = [r[field] for r in [*ours, *theirs] if r["plot"] == row["plot"]]
                known = [number for number in said if number is not None]
                assert row[field] == (known[-1] if known else None)


def test_the_versions_by_the_changes_told_as_sentences() -> None:
    def told(base: Record, version: Record, key: str) -> str:
        if key in base and key not in version:
            return "gone"
        return "" if version.get(key) == base.get(key) else f"now {version[key]}"

    for (base, ours, theirs), value in cases("tool-table-versions"):
        entries, conflicts = {}, []
        for key in base.keys() | ours.keys() | theirs.keys():
            sentences = [told(base, ours, key), told(base, theirs, key)]
            if all(sentences) and sentences[0] != sentences[1]:
                conflicts.append(key)
            last = sentences[1] or sentences[0] or f"now {base[key]}"
            if last != "gone":
                entries[key] = last.removeprefix("now ")
        assert value == {"merged": entries, "conflicts": sorted(conflicts)}


def test_the_waits_by_counting_back_to_the_last_success() -> None:
    doubled = [0, 2, 4, 8, 16, 32, *[60] * 20]
    for (replies,), value in cases("retry-waits"):
        kinds = "".join(
            "+" if status < 400 else "~" if status == 429 or status >= 500 else "!"
            for status, _ in replies
        )
        for at, (_, asked) in enumerate(replies):
            row = re.search("~*$", kinds[: at + 1])
            assert row is not None
            steps = 0 if "!" in kinds[:at] else len(row[0])
            assert value[at] == (max(doubled[steps], asked or 0) if steps else 0)


def test_the_pages_ticket_by_ticket() -> None:
    allowed = {
        "limit": {str(number) for number in range(1, 51)},
        "after": {str(number) for number in range(100)},
        "state": {"open", "closed"},
    }
    for (tickets, query), value in cases("ticket-pages"):
        if any(text not in allowed.get(key, ()) for key, text in query.items()):
            assert value == {"status": 400, "body": {}}
            continue
        states = {ticket["id"]: ticket["state"] for ticket in tickets}
        wanted = (query["state"],) if "state" in query else ("open", "closed")
        rest = [
            number
            for number in range(int(query.get("after", 0)) + 1, 100)
            if states.get(number) in wanted
        ]
        page = []
        while rest and len(page) < int(query.get("limit", 20)):
            page.append(rest.pop(0))
        body = {"ids": page, "next": page[-1] if rest else None}
        assert value == {"status": 200, "body": body}


def answer(seats: int, before: list[Record], answers: list[Record], request: Record) -> Record:
    """The answer to `request`, from the requests and answers before it alone."""
    made = [(old, got["id"]) for old, got in zip(before, answers, strict=True) if _is_new(old, got)]
    first: dict[int, Record] = {}
    for old, number in made:
        first.setdefault(number, old)
    gone = {
        int(old["path"].split("/")[2])
        for old, got in zip(before, answers, strict=True)
        if got["status"] == 204
    }
    held = {number: old["body"]["seats"] for number, old in first.items() if number not in gone}
    if request["method"] == "DELETE":
        is_held = int(request["path"].split("/")[2]) in held
        return {"status": 204 if is_held else 404, "id": None}
    for number, old in first.items():
        if request["key"] is not None and old["key"] == request["key"]:
            is_same = old["body"] == request["body"]
            return {"status": 201, "id": number} if is_same else {"status": 422, "id": None}
    if sum(held.values()) + request["body"]["seats"] > seats:
        return {"status": 409, "id": None}
    return {"status": 201, "id": len(first) + 1}


def _is_new(request: Record, got: Record) -> bool:
    return request["method"] == "POST" and got["status"] == 201


def test_the_seat_holds_from_all_requests_before_each() -> None:
    for (seats, requests), value in cases("seat-holds"):
        for at, request in enumerate(requests):
            assert answer(seats, requests[:at], value[:at], request) == value[at]
