# Not for training data: benchloop-canary-6f0d2c5e-91b7-4d0a-8c3e-5a7e1b942f60
"""A printed receipt out of which a few fields are taken.

Hinge: what the last lines of a receipt mean together. The seed decides which: the total beside the
money that was handed over (`read`), a line that the till took back (`voided`), or a total that
cannot be read, with deposits among the goods (`smudged`).
"""

import json
from random import Random
from typing import Any

PATHS = ("read", "voided", "smudged")
NOTES = (
    "Hinge: what the last lines of a receipt mean together. Failure behind it: a book-keeper "
    "entered the first figure that stood beside a word like the one asked for."
)

SHOPS = {
    "Green Pan Kitchenware": [
        "Ladle",
        "Bread tin",
        "Sieve",
        "Peeler",
        "Cake ring",
        "Whisk",
        "Oven cloth",
    ],
    "Harbour Paper Shop": [
        "Notebook",
        "Ink bottle",
        "Ruler",
        "Folder",
        "Envelopes",
        "Glue stick",
        "Pencil box",
    ],
    "Mill Lane Hardware": [
        "Hinge",
        "Wood screws",
        "Sandpaper",
        "Paint brush",
        "Door stop",
        "Twine",
        "Hook",
    ],
}
DRINKS = ["Apple juice", "Spring water", "Ginger beer", "Elder soda", "Malt drink"]
WIDTH = 24


def draw(random: Random, path: str) -> dict[str, Any] | None:
    shop = random.choice(list(SHOPS))
    goods = [[name, random.randrange(120, 1400, 5)] for name in random.sample(SHOPS[shop], 4)]
    facts: dict[str, Any] = {
        "shop": shop,
        "number": random.randrange(10_000, 99_999),
        "date": f"{random.randrange(1, 29):02d}.{random.randrange(1, 13):02d}.2026",
        "clock": f"{random.randrange(9, 19)}:{random.randrange(10, 60)}",
        "goods": goods,
        "void": random.randrange(4),
        "is_doubled": random.random() < 0.5,
        "drinks": [[name, random.randrange(90, 300, 5)] for name in random.sample(DRINKS, 2)],
        "deposit": random.choice([15, 25, 30]),
        "returned": random.randrange(1, 4),
        "loss": random.random() < 0.5,
    }
    made = {"read": _read, "voided": _voided, "smudged": _smudged}[path](facts)
    if made is None:
        return None
    lines, fields, value, slips = made
    slips = [slip for slip in slips if slip[1] != value[slip[0]]]
    text = "\n".join(lines)
    whole = "pieces" if "pieces" in value else "receipt"
    return {
        "answer": json.dumps(value),
        "title": f"Fields of a receipt ({path})",
        "difficulty": "easy" if path == "read" else "medium",
        "capability_tags": {
            "read": ["extraction", "json", "copying", "absent_value"],
            "voided": ["extraction", "json", "correction", "counting"],
            "smudged": ["extraction", "json", "arithmetic", "filtering"],
        }[path],
        "verifier_type": "json_schema",
        "notes": NOTES,
        "prompt": f"Read the receipt. All amounts are in euros.\n\n{text}\n\n{_form(fields)}",
        "expected": {
            "schema": _schema(fields),
            "value": value,
            "compare": {"items": "set"} if "items" in value else {},
        },
        "limits": {"answer_tokens": 320},
        "reference": json.dumps(value),
        "also_right": [
            f"```json\n{json.dumps(dict(reversed(value.items())), indent=2)}\n```",
            f"From the receipt:\n{json.dumps(value | {whole: float(value[whole])})}",
        ],
        "near_misses": [
            {
                "output": json.dumps(value | {field: wrong}),
                "reason": f"wrong_value:{field}",
                "why": why,
            }
            for field, wrong, why in slips
        ],
    }


Fields = dict[str, tuple[str, dict[str, Any]]]
"""Key to what the prompt says of it and to its schema."""
Slips = list[tuple[str, Any, str]]
Made = tuple[list[str], Fields, dict[str, Any], Slips]

TEXT, NUMBER, WHOLE = {"type": "string"}, {"type": "number"}, {"type": "integer"}


