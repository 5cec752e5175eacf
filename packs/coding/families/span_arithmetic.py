# Not for training data: benchloop-canary-6f0d2c5e-91b7-4d0a-8c3e-5a7e1b942f60
"""Span arithmetic: a function over spans of units that touch, overlap and may run over the end.

The hinge is what a span covers: whether its end belongs to it, whether it may run over the end of
the cycle, and what equal ends mean. The path is the question: units covered, covered twice, most
spans at once, the longest gap, or what each span adds. The seed also decides the kind of units and
the rule for equal ends, and so the hidden cases.
"""

from copy import deepcopy
from random import Random
from typing import Any, NamedTuple

PATHS = ("covered", "twice", "peak", "gap", "added")


class Kind(NamedTuple):
    """Units in a row, or in a cycle that begins again after its last unit."""

    unit: str
    units: str
    first: int
    size: int
    is_closed: bool
    is_cycle: bool
    where: str
    nouns: tuple[str, ...]


KINDS = (
    Kind(
        "hour",
        "hours",
        0,
        24,
        False,
        True,
        "a day that is the same every day",
        ("lamps", "pumps", "guards", "fans", "heaters"),
    ),
    Kind(
        "minute",
        "minutes",
        0,
        60,
        False,
        True,
        "an hour that is the same every hour",
        ("sprinklers", "beacons", "signals", "bells", "valves"),
    ),
    Kind(
        "week",
        "weeks",
        1,
        52,
        True,
        True,
        "a calendar of 52 weeks that begins again every year",
        ("closures", "seasons", "crews", "exhibits", "leases"),
    ),
    Kind(
        "page",
        "pages",
        1,
        0,
        True,
        False,
        "a report",
        ("readers", "scans", "reprints", "reviews", "excerpts"),
    ),
    Kind(
        "metre",
        "metres",
        0,
        0,
        False,
        False,
        "a shelf",
        ("boxes", "binders", "loans", "displays", "orders"),
    ),
)
VERBS = ("tell", "find", "get", "give", "work_out", "look_up")
QUESTIONS = {
    "covered": (
        ("covered", "used", "taken"),
        "returns how many {units} at least one span covers.",
        "A {unit} that several spans cover counts once. An empty list gives 0.",
    ),
    "twice": (
        ("doubled", "shared", "clashing"),
        "returns how many {units} two or more spans cover.",
        "A {unit} counts once, however many spans cover it. An empty list gives 0.",
    ),
    "peak": (
        ("peak", "busiest", "most"),
        "returns the greatest number of spans that cover the same {unit}.",
        "Spans that only meet, without a {unit} in common, do not count as together. An empty "
        "list gives "
        "0.",
    ),
    "gap": (
        ("idle", "free", "empty"),
        "returns the length, in {units}, of the longest unbroken run of {units} that no span "
        "covers.",
        "If every {unit} is covered, the result is 0.",
    ),
    "added": (
        ("added", "new", "gained"),
        "returns a list with one number for each span, in the order of the spans: how many {units} "
        "it covers that no earlier span of the list covers.",
        "An empty list of spans gives an empty list.",
    ),
}
REFERENCE = """\
def {name}({params}):
    count = [0] * {size}
    for start, end in spans:
{check}        for step in range({length}):
            count[({shift} + step) % {size}] += 1
"""
ENDINGS = {
    "covered": "    return sum(1 for spans_here in count if spans_here > 0)\n",
    "twice": "    return sum(1 for spans_here in count if spans_here > 1)\n",
    "peak": "    return max(count)\n",
    "gap": """\
    longest = run = 0
    for spans_here in {count}:
        run = 0 if spans_here else run + 1
        longest = max(longest, run)
    return min(longest, {size})
""",
}
ADDED = """\
def {name}({params}):
    taken = [False] * {size}
    added = []
    for start, end in spans:
{check}        before = sum(taken)
        for step in range({length}):
            taken[({shift} + step) % {size}] = True
        added.append(sum(taken) - before)
    return added
"""
CHECK = """\
        if not {first} <= start <= end <= {size}:
            raise ValueError("no such span")
"""
SETS = '''\
def units_of(start, end{more}):
    """The {units} of one span."""
    unit, found = start, set()
    while len(found) < ({length}):
        found.add(unit)
        unit = unit + 1 if unit < {last} else {first}
    return found

def {name}({params}):
    parts = []
    for start, end in spans:
{check}        parts.append(units_of(start, end{more}))
'''
SET_ENDINGS = {
    "covered": "    return len(set().union(*parts))\n",
    "twice": """\
    seen, again = set(), set()
    for part in parts:
        again |= seen & part
        seen |= part
    return len(again)
""",
    "peak": """\
    return max(
        (sum(unit in part for part in parts) for every in parts for unit in every), default=0
    )
""",
    "gap": """\
    covered = set().union(*parts)
    free = [unit for unit in range({first}, {last} + 1) if unit not in covered]
    if len(free) == {size}:
        return {size}
    longest = 0
    for unit in free:
        run, at = 0, unit
        while at in free:
            run += 1
            at = {next}
        longest = max(longest, run)
    return longest
""",
    "added": "    return [len(part.difference(*parts[:at])) for at, part in enumerate(parts)]\n",
}
TESTS = """\
from itertools import groupby

def {name}({params}):
    def covers(span, unit):
        start, end = span
        return {covers}

{check}    units = range({first}, {last} + 1)
    hits = [[covers(span, unit) for span in spans] for unit in units]
"""
CHECK_ALL = """\
    if any(not {first} <= start <= end <= {size} for start, end in spans):
        raise ValueError(spans)
"""
TEST_ENDINGS = {
    "covered": "    return len([row for row in hits if any(row)])\n",
    "twice": "    return len([row for row in hits if sum(row) >= 2])\n",
    "peak": "    return max(map(sum, hits))\n",
    "gap": """\
    row = [any(here) for here in hits]
    runs = [len(list(run)) for is_taken, run in groupby({row}) if not is_taken]
    return min(max(runs, default=0), len(row))
""",
    "added": """\
    return [
        sum(1 for row in hits if row[at] and not any(row[:at])) for at in range(len(spans))
    ]
""",
}
RANDOM_LISTS = 80
"""Lists of spans without a plan, for cases that tell near misses apart."""
FEWEST_MISSES = 3
MORE = 6
"""Hidden cases beside those that are needed to tell the near misses apart."""
DIFFICULTY = {
    "covered": "medium",
    "twice": "medium",
    "peak": "medium",
    "gap": "hard",
    "added": "medium",
}


