# Not for training data: benchloop-canary-6f0d2c5e-91b7-4d0a-8c3e-5a7e1b942f60
"""A roof fills a tank: how much runs over, how much is inside, how much rain or roof fills it.

The hinge is the water that is already in the tank, with its limit. The seed decides which of the
four quantities is asked, whether the loss is given as what is lost or what is kept, whether a first
flush is led away, how the size of the tank is said, and the order of the facts.
"""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

PATHS = ("overflow", "level", "rain_needed", "roof_needed")

QUESTIONS = {
    "overflow": "How many litres run over?",
    "level": "How many litres are in the tank in the evening?",
    "rain_needed": "How many millimetres of rain would just fill the tank?",
    "roof_needed": "How many square metres must the roof have so that the tank is just full?",
}
UNIT_OF = {
    "overflow": "litres",
    "level": "litres",
    "rain_needed": "mm",
    "roof_needed": "square metres",
}
UNITS: dict[str, dict[str, float]] = {
    "litres": {
        "": 1,
        "l": 1,
        "litre": 1,
        "litres": 1,
        "liter": 1,
        "liters": 1,
        "m3": 1000,
        "m³": 1000,
        "cubic metres": 1000,
        "cubic meters": 1000,
        "dm3": 1,
        "dm³": 1,
        "ml": 0.001,
    },
    "mm": {
        "": 1,
        "mm": 1,
        "millimetre": 1,
        "millimetres": 1,
        "millimeter": 1,
        "millimeters": 1,
        "mm of rain": 1,
        "cm": 10,
        "litres per square metre": 1,
        "l/m²": 1,
    },
    "square metres": {
        "": 1,
        "m2": 1,
        "m²": 1,
        "sqm": 1,
        "sq m": 1,
        "square metre": 1,
        "square metres": 1,
        "square meter": 1,
        "square meters": 1,
    },
}
SIDES = ((100, 100, 100), (120, 100, 90), (80, 100, 150), (200, 90, 100), (150, 120, 100))
FEWEST_LITRES_APART = Fraction(1, 4)


