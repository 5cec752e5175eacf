# Not for training data: benchloop-canary-6f0d2c5e-91b7-4d0a-8c3e-5a7e1b942f60
"""A list is to say something that it may say already: only looking tells whether work is left.

The hinge is what the list says before anything is done. The seed decides whether it says all of it
(`as_asked`), one thing otherwise (`differs`), or nothing of it (`absent`); a row with nearly the
same name beside it says something else each time, and is right.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

PATHS = ("as_asked", "differs", "absent")

Row = list[str]

WORLDS: tuple[dict[str, Any], ...] = (
    {
        "list": "programme.csv",
        "columns": ("film", "day", "room"),
        "whole": "the programme of the film club in {place}",
        "names": (
            "Salt Road",
            "Glass Ferry",
            "Paper Orchard",
            "Winter Wheat",
            "Lanterns",
            "North of Ada",
            "Ninth Bell",
            "Slow Harbour",
        ),
        "twin": "{} (short)",
        "first": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday"),
        "second": ("blue room", "attic", "old chapel", "cellar", "yard"),
        "said": "{name} is shown on {first} in the {second}",
    },
    {
        "list": "stalls.csv",
        "columns": ("stall", "place", "day"),
        "whole": "the plan of the market in {place}",
        "names": (
            "Honey Corner",
            "Old Tins",
            "Kite Works",
            "Three Onions",
            "Wool and Wax",
            "Nut Cart",
            "Tea Chest",
            "Blue Pots",
        ),
        "twin": "Little {}",
        "first": (
            "by the pump",
            "under the arcade",
            "at the gate",
            "by the chestnut",
            "on the steps",
        ),
        "second": ("Tuesday", "Thursday", "Friday", "Saturday", "Sunday"),
        "said": "{name} stands {first} every {second}",
    },
    {
        "list": "courses.csv",
        "columns": ("course", "teacher", "fee"),
        "whole": "the list of evening courses in {place}",
        "names": (
            "Bookbinding",
            "Bread Baking",
            "Basket Weaving",
            "Clock Repair",
            "Stone Carving",
            "Map Drawing",
            "Soap Making",
            "Felting",
        ),
        "twin": "{} for children",
        "first": ("Ms Adeyemi", "Mr Brandt", "Ms Castelo", "Mr Dvorak", "Ms Eklund"),
        "second": ("24 euros", "30 euros", "36 euros", "45 euros", "52 euros"),
        "said": "{name} is taught by {first} and costs {second}",
    },
)

PLACES = (
    "Aldermoor",
    "Birkhaven",
    "Cressing",
    "Dunholt",
    "Elmswater",
    "Farrow Bay",
    "Grimsund",
    "Hartleby",
    "Inverlow",
    "Kelsford",
    "Lowmere",
    "Norrtun",
    "Oxenby",
    "Stavern Hill",
)
WISHES = ("See to it that", "Make sure that", "Take care that")
TASK = """\
{Said}. {wish} {list}, {whole}, says so. If it does already, change nothing. If \
its row for {name} says something else, correct that row; if it has no row for {name}, add one at \
the end, whose id is one above the highest. Every other row stays as it is. \
Finish with one line: ANSWER: <the id of the row for {name}>
"""


def draw(random: Random, path: str) -> dict[str, Any] | None:
    world = random.choice(WORLDS)
    name, *others = random.sample(world["names"], 6)
    ids = [str(one) for one in sorted(random.sample(range(110, 980), 7))]
    pairs = random.sample([(a, b) for a in world["first"] for b in world["second"]], 9)
    wanted, *rest = pairs
    twin = world["twin"].format(name)
    named = [name, twin, *others] if path != "absent" else [twin, *others]
    random.shuffle(named)
    rows: list[Row] = [
        [one, title, *pair] for one, title, pair in zip(ids, named, rest, strict=False)
    ]
    twin_at = next(at for at, row in enumerate(rows) if row[1] == twin)
    if tuple(rows[twin_at][2:]) == wanted:
        return None
    row_id = str(int(rows[-1][0]) + 1)
    at = len(rows)
    if path != "absent":
        at = next(at for at, row in enumerate(rows) if row[1] == name)
        row_id = rows[at][0]
        if at in (0, len(rows) - 1):
            return None  # Neither the first row nor the last one is found by chance.
        rows[at][2:] = wanted
    right = [*rows] if path != "absent" else [*rows, [row_id, name, *wanted]]
    if path == "differs":
        # One of the two columns, so that the row looks right at a glance.
        column = random.choice((2, 3))
        values = list(world["first" if column == 2 else "second"])
        values.remove(wanted[column - 2])
        rows = [list(row) for row in rows]
        rows[at][column] = random.choice(values)
    head = ["id", *world["columns"]]
    table = world["list"]
    facts = {"name": name, "first": wanted[0], "second": wanted[1]}
    said = world["said"].format(**facts)
    whole = world["whole"].format(place=random.choice(PLACES))
    wish = random.choice(WISHES)
    prompt = TASK.format(Said=said, wish=wish, list=table, whole=whole, name=name)
    say = {"say": f"ANSWER: {row_id}"}
    read = [{"read_file": {"path": table}}]

    def writes(changed: list[Row]) -> dict[str, Any]:
        return {"write_file": {"path": table, "content": _csv(head, changed)}}

    def trajectory(changed: list[Row], told: str = row_id) -> dict[str, Any]:
        steps = [[writes(changed)]] if changed != rows else []
        return {"trajectory": [read, *steps, {"say": f"ANSWER: {told}"}]}

    patch = _patch(table, rows, right)
    reference = {"trajectory": [read, *([[patch]] if patch else []), say]}
    last = {
        "as_asked": f"The list says so already; nothing was changed.\n**ANSWER: {row_id}**",
        "differs": f"One entry was wrong and is corrected.\nANSWER: row {row_id}.",
        "absent": f"It was not in the list and stands at its end now.\nANSWER: {row_id}",
    }[path]
    also_right = [
        {"trajectory": [[{"list_files": {"path": "."}}], *trajectory(right)["trajectory"]]},
        {
            "trajectory": [
                [{"search_files": {"text": name}}],
                read,
                *([[patch]] if patch else []),
                {"say": last},
            ]
        },
    ]
    twin_row = rows[twin_at]
    next_id = str(int(rows[-1][0]) + 1)
    doubled = [*rows, [next_id, name, *wanted]]
    lured = [[*row[:2], *wanted] if row is twin_row else row for row in rows]
    renamed = [[row[0], name, *wanted] if row is twin_row else row for row in rows]
    content = "protected_file_changed" if path == "as_asked" else f"wrong_content:{table}"
    near = {
        "as_asked": [
            (content, "a second row was added for what the list said already", doubled, next_id),
            (content, "the row of nearly the same name was changed", lured, row_id),
            (content, "the row was doubled, and the old one named", doubled, row_id),
            ("wrong_answer", "nothing was changed, and another row is named", rows, twin_row[0]),
            ("wrong_answer", "nothing was changed, and the id of a new row told", rows, next_id),
        ],
        "differs": [
            (content, "a second row was added beside the wrong one", doubled, next_id),
            (content, "the row of nearly the same name was changed", lured, twin_row[0]),
            (content, "taken for right at a glance, and left", rows, row_id),
            ("wrong_answer", "corrected, and another row is named", right, twin_row[0]),
        ],
        "absent": [
            (content, "the row of nearly the same name was taken for it", renamed, twin_row[0]),
            (content, "taken for done, since nearly the same name is there", rows, twin_row[0]),
            (content, "told and not written", rows, row_id),
            ("wrong_answer", "added, and another row is named", right, twin_row[0]),
        ],
    }[path]
    least = 1 + (path != "as_asked")
    longest = max(len(json.dumps(one)) for one in (reference, *also_right))
    hinge = {
        "as_asked": f"Row {row_id} says all of it already, so nothing is to be done",
        "differs": f"Row {row_id} says one thing of it otherwise",
        "absent": f"There is no row for it; {twin} is another",
    }[path]
    return {
        "answer": json.dumps([path, row_id, *(right[at])]),
        "title": f"A list that may say so already: {path}",
        "difficulty": "medium" if path == "absent" else "easy",
        "capability_tags": ["abstention", "filtering", "restraint"]
        if path == "as_asked"
        else ["filtering", "copying", "restraint"],
        "verifier_type": "artifact",
        "expected_turns": 1 + least,
        "notes": f"{hinge}. Failure behind it: what was there already was entered once more. "
        f"Key: {row_id}.",
        "prompt": prompt,
        "files": {table: _csv(head, rows)},
        "tools": "workspace",
        "expected": {
            "workspace": {"unchanged": [table]}
            if path == "as_asked"
            else {"tables": {table: {"rows": [head, *right]}}},
            "answer": {"parts": [row_id], "among": sorted({*(row[0] for row in rows), next_id})},
            "least_calls": least,
        },
        "limits": {"answer_tokens": max(256, 8 * longest // 5)},
        "reference": reference,
        "also_right": also_right,
        "near_misses": [
            {"reason": reason, "why": why, "output": trajectory(changed, told)}
            for reason, why, changed, told in near
        ],
    }


def _csv(head: Row, rows: list[Row]) -> str:
    return "".join(f"{','.join(row)}\n" for row in (head, *rows))


def _patch(table: str, rows: list[Row], right: list[Row]) -> dict[str, Any] | None:
    """The change as one patch; None: there is nothing to change."""
    if rows == right:
        return None
    if len(right) > len(rows):
        old = ",".join(rows[-1])
        return _patched(table, old, f"{old}\n{','.join(right[-1])}")
    at = next(at for at, row in enumerate(rows) if row != right[at])
    return _patched(table, ",".join(rows[at]), ",".join(right[at]))


def _patched(table: str, old: str, new: str) -> dict[str, Any]:
    return {"patch_file": {"path": table, "old": old, "new": new}}
