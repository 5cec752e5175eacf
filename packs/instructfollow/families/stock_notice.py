# Not for training data: benchloop-canary-6f0d2c5e-91b7-4d0a-8c3e-5a7e1b942f60
"""A notice from a table: what is there, in the order asked for, in a given form.

The hinge is the filter on a column, together with a second rule. The seed decides which rule that
is: a closing sentence made of given words, a tie that a second sort key breaks, or a second filter
and a total.
"""

from __future__ import annotations

from random import Random
from typing import Any

PATHS = ("sentence", "tie", "total")

STOCKS = """\
tool library; tool; deposit; in, lent, workshop
    ladder, drill, sander, jigsaw, router, winch, chisel set, tile cutter
    heat gun, band saw, paint sprayer
music school; instrument; fee; here, lent, at the workshop
    cello, flute, oboe, tuba, viola, banjo, bass drum, alto horn
    grand piano, snare drum, double bass
boat hire; boat; price; free, hired, at the yard
    canoe, dinghy, punt, skiff, raft, kayak, pedal boat, row boat
    motor launch, sea kayak, racing gig
costume store; costume; fee; on the rail, lent, at the tailor
    pirate, miller, queen, baker, ghost, jester, sea captain, snow bear
    red dragon, court lady, tin soldier
"""
"""Owner, noun, what is counted, the three places; below it the things, and those that are away."""
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
FEWEST_WRONG = 3

Row = tuple[str, int, str]
"""Name, amount and where it is."""


def draw(random: Random, path: str) -> dict[str, Any] | None:
    """One instance on `path`; None where the second rule makes no difference."""
    head, pool, away = random.choice(_stocks())
    owner, noun, amount, where_from = head.split("; ")
    places = where_from.split(", ")
    size = 7 if path == "sentence" else 8
    names = random.sample(pool.split(", "), size - 1)
    amounts = [random.randrange(10, 90, 5) for _ in names]
    if path == "sentence":
        amounts = random.sample(range(10, 90, 5), len(names))
    where = [random.choice([places[0], places[0], places[1]]) for _ in names]
    rows: list[Row] = list(zip(names, amounts, where, strict=True))
    gone = random.choice(away.split(", "))
    rows.insert(random.randrange(2, size), (gone, random.randrange(12, 90, 5), places[2]))
    facts = {
        "path": path,
        "owner": owner,
        "noun": noun,
        "amount": amount,
        "places": places,
        "rows": rows,
        "gone": gone,
        "day": random.choice(WEEKDAYS),
        "limit": random.randrange(35, 75, 5),
    }
    shown = _shown(facts)
    if not 3 <= len(shown) <= 5 or not _matters(facts, shown):
        return None
    key = written(facts, shown)
    wrong = {text: why for text, why in _slips(facts, shown).items() if text != key}
    if len(wrong) < FEWEST_WRONG:
        return None
    lines = key.split("\n")
    return {
        "answer": key,
        "title": f"Notice of a {owner}: {path}",
        "difficulty": "hard" if path == "total" else "medium",
        "capability_tags": [
            "format",
            "filtering",
            "ordering",
            {"sentence": "lexical_constraint", "tie": "copying", "total": "arithmetic"}[path],
        ],
        "verifier_type": "exact",
        "notes": f"Hinge: the filter and a second rule. Path: {path}. Key: {' / '.join(lines)}.",
        "prompt": _prompt(facts, shown),
        "expected": _expected(facts, lines),
        "limits": {"answer_tokens": 256},
        "reference": f"{key}\n",
        "also_right": _also_right(facts, key),
        "near_misses": [
            {"output": text, "reason": reason_of(text, key, path), "why": why}
            for text, why in wrong.items()
        ],
    }


def _stocks() -> list[tuple[str, str, str]]:
    lines = [line.strip() for line in STOCKS.splitlines()]
    return list(zip(lines[::3], lines[1::3], lines[2::3], strict=True))


def reason_of(text: str, key: str, path: str) -> str:
    """Why a text of lines is not the key."""
    lines, right = text.split("\n"), key.split("\n")
    if len(lines) != len(right):
        return "line_count"
    at = [a == b for a, b in zip(lines, right, strict=True)].index(False) + 1
    if path == "sentence" and at == len(lines):
        same = sorted(lines[-1].lower().strip(".?").split()) == sorted(
            right[-1].lower().strip(".").split()
        )
        return "wrong_phrase" if same else "wrong_words"
    return f"wrong_line:{at}"


def _shown(facts: dict[str, Any]) -> list[Row]:
    """The rows that the notice shows, in its order."""
    rows = [row for row in facts["rows"] if row[2] == facts["places"][0]]
    if facts["path"] == "total":
        rows = [row for row in rows if row[1] <= facts["limit"]]
    return _sorted(rows)


