"""The keys of loop_schema once more, by other ways than the author's.

Plans, listings and changes that came out of a draw are read in families/test_loop_schema.py.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

import pytest

from bench_loop.engine.packs import load_pack

TASKS = {task.id: task for task in load_pack("loop_schema").tasks}


def value(name: str) -> dict[str, Any]:
    key = TASKS[f"loop_schema.{name}"].expected["value"]
    assert isinstance(key, dict)
    return key


def prompt(name: str) -> str:
    return " ".join(TASKS[f"loop_schema.{name}"].messages[0].content.split())


def test_the_stalls_by_following_each_person_alone() -> None:
    ada_before, chidi = 4, 4
    where = {"Chidi": chidi, "Bruno": chidi, "Ada": 2, "Dana": ada_before}
    hours = {"Ada": "09:00", "Bruno": "10:30", "Dana": "10:00", "Chidi": "08:15"}
    stalls = []
    for stall in sorted(set(where.values())):
        people = sorted((name for name in where if where[name] == stall), key=hours.__getitem__)
        stalls.append({"stall": stall, "opens": hours[people[0]], "people": people})
    assert value("stall-roster") == {"stalls": stalls}


def test_the_watering_fits_the_clock() -> None:
    steps = value("irrigation-plan")["steps"]
    spans = [step["minutes"] for step in steps if "minutes" in step]
    assert spans == [12, 15, 12 // 2]
    assert [step["do"] for step in steps] == ["water", "wait", "water", "notify"]
    start = dt.datetime(2026, 5, 4, 3, 45, tzinfo=dt.UTC)
    assert dt.datetime.fromisoformat(value("irrigation-plan")["starts"]) == start


def test_the_second_backup_is_kept_twice_as_long() -> None:
    first, second = value("backup-jobs")["jobs"]
    assert second["keep_days"] == first["keep_days"] + first["keep_days"]
    assert [set(first) - set(second), set(second) - set(first)] == [{"key"}, set()]


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("room-card", ["Linden", "floor 3", "18 seats"]),
        ("parcel-state", ["5 March 2026"]),
    ],
)
def test_what_is_to_be_copied_stands_in_the_prompt(name: str, fields: list[str]) -> None:
    assert [field for field in fields if field not in prompt(name)] == []


def test_the_date_of_the_parcel_is_the_date_of_the_message() -> None:
    sent = value("parcel-state")["sent_on"]
    assert dt.date.fromisoformat(sent).strftime("%-d %B %Y") == "5 March 2026"


def test_the_bins_by_their_place_in_the_sentence() -> None:
    sentence = prompt("bin-days").split("Sentence: ")[1]
    colours = ["black", "blue", "brown", "green", "grey", "yellow", "white", "red"]
    bins = sorted((one for one in colours if f" {one} " in sentence), key=sentence.index)
    street = re.findall(r"to ([A-Z]\w+ [A-Z]\w+)", sentence)
    assert value("bin-days") == {"street": street[0], "bins": bins}


def test_the_lessons_sorted_as_one_list_of_tuples() -> None:
    note = prompt("lesson-groups").split("Note: ")[1]
    lengths = {"half an hour": 30, "45 minutes": 45, "an hour": 60}
    days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]
    lessons = []
    for sentence in note.split(". "):
        name = sentence.split()[0]
        for day, at, length in re.findall(
            rf"on (\w+) at (\d\d:\d\d) for ({'|'.join(lengths)})", sentence
        ):
            lessons.append((days.index(day), at, name, lengths[length]))
    by_day: dict[str, list[dict[str, Any]]] = {}
    for day, at, name, length in sorted(lessons):
        lesson = {"name": name, "at": at, "minutes": length}
        by_day.setdefault(days[day][:3].lower(), []).append(lesson)
    assert value("lesson-groups") == by_day