def outcomes(source: str, name: str, calls: list[list[Any]]) -> list[dict[str, Any]]:
    """What the function `name` of `source` makes of each of `calls`, as a case states it."""
    space: dict[str, Any] = {}
    exec(source, space)  # noqa: S102  (written above)
    found: list[dict[str, Any]] = []
    for args in calls:
        try:
            found.append({"value": space[name](*deepcopy(args))})
        except Exception as error:
            found.append({"raises": type(error).__name__})
    return found


def why_wrong(got: dict[str, Any], due: dict[str, Any]) -> str:
    """The reason that the verifier gives."""
    if "raises" in got:
        return "wrong_exception" if "raises" in due else "exception"
    return "no_exception" if "raises" in due else "wrong_value"


def telling(due: list[dict[str, Any]], got: dict[str, list[dict[str, Any]]]) -> list[int] | None:
    """Cases by number that tell the wrong answers apart, and MORE that catch any of them.

    For each wrong answer and each other one there is a case that only the first gets wrong, or no
    case at all is given: None.
    """
    kills = [{why for why in got if got[why][at] != it} for at, it in enumerate(due)]
    kept: set[int] = set()
    for why in got:
        for other in [other for other in got if other != why]:
            fitting = [
                at for at, killed in enumerate(kills) if why in killed and other not in killed
            ]
            if not fitting:
                return None
            kept.add(min(fitting, key=lambda at: (at not in kept, len(kills[at]), at)))
    others = [at for at, killed in enumerate(kills) if killed and at not in kept]
    return sorted(kept | set(others[:MORE]))


