"""The keys of reasonmath once more, by other ways: walking, enumerating, simulating."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction
from itertools import permutations, product
from typing import Any

from bench_loop.engine.packs import load_pack

TASKS = {task.id: task for task in load_pack("reasonmath").tasks}


def expected(name: str) -> dict[str, Any]:
    return TASKS[f"reasonmath.{name}"].expected


def minutes(clock: str) -> int:
    hours, rest = clock.split(":")
    return int(hours) * 60 + int(rest)


def clock(minute: int) -> str:
    return f"{minute // 60:02d}:{minute % 60:02d}"


def test_the_rain_tank_filled_litre_by_litre() -> None:
    level, spilled = Fraction(450), Fraction(0)
    for _ in range(84 * 12 * 85):
        drop = Fraction(1, 100)
        level, spilled = (level + drop, spilled) if level < 1200 else (level, spilled + drop)
    assert spilled == Fraction(str(expected("rain-tank-overflow")["value"]))


def test_the_labels_counted_one_by_one() -> None:
    labels = [(sheet, label) for sheet in range(12) for label in range(8)]
    assert len(labels) == expected("label-sheets")["value"]


def test_the_meter_runs_up_to_the_second_reading() -> None:
    reading, used = 4812, 0
    while reading != 4950:
        reading, used = reading + 1, used + 1
    assert used == expected("meter-difference")["value"]


def test_the_parking_fee_minute_by_minute() -> None:
    entry = dt.datetime(2026, 1, 1, 10, 20, tzinfo=dt.UTC)
    cents, charged_until = 0, entry + dt.timedelta(minutes=30)
    now = entry
    while now < entry.replace(hour=14, minute=40):
        if now >= charged_until:
            cents, charged_until = cents + 150, charged_until + dt.timedelta(hours=1)
        now += dt.timedelta(minutes=1)
    assert Fraction(cents, 100) == expected("parking-fee")["value"]


def test_the_bus_found_by_waiting_at_the_stop() -> None:
    now = minutes("18:52") + 6
    while (now - minutes("18:17")) % 20:
        now += 1
    end = f"{(now + 25) // 60:02d}:{(now + 25) % 60:02d}"
    assert end == expected("last-bus")["clock"]


def test_only_one_of_all_rosters_keeps_the_rules() -> None:
    keeps = [
        order
        for order in permutations(["Ada", "Ben", "Cleo", "Dev", "Eva"])
        if order.index("Ben") - order.index("Cleo") == 1
        and order.index("Ada") in (1, 2, 3)
        and order.index("Dev") - order.index("Ada") > 1
        and order.index("Eva") < order.index("Cleo")
    ]
    assert [list(order) for order in keeps] == [expected("shift-cover")["items"]]


def test_the_free_seats_by_taking_seats_away() -> None:
    seats = list(range(12))
    for _ in range(4):
        seats.pop()
    assert len(seats) == expected("free-seats")["value"]


def test_the_film_minute_by_minute() -> None:
    now = dt.datetime(2026, 1, 1, 19, 35, tzinfo=dt.UTC)
    for _ in range(50):
        now += dt.timedelta(minutes=1)
    assert f"{now:%H:%M}" == expected("film-end")["clock"]


def test_only_one_order_of_the_crates_keeps_the_statements() -> None:
    crates = ("red", "green", "yellow", "blue")
    keeps = [
        order
        for order in permutations(crates)
        if order.index("red") < order.index("green") < order.index("yellow")
        and order.index("blue") == 0
    ]
    assert [list(order) for order in keeps] == [expected("crate-weights")["items"]]


def test_the_tank_is_full_after_the_rain_and_not_a_tenth_of_a_millimetre_earlier() -> None:
    rain = Fraction(str(expected("rain-to-fill")["value"]))

    def level(millimetres: Fraction) -> Fraction:
        cubic_metres = 50 * millimetres / 1000
        return 510 + cubic_metres * 1000 * Fraction(3, 4)

    assert level(rain) == Fraction(120 * 100 * 90, 1000)
    assert level(rain - Fraction(1, 10)) < 1080


def test_the_kiosk_week_by_choosing_a_day_for_each() -> None:
    can = {
        "Finn": "Tuesday Thursday",
        "Gita": "Tuesday Thursday",
        "Hugo": "Monday Thursday",
        "Jon": "Tuesday Wednesday",
        "Leo": "Monday Friday",
    }
    days = expected("kiosk-week")["item_labels"]
    found = []
    for choice in product(*(days_of.split() for days_of in can.values())):
        day_of = dict(zip(can, map(days.index, choice), strict=True))
        if len(set(choice)) == 5 and day_of["Finn"] - day_of["Hugo"] > 1:
            found.append(sorted(day_of, key=day_of.__getitem__))
    assert found == [expected("kiosk-week")["items"]]


def loan_end(lent: dt.date, days: int, closed_weekday: str, closed: set[dt.date]) -> dt.date:
    """Tick off `days` days after `lent`, then go on while the door is closed."""
    day = lent
    for _ in range(days):
        day += dt.timedelta(days=1)
    while f"{day:%A}" == closed_weekday or day in closed:
        day += dt.timedelta(days=1)
    return day


def test_the_drill_is_due_on_an_open_day() -> None:
    lent, closed = dt.date(2026, 9, 21), {dt.date(2026, 10, 15), dt.date(2026, 10, 26)}
    assert f"{lent:%A} {dt.date(2026, 10, 15):%A} {dt.date(2026, 10, 26):%A}" == (
        "Monday Thursday Monday"
    )
    due = loan_end(lent, 23, "Wednesday", closed)
    assert due.isoformat() == expected("drill-return")["date"]


def test_the_cello_is_due_after_the_extension() -> None:
    lent, closed = dt.date(2027, 7, 2), {dt.date(2027, 7, 12), dt.date(2027, 7, 23)}
    named = [lent, dt.date(2027, 7, 5), dt.date(2027, 7, 7), *sorted(closed)]
    assert [f"{day:%A}" for day in named] == ["Friday", "Monday", "Wednesday", "Monday", "Friday"]
    first = loan_end(lent, 9, "Sunday", closed)
    due = loan_end(first, 10, "Sunday", closed)
    assert due.isoformat() == expected("cello-extension")["date"]


def test_the_latest_train_by_taking_every_train() -> None:
    def arrival(train: int) -> int:
        at_stop = train + 32 + 7
        bus = minutes("11:08")
        while bus < at_stop:
            bus += 20
        return bus + 21

    trains = range(minutes("10:25"), 24 * 60, 40)
    in_time = [train for train in trains if arrival(train) <= minutes("13:25")]
    assert clock(max(in_time)) == expected("latest-train")["clock"]


def test_the_printing_jobs_in_every_order_on_each_machine() -> None:
    jobs = {"calendar": (55, 40), "songbook": (50, 60), "menu": (20, 10), "atlas": (30, 45)}

    def ready(cutting: tuple[str, ...], binding: tuple[str, ...]) -> int:
        cut, now = {}, 0
        for job in cutting:
            now += jobs[job][0]
            cut[job] = now
        free = 0
        for job in binding:
            free = max(free, cut[job]) + jobs[job][1]
        return free

    orders = list(permutations(jobs))
    times = {order: ready(order, order) for order in orders}
    best = min(ready(one, other) for one in orders for other in orders)
    assert clock(minutes("08:00") + best) == expected("print-order")["clock"]
    assert [order for order in orders if times[order] == best] == [
        ("atlas", "songbook", "calendar", "menu")
    ]
