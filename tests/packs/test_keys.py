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