def draw(random: Random, path: str) -> dict[str, Any] | None:
    """One instance on `path`; None where the answer has a second decimal or is out of scale."""
    facts = _facts(random, path)
    value = solve(facts)
    if not 5 < value < 3000 or (value * 10).denominator != 1:
        return None
    misses = _near_misses(facts, value)
    if len(misses) < 3:
        return None
    unit, number = UNIT_OF[path], _decimal(value)
    working = _working(facts, value)
    reference = "\n".join([*working, "", f"ANSWER: {number} {unit}"]) + "\n"
    return {
        "answer": number,
        "title": f"A roof and a tank: {path.replace('_', ' ')}",
        "difficulty": "medium",
        "capability_tags": ["arithmetic", "units", "capacity_limit"],
        "verifier_type": "tolerance",
        "notes": f"Hinge: what is already in the tank. Path: {path}. Key: {'; '.join(working)}",
        "prompt": _prompt(facts),
        "expected": {"value": float(value), "tolerance": 0.04, "units": UNITS[unit]},
        "limits": {"answer_tokens": max(256, 4 * len(reference) // 2)},
        "reference": reference,
        "also_right": [
            f"ANSWER: {number}",
            f"{working[-1]}\n\nThe answer is **{number} {unit}**.",
            f"\\[\\boxed{{{number}\\text{{ {unit}}}}}\\]",
        ],
        "near_misses": misses,
    }


def _facts(random: Random, path: str) -> dict[str, Any]:
    sides = random.choice(SIDES)
    capacity = Fraction(sides[0] * sides[1] * sides[2], 1000)
    return {
        "path": path,
        "roof": random.randrange(40, 181),
        "rain": random.randrange(6, 31),
        "kept": random.choice([70, 75, 80, 85, 90, 95]),
        "says_lost": random.random() < 0.5,
        "flush": random.choice([0, 0, 40, 60, 90]),
        "capacity": capacity,
        "sides": sides,
        "as_sides": random.random() < 0.5,
        "before": random.randrange(150, int(capacity) - 200, 10),
        "used": random.randrange(60, 400, 5),
        "tank_first": random.random() < 0.5,
    }


def _inflow(facts: dict[str, Any]) -> Fraction:
    """Litres that reach the tank."""
    caught = Fraction(facts["roof"] * facts["rain"] * facts["kept"], 100)
    return max(Fraction(0), caught - facts["flush"])


def solve(facts: dict[str, Any]) -> Fraction:
    """What is asked, exactly."""
    room = facts["capacity"] - facts["before"]
    if facts["path"] == "overflow":
        return _inflow(facts) - room
    if facts["path"] == "level":
        return min(facts["capacity"], facts["before"] + _inflow(facts)) - facts["used"]
    given = facts["roof"] if facts["path"] == "rain_needed" else facts["rain"]
    return (room + facts["flush"]) / (Fraction(given) * Fraction(facts["kept"], 100))


def _near_misses(facts: dict[str, Any], value: Fraction) -> list[dict[str, str]]:
    """One slip each; a slip that changes nothing, or gives no amount, is left out."""
    slips = {
        "what was in the tank is forgotten": solve({**facts, "before": 0}),
        "the loss is forgotten": solve({**facts, "kept": 100}),
        "the lost share is taken for the kept one": solve({**facts, "kept": 100 - facts["kept"]}),
        "the water led away is forgotten": solve({**facts, "flush": 0}),
    }
    if facts["path"] == "level":
        unlimited = facts["before"] + _inflow(facts) - facts["used"]
        slips["the limit of the tank is forgotten"] = unlimited
        slips["what is used in the evening is forgotten"] = solve({**facts, "used": 0})
    if facts["path"] == "overflow":
        slips["all that reaches the tank, not what runs over"] = _inflow(facts)
    return [
        {
            "output": f"ANSWER: {_decimal(slip)} {UNIT_OF[facts['path']]}",
            "reason": "wrong_value",
            "why": why,
        }
        for why, slip in slips.items()
        if slip >= 0 and abs(slip - value) > FEWEST_LITRES_APART
    ]


def _decimal(value: Fraction) -> str:
    """At most two decimals, none where it is whole."""
    return f"{float(round(value, 2)):.2f}".rstrip("0").rstrip(".")


def _working(facts: dict[str, Any], value: Fraction) -> list[str]:
    """The steps, one per line."""
    capacity, before, flush, kept = (facts[key] for key in ("capacity", "before", "flush", "kept"))
    share = _decimal(Fraction(kept, 100))
    room = capacity - before
    lines = [f"The tank holds {capacity} litres and has room for {capacity} - {before} = {room}."]
    if facts["path"] in ("rain_needed", "roof_needed"):
        if flush:
            lines.append(f"With what is led away, {room} + {flush} = {room + flush} must come.")
        given = facts["roof"] if facts["path"] == "rain_needed" else facts["rain"]
        per = Fraction(given * kept, 100)
        one = "mm" if facts["path"] == "rain_needed" else "square metre"
        lines.append(f"{given} x {share} = {_decimal(per)} litres come with each {one}.")
        return [*lines, f"{room + flush} / {_decimal(per)} = {_decimal(value)}"]
    fallen = facts["roof"] * facts["rain"]
    caught, inflow = Fraction(fallen * kept, 100), _decimal(_inflow(facts))
    lines.insert(0, f"{facts['roof']} x {facts['rain']} = {fallen} litres fall on the roof.")
    lines.insert(1, f"{fallen} x {share} = {_decimal(caught)} litres enter the pipe.")
    if flush:
        lines.insert(
            2, f"{_decimal(caught)} - {flush} = {_decimal(_inflow(facts))} reach the tank."
        )
    inflow = _decimal(_inflow(facts))
    if facts["path"] == "overflow":
        return [*lines, f"{inflow} - {room} = {_decimal(value)} litres run over."]
    level = min(capacity, before + _inflow(facts))
    lines.append(f"After the rain {_decimal(level)} litres are inside.")
    return [*lines, f"{_decimal(level)} - {facts['used']} = {_decimal(value)}"]


def _prompt(facts: dict[str, Any]) -> str:
    path, lost = facts["path"], 100 - facts["kept"]
    if facts["as_sides"]:
        size = "measures {} cm x {} cm x {} cm inside".format(*facts["sides"])
    else:
        cubic = f"{float(facts['capacity'] / 1000):g}"
        size = f"holds {cubic} cubic {'metre' if cubic == '1' else 'metres'} when full"
    area = "" if path == "roof_needed" else f" of {facts['roof']} square metres (seen from above)"
    rain = "" if path == "rain_needed" else f" One morning {facts['rain']} mm of rain fall."
    kept = f"only {facts['kept']} % enters the pipe"
    if facts["says_lost"]:
        kept = f"{lost} % is lost and the rest enters the pipe"
    loss = f" Of the rain that falls on the roof {kept}."
    flush = ""
    if facts["flush"]:
        flush = f" The first {facts['flush']} litres that enter the pipe are led away unused."
    used = ""
    if path == "level":
        used = f" After the rain {facts['used']} litres are used for watering."
    if facts["tank_first"]:
        told = (
            f"A tank {size}; what does not fit runs over. Before the rain {facts['before']} litres "
            f"are in it. Its water comes through a pipe from a roof{area}.{rain}{loss}{flush}{used}"
        )
    else:
        told = (
            f"A roof{area} feeds, through a pipe, a tank that {size}.{rain}{loss}{flush} Before "
            f"the rain {facts['before']} litres are in the tank; what does not fit runs over.{used}"
        )
    return (
        f"{told}\n\n{QUESTIONS[path]} Show your working first, one step per line. "
        f"The last line of your reply has this form:\nANSWER: <number> {UNIT_OF[path]}\n"
    )