def _sorted(rows: list[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (-row[1], row[0]))


def _in_table(facts: dict[str, Any], shown: list[Row]) -> list[Row]:
    """The same rows as they stand in the table."""
    return [row for row in facts["rows"] if row in shown]


def _matters(facts: dict[str, Any], shown: list[Row]) -> bool:
    """Whether the second rule of the path decides something."""
    if facts["path"] == "sentence":
        return True
    in_table = sorted(_in_table(facts, shown), key=lambda row: -row[1])
    if in_table == shown:
        return False
    inside = [row for row in facts["rows"] if row[2] == facts["places"][0]]
    at_limit = any(row[1] == facts["limit"] for row in inside)
    away = [row for row in facts["rows"] if row not in inside and row[1] <= facts["limit"]]
    return facts["path"] == "tie" or (len(inside) > len(shown) and at_limit and bool(away))


def _last_line(facts: dict[str, Any], shown: list[Row]) -> list[str]:
    if facts["path"] == "sentence":
        return [f"The {facts['gone']} will be back on {facts['day']}."]
    return [f"TOTAL: {sum(row[1] for row in shown)}"] if facts["path"] == "total" else []


def written(facts: dict[str, Any], shown: list[Row], last: list[str] | None = None) -> str:
    """The text of the notice."""
    lines = [f"{name.upper()}: {amount}" for name, amount, _ in shown]
    return "\n".join([*lines, *(_last_line(facts, shown) if last is None else last)])


def _slips(facts: dict[str, Any], shown: list[Row]) -> dict[str, str]:
    inside = [row for row in facts["rows"] if row[2] == facts["places"][0]]
    slips = {
        written(facts, _sorted(facts["rows"])[: len(shown)]): (
            "the highest of the whole table, without the filter"
        ),
        written(facts, _in_table(facts, shown)): "the order of the table",
        written(facts, sorted(shown, key=lambda row: (row[1], row[0]))): "lowest first",
    }
    if facts["path"] == "sentence":
        gone, day = facts["gone"], facts["day"]
        slips[written(facts, shown, [f"The {gone.split()[-1]} will be back on {day}."])] = (
            "one of the given words is missing"
        )
        slips[written(facts, shown, [f"The {gone} will be back on {day} morning."])] = (
            "a word that was not given, and a claim that nobody made"
        )
        slips[written(facts, shown, [f"Will the {gone} be back on {day}."])] = (
            "a question, which says nothing"
        )
        return slips
    in_table = _in_table(facts, shown)
    slips[written(facts, sorted(in_table, key=lambda row: -row[1]))] = (
        "the order of the table where two amounts are equal"
    )
    slips[written(facts, sorted(shown, key=lambda row: row[0]))] = "sorted by name alone"
    if facts["path"] == "total":
        below = [row for row in shown if row[1] < facts["limit"]]
        slips[written(facts, _sorted(inside))] = "the second filter left out"
        if below:
            slips[written(facts, below)] = "what is exactly at the limit left out"
        total = sum(row[1] for row in inside)
        slips[written(facts, shown, [f"TOTAL: {total}"])] = "the total of what is not shown as well"
    return slips


def _expected(facts: dict[str, Any], lines: list[str]) -> dict[str, Any]:
    if facts["path"] != "sentence":
        texts = {str(at): line for at, line in enumerate(lines, 1)}
        return {"lines": len(lines), "line_equals": texts}
    gone, day = facts["gone"], facts["day"].lower()
    head = {str(at): line for at, line in enumerate(lines[:-1], 1)}
    return {
        "lines": len(lines),
        "line_equals": head,
        "word_puzzle": {
            "line": len(lines),
            "words": _given(facts),
            "phrases": [f"the {gone}", f"on {day}"],
            "before": [[gone.split()[-1], "will"], ["will", "be"], ["be", "back"]],
            "ends": ".",
        },
    }


def _given(facts: dict[str, Any]) -> list[str]:
    words = ["back", "be", facts["day"].lower(), "on", "the", "will", *facts["gone"].split()]
    return sorted(words)


def _also_right(facts: dict[str, Any], key: str) -> list[str]:
    spaced = "\n" + key.replace("\n", " \n") + " \n"
    if facts["path"] != "sentence":
        return [spaced, f"<think>The filter first.</think>\n\n{key}".replace("\n", "\r\n")]
    head = key.rsplit("\n", 1)[0]
    return [spaced, f"{head}\nOn {facts['day']} the {facts['gone']} will be back."]


def _prompt(facts: dict[str, Any], shown: list[Row]) -> str:
    noun, amount, places = facts["noun"], facts["amount"], facts["places"]
    table = "\n".join(" | ".join(map(str, row)) for row in facts["rows"])
    form = (
        f"one per line, highest {amount} first, as NAME: {amount.upper()} with the name in capital "
        f"letters (old thing with {amount} 7 would give OLD THING: 7)"
    )
    tie = f" Of {noun}s with the same {amount} the one that comes first in the alphabet is first."
    only = "Write plain text and nothing else: no blank line, no bullet, no code fence."
    count = len(shown)
    if facts["path"] == "sentence":
        words = [facts["day"] if word == facts["day"].lower() else word for word in _given(facts)]
        rule = (
            f"Write exactly {count + 1} lines of plain text and nothing else: no blank line, no "
            f"bullet, no code fence.\nLines 1 to {count}: the {noun}s that are {places[0]}, {form}."
            f"\nLine {count + 1}: one sentence, ending with a full stop, that says when the "
            f"{facts['gone']} returns. It uses each of these {len(words)} words exactly once and "
            f"no other word: {', '.join(words)}."
        )
    elif facts["path"] == "tie":
        rule = f"{only} List the {noun}s that are {places[0]}, {form}.{tie}"
    else:
        rule = (
            f"{only} List the {noun}s that are {places[0]} and have a {amount} of "
            f"{facts['limit']} or less, {form}.{tie} Then write one last line as TOTAL: SUM, where "
            f"SUM is the sum of the {amount}s that you have listed."
        )
    return f"Stock of a {facts['owner']}:\n\n{noun} | {amount} | where\n{table}\n\n{rule}\n"
