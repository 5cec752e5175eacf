"""The keys once more, by other ways than the authors': walking, enumerating, simulating."""

from __future__ import annotations

import datetime as dt
from typing import Any

from bench_loop.engine.packs import load_pack, pack_names

TASKS = {task.id: task for name in pack_names() for task in load_pack(name).tasks}


def expected(task_id: str) -> dict[str, Any]:
    return TASKS[task_id].expected


def minutes(clock: str) -> int:
    hours, rest = clock.split(":")
    return int(hours) * 60 + int(rest)




def test_the_quiet_minutes_by_the_clock() -> None:
    def is_quiet(now: str, span: str) -> bool:
        start, end = span.split("-")
        return start <= now < end if start < end else now >= start or now < end

    clock = [f"{minute // 60:02d}:{minute % 60:02d}" for minute in range(1440)]
    cases = [case for case in expected("coding.quiet-hours")["cases"] if "value" in case]
    for case in cases:
        quiet = [now for now in clock if any(is_quiet(now, span) for span in case["args"][0])]
        assert len(quiet) == case["value"], case


def test_what_is_no_span_is_none_for_the_clock_of_python_either() -> None:
    refused = [
        case["args"][0] for case in expected("coding.quiet-hours")["cases"] if "raises" in case
    ]
    assert [spans for spans in refused if all(map(_is_span, spans))] == []


def _is_span(text: str) -> bool:
    try:
        start, end = text.split("-")
        dt.time.fromisoformat(start)
        dt.time.fromisoformat(end)
    except ValueError:
        return False
    return True


def test_the_fragile_parcels_on_two_scales() -> None:
    for case in expected("coding.fragile-weight")["cases"]:
        scales = {True: 0, False: 0}
        for parcel in case["args"][0]:
            scales[parcel["fragile"]] += parcel["kg"]
        assert scales[True] == case["value"]


def dates(values: list[dict[str, str]]) -> list[dt.date]:
    return [dt.date.fromisoformat(value["$date"]) for value in values]


def due(start: dt.date, count: int) -> list[dt.date]:
    """Each month's last day that is not after the day of `start`, found day by day."""
    found: list[dt.date] = []
    day = start.replace(day=1)
    while len(found) < count + 1:
        if day.day <= start.day:
            if found and found[-1].month == day.month:
                found[-1] = day
            else:
                found.append(day)
        day += dt.timedelta(days=1)
    return found[:count]


def test_the_due_dates_day_by_day() -> None:
    task = expected("loop_code_fix.due-date-drift")
    for case in (task["visible"], *task["cases"]):
        start, number = dates([case["args"][0]])[0], case["args"][1]
        if case["call"].endswith("due_dates"):
            assert dates(case["value"]) == due(start, number), case
        else:
            first, after = due(start, number + 2)[number:]
            assert dates(case["value"]["$tuple"]) == [first, after - dt.timedelta(days=1)], case


def test_the_delivery_fee_in_cents() -> None:
    task = expected("loop_code_fix.free-delivery")
    for case in (task["visible"], *task["cases"]):
        cents = round(case["args"][0] * 100)
        assert case["value"] == (4 if cents in range(5000) else 0)


def test_the_chairs_counted_on() -> None:
    task = TASKS["agent.chair-count"]
    rows = dict(line.split(",") for line in task.files["stock.csv"].splitlines())
    rows["chair"] = str(int(rows["chair"]) + 12)
    wanted = task.expected
    assert wanted["workspace"]["lines"]["stock.csv"] == [f"{k},{v}" for k, v in rows.items()]
    assert wanted["answer"]["value"] == int(rows["chair"])
