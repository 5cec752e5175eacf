# Not for training data: benchloop-canary-6f0d2c5e-91b7-4d0a-8c3e-5a7e1b942f60
"""A list of things to do: the open ones by their day, in a form that the list itself decides.

The hinge is that the filter must be right before the first character is written. The seed decides
which rule gives the form: an even or odd number of open items, more of them than a display shows,
or one that is late.
"""

from __future__ import annotations

from random import Random
from typing import Any

PATHS = ("parity", "display", "late")

LISTS = {
    "a rowing club": (
        "grease the winch",
        "book the trailer",
        "renew the insurance",
        "paint the oars",
        "order new ropes",
        "sweep the boathouse",
        "check the life vests",
        "mend the jetty",
        "count the buoys",
    ),
    "a village hall": (
        "clean the stove",
        "tune the piano",
        "replace two windows",
        "oil the front door",
        "test the fire alarm",
        "order firewood",
        "sand the stage",
        "wash the curtains",
        "label the keys",
    ),
    "a seed shop": (
        "print the price list",
        "repair the scales",
        "empty the drying room",
        "order paper bags",
        "weigh the beans",
        "clear the window",
        "call the beekeeper",
        "sort the tulip bulbs",
        "air the cellar",
    ),
    "a choir": (
        "copy the new songs",
        "book the bus",
        "collect the fees",
        "hang the posters",
        "order flowers",
        "return the music stands",
        "find a page turner",
        "write the programme",
        "invite the neighbours",
    ),
}
MONTHS = ("April", "May", "June", "July", "September", "October")
STATES = ("open", "done", "dropped")
FEWEST_WRONG = 3

Row = tuple[str, str, int]
"""Text, state and day."""


def draw(random: Random, path: str) -> dict[str, Any] | None:
    """One instance on `path`; None where a slip leads to the right text."""
    owner = random.choice(sorted(LISTS))
    size = random.randrange(7, 9)
    states = [random.choice(["open", "open", "open", "done", "dropped"]) for _ in range(size)]
    items = random.sample(list(LISTS[owner]), size)
    days = random.sample(range(2, 29), size)
    rows: list[Row] = list(zip(items, states, days, strict=True))
    facts = {
        "path": path,
        "owner": owner,
        "rows": rows,
        "month": random.choice(MONTHS),
        "shown": random.choice([3, 4]),
        "today": random.choice([random.randrange(4, 9), random.randrange(9, 22)]),
    }
    if set(states) != set(STATES) or not 3 <= states.count("open") <= 6 or facts["today"] in days:
        return None
    key = written(facts)
    if "\n" not in key:
        return None
    wrong = {
        text: why for text, why in _slips(facts).items() if text != key and text.count("\n") < 9
    }
    if len(wrong) < FEWEST_WRONG or not _is_tempting(facts):
        return None
    lines = key.split("\n")
    return {
        "answer": key,
        "title": f"Open items of {owner}: {path}",
        "difficulty": "medium",
        "capability_tags": ["format", "conditional", "counting", "filtering", "ordering"],
        "verifier_type": "exact",
        "notes": f"Hinge: the open items decide the form. Path: {path}. Key: {' / '.join(lines)}.",
        "prompt": _prompt(facts),
        "expected": {
            "lines": len(lines),
            "line_equals": {str(at): line for at, line in enumerate(lines, 1)},
        },
        "limits": {"answer_tokens": 256},
        "reference": f"{key}\n",
        "also_right": [
            "\n" + key.replace("\n", " \n") + " \n\n",
            f"<think>Only the open ones.</think>\n\n{key}".replace("\n", "\r\n"),
        ],
        "near_misses": [
            {"output": text, "reason": reason_of(text, key), "why": why}
            for text, why in wrong.items()
        ],
    }


def reason_of(text: str, key: str) -> str:
    """Why a text of lines is not the key."""
    lines, right = text.split("\n"), key.split("\n")
    if len(lines) != len(right):
        return "line_count"
    return f"wrong_line:{[a == b for a, b in zip(lines, right, strict=True)].index(False) + 1}"


