"""The keys of the hand-made toolcall tasks once more, by other ways than the author's.

Those that were drawn from a family are solved in `families/test_toolcall.py`.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.packs import load_pack

TASKS = {task.id.partition(".")[2]: task for task in load_pack("toolcall").tasks}


def words(task: BenchmarkTask) -> str:
    return " ".join(task.messages[-1].content.split())


def reply_to(task: BenchmarkTask, tool: str, **args: str) -> Any:
    assert task.replies is not None
    return next(
        rule.reply for rule in task.replies.rules if rule.tool == tool and rule.when == args
    )


def minutes(clock: str) -> int:
    hours, rest = clock.split(":")
    return int(hours) * 60 + int(rest)


def test_the_pallets_by_trying_every_bay() -> None:
    task = TASKS["cold-store-move"]
    replies = task.replies
    assert replies is not None
    rows = reply_to(task, "list_bays", zone="F")
    free = {row["bay"]: replies.state[row["free_kg"]["$state"]] for row in rows}
    cold = {row["bay"]: row["c"] for row in rows}
    placed = {}
    for name in ("P-17", "P-18"):
        pallet = reply_to(task, "get_pallet", pallet=name)
        weight, limit = pallet["weight_kg"], pallet["max_c"]
        fitting = {bay for bay in free if free[bay] >= weight and cold[bay] <= limit}
        assert max(fitting, key=free.__getitem__) == "F3"  # Which is locked.
        placed[name] = max(fitting - {"F3"}, key=free.__getitem__)
        free[placed[name]] -= weight
    assert placed == task.expected["state"]


def test_the_hours_by_the_message() -> None:
    text = words(TASKS["open-until"])
    assert "10:00 to 14:00 on Saturdays" in text
    assert "one hour longer" in text
    closing = minutes("14:00") + 60
    assert TASKS["open-until"].expected["answer"]["parts"] == [f"{closing // 60}:00"]


def test_the_lamp_by_the_words_of_the_message() -> None:
    task = TASKS["lamp-off"]
    (lamp, state) = re.findall(r"Switch lamp (L-\d+) (on|off)\.", words(task))[0]
    assert task.replies is not None
    assert task.expected["state"] == {**task.replies.state, lamp: state}


def test_the_reading_by_the_words_of_the_message() -> None:
    task = TASKS["meter-reading"]
    (reading, meter) = re.findall(r"reading of (\d+) for water meter (W-\d+)", words(task))[0]
    assert task.replies is not None
    state = {**task.replies.state, meter: int(reading), "entries": 1}
    assert task.expected["state"] == state
    entry = reply_to(task, "add_reading", meter=meter)["entry"]
    assert task.expected["answer"]["parts"] == [entry]


def test_the_shelf_by_the_parcel_of_the_message() -> None:
    task = TASKS["parcel-shelf"]
    (parcel,) = re.findall(r"parcel (R-\d+)", words(task))
    found = reply_to(task, "find_parcel", parcel=parcel)
    assert task.expected["answer"]["parts"] == [found["shelf"]]
    assert parcel == task.expected["calls"][0]["args"]["parcel"]


def test_the_glasshouses_by_going_through_the_days() -> None:
    task = TASKS["frost-watch"]
    tonight = dt.date(2026, 4, 18)
    assert f"{tonight:%-d %B %Y}" in words(task)
    low = reply_to(task, "get_forecast", date=tonight.isoformat())["low"]
    new_days = {tonight - dt.timedelta(days=back) for back in range(7)}
    assert min(new_days) == dt.date(2026, 4, 12)
    needed, ages = {}, {}
    for row in reply_to(task, "list_houses"):
        planted = dt.date.fromisoformat(row["planted"])
        usual = {"tomatoes": 12, "lettuce": 6}[row["crop"]] + (2 if low < 0 else 0)
        needed[row["house"]] = 15 if planted in new_days else usual
        ages[row["house"]] = (tonight - planted).days
    assert task.replies is not None
    changed = sum(needed[house] != now for house, now in task.replies.state.items())
    assert needed == task.expected["state"]
    assert [str(changed), min(ages, key=ages.__getitem__)] == task.expected["answer"]["parts"]
    assert sorted(ages.values())[0] < sorted(ages.values())[1]
