# Not for training data: benchloop-canary-6f0d2c5e-91b7-4d0a-8c3e-5a7e1b942f60
"""The delivery book of a seed store: every entry says who brought what, how much and how moist.

Hinge: on `two-conditions-7k` deliveries are counted that meet two conditions, with others exactly
on the border; on `rule-breaker-14k` one entry breaks a rule that was stated before the book begins,
while others come near it. The seed decides crop, border, rule and the places of what counts.
"""

from random import Random
from typing import Any

PATHS = ("two-conditions-7k", "rule-breaker-14k")
TOKENS = {"two-conditions-7k": 7000, "rule-breaker-14k": 14000}
CHARACTERS_PER_TOKEN = 2.75
CROPS = ("rye", "wheat", "barley", "vetch", "clover", "flax", "buckwheat")
PEOPLE = (
    "Maren Holt",
    "Jeppe Strand",
    "Lise Aker",
    "Tove Brink",
    "Anders Foss",
    "Ulla Dahl",
    "Karl Vik",
    "Signe Moen",
    "Henrik Lund",
    "Ragna Eide",
    "Oskar Berg",
    "Dagny Sande",
)
VILLAGES = ("Tarnby", "Oldrup", "Vessel", "Hornsund", "Lillemark", "Skovby", "Grenaa Mill")
REMARKS = (
    "The sacks were dry.",
    "Two sacks had to be sewn.",
    "The cart waited by the gate.",
    "Paid at once.",
    "The next load comes in a fortnight.",
    "A sample went to the office.",
    "The dog barked at the horses.",
    "The carter stayed for coffee.",
    "The scale was levelled first.",
    "One sack is marked with a cross.",
    "There was some chaff in it.",
    "It rained during unloading.",
)
PLANS = (
    "{who} from {village} brought {weight} kg of {crop}, moisture {moist}; it went to {place}.",
    "{weight} kg of {crop} from {village}, brought by {who}: moisture {moist}, taken to {place}.",
    "To {place} went {weight} kg of {crop} (moisture {moist}), brought by {who} from {village}.",
)


def draw(random: Random, path: str) -> dict[str, Any] | None:
    """One instance on `path`."""
    return _counted(random) if path == PATHS[0] else _broken(random)


def _delivery(random: Random, **fixed: Any) -> dict[str, Any]:
    usual = {
        "who": random.choice(PEOPLE),
        "village": random.choice(VILLAGES),
        "crop": random.choice(CROPS),
        "weight": random.randrange(12, 96),
        "moist": random.randrange(8, 20),
        "place": f"bay {random.randrange(1, 13)}",
    }
    return usual | fixed


def _counted(random: Random) -> dict[str, Any] | None:
    crop, limit = random.choice(CROPS), random.randrange(45, 70)
    counted = [
        _delivery(random, crop=crop, weight=weight)
        for weight in random.sample(range(limit + 1, 96), random.randrange(4, 8))
    ]
    border = [_delivery(random, crop=crop, weight=limit) for _ in range(2)]

    def filler() -> dict[str, Any]:
        made = _delivery(random)
        if made["crop"] == crop:
            made["weight"] = random.randrange(12, limit)
        return made

    opening = "Below is the delivery book of a seed store. The question stands after it.\n"
    question = f"""\
Look at the deliveries of {crop} that weigh more than {limit} kg.
1. How many are there?
2. How many kg do they weigh together?
3. What is the number of the entry with the heaviest of them?
"""
    text, entries = _book(random, "two-conditions-7k", opening, question, counted, border, filler)
    weights = [one["weight"] for one in counted]
    total, heaviest = sum(weights), entries[weights.index(max(weights))]
    key = (len(counted), total, heaviest)
    wrongs = [
        (
            (len(counted) + 2, total + 2 * limit, heaviest),
            "deliveries of exactly the limit counted too",
        ),
        (
            (len(counted) - 1, total - weights[-1], heaviest if weights[-1] < max(weights) else 1),
            "the last one overlooked",
        ),
        ((len(counted), total + limit, heaviest), "one delivery on the border in the sum only"),
        ((len(counted), total, entries[weights.index(min(weights))]), "the lightest of them"),
    ]
    listed = ", ".join(f"{at}: {weight}" for at, weight in zip(entries, weights, strict=True))
    return _task(f"Heavy deliveries of {crop}", text, key, wrongs, listed, ["counting"])


