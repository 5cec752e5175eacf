# Not for training data: benchloop-canary-6f0d2c5e-91b7-4d0a-8c3e-5a7e1b942f60
"""One row of a table breaks a rule of the README: it is to be found, repaired and named.

The hinge is the rule: a second row looks wrong and is right by an exception, and the repair is not
the one that comes to mind. The seed decides what ties the rows together: each trip starts where the
last one of the same car ended (`chain`), every weight is in grams (`unit`), an amount follows the
price of its day in a second table (`price`), or one entry was made twice (`twin`).
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

PATHS = ("chain", "unit", "price", "twin")

Row = list[str | int]

PLACES = (
    "Ostfeld",
    "Brinkholm",
    "Tarnwick",
    "Lindau Moor",
    "Kestrel Bay",
    "Upper Vale",
    "Sandrum",
    "Nether Ford",
    "Hollin",
    "Craymoor",
    "Veldhaven",
    "Pinewater",
    "Marrow Hill",
    "Eastry",
)
MONTHS = ("January", "February", "March", "April", "May", "June", "September", "October")
KEEPERS = (
    "Anouk",
    "Basil",
    "Cem",
    "Dunja",
    "Emil",
    "Fadila",
    "Goran",
    "Hedda",
    "Ivo",
    "Jarmila",
    "Koen",
    "Lamia",
    "Mirko",
    "Nadja",
    "Otis",
    "Paloma",
)

TASK = """\
{table} holds the {what} of {place} in {month} {year}, as {keeper} wrote them down. Exactly one \
of its rows breaks the rules in README.md. Read the rules before you change anything, repair that \
row as they say, and leave everything else as it is. Finish with one line: ANSWER: <id of that row>
"""


def draw(random: Random, path: str) -> dict[str, Any] | None:
    ids = [
        f"{random.choice('KMRT')}{number}" for number in sorted(random.sample(range(110, 990), 10))
    ]
    makers = {"chain": _chain, "unit": _unit, "price": _price, "twin": _twin}
    made = makers[path](random, ids)
    if made is None:
        return None
    where = {"place": random.choice(PLACES), "month": random.choice(MONTHS)}
    where |= {"year": random.randrange(2019, 2027), "keeper": random.choice(KEEPERS)}
    table, head, rows, right = made["table"], made["head"], made["rows"], made["right"]
    broken, decoy = made["broken"], made["decoy"]
    prompt = TASK.format(table=table, what=made["what"], **where)
    files = {"README.md": made["readme"], table: _csv(head, rows), **made.get("more", {})}
    look = [
        [{"read_file": {"path": "README.md"}}],
        [{"read_file": {"path": name}} for name in list(files)[1:]],
    ]
    say = {"say": f"ANSWER: {broken}"}
    patch = _patch(table, rows, right)
    reference = {"trajectory": [*look, [patch], say]}

    def near(reason: str, why: str, wrong: list[Row], told: str = broken) -> dict[str, Any]:
        write = {"write_file": {"path": table, "content": _csv(head, wrong)}}
        steps = [*look, *([[write]] if wrong != rows else []), {"say": f"ANSWER: {told}"}]
        return {"reason": reason, "why": why, "output": {"trajectory": steps}}

    wrong_content = f"wrong_content:{table}"
    also_right = [
        {
            "trajectory": [
                [{"list_files": {"path": "."}}, *look[0]],
                look[1],
                [{"write_file": {"path": table, "content": _csv(head, right).strip()}}],
                {"say": f"Row {broken} is repaired.\n**ANSWER: {broken}**"},
            ]
        },
        {
            "trajectory": [
                *look,
                [{"search_files": {"text": broken}}],
                [patch],
                {"say": f"{made['hinge']}\nANSWER: row {broken}."},
            ]
        },
    ]
    longest = max(len(json.dumps(one)) for one in (reference, *also_right))
    return {
        "answer": json.dumps([broken, next((row for row in right if row[0] == broken), "gone")]),
        "title": f"The broken row of {table}: {path}",
        "difficulty": made["difficulty"],
        "capability_tags": ["validation", "parsing", "restraint"],
        "verifier_type": "artifact",
        "expected_turns": 2 + len(files),
        "notes": f"{made['hinge']} Key: row {broken}; {decoy} only looks wrong.",
        "prompt": prompt,
        "files": files,
        "tools": "workspace",
        "expected": {
            "workspace": {
                "unchanged": [name for name in files if name != table],
                "tables": {table: {"rows": [head.split(","), *right]}},
            },
            "answer": {"parts": [broken], "among": ids},
            "look_first": ["README.md"],
            "least_calls": 1 + len(files),
        },
        "limits": {"answer_tokens": max(256, 8 * longest // 5)},
        "reference": reference,
        "also_right": also_right,
        "near_misses": [
            *(near(wrong_content, why, wrong) for why, wrong in made["slips"]),
            near(
                wrong_content,
                f"row {decoy}, which an exception allows, was repaired",
                made["lured"],
                decoy,
            ),
            near("wrong_answer", "repaired rightly, and another row named", right, decoy),
            near(wrong_content, "found and named, and not repaired", rows),
            {
                "reason": "changed_before_looking:README.md",
                "why": "right, and the rules were never read",
                "output": {"trajectory": [look[1], [patch], say]},
            },
        ],
    }


def _chain(random: Random, ids: list[str]) -> dict[str, Any]:
    cars = random.sample(["van", "bus", "truck", "pickup"], 2)
    stand = {car: random.randrange(20_000, 80_000) for car in cars}
    order = [cars[0], cars[1], *(random.choice(cars) for _ in range(7)), cars[0]]
    rows: list[Row] = []
    decoy_at, broken_at = random.sample(range(3, 9), 2)
    for at, car in enumerate(order):
        note = ""
        if at == decoy_at:
            note, stand[car] = "new meter", random.randrange(0, 40)
        start, stand[car] = stand[car], stand[car] + random.randrange(11, 240)
        rows.append([ids[at], car, start, stand[car], note])
    right = _copy(rows)
    off = random.choice([-1, 1]) * random.randrange(2, 10)
    rows[broken_at][2] = int(rows[broken_at][2]) + off
    before = next(row for row in reversed(rows[:decoy_at]) if row[1] == order[decoy_at])
    earlier = next(row for row in reversed(rows[:broken_at]) if row[1] == order[broken_at])
    return {
        "table": "trips.csv",
        "what": "trips",
        "head": "id,car,start_km,end_km,note",
        "readme": """\
