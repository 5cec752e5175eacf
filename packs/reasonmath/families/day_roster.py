# Not for training data: benchloop-canary-6f0d2c5e-91b7-4d0a-8c3e-5a7e1b942f60
"""Five people, five days, one person a day: the statements leave one roster.

The hinge is that no statement alone places anybody. The seed decides whether the roster follows
from who comes before whom, from how many days lie between two people, or from the days that each
can work, which leave several rosters until a last statement decides.
"""

from __future__ import annotations

from itertools import permutations
from random import Random
from typing import Any

PATHS = ("sequence", "distance", "availability")

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
NAMES = (
    "Ada",
    "Ben",
    "Cleo",
    "Dev",
    "Eva",
    "Finn",
    "Gita",
    "Hugo",
    "Ines",
    "Jon",
    "Kira",
    "Leo",
    "Mira",
    "Nils",
    "Olga",
    "Pia",
)
JOBS = (
    "the ticket desk",
    "the library counter",
    "the repair bench",
    "the garden gate",
    "the kiosk",
)
FEWEST_WRONG = 3

Clue = tuple[Any, ...]
Order = tuple[str, ...]


def draw(random: Random, path: str) -> dict[str, Any] | None:
    """One instance on `path`; None where the statements leave no or several rosters."""
    names = sorted(random.sample(list(NAMES), 5))
    order = tuple(random.sample(names, 5))
    if path == "availability":
        return _by_days(random, names, order)
    return _by_clues(random, path, names, order)


def holds(clue: Clue, order: Order) -> bool:
    """Whether a roster keeps a statement."""
    kind, first, second, *rest = clue
    at = order.index(first)
    if kind == "not_on":
        return at != second
    later = at - order.index(second)
    if kind == "between":
        return abs(later) - 1 == rest[0]
    if kind == "right_after":
        return later == 1
    return later > 1 if kind == "later_with_gap" else later < 0


def _words(clue: Clue) -> str:
    kind, first, second, *rest = clue
    if kind == "not_on":
        return f"{first} does not work on {DAYS[second]}."
    if kind == "between":
        number = "is exactly one day" if rest == [1] else "are exactly two days"
        return f"Between the day of {first} and the day of {second} there {number}."
    return {
        "right_after": f"{first} works on the day right after {second}.",
        "later_with_gap": f"{first} works later than {second}, and not on the day right after.",
        "earlier": f"{first} works earlier than {second}.",
    }[str(kind)]


def _clues(random: Random, path: str, order: Order) -> list[Clue]:
    """Statements that are true of `order`, of the kinds that belong to the path."""
    pairs = [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]
    place = order.index
    pools: dict[str, list[Clue]] = {
        "right_after": [("right_after", b, a) for a, b in pairs if place(b) - place(a) == 1],
        "later_with_gap": [("later_with_gap", b, a) for a, b in pairs if place(b) - place(a) > 1],
        "earlier": [("earlier", a, b) for a, b in pairs],
        "between": [
            ("between", *random.sample([a, b], 2), place(b) - place(a) - 1)
            for a, b in pairs
            if place(b) - place(a) in (2, 3)
        ],
        "not_on": [
            ("not_on", name, day) for day in range(5) for name in order if place(name) != day
        ],
    }
    kinds = ["right_after", "later_with_gap", "earlier", random.choice(["earlier", "not_on"])]
    if path == "distance":
        kinds = ["between", "between", "earlier", random.choice(["earlier", "not_on"])]
    found = [random.choice(pools[kind]) for kind in kinds]
    random.shuffle(found)
    return found


def _by_clues(random: Random, path: str, names: list[str], order: Order) -> dict[str, Any] | None:
    clues = _clues(random, path, order)
    if len({frozenset(clue[1:3]) for clue in clues}) < len(clues):
        return None
    if {name for clue in clues for name in clue[1:3] if isinstance(name, str)} != set(names):
        return None
    everything = list(permutations(names))
    if [one for one in everything if all(holds(clue, one) for clue in clues)] != [order]:
        return None
    wrong: dict[Order, str] = {}
    for clue in clues:
        others = [one for one in clues if one != clue]
        loose = [one for one in everything if all(holds(other, one) for other in others)]
        broken = [one for one in loose if one != order]
        if not broken:
            return None
        wrong.setdefault(random.choice(broken), f"keeps all statements but: {_words(clue)}")
    statements = [_words(clue) for clue in clues]
    working = [f"{statement} It holds here." for statement in statements]
    return _task(random, path, names, order, statements, working, wrong)


