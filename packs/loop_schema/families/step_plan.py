# Not for training data: benchloop-canary-6f0d2c5e-91b7-4d0a-8c3e-5a7e1b942f60
"""A spoken note becomes a plan of timed steps of several kinds, in the order in which they happen.

Hinge: the order of time is not the order of mention. The seed decides what is named late and
happens early: a pause between two steps (`between`), a signal before the first (`first`), or the
end, from which the start must be reckoned back (`from_end`).
"""

import json
from random import Random
from typing import Any

PATHS = ("between", "first", "from_end")
NOTES = (
    "Hinge: the order of time is not the order of mention. Failure behind it: a controller "
    "ran the steps as the note happened to name them."
)

SKINS = [
    ("vent", "flap", "vent with flap", "venting"),
    ("light", "lamp", "switch on lamp", "light"),
    ("rinse", "tank", "rinse tank", "rinsing"),
    ("spray", "nozzle", "spray with nozzle", "spraying"),
]
TITLES = ["morning round", "long night", "trial run", "quiet week", "spring start"]
SHARES = {
    "half as long": (1, 2),
    "twice as long": (2, 1),
    "a third of that time": (1, 3),
    "three times as long": (3, 1),
}

Step = dict[str, Any]


def draw(random: Random, path: str) -> dict[str, Any] | None:
    kind, part, phrase, noun = random.choice(SKINS)
    share = random.choice(list(SHARES))
    up, down = SHARES[share]
    first = random.randrange(6, 40)
    if first % down:
        return None
    facts: dict[str, Any] = {
        "kind": kind,
        "part": part,
        "phrase": phrase,
        "noun": noun,
        "title": random.choice(TITLES),
        "letters": random.sample("ABCDEFGH", 2),
        "share": share,
        "minutes": [first, first * up // down],
        "pause": random.randrange(5, 31),
        "rings": random.randrange(2, 6),
        "clock": random.randrange(6 * 60, 20 * 60, 5),
        "plan": random.randrange(2),
    }
    if facts["pause"] in facts["minutes"]:
        return None
    steps = _steps(facts, path)
    start = facts["clock"] - _length(steps) if path == "from_end" else facts["clock"]
    value = {"title": facts["title"], "starts": _hour(start), "steps": steps}
    return {
        "answer": json.dumps(value),
        "title": f"A plan of timed steps ({path})",
        "difficulty": "hard" if path == "from_end" else "medium",
        "capability_tags": [
            "json",
            "union",
            "ordering",
            "arithmetic",
            *(["time"] if path == "from_end" else []),
        ],
        "verifier_type": "json_schema",
        "notes": NOTES,
        "prompt": _prompt(facts, path),
        "expected": {"schema": _schema(kind, part), "value": value},
        "limits": {"answer_tokens": 700},
        "reference": json.dumps(value),
        "also_right": [
            json.dumps(value, separators=(",", ":"), sort_keys=True),
            f"```json\n{json.dumps(dict(reversed(value.items())), indent=1)}\n```",
        ],
        "near_misses": [
            {"output": json.dumps(value | change), "reason": reason, "why": why}
            for reason, change, why in _slips(facts, path, value)
        ],
    }


def _act(facts: dict[str, Any], at: int) -> Step:
    return {
        "do": facts["kind"],
        facts["part"]: facts["letters"][at],
        "minutes": facts["minutes"][at],
    }


def _steps(facts: dict[str, Any], path: str) -> list[Step]:
    pause, ring = {"do": "wait", "minutes": facts["pause"]}, {"do": "ring", "times": facts["rings"]}
    if path == "first":
        return [ring, _act(facts, 0), pause, _act(facts, 1)]
    return [_act(facts, 0), pause, _act(facts, 1), ring]


def _length(steps: list[Step]) -> int:
    return sum(step.get("minutes", 0) for step in steps)


def _hour(minutes: int) -> str:
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


Slip = tuple[str, dict[str, Any], str]
"""Reason, what stands in place of the right fields, and why that is wrong."""


def _slips(facts: dict[str, Any], path: str, value: dict[str, Any]) -> list[Slip]:
    steps: list[Step] = value["steps"]
    ring = {"do": "ring", "times": facts["rings"]}
    pause = {"do": "wait", "minutes": facts["pause"]}
    acts = [_act(facts, 0), _act(facts, 1)]
    same = [step | {"minutes": facts["minutes"][0]} if step == acts[1] else step for step in steps]
    with_text = [
        step | {"minutes": str(step["minutes"])} if step == pause else step for step in steps
    ]
    with_part = [
        step | {facts["part"]: facts["letters"][0]} if step == pause else step for step in steps
    ]
    mentioned = [*acts, pause, ring] if path != "first" else [*acts, ring, pause]
    slips: list[Slip] = [
        ("wrong_value:steps", {"steps": mentioned}, "the order of mention, not of time"),
        ("wrong_value:steps", {"steps": same}, "the second duration was not worked out"),
        ("schema", {"steps": with_part}, f"a wait step has no {facts['part']}"),
        ("schema", {"steps": with_text}, "text where a whole number is demanded"),
    ]
    if path == "from_end":
        without = facts["clock"] - sum(facts["minutes"])
        equal = facts["clock"] - 2 * facts["minutes"][0] - facts["pause"]
        slips += [
            ("wrong_value:starts", {"starts": _hour(facts["clock"])}, "the hour of the end"),
            (
                "wrong_value:starts",
                {"starts": _hour(without)},
                "the pause was left out of the reckoning",
            ),
            (
                "wrong_value:starts",
                {"starts": _hour(equal)},
                "reckoned back with two equal durations",
            ),
        ]
    return slips


def _prompt(facts: dict[str, Any], path: str) -> str:
    kind, part, (one, two) = facts["kind"], facts["part"], facts["letters"]
    contract = f"""Contract (no keys other than these, all of them required):
- "title": the title of the note, as it is written
- "starts": time of day at which the first step begins, as text HH:MM
- "steps": list in the order in which things happen; every step is one of
  {{"do": "{kind}", "{part}": one capital letter, "minutes": whole number}}
  {{"do": "wait", "minutes": whole number}}
  {{"do": "ring", "times": whole number}}"""
    first = f"{facts['phrase']} {one} for {facts['minutes'][0]} minutes"
    acts = f"{first} and {part} {two} {facts['share']}"
    between = f"let {facts['pause']} minutes pass between the two"
    rings = f"ring {facts['rings']} times"
    hour = _hour(facts["clock"])
    both = f"{acts}, one after the other, and {between}"
    if path == "between":
        said = f"At {hour} {both}. When all is done, {rings}."
    elif path == "first":
        said = f"At {hour} {both}. Before all that, also at {hour}, {rings}; that takes no time."
    else:
        said = f"{both[0].upper()}{both[1:]}. Right after the second of them, at {hour}, {rings}."
    note = f'Note, titled "{facts["title"]}":\n{said}'
    task = (
        "Turn the note into one JSON document that follows the contract. Reply with the document"
        " only."
    )
    parts = [task, contract, note] if facts["plan"] else [note, task, contract]
    return "\n\n".join(parts) + "\n"


def _schema(kind: str, part: str) -> dict[str, Any]:
    whole = {"type": "integer"}
    kinds = [
        {"do": {"enum": [kind]}, part: {"type": "string", "pattern": "^[A-Z]$"}, "minutes": whole},
        {"do": {"enum": ["wait"]}, "minutes": whole},
        {"do": {"enum": ["ring"]}, "times": whole},
    ]
    step = [_closed(properties) for properties in kinds]
    hour = {"type": "string", "pattern": r"^\d\d:\d\d$"}
    return _closed(
        {
            "title": {"type": "string"},
            "starts": hour,
            "steps": {"type": "array", "items": {"oneOf": step}},
        }
    )


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    """An object with exactly these keys."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(properties),
        "properties": properties,
    }