def _read(facts: dict[str, Any]) -> Made | None:
    goods = facts["goods"][:3]
    total = sum(price for _, price in goods)
    given = -(-total // 1000) * 1000
    if given == total:
        return None
    body = [*(_line(name, price) for name, price in goods), _line("TOTAL", total)]
    lines = [*_head(facts), *body, _line("CASH", given), _line("CHANGE", given - total)]
    fields: Fields = {
        "receipt": ("the number of the receipt, as a number", WHOLE),
        "total": ("what was to be paid, number", NUMBER),
        "change": ("what the customer got back, number", NUMBER),
        "customer": ("name of the customer, text", {"type": ["string", "null"]}),
    }
    value = {
        "receipt": facts["number"],
        "total": total / 100,
        "change": (given - total) / 100,
        "customer": None,
    }
    slips: Slips = [
        ("total", given / 100, "the money handed over, not what was to be paid"),
        ("total", goods[-1][1] / 100, "the last price above the total"),
        ("change", given / 100, "the money handed over, not what came back"),
        ("customer", facts["shop"], "the name of the shop"),
        ("customer", "", "an empty name is not the absence of one"),
    ]
    return lines, fields, value, slips


def _voided(facts: dict[str, Any]) -> Made:
    """One line is taken back. Where it was scanned twice, one piece of it remains."""
    goods = [tuple(one) for one in facts["goods"]]
    wrong = goods[facts["void"]]
    scanned = [*goods, wrong] if facts["is_doubled"] else goods
    kept = goods if facts["is_doubled"] else [one for one in goods if one != wrong]
    total = sum(price for _, price in kept)
    body = [_line(name, price) for name, price in scanned] + [_line(f"VOID {wrong[0]}", -wrong[1])]
    lines = [*_head(facts), *body, _line("TOTAL", total), _line("CARD", total)]
    fields: Fields = {
        "date": (
            "YYYY-MM-DD; the receipt prints day.month.year",
            {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$"},
        ),
        "items": (
            "list of the names of all articles paid in the end, each name once, in any order",
            {"type": "array", "items": TEXT},
        ),
        "pieces": ("how many pieces were paid in the end, number", WHOLE),
        "total": ("what was to be paid, number", NUMBER),
    }
    day, month, year = facts["date"].split(".")
    value = {
        "date": f"{year}-{month}-{day}",
        "items": [name for name, _ in kept],
        "pieces": len(kept),
        "total": total / 100,
    }
    names = [name for name, _ in scanned]
    slips: Slips = [
        ("items", names, "the line that was taken back is still counted"),
        ("items", [*names, f"VOID {wrong[0]}"], "every line is an article"),
        ("pieces", len(scanned), "the piece that was taken back is still counted"),
        ("pieces", len(scanned) + 1, "the line that takes back was counted as a piece"),
        (
            "total",
            sum(price for _, price in scanned) / 100,
            "added up without the line that was taken back",
        ),
        ("date", f"{year}-{day}-{month}", "day and month changed places"),
    ]
    if facts["is_doubled"]:
        without = [name for name, _ in goods if name != wrong[0]]
        slips.append(("items", without, "both pieces were taken off, and one was paid"))
    return lines, fields, value, slips


def _smudged(facts: dict[str, Any]) -> Made | None:
    """The total cannot be read; the money handed over and the change give it."""
    goods, drinks, each = facts["goods"][:2], facts["drinks"], facts["deposit"]
    charged = each * len(drinks)
    back = each * facts["returned"] if facts["loss"] else 0
    total = sum(price for _, price in goods + drinks) + charged - back
    given = -(-total // 1000) * 1000 + 1000
    body = [_line(name, price) for name, price in goods]
    for name, price in drinks:
        body += [_line(name, price), _line("  deposit", each)]
    if back:
        body.append(_line(f"{facts['returned']} empties returned", -back))
    smudge = f"{'TOTAL':<{WIDTH}}  ##.##"
    lines = [*_head(facts), *body, smudge, _line("CASH", given), _line("CHANGE", given - total)]
    fields: Fields = {
        "receipt": ("the number of the receipt, as a number", WHOLE),
        "deposit": (
            "sum of the deposits charged; what empties brought back is not taken off; number",
            NUMBER,
        ),
        "paid": (
            "what was to be paid in all; the printed total cannot be read, so work it out, number",
            NUMBER,
        ),
        "card": ("last four digits of the payment card, text", {"type": ["string", "null"]}),
    }
    value = {
        "receipt": facts["number"],
        "deposit": charged / 100,
        "paid": total / 100,
        "card": None,
    }
    slips: Slips = [
        ("deposit", each / 100, "one deposit line of two"),
        (
            "deposit",
            (charged - back) / 100,
            "the empties were taken off, which the question leaves out",
        ),
        ("paid", given / 100, "the money handed over"),
        ("paid", (given - total) / 100, "the change"),
        ("paid", (total + back) / 100, "the empties were not taken off"),
        ("paid", (total - charged + back) / 100, "the goods without their deposits"),
        ("card", "0000", "there was no card"),
    ]
    return lines, fields, value, slips


def _head(facts: dict[str, Any]) -> list[str]:
    return [
        facts["shop"].upper(),
        f"{facts['date']}  {facts['clock']}   till 2",
        f"Receipt {facts['number']}",
        "",
    ]


def _line(name: str, cents: int) -> str:
    return f"{name:<{WIDTH}}{cents / 100:>7.2f}"


def _form(fields: Fields) -> str:
    number = {3: "three", 4: "four"}[len(fields)]
    keys = "\n".join(f'- "{key}": {words}' for key, (words, _) in fields.items())
    rule = (
        "\nUse null for what the receipt does not state."
        if any("null" in one.get("type", ()) for _, one in fields.values())
        else ""
    )
    return f"Reply with one JSON object with exactly these {number} keys:\n{keys}{rule}\n"


def _schema(fields: Fields) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(fields),
        "properties": {key: schema for key, (_, schema) in fields.items()},
    }
