# Not for training data: benchloop-canary-6f0d2c5e-91b7-4d0a-8c3e-5a7e1b942f60
"""On which date is a thing due, by rules with exceptions: closed days, extensions, reservations.

The hinge is the clause that bites. The seed decides which does: a due day that moves over more than
one closed day, an extension that counts from the due day, a reservation that forbids it, or one
that came too late to forbid it.
"""

from __future__ import annotations

import datetime as dt
from random import Random
from typing import Any

PATHS = ("closed_days", "extended", "reserved", "reserved_too_late")

LENDERS = (
    ("library", "book"),
    ("tool library", "drill"),
    ("music school", "cello"),
    ("camera club", "projector"),
    ("boat club", "trailer"),
    ("toy library", "puzzle"),
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
DAY = dt.timedelta(days=1)
FEWEST_WRONG = 3


def draw(random: Random, path: str) -> dict[str, Any] | None:
    """One instance on `path`; None where the clause makes no difference."""
    facts = _facts(random, path)
    key = due(facts)
    asked, reserved = facts["asked"], facts["reserved"]
    events = [day for day in (asked, reserved) if day is not None]
    if any(_is_closed(facts, day) for day in [facts["lent"], *events]):
        return None
    if any(day.weekday() == facts["weekly"] for day in facts["holidays"]):
        return None
    raw = facts["lent"] + facts["days"] * DAY
    first = _open(facts, raw)
    if any(not facts["lent"] < day < first for day in events):
        return None
    slips = _slips(facts, first)
    misses = {slip: why for why, slip in slips.items() if slip != key}
    moved_by = (first - raw).days
    if len(misses) < FEWEST_WRONG or moved_by < (2 if path == "closed_days" else 1):
        return None
    return _task(facts, key, misses)


def _facts(random: Random, path: str) -> dict[str, Any]:
    lent = dt.date(random.choice([2026, 2027]), random.choice([3, 4, 5, 6, 7, 8, 9, 10]), 1)
    lent += random.randrange(31) * DAY
    days = random.choice([9, 10, 11, 12, 13, 16, 18, 19, 20, 22, 23, 24])
    raw = lent + days * DAY
    extra = random.choice([5, 6, 8, 9, 10, 12])
    asked = lent + random.randrange(3, days) * DAY
    reserved = None
    if path == "reserved":
        reserved = asked - random.randrange(1, 3) * DAY
    if path == "reserved_too_late":
        reserved = asked + random.randrange(1, 3) * DAY
    return {
        "path": path,
        "lender": random.choice(LENDERS),
        "lent": lent,
        "days": days,
        "extra": extra,
        "asked": None if path == "closed_days" else asked,
        "reserved": reserved,
        "weekly": random.choice([6, 6, 0, 2]),
        "holidays": _holidays(random, raw, extra),
        "news_first": random.random() < 0.5,
    }


def _holidays(random: Random, raw: dt.date, extra: int) -> list[dt.date]:
    """Two closed days near the days that matter, in order."""
    about = raw + extra * DAY
    near = [raw, raw + DAY, raw - DAY, about, about + DAY, about + 2 * DAY]
    return sorted(random.sample(near, 2))


def _is_closed(facts: dict[str, Any], day: dt.date) -> bool:
    return day.weekday() == facts["weekly"] or day in facts["holidays"]


def _open(facts: dict[str, Any], day: dt.date) -> dt.date:
    """`day`, or the next day that is open."""
    while _is_closed(facts, day):
        day += DAY
    return day


def due(facts: dict[str, Any]) -> dt.date:
    """The date asked for."""
    first = _open(facts, facts["lent"] + facts["days"] * DAY)
    asked, reserved = facts["asked"], facts["reserved"]
    if asked is None or (reserved is not None and reserved < asked):
        return first
    return _open(facts, first + facts["extra"] * DAY)


def _slips(facts: dict[str, Any], first: dt.date) -> dict[str, dt.date]:
    """Dates that one slip leads to."""
    raw = facts["lent"] + facts["days"] * DAY
    asked, extra = facts["asked"], facts["extra"] * DAY
    if facts["path"] == "reserved":
        return {
            "extended in spite of the reservation": _open(facts, first + extra),
            "extended, and from the day on which it was asked for": _open(facts, asked + extra),
            "the closed days forgotten": raw,
            "the day of lending counted": _open(facts, raw - DAY),
            "one open day too late": _open(facts, first + DAY),
        }
    if asked is None:
        return {
            "the closed days forgotten": raw,
            "moved by one day only, to a day that is closed as well": raw + DAY,
            "the day of lending counted": _open(facts, raw - DAY),
            "one open day too late": _open(facts, first + DAY),
        }
    left_out = "the extension left out"
    if facts["path"] == "reserved_too_late":
        left_out = "the extension refused for a reservation that came after it"
    return {
        left_out: first,
        "the extension counted from the day on which it was asked for": _open(facts, asked + extra),
        "the last day not moved, though it is closed": first + extra,
        "the extension counted from a day that is closed": _open(facts, raw + extra),
        "the day of lending counted": _open(facts, _open(facts, raw - DAY) + extra),
    }


def named(day: dt.date) -> str:
    """`Tuesday, 14 April`."""
    return f"{WEEKDAYS[day.weekday()]}, {short(day)}"


def short(day: dt.date) -> str:
    """`14 April`."""
    return f"{day.day} {day:%B}"


def _working(facts: dict[str, Any], key: dt.date) -> list[str]:
    raw = facts["lent"] + facts["days"] * DAY
    first = _open(facts, raw)
    lines = [f"{short(facts['lent'])} + {facts['days']} days = {named(raw)}."]
    lines.append(
        "That is an open day, so it is the due day."
        if first == raw
        else f"Closed on that day, so the due day is {named(first)}."
    )
    if facts["asked"] is None:
        return lines
    if facts["path"] == "reserved":
        return [*lines, "It was reserved before the extension was asked for, so there is none."]
    if facts["reserved"]:
        lines.append("The reservation came after the extension, so the extension stands.")
    later = first + facts["extra"] * DAY
    lines.append(f"{short(first)} + {facts['extra']} days = {named(later)}.")
    if later != key:
        lines.append(f"Closed on that day, so the due day is {named(key)}.")
    return lines


def _prompt(facts: dict[str, Any]) -> str:
    lender, thing = facts["lender"]
    holidays = " and ".join(named(day) for day in facts["holidays"])
    rules = [
        f"A {thing} is lent for {facts['days']} days. The first is the day after it was lent.",
        f"If the last day is a day on which the {lender} is closed, the {thing} is due on the next "
        "day that is open. Otherwise it is due on the last day.",
        f"The loan can be extended once, by {facts['extra']} days. They follow the day on which "
        f"the {thing} was due. If the new last day is closed, rule 2 applies again.",
        f"There is no extension if somebody else reserved the {thing} before the extension was "
        "asked for. A later reservation changes nothing.",
        f"The {lender} is closed on every {WEEKDAYS[facts['weekly']]}, and also on {holidays}.",
    ]
    events = [
        (facts["lent"], f"The {thing} was lent on {named(facts['lent'])} {facts['lent'].year}.")
    ]
    if facts["asked"]:
        told = f"On {named(facts['asked'])} the borrower asked for an extension."
        events.append((facts["asked"], told))
    if facts["reserved"]:
        told = f"On {named(facts['reserved'])} somebody else reserved it."
        events.append((facts["reserved"], told))
    case = " ".join(text for _, text in sorted(events))
    if not facts["asked"]:
        case += " Nobody asked for an extension."
    listed = "\n".join(f"{number}. {rule}" for number, rule in enumerate(rules, 1))
    heading = f"Rules of a {lender}:"
    told = f"{heading}\n{listed}\n\n{case}"
    if facts["news_first"]:
        told = f"{case}\n\n{heading}\n{listed}"
    return (
        f"{told}\n\nOn which date is the {thing} due? Show your working first, one step per line. "
        "The last line of your reply has this form:\nANSWER: <day> <month>\n"
    )


def _task(facts: dict[str, Any], key: dt.date, misses: dict[dt.date, str]) -> dict[str, Any]:
    working = _working(facts, key)
    reference = "\n".join([*working, "", f"ANSWER: {short(key)}"]) + "\n"
    return {
        "answer": short(key),
        "title": f"When a loan is due: {facts['path'].replace('_', ' ')}",
        "difficulty": "medium" if facts["path"] == "closed_days" else "hard",
        "capability_tags": ["time", "conditional"],
        "verifier_type": "exact",
        "notes": f"Hinge: the clause that bites. Path: {facts['path']}. Key: {' '.join(working)}",
        "prompt": _prompt(facts),
        "expected": {"date": key.isoformat()},
        "limits": {"answer_tokens": max(256, 4 * len(reference) // 2)},
        "reference": reference,
        "also_right": [
            f"**ANSWER: {named(key)} {key.year}**",
            f"ANSWER: {key:%B} {key.day}",
            f"{working[-1]}\nThe answer is {key.isoformat()}.",
        ],
        "near_misses": [
            {"output": f"ANSWER: {short(slip)}", "reason": "wrong_answer", "why": why}
            for slip, why in misses.items()
        ],
    }
