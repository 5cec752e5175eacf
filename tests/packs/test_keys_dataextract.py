"""The keys of dataextract once more: tables parsed, a calendar, a meeting replayed.

Receipts, logs and the longest thread are read in families/test_dataextract.py.
"""

from __future__ import annotations

import datetime as dt
import re
from fractions import Fraction
from typing import Any

import pytest

from bench_loop.engine.packs import load_pack

TASKS = {task.id: task for task in load_pack("dataextract").tasks}


def value(name: str) -> dict[str, Any]:
    key = TASKS[f"dataextract.{name}"].expected["value"]
    assert isinstance(key, dict)
    return key


def prompt(name: str) -> str:
    return TASKS[f"dataextract.{name}"].messages[0].content


def flat(name: str) -> str:
    return " ".join(prompt(name).split())


def found(pattern: str, text: str) -> str:
    """The one thing that `pattern` finds in `text`."""
    (one,) = set(re.findall(pattern, text))
    assert isinstance(one, str)
    return one


def table(text: str) -> list[dict[str, str]]:
    """Rows of a table with bars, by the words of its head."""
    lines = [line.strip("| ") for line in text.splitlines() if "|" in line and "---" not in line]
    cells = [[cell.strip() for cell in line.split("|")] for line in lines]
    return [dict(zip(cells[0], row, strict=True)) for row in cells[1:]]


def test_the_label_read_as_pairs() -> None:
    lines = dict(line.split(": ") for line in prompt("parcel-label").splitlines()[2:5])
    assert value("parcel-label") == {"order": int(lines["Order"]), "city": lines["City"]}


def test_the_course_by_its_whole_name() -> None:
    rows = {row["course"]: row for row in table(prompt("course-row"))}
    row = rows[found(r'the course "([^"]+)"', prompt("course-row"))]
    key = {"day": row["day"], "start": row["start"]}
    assert value("course-row") == key | {"room": int(row["room"]), "free": int(row["free places"])}
    assert len([name for name in rows if name.startswith("Bookbinding")]) == 2


@pytest.mark.parametrize("name", ["hall-booking-time", "hall-booking-change"])
def test_the_booked_day_has_its_weekday(name: str) -> None:
    day = dt.date.fromisoformat(value(name)["date"])
    assert day.strftime("%A %-d %B") == "Friday 14 March"
    assert dt.date(2025, 3, 3).strftime("%a") == "Mon"


def test_the_hour_that_is_not_given_up() -> None:
    text = flat("hall-booking-time")
    hours = set(re.findall(r"\b\d\d:\d\d\b", text)) - {"09:12"}
    assert {value("hall-booking-time")["start"]} == hours - {found(r"instead of (\S+)\.", text)}
    assert value("hall-booking-time")["people"] == int(found(r"(\d+) people", text))
    assert value("hall-booking-time")["booking"] == found(r"HB-\d+", text)


def test_the_mail_on_top_alone_and_then_what_is_quoted() -> None:
    lines = prompt("hall-booking-change").splitlines()
    top = [line for line in lines if not line.startswith(">")]
    own = " ".join(top[top.index("Hello Petra,") : top.index("Joris") + 1])
    quoted = " ".join(line for line in lines if line.startswith(">"))
    numbers = {"nine": 9}
    assert value("hall-booking-change") == {
        "reference": found(r"HB-\d+", quoted),
        "date": "2025-03-14",
        "start": found(r"begin at (\d\d:\d\d)", own),
        "guests": int(found(r"will be (\d+)", own)),
        "vegetarian": numbers[found(r"(\w+) of us are vegetarians", own)],
        "phone": found(r"me on ([\d ]+\d)", own).replace(" ", ""),
        "invoice_address": None,
    }
    assert re.findall("address|invoice", own) == []


def test_the_card_by_what_the_letter_says_of_each_pair() -> None:
    text = flat("contact-card")
    mail = found(r"(\S+@\S+) replaces \S+@", text)
    assert value("contact-card") == {
        "street": found(r"from 12 Quay Street to ([\w ]+)\.", text),
        "postcode": found(r"will then be (\d+)", text),
        "phone": found(r"phone number, ([\d ]+), stays", text).replace(" ", ""),
        "fax": None,
        "mail": mail,
        "takes_orders": found(r"hands over to ([A-Z]\w+ [A-Z]\w+)", text),
    }
    assert "fax line 0555 014 2211 is switched off" in text


def test_the_plot_by_its_column_heads_and_the_crate() -> None:
    text = prompt("harvest-plot")
    row = next(row for row in table(text) if row["plot"] == "C")
    crate = int(found(r"crate weighs (\d+) kg", text))
    signs: dict[str, int | None] = {"-": 0, "?": None}

    def cell(head: str) -> int | None:
        text = row[head]
        return signs[text] if text in signs else int(text.rstrip("*")) - crate * text.count("*")

    area = Fraction(row["area in 100 m2"]) * 100
    key = {f"{crop}_kg": cell(f"{crop} in kg") for crop in ("beans", "leeks", "squash", "onions")}
    assert value("harvest-plot") == {"area_m2": area, **key}


def test_the_meeting_replayed_with_the_last_launch_known_from_the_start() -> None:
    """Nothing is ever moved: what hangs on the launch is counted from the launch that holds."""
    text = flat("crew-actions")
    launch = dt.datetime.strptime(found(r"moves to (\d+ May 2026)", text), "%d %B %Y")  # noqa: DTZ007
    jobs = {
        "rudder": ("Ida", launch - dt.timedelta(days=2)),
        "permit": ("Oskar", dt.datetime(2026, 5, 15)),  # noqa: DTZ001
        "ropes": ("Ida", dt.datetime(2026, 5, 12)),  # noqa: DTZ001
        "trailer": (None, launch),
    }
    heirs = {job: "Oskar" if job == "ropes" else "Tarek" for job in jobs}
    key: dict[str, str | None] = {"launch": launch.date().isoformat()}
    for job, (who, by) in jobs.items():
        dropped = job == "permit"
        key[f"{job}_who"] = None if dropped else heirs[job] if who == "Ida" else who
        key[f"{job}_by"] = None if dropped else by.date().isoformat()
    assert value("crew-actions") == key
    assert all(f"{day} May 2026" in text for day in (12, 15, 23, 30))
