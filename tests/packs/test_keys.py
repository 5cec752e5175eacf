"""The keys once more, by other ways than the authors': walking, enumerating, simulating."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction
from itertools import permutations
from typing import Any

import pytest

from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.packs import load_pack, pack_names

TASKS = {task.id: task for name in pack_names() for task in load_pack(name).tasks}


def expected(task_id: str) -> dict[str, Any]:
    return TASKS[task_id].expected


def minutes(clock: str) -> int:
    hours, rest = clock.split(":")
    return int(hours) * 60 + int(rest)


def rows(task: BenchmarkTask, columns: int) -> list[list[str]]:
    """The table in the prompt, its head left out."""
    lines = [line.split(" | ") for line in task.messages[0].content.splitlines() if " | " in line]
    table = [[cell.strip() for cell in line] for line in lines[1:]]
    assert {len(row) for row in table} == {columns}
    return table


def test_the_rain_tank_filled_litre_by_litre() -> None:
    level, spilled = Fraction(450), Fraction(0)
    for _ in range(84 * 12 * 85):
        drop = Fraction(1, 100)
        level, spilled = (level + drop, spilled) if level < 1200 else (level, spilled + drop)
    assert spilled == Fraction(str(expected("reasonmath.rain-tank-overflow")["value"]))


def test_the_labels_counted_one_by_one() -> None:
    labels = [(sheet, label) for sheet in range(12) for label in range(8)]
    assert len(labels) == expected("reasonmath.label-sheets")["value"]


def test_the_meter_runs_up_to_the_second_reading() -> None:
    reading, used = 4812, 0
    while reading != 4950:
        reading, used = reading + 1, used + 1
    assert used == expected("reasonmath.meter-difference")["value"]


def test_the_parking_fee_minute_by_minute() -> None:
    entry = dt.datetime(2026, 1, 1, 10, 20, tzinfo=dt.UTC)
    cents, charged_until = 0, entry + dt.timedelta(minutes=30)
    now = entry
    while now < entry.replace(hour=14, minute=40):
        if now >= charged_until:
            cents, charged_until = cents + 150, charged_until + dt.timedelta(hours=1)
        now += dt.timedelta(minutes=1)
    assert Fraction(cents, 100) == expected("reasonmath.parking-fee")["value"]


def test_the_bus_found_by_waiting_at_the_stop() -> None:
    now = minutes("18:52") + 6
    while (now - minutes("18:17")) % 20:
        now += 1
    end = f"{(now + 25) // 60:02d}:{(now + 25) % 60:02d}"
    assert end == expected("reasonmath.last-bus")["clock"]


def test_only_one_of_all_rosters_keeps_the_rules() -> None:
    keeps = [
        order
        for order in permutations(["Ada", "Ben", "Cleo", "Dev", "Eva"])
        if order.index("Ben") - order.index("Cleo") == 1
        and order.index("Ada") in (1, 2, 3)
        and order.index("Dev") - order.index("Ada") > 1
        and order.index("Eva") < order.index("Cleo")
    ]
    assert [list(order) for order in keeps] == [expected("reasonmath.shift-cover")["items"]]


def test_the_tools_that_are_in_by_the_table_of_the_prompt() -> None:
    table = rows(TASKS["instructfollow.tool-library-notice"], 3)
    inside = sorted(((int(deposit), name) for name, deposit, where in table if where == "in"))
    lines = [f"{name.upper()}: {deposit}" for deposit, name in reversed(inside)]
    wanted = expected("instructfollow.tool-library-notice")["line_equals"]
    assert wanted == {str(number): line for number, line in enumerate(lines, 1)}


def test_the_open_items_by_the_table_of_the_prompt() -> None:
    table = rows(TASKS["instructfollow.open-items"], 3)
    still_open = {int(due): item for item, state, due in table if state == "open"}
    is_even = len(still_open) % 2 == 0
    lines = {
        str(number): f"- {still_open[due]}" if is_even else f"{number}. {still_open[due]}"
        for number, due in enumerate(sorted(still_open), 1)
    }
    assert expected("instructfollow.open-items")["line_equals"] == lines


def test_the_ferry_board_with_the_correction_known_from_the_start() -> None:
    """Message 5 takes the place of message 2, so that no state is ever undone."""
    boats = {
        name: (leaves, int(pier), state)
        for name, leaves, pier, state in rows(TASKS["instructfollow.ferry-board"], 4)
    }
    out_of_order = {"Teal"}
    heron, otter = boats["Heron"], boats["Otter"]
    boats["Heron"] = ("14:20", otter[1], heron[2])
    boats["Otter"] = (otter[0], heron[1], otter[2])
    running = sorted(
        (leaves, pier, name)
        for name, (leaves, pier, _) in boats.items()
        if name not in out_of_order
    )
    lines = [f"BOATS: {len(running)}"]
    lines += [f"{leaves} {name.upper()} {pier}" for leaves, pier, name in running]
    wanted = expected("instructfollow.ferry-board")["line_equals"]
    assert wanted == {str(number): line for number, line in enumerate(lines, 1)}


def test_the_keywords_by_the_last_words_of_the_prompt() -> None:
    prompt = TASKS["instructfollow.keyword-lines"].messages[0].content
    given = prompt.lower().split()[-4:]
    wanted = expected("instructfollow.keyword-lines")["line_equals"]
    assert list(wanted.values()) == given


def test_the_new_plan_has_everybody_once_and_nobody_where_he_was() -> None:
    old = {"Friday": "Tomas", "Saturday": "Ines", "Sunday": "Wen"}
    lines = expected("instructfollow.shift-swap")["line_equals"].values()
    new = dict(line.split(": ") for line in lines)
    assert list(new) == list(old)
    assert sorted(new.values()) == sorted(old.values())
    assert all(new[day] != old[day] for day in old)


def test_the_stalls_by_following_each_person_alone() -> None:
    ada_before, chidi = 4, 4
    where = {"Chidi": chidi, "Bruno": chidi, "Ada": 2, "Dana": ada_before}
    hours = {"Ada": "09:00", "Bruno": "10:30", "Dana": "10:00", "Chidi": "08:15"}
    stalls = []
    for stall in sorted(set(where.values())):
        people = sorted((name for name in where if where[name] == stall), key=hours.__getitem__)
        stalls.append({"stall": stall, "opens": hours[people[0]], "people": people})
    assert expected("loop_schema.stall-roster")["value"] == {"stalls": stalls}


def test_the_watering_fits_the_clock() -> None:
    steps = expected("loop_schema.irrigation-plan")["value"]["steps"]
    spans = [step["minutes"] for step in steps if "minutes" in step]
    assert spans == [12, 15, 12 // 2]
    assert [step["do"] for step in steps] == ["water", "wait", "water", "notify"]


def test_the_second_backup_is_kept_twice_as_long() -> None:
    first, second = expected("loop_schema.backup-jobs")["value"]["jobs"]
    assert second["keep_days"] == first["keep_days"] + first["keep_days"]
    assert [set(first) - set(second), set(second) - set(first)] == [{"key"}, set()]


@pytest.mark.parametrize(
    ("task_id", "fields"),
    [
        ("loop_schema.room-card", ["Linden", "floor 3", "18 seats"]),
        ("loop_schema.parcel-state", ["5 March 2026"]),
        ("loop_schema.probe-labels", ["0417", "1.10", "06:30", "90"]),
    ],
)
def test_what_is_to_be_copied_stands_in_the_prompt(task_id: str, fields: list[str]) -> None:
    prompt = TASKS[task_id].messages[0].content
    assert [field for field in fields if field not in prompt] == []


def test_the_date_of_the_parcel_is_the_date_of_the_message() -> None:
    sent = expected("loop_schema.parcel-state")["value"]["sent_on"]
    assert dt.date.fromisoformat(sent).strftime("%-d %B %Y") == "5 March 2026"


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