def _by_days(random: Random, names: list[str], order: Order) -> dict[str, Any] | None:
    can = {
        name: {order.index(name), *random.sample(range(5), random.choice([1, 1, 2]))}
        for name in names
    }
    if min(map(len, can.values())) < 2:
        return None
    everything = list(permutations(names))
    fitting = [one for one in everything if all(day in can[name] for day, name in enumerate(one))]
    closing = random.choice(_clues(random, "sequence", order))
    if closing[0] == "not_on" or len(fitting) not in (2, 3):
        return None
    if [one for one in fitting if holds(closing, one)] != [order]:
        return None
    wrong = {
        one: f"keeps the days of all, but not: {_words(closing)}" for one in fitting if one != order
    }
    for one in random.sample(everything, 120):
        misfits = [name for day, name in enumerate(one) if day not in can[name]]
        if len(misfits) == 1 and holds(closing, one) and len(wrong) < 4:
            wrong[one] = f"{misfits[0]} has a day that {misfits[0]} cannot work"
    statements = [
        f"{name} can work on {_either([DAYS[day] for day in sorted(can[name])])}." for name in names
    ]
    working = ["The days leave these rosters, from Monday to Friday:"]
    working += [
        f"{', '.join(one)}: {'keeps' if one == order else 'breaks'} the last statement."
        for one in fitting
    ]
    return _task(
        random, "availability", names, order, [*statements, _words(closing)], working, wrong
    )


def _either(days: list[str]) -> str:
    """`Monday or Friday`, `Monday, Tuesday or Friday`."""
    return f"{', '.join(days[:-1])} or {days[-1]}"


def _task(
    random: Random,
    path: str,
    names: list[str],
    order: Order,
    statements: list[str],
    working: list[str],
    wrong: dict[Order, str],
) -> dict[str, Any] | None:
    if len(wrong) < FEWEST_WRONG:
        return None
    roster = ", ".join(order)
    plan = [f"{day}: {name}." for day, name in zip(DAYS, order, strict=True)]
    reference = "\n".join([*working, " ".join(plan), "", f"ANSWER: {roster}"]) + "\n"
    people = f"{', '.join(names[:-1])} and {names[-1]}"
    listed = "\n".join(f"- {statement}" for statement in statements)
    form = ", ".join(["<name>"] * 5)
    return {
        "answer": roster,
        "title": f"Who works on which day: {path}",
        "difficulty": "medium" if path == "availability" else "hard",
        "capability_tags": ["elimination", "ordering"],
        "verifier_type": "exact",
        "notes": f"Hinge: no statement alone places anybody. Path: {path}. Key: {roster}.",
        "prompt": (
            f"{people} each work at {random.choice(JOBS)} on exactly one day from Monday to "
            f"Friday, one person a day.\n\n{listed}\n\nWho works on which day? Show your working "
            "first, one step per line. The last line of your reply has this form, names only, from "
            f"Monday to Friday:\nANSWER: {form}\n"
        ),
        "expected": {"items": list(order), "item_labels": list(DAYS)},
        "limits": {"answer_tokens": max(256, 4 * len(reference) // 2)},
        "reference": reference,
        "also_right": [
            f"**Answer: {'; '.join(order).lower()}.**",
            f"ANSWER: {', '.join(f'{d[:3]}: {n}' for d, n in zip(DAYS, order, strict=True))}",
            f"\\boxed{{\\text{{{roster}}}}}",
        ],
        "near_misses": [
            {
                "output": f"ANSWER: {', '.join(one)}",
                "reason": f"wrong_item:{_first_difference(one, order)}",
                "why": why,
            }
            for one, why in wrong.items()
        ],
    }


def _first_difference(one: Order, other: Order) -> int:
    return next(at for at, (a, b) in enumerate(zip(one, other, strict=True), 1) if a != b)