def _broken(random: Random) -> dict[str, Any] | None:
    crop, limit = random.choice(CROPS), random.randrange(13, 16)
    floored = [
        _delivery(
            random, crop=crop, moist=random.randrange(limit + 1, 20), place="the drying floor"
        )
        for _ in range(random.randrange(3, 6))
    ]
    breaker = _delivery(random, crop=crop, moist=random.randrange(limit + 1, 20))
    border = [_delivery(random, crop=crop, moist=limit) for _ in range(2)]
    if breaker["who"] in {one["who"] for one in floored} or len({one["who"] for one in border}) < 2:
        return None

    def filler() -> dict[str, Any]:
        made = _delivery(random)
        if made["crop"] == crop:
            made["moist"] = random.randrange(8, limit)
        elif random.random() < 0.08:
            made["place"] = "the drying floor"
        return made

    counted = [*floored, breaker]
    random.shuffle(counted)
    opening = f"""\
Below is the delivery book of a seed store. The question stands after it.

The store has one rule: {crop} with a moisture above {limit} goes to the drying floor and into no
bay. For other crops there is no rule.
"""
    question = f"""\
One entry breaks the rule.
1. What is its number?
2. Who brought that delivery? Give the full name.
3. How many kg of {crop} went to the drying floor in the whole book?
"""
    text, entries = _book(random, "rule-breaker-14k", opening, question, counted, border, filler)
    at, total = entries[counted.index(breaker)], sum(one["weight"] for one in floored)
    key = (at, breaker["who"], total)
    kept = counted.index(floored[0])
    wrongs = [
        ((entries[kept], floored[0]["who"], total), "a delivery that was dried as the rule says"),
        ((at, border[0]["who"], total), "the name of one whose delivery is on the border"),
        (
            (at, breaker["who"], total + breaker["weight"]),
            "the delivery that broke the rule counted as dried",
        ),
        ((at, breaker["who"], total - floored[-1]["weight"]), "one delivery overlooked"),
    ]
    listed = ", ".join(
        f"{n}: {one['weight']}" for n, one in zip(entries, counted, strict=True) if one in floored
    )
    return _task(
        f"The rule for {crop}",
        text,
        key,
        wrongs,
        f"{at} breaks it; dried {listed}",
        ["validation", "arithmetic"],
    )


def _book(
    random: Random,
    path: str,
    opening: str,
    question: str,
    counted: list[dict[str, Any]],
    border: list[dict[str, Any]],
    filler: Any,
) -> tuple[str, list[int]]:
    """The whole prompt, and the entries of what counts, each in another tenth of the book."""
    closing = (
        "Give the entries that you use in one line. The last line of your reply has this form:\n"
        "ANSWER: <1>; <2>; <3>\n"
    )
    left = TOKENS[path] * CHARACTERS_PER_TOKEN - len(opening + question + closing)
    lines: list[str] = []
    while left > 0:
        lines.append(_line(random, filler()))
        left -= len(lines[-1]) + len("Entry 100: ") + 1
    by_tenth: list[list[int]] = [[] for _ in range(10)]
    for at in range(len(lines)):
        by_tenth[at * 10 // len(lines)].append(at)
    chosen = sorted(map(random.choice, random.sample(by_tenth, len(counted))))
    others = random.sample([at for at in range(len(lines)) if at not in chosen], len(border))
    for at, delivery in [*zip(chosen, counted, strict=True), *zip(others, border, strict=False)]:
        lines[at] = _line(random, delivery)
    numbered = [f"Entry {at}: {line}\n" for at, line in enumerate(lines, 1)]
    return f"{opening}\n{''.join(numbered)}\n{question}{closing}", [at + 1 for at in chosen]


def _line(random: Random, delivery: dict[str, Any]) -> str:
    remark = f" {random.choice(REMARKS)}" if random.random() < 0.6 else ""
    return random.choice(PLANS).format(**delivery) + remark


def _task(
    title: str,
    text: str,
    key: tuple[Any, ...],
    wrongs: list[tuple[tuple[Any, ...], str]],
    listed: str,
    tags: list[str],
) -> dict[str, Any] | None:
    misses = []
    for wrong, why in wrongs:
        broken = [
            at
            for at, (ours, theirs) in enumerate(zip(key, wrong, strict=True), 1)
            if ours != theirs
        ]
        if not broken:
            return None
        line = "; ".join(map(str, wrong))
        reason = f"wrong_part:{broken[0]}"
        misses.append({"output": f"{listed}\nANSWER: {line}", "reason": reason, "why": why})
    answer = "; ".join(map(str, key))
    kilos = {"": 1, "kg": 1, "kilograms": 1, "kilos": 1, "deliveries": 1, "delivery": 1}
    return {
        "answer": answer,
        "title": title,
        "difficulty": "medium",
        "capability_tags": ["long_context", "filtering", *tags],
        "verifier_type": "exact",
        "notes": f"Drawn. Key: {answer}, from the entries {listed}.",
        "prompt": text,
        "expected": {
            "parts": [
                {"answers": [part]} if isinstance(part, str) else {"value": part, "units": kilos}
                for part in key
            ]
        },
        "limits": {"answer_tokens": 320},
        "reference": f"{listed}\nANSWER: {answer}",
        "also_right": [
            f"These entries count: {listed}.\nANSWER: **{answer}**",
            f"The answer, in the order asked:\n\nANSWER: <{key[0]}>; <{key[1]}>; <{key[2]}>",
            f"ANSWER: {', '.join(map(str, key))}",
        ],
        "near_misses": misses,
    }