def open_rows(rows: list[Row], states: tuple[str, ...] = ("open",)) -> list[Row]:
    """The rows in one of `states`, by their day."""
    return sorted((row for row in rows if row[1] in states), key=lambda row: row[2])


def written(
    facts: dict[str, Any],
    chosen: list[Row] | None = None,
    branch: bool | None = None,
) -> str:
    """The text; `chosen` in place of the open rows, `branch` in place of what they decide."""
    rows = open_rows(facts["rows"]) if chosen is None else chosen
    if facts["path"] == "parity":
        is_even = len(rows) % 2 == 0 if branch is None else branch
        heads = ["- " if is_even else f"{at}. " for at in range(1, len(rows) + 1)]
        return "\n".join(head + row[0] for head, row in zip(heads, rows, strict=True))
    if facts["path"] == "display":
        shown = facts["shown"]
        is_long = len(rows) > shown if branch is None else branch
        lines = [row[0] for row in rows]
        return "\n".join([*lines[:shown], f"and {len(rows) - shown} more"] if is_long else lines)
    late = [row for row in rows if row[2] < facts["today"]]
    is_late = bool(late) if branch is None else branch
    if is_late:
        return "\n".join(f"LATE: {row[0]}" for row in late)
    return "\n".join(f"OPEN: {row[0]}" for row in rows)


def _slips(facts: dict[str, Any]) -> dict[str, str]:
    rows = facts["rows"]
    right = open_rows(rows)
    in_table = [row for row in rows if row[1] == "open"]
    late = [row for row in right if row[2] < facts["today"]]
    slips = {
        written(facts, open_rows(rows, ("open", "dropped"))): "a dropped item counted as open",
        written(facts, open_rows(rows, ("open", "done"))): "a done item counted as open",
        written(facts, in_table): "the order of the table",
        written(facts, right[::-1]): "the latest day first",
    }
    if facts["path"] == "parity":
        slips[written(facts, branch=len(right) % 2 == 1)] = "the form for the other case"
    elif facts["path"] == "display" and len(right) > facts["shown"]:
        slips[written(facts, branch=False)] = "more lines than the display shows"
        slips[written(facts, right[: facts["shown"]])] = "the last line left out"
    elif facts["path"] == "late" and late:
        slips[written(facts, branch=False)] = "the form for a list without a late item"
    return slips


def _is_tempting(facts: dict[str, Any]) -> bool:
    """Whether the wrong filter would give another form, or another late item."""
    right = open_rows(facts["rows"])
    loose = open_rows(facts["rows"], ("open", "dropped"))
    if facts["path"] == "parity":
        return len(loose) % 2 != len(right) % 2
    if facts["path"] == "display":
        return len(right) == facts["shown"] or len(right) > facts["shown"] + 1
    closed = [row for row in facts["rows"] if row[1] != "open"]
    is_late = any(row[2] < facts["today"] for row in right)
    return any(row[2] < facts["today"] for row in closed) and (is_late or len(right) < 6)


def _prompt(facts: dict[str, Any]) -> str:
    month, shown = facts["month"], facts["shown"]
    table = "\n".join(" | ".join(map(str, row)) for row in facts["rows"])
    rule = {
        "parity": (
            "Write the open items, earliest due day first, one per line, and nothing else. If "
            "the number of open items is even, each line is a hyphen, a space and the text of the "
            'item. If it is odd, the lines are numbered instead: "1. " and the text of the first '
            'item, "2. " and the text of the second, and so on.'
        ),
        "display": (
            "Write the open items, earliest due day first, one per line, only the text of the "
            f"item, and nothing else. If more than {shown} items are open, write only the first "
            f'{shown} of them and then one line more: "and 5 more", where in place of 5 stands '
            "the number of open items that are left out."
        ),
        "late": (
            f"Today is {facts['today']} {month}. An open item is late if its due day is before "
            "today. If at least one open item is late, write only the late ones, each line as "
            "LATE: and a space and the text of the item. If none is late, write all open items, "
            "each line as OPEN: and a space and the text of the item. Earliest due day first, one "
            "item per line, plain text and nothing else."
        ),
    }[facts["path"]]
    return f"List of {facts['owner']}:\n\nitem | state | due in {month}\n{table}\n\n{rule}\n"