# Trip log
One row for each trip of a car, in the order in which the trips were made.
1. A trip starts at the kilometre at which the last trip of the same car before it in the log ended.
2. Where that is not so, start_km is wrong and end_km is right:
   start_km gets the last trip's end_km.
3. A row with the note "new meter" starts at the new meter's own count. That is no error.
""",
        "difficulty": "medium",
        "hinge": "A trip starts where the last one of the same car ended, not the row above.",
        "rows": rows,
        "right": right,
        "broken": ids[broken_at],
        "decoy": ids[decoy_at],
        "lured": _with(rows, decoy_at, 2, before[3]),
        "slips": [
            (
                "the end of the trip before was bent in place of the start",
                _with(rows, rows.index(earlier), 3, rows[broken_at][2]),
            ),
            (
                "the end was moved along with the start",
                _with(right, broken_at, 3, int(right[broken_at][3]) - off),
            ),
        ],
    }


def _unit(random: Random, ids: list[str]) -> dict[str, Any]:
    goods = ["barley", "lentils", "oats", "rye", "beans", "millet", "peas", "maize"]
    rows: list[Row] = [
        [one, random.choice(goods), random.randrange(21, 96) * 50, "g", ""] for one in ids
    ]
    decoy_at, broken_at = random.sample(range(2, 9), 2)
    rows[decoy_at][2:] = [random.randrange(3, 30), "g", "sample"]
    right = _copy(rows)
    weight = int(right[broken_at][2])
    rows[broken_at][2:4] = [f"{weight // 1000}.{weight % 1000:03d}".rstrip("0").rstrip("."), "kg"]
    shown = str(rows[broken_at][2])
    return {
        "table": "stock.csv",
        "what": "deliveries",
        "head": "id,goods,weight,unit,note",
        "readme": """\
# Deliveries
1. Every weight is in grams and its unit is g.
2. A weight in another unit is converted: 1 kg is 1000 g. Number and unit are both corrected.
3. A row with the note "sample" may weigh less than 100 g. Every other row weighs 100 g or more.
""",
        "difficulty": "easy",
        "hinge": "A weight in kilograms among grams: number and unit must both change.",
        "rows": rows,
        "right": right,
        "broken": ids[broken_at],
        "decoy": ids[decoy_at],
        "lured": _with(rows, decoy_at, 2, int(rows[decoy_at][2]) * 1000),
        "slips": [
            ("the unit was changed and the number was not", _with(rows, broken_at, 3, "g")),
            ("the number was changed and the unit was not", _with(rows, broken_at, 2, weight)),
            (
                "converted by a hundred",
                _with(_with(rows, broken_at, 3, "g"), broken_at, 2, weight // 10),
            ),
        ]
        if shown != str(weight)
        else [],
    }


def _price(random: Random, ids: list[str]) -> dict[str, Any] | None:
    goods = random.sample(["soap", "candle", "basket", "broom", "brush", "jar"], 3)
    old = dict(zip(goods, random.sample(range(3, 15), 3), strict=True))
    changed = goods[0]
    new = old[changed] + random.choice([-2, -1, 1, 2, 3])
    change_day = random.randrange(11, 16)
    days = sorted(random.sample(range(1, change_day), 5) + random.sample(range(change_day, 29), 5))
    rows: list[Row] = []
    for at, day in enumerate(days):
        item = changed if at in (1, 3, 6, 8) else random.choice(goods)
        price = new if item == changed and day >= change_day else old[item]
        pieces = random.randrange(2, 9)
        rows.append([ids[at], day, item, pieces, pieces * price, ""])
    decoy_at = random.choice([0, 2, 4, 5, 7, 9])
    rows[decoy_at][4:] = [0, "gift"]
    right = _copy(rows)
    # The old price after its end, or the new one before its day.
    broken_at = random.choice([3, 6])
    pieces = int(right[broken_at][3])
    wrong_price = old[changed] if broken_at == 6 else new
    rows[broken_at][4] = pieces * wrong_price
    lured = next((price for item, price in old.items() if item == rows[decoy_at][2]), 0)
    if pieces * new % old[changed] == 0:
        return None
    prices = "item,price,from_day\n" + "".join(f"{item},{old[item]},1\n" for item in goods)
    prices += f"{changed},{new},{change_day}\n"
    right_price = new if broken_at == 6 else old[changed]
    return {
        "table": "sales.csv",
        "more": {"prices.csv": prices},
        "what": "sales",
        "head": "id,day,item,pieces,amount,note",
        "readme": """\