def fence(source: str) -> str:
    return f"```python\n{source}```\n"


def lengths(kind: Kind) -> dict[str, str]:
    """The number of units of a span: as it is, and by each slip about its ends."""
    if not kind.is_cycle:
        wide, narrow = "end - start + 1", "end - start"
        if kind.is_closed:
            return {"right": wide, "end": narrow, "single": f"{wide} if start < end else 0"}
        return {"right": narrow, "end": wide}
    cycle = f"(end - start) % {kind.size}"
    if kind.is_closed:
        right, end = f"{cycle} + 1", f"{cycle} or {kind.size}"
        single = f"{right} if start != end else 0"
        return {"right": right, "end": end, "single": single, "wrap": "end - start + 1"}
    right = f"{cycle} or {kind.size}"
    return {
        "right": right,
        "end": f"min(({right}) + 1, {kind.size})",
        "wrap": f"end - start if start != end else {kind.size}",
        "equal": cycle,
    }


SLIPS = {
    "end": {True: "the end of a span is left out", False: "the end of a span is counted in"},
    "wrap": "a span that runs over the end of the cycle is lost",
    "single": "a span of a single unit is lost",
    "equal": "equal ends are taken as nothing",
}


def spans_for(random: Random, kind: Kind, size: int) -> list[list[list[int]]]:
    """Lists of spans, each of a shape that shows one slip or several."""
    first, last = kind.first, kind.first + size - 1
    edge = 0 if kind.is_closed else 1  # How far an end lies behind the last unit.
    low = random.randrange(first + 3, first + size // 3)
    high = random.randrange(first + size // 2, last - 4)
    lists = [
        [[low, low + 2 + edge]],
        [[low, high], [low + 1, high - 1]],
        [[low, low + 3], [low + 3 + 1 - edge, high]],
        [[low, low + 3], [low + 3, high]],
        [[low, high], [high - 2, high + 2], [high - 1, high + 1]],
        [[low, high + 2], [low, low + 1], [high, high + 2]],
        [[low, low + 3], [high, high + 2], [low, low + 3]],
        [[first + 1, low], [high, last - 1 + edge]],
        [[low, low]],
        [[first, low], [low, low], [low + 2, high]],
        [],
    ]
    if kind.is_cycle:
        lists += [
            [[high, low]],
            [[high, low], [first, low + 1]],
            [[high, low], [last - 1, first + 1], [high + 1, last]],
            [[low, high], [high - 1, low]],
            [[low, high], [high, low], [low + 1, low + 2]],
            [[low, high], [high, low], [low, high], [high, low]],
            [[low, low], [high, high]],
            [[low, high], [high, low], [low, high], [high, low], [low, high], [high, low]],
        ]
    else:
        lists += [
            [[high, low]],
            [[first, low], [high, last + edge + 1]],
            [[first, last + edge]],
            [[first - 1, high]],
        ]
    for _ in range(RANDOM_LISTS):
        ends = [random.randrange(first, last + edge + 1 - kind.is_cycle) for _ in range(8)]
        pairs = [ends[at : at + 2] for at in range(0, random.choice([2, 4, 6, 8]), 2)]
        pairs = pairs if kind.is_cycle else [sorted(pair) for pair in pairs]
        whole = [first, first if kind.is_cycle and edge else last + edge]
        lists.append([whole] * random.randrange(3) + pairs)
    return lists


def rules(random: Random, kind: Kind, path: str) -> str:
    """The sentences that say what a span covers, in an order that says nothing."""
    unit, units = kind.unit, kind.units
    said = [
        f"The end belongs to the span: [4, 6] covers the {units} 4, 5 and 6."
        if kind.is_closed
        else f"The start belongs to the span, the end does not: [4, 6] covers the {units} 4 and 5."
    ]
    if kind.is_cycle:
        said.append(
            "A span whose end is smaller than its start runs over the end of the cycle and on "
            "from its beginning."
        )
        if not kind.is_closed:
            said.append(f"A span whose start and end are equal covers all {kind.size} {units}.")
    elif kind.is_closed:
        said.append(
            "A span whose end is smaller than its start, or that reaches below 1 or above size, "
            "raises ValueError."
        )
    else:
        said.append(
            "A span whose end is smaller than its start, whose start is below 0 or whose end is "
            "above size raises ValueError. A span whose start and end are equal covers nothing."
        )
    random.shuffle(said)
    extra = QUESTIONS[path][2].format(unit=unit, units=units)
    if path == "gap" and kind.is_cycle:
        extra += (
            f" The cycle has no break: the {unit} {kind.first} follows the {unit} "
            f"{kind.first + kind.size - 1}, so a run may go over the end, but none is longer "
            f"than {kind.size}."
        )
    return " ".join([*said, extra])


def sources(kind: Kind, path: str, name: str) -> tuple[list[str], dict[str, str]]:
    """Three right ways to write it, and wrong ones by what is wrong with them."""
    size = str(kind.size) if kind.is_cycle else "size"
    length = lengths(kind)
    last = (
        str(kind.first + kind.size - 1) if kind.is_cycle else ("size" if kind.first else "size - 1")
    )
    shift = "start - 1" if kind.first else "start"
    words = {
        "name": name,
        "params": "spans" if kind.is_cycle else "spans, size",
        "size": size,
        "first": kind.first,
        "last": last,
        "units": kind.units,
        "shift": shift,
        "length": length["right"],
        "more": "" if kind.is_cycle else ", size",
        "count": "count + count" if kind.is_cycle else "count",
        "row": "row + row" if kind.is_cycle else "row",
        "next": f"(at - {kind.first} + 1) % {size} + {kind.first}" if kind.is_cycle else "at + 1",
        "covers": f"(unit - start) % {kind.size} < ({length['right']})"
        if kind.is_cycle
        else ("start <= unit <= end" if kind.is_closed else "start <= unit < end"),
    }
    check = CHECK.format_map(words) if not kind.is_cycle else ""
    check_all = CHECK_ALL.format_map(words) if not kind.is_cycle else ""
    body = ADDED if path == "added" else REFERENCE + ENDINGS[path]

    def write(template: str, check: str = check, **other: str) -> str:
        return template.format_map(words | {"check": check} | other)

    right = [
        write(body),
        write(SETS + SET_ENDINGS[path]),
        write(TESTS + TEST_ENDINGS[path], check_all),
    ]
    wrong = {}
    for slip, text in length.items():
        if slip != "right":
            why = SLIPS[slip]
            why = why[kind.is_closed] if isinstance(why, dict) else why
            wrong[why] = write(body, length=text)
    if check:
        wrong["spans that cannot be are let through"] = write(body, check="").replace(
            f"count = [0] * {size}", f"count = [0] * ({size} + 2)"
        )
    wrong |= question_slips(path, write(body), kind, size)
    return right, wrong


def question_slips(path: str, source: str, kind: Kind, size: str) -> dict[str, str]:
    """The right spans, the wrong question."""
    if path == "covered":
        return {
            "a unit counts once for each span": source.replace(
                ENDINGS[path], "    return sum(count)\n"
            )
        }
    if path == "twice":
        return {
            "only what exactly two spans cover counts": source.replace("> 1", "== 2"),
        }
    if path == "peak":
        return {
            "spans are counted that meet one span, not each other": source.replace(
                "    count = ", "    parts = []\n    count = "
            )
            .replace("        for step", "        parts.append(set())\n        for step")
            .replace("] += 1", f"] += 1\n            parts[-1].add((start + step) % {size})")
            .replace(
                ENDINGS[path],
                "    return max((sum(bool(a & b) for b in parts) for a in parts), default=0)\n",
            )
        }
    if path == "gap":
        wrong = {
            "all free units are added up": source.replace(
                "run = 0 if spans_here else run + 1", "run += not spans_here"
            ).replace("count + count", "count")
        }
        if kind.is_cycle:
            wrong["a gap that runs over the end is cut there"] = source.replace(
                "count + count", "count"
            )
            wrong["a cycle that is free all over is counted twice"] = source.replace(
                f"return min(longest, {size})", "return longest"
            )
        else:
            wrong["the gap after the last span is forgotten"] = source.replace(
                "        run = 0 if spans_here else run + 1\n        longest = max(longest, run)\n",
                "        if spans_here:\n            longest, run = max(longest, run), 0\n"
                "        else:\n            run += 1\n",
            )
        return wrong
    return {
        "only the span before is looked at": source.replace(
            "        before = sum(taken)\n", f"        previous, taken = taken, [False] * {size}\n"
        ).replace(
            "added.append(sum(taken) - before)",
            "added.append(sum(now and not was for now, was in zip(taken, previous)))",
        )
    }


def draw(random: Random, path: str) -> dict[str, Any] | None:
    """One instance on `path`; None when a near miss is not told apart from all others."""
    kind = random.choice(KINDS)
    first_word = random.choice(QUESTIONS[path][0])
    name = "_".join([random.choice(VERBS), first_word, kind.units, random.choice(kind.nouns)])
    right, wrong = sources(kind, path, name)
    size = kind.size or random.randrange(24, 60)
    lists = []
    for spans in spans_for(random, kind, size):
        if spans not in lists:
            lists.append(spans)
    calls = [[spans] if kind.is_cycle else [spans, size] for spans in lists]
    due = outcomes(right[0], name, calls)
    got = {why: outcomes(source, name, calls) for why, source in wrong.items()}
    kept = telling(due, got)
    if kept is None:  # A slip about every end can drown the others.
        got = {why: found for why, found in got.items() if why not in SLIPS["end"].values()}
        kept = telling(due, got)
    if kept is None or len(got) < FEWEST_MISSES:
        return None
    hidden = [calls[at] for at in kept]
    if any(outcomes(one, name, hidden) != [due[at] for at in kept] for one in right[1:]):
        raise AssertionError(f"right answers differ: {name}")
    misses = []
    for why in got:
        at = next(at for at in kept if got[why][at] != due[at])
        reason = why_wrong(got[why][at], due[at])
        misses.append({"reason": reason, "why": why, "output": fence(wrong[why])})
    question = QUESTIONS[path][1].format(unit=kind.unit, units=kind.units)
    numbers = (
        f"whole numbers from {kind.first} to {kind.first + kind.size - 1}"
        if kind.is_cycle
        else "whole numbers"
    )
    row = (
        ""
        if kind.is_cycle
        else f" size is the number of {kind.units}, at least 1; they have the numbers "
        + ("1 to size." if kind.first else "0 to size - 1.")
    )
    params = "spans" if kind.is_cycle else "spans, size"
    return {
        "answer": right[0],
        "title": f"Spans of {kind.units}: {path}",
        "difficulty": DIFFICULTY[path],
        "capability_tags": ["code", "intervals"],
        "verifier_type": "artifact",
        "notes": (
            "What a span covers at its ends, and which question is asked of it. Failure behind it: "
            "a plan that added up, dropped or cut spans which touch, overlap or run over the end."
        ),
        "prompt": (
            f"Write a Python function {name}({params}) that {question}\n\n"
            f"spans is a list of pairs [start, end], {numbers}: {kind.units} of {kind.where}.{row} "
            f"{rules(random, kind, path)}\n\n"
            "Only the standard library. Reply with one fenced Python block that holds the whole "
            "function.\n"
        ),
        "expected": {
            "function": name,
            "cases": [{"args": calls[at]} | due[at] for at in kept],
        },
        "limits": {"answer_tokens": max(256, 4 * max(map(len, right)) // 3), "wall_s": 5},
        "reference": fence(right[0]),
        "also_right": [
            fence(right[1]),
            f"It is enough to test every one of the {kind.units}.\n{fence(right[2])}",
        ],
        "near_misses": misses,
    }