# Sales
1. amount is pieces times the price that prices.csv gives for the day of the sale.
2. A price holds from its from_day on, that day included, until the next from_day of the same item.
3. Where amount is not so, amount is wrong; all other columns are right.
4. A row with the note "gift" has the amount 0. That is no error.
""",
        "difficulty": "hard",
        "hinge": "The price depends on the day of the sale; one row took the price of other days.",
        "rows": rows,
        "right": right,
        "broken": ids[broken_at],
        "decoy": ids[decoy_at],
        "lured": _with(rows, decoy_at, 4, int(rows[decoy_at][3]) * lured),
        "slips": [
            (
                "the pieces were bent so that the wrong amount fits",
                _with(rows, broken_at, 3, max(1, pieces * wrong_price // right_price)),
            ),
            ("the price of one piece was written", _with(rows, broken_at, 4, right_price)),
            (
                "every sale of the item got one price",
                [
                    [*row[:4], int(row[3]) * right_price, row[5]]
                    if row[2] == changed and not row[5]
                    else row
                    for row in _copy(rows)
                ],
            ),
        ],
    }


def _twin(random: Random, ids: list[str]) -> dict[str, Any]:
    names = random.sample(["Abena", "Bo", "Carla", "Dmitri", "Esra", "Femi", "Gita", "Hugo"], 6)
    days = sorted(random.sample(range(1, 29), 5))
    # One day and name twice by mistake, one twice with leave: two halves of a day.
    cells = [(day, name) for day in days for name in names]
    picked = sorted(random.sample(cells, 8))
    double, halves = random.sample(picked[:7], 2)
    rows: list[Row] = []
    for day, name in picked:
        hours = random.randrange(3, 9)
        if (day, name) == halves:
            rows += [["", day, name, 4, "half 1"], ["", day, name, 3, "half 2"]]
        elif (day, name) == double:
            rows += [["", day, name, hours, ""], ["", day, name, hours - 1, ""]]
        else:
            rows.append(["", day, name, hours, ""])
    for one, row in zip(ids, rows, strict=True):
        row[0] = one
    twins = [row for row in rows if (row[1], row[2]) == double]
    parts = [row for row in rows if (row[1], row[2]) == halves]
    keeps_later = random.random() < 0.5
    gone, kept = twins if keeps_later else reversed(twins)
    which, stays = ("earlier", "last") if keeps_later else ("later", "first")
    return {
        "table": "hours.csv",
        "what": "working hours",
        "head": "id,day,name,hours,note",
        "readme": f"""\
# Working hours
1. There is one row for each day and name. Where there are two, somebody wrote the day down twice.
2. Then the {stays} of the two holds, and the {which} one is the row that breaks this rule:
   delete the whole row.
3. Two rows with the notes "half 1" and "half 2" are the two halves of one day. That is no error.
""",
        "difficulty": "medium",
        "hinge": f"Of two rows for one day and name the {which} one goes; two halves stay.",
        "rows": rows,
        "right": [row for row in rows if row is not gone],
        "broken": gone[0],
        "decoy": parts[0][0] if keeps_later else parts[1][0],
        "lured": [row for row in rows if row is not parts[0 if keeps_later else 1]],
        "slips": [
            ("the other one of the two was deleted", [row for row in rows if row is not kept]),
            (
                "the hours of both were added up",
                [
                    [*row[:3], int(gone[3]) + int(kept[3]), row[4]] if row is kept else row
                    for row in rows
                    if row is not gone
                ],
            ),
        ],
    }


def _copy(rows: list[Row]) -> list[Row]:
    return [list(row) for row in rows]


def _with(rows: list[Row], at: int, column: int, value: str | int) -> list[Row]:
    changed = _copy(rows)
    changed[at][column] = value
    return changed


def _line(row: Row) -> str:
    return ",".join(map(str, row))


def _csv(head: str, rows: list[Row]) -> str:
    return "".join(f"{line}\n" for line in (head, *map(_line, rows)))


def _patch(table: str, rows: list[Row], right: list[Row]) -> dict[str, Any]:
    """The broken row replaced, or taken out with its line end."""
    at = next(at for at, row in enumerate(rows) if row not in right)
    is_gone = len(right) < len(rows)
    old = _line(rows[at]) + ("\n" if is_gone else "")
    return {"patch_file": {"path": table, "old": old, "new": "" if is_gone else _line(right[at])}}
