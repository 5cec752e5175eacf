# Not for training data: benchloop-canary-6f0d2c5e-91b7-4d0a-8c3e-5a7e1b942f60
"""The settings of a device and a note give the least list of changes, as a document.

Hinge: only what is different in the end is a change. The seed decides what the note does: name one
change among things that stay as they are (`one`), set, add and remove (`mixed`), or undo and build
on its own changes (`chained`).
"""

import json
from random import Random
from typing import Any

PATHS = ("one", "mixed", "chained")
NOTES = (
    "Hinge: only what is different in the end is a change. Failure behind it: a device was "
    "restarted for settings that it had already."
)

DEVICES = {
    "lamp": ("lumens", "delay_s", "colour", "sensor"),
    "fan": ("rpm", "delay_s", "mode", "timer"),
    "heater": ("watts", "delay_s", "mode", "frost_guard"),
    "pump": ("litres", "delay_s", "valve", "alarm"),
}
WORDS = {
    "colour": ["warm", "cold", "amber"],
    "mode": ["day", "night", "eco"],
    "valve": ["open", "shut", "half"],
}
NEW: dict[str, list[Any]] = {
    "owner": ["Ada", "Bruno", "Chidi"],
    "room": ["cellar", "attic", "hall"],
    "place": list(range(2, 99)),
    "code": list(range(100, 999)),
}

Change = dict[str, Any]


def draw(random: Random, path: str) -> dict[str, Any] | None:
    device = random.choice(list(DEVICES))
    size, delay, choice, switch = DEVICES[device]
    extra = random.sample(list(NEW), 2)
    state: dict[str, Any] = {
        size: random.randrange(10, 600),
        delay: random.randrange(5, 40),
        choice: random.choice(WORDS[choice]),
        switch: random.random() < 0.5,
        extra[0]: random.choice(NEW[extra[0]]),
    }
    names = (size, delay, choice, switch, *extra)
    said, after, slips = {"one": _one, "mixed": _mixed, "chained": _chained}[path](
        random, state, names
    )
    changes = _changes(state, after)
    wrong = [(_changes(state, other), why) for other, why in slips]
    wrong += [
        (_every(after), "keys that did not change stand in the list"),
        (changes[::-1], "not the order of the alphabet"),
    ]
    misses = [
        {"output": json.dumps({"changes": one}), "reason": "wrong_value:changes", "why": why}
        for one, why in wrong
        if one != changes
    ]
    broken = [change | {"op": "change"} for change in changes]
    misses.append(
        {
            "output": json.dumps({"changes": broken}),
            "reason": "schema",
            "why": "an operation that there is not",
        }
    )
    if len(misses) < 4:
        return None
    value = {"changes": changes}
    return {
        "answer": json.dumps(value),
        "title": f"The least list of changes ({path})",
        "difficulty": {"one": "easy", "mixed": "medium", "chained": "hard"}[path],
        "capability_tags": [
            "json",
            "restraint",
            "ordering",
            *(["state", "union"] if path != "one" else []),
        ],
        "verifier_type": "json_schema",
        "notes": NOTES,
        "prompt": _prompt(random, device, state, said, changes),
        "expected": {"schema": _schema(path), "value": value},
        "limits": {"answer_tokens": 500},
        "reference": json.dumps(value),
        "also_right": [
            json.dumps(value, separators=(",", ":"), sort_keys=True),
            f"```json\n{json.dumps(value, indent=2)}\n```",
        ],
        "near_misses": misses,
    }


Slips = list[tuple[dict[str, Any], str]]
"""What the settings would be after a slip, and which slip."""
Made = tuple[list[str], dict[str, Any], Slips]


def _one(random: Random, state: dict[str, Any], names: tuple[str, ...]) -> Made:
    """One number or word changes; two others are confirmed."""
    size, delay, choice, _, extra, _ = names
    key = random.choice([size, delay])
    new = state[key] + random.randrange(2, 300)
    stays = random.sample([one for one in (size, delay, choice, extra) if one != key], 2)
    said = [f"{one} stays {json.dumps(state[one])}." for one in stays]
    said.insert(random.randrange(3), f"{key} is now {new}.")
    other = state | {key: state[key]}
    missed = [
        (state | {size if key == delay else delay: new}, "the new number at another key"),
        (other, "nothing was changed"),
    ]
    return said, state | {key: new}, missed


def _mixed(random: Random, state: dict[str, Any], names: tuple[str, ...]) -> Made:
    """One is set, one is new, one is removed, and one is set to what it is already."""
    size, delay, choice, _, _, new_key = names
    new = random.choice([word for word in WORDS[choice] if word != state[choice]])
    added = random.choice(NEW[new_key])
    gone = random.choice([size, delay])
    same = delay if gone == size else size
    said = [
        f"Set {choice} to {json.dumps(new)}.",
        f"{gone} is not needed any more: remove it.",
        f"Set {same} to {state[same]}.",
        f"Add {new_key} with the value {json.dumps(added)}.",
    ]
    random.shuffle(said)
    after = {
        key: part for key, part in (state | {choice: new, new_key: added}).items() if key != gone
    }
    slips: Slips = [
        (after | {gone: None}, "set to null instead of removed"),
        (after | {gone: state[gone]}, "the key was not removed"),
        ({key: part for key, part in after.items() if key != new_key}, "the new key is missing"),
        (after | {choice: state[choice]}, "the word was not changed"),
    ]
    return said, after, slips


def _chained(random: Random, state: dict[str, Any], names: tuple[str, ...]) -> Made:
    """A change is undone, and another one takes a value that an earlier one gave."""
    size, delay, choice, _, extra, new_key = names
    raised = random.randrange(3, 20)
    times = random.choice([2, 3])
    new = random.choice([word for word in WORDS[choice] if word != state[choice]])
    added = random.choice(NEW[new_key])
    first = state | {size: state[size] + raised}
    after = first | {delay: first[size] * times, new_key: added}
    named = {2: "twice", 3: "three times"}[times]
    said = [
        f"Set {choice} to {json.dumps(new)}.",
        f"Raise {size} by {raised}.",
        f"Set {delay} to {named} what {size} is by now.",
        f"Add {new_key} with the value {json.dumps(added)}; {extra} is not needed: remove it.",
        f"Take back what note 1 did to {choice}, and what note 4 did to {extra}.",
    ]
    before = {delay: state[size] * times}
    without = {key: part for key, part in after.items() if key != extra}
    slips: Slips = [
        (after | before, "reckoned with the number before the change"),
        (after | {choice: new}, "the change that was taken back"),
        (without, "the removal that was taken back"),
        (after | {size: raised}, "set to what it was to be raised by"),
        (
            {key: part for key, part in after.items() if key != new_key},
            "all of note 4 was taken back",
        ),
    ]
    return [f"{number}. {one}" for number, one in enumerate(said, 1)], after, slips


def _changes(before: dict[str, Any], after: dict[str, Any]) -> list[Change]:
    """What makes `after` out of `before`, keys in the order of the alphabet."""
    found: list[Change] = []
    for key in sorted({**before, **after}):
        if key not in after:
            found.append({"op": "remove", "key": key})
        elif key not in before:
            found.append({"op": "add", "key": key, "value": after[key]})
        elif before[key] != after[key]:
            found.append({"op": "set", "key": key, "value": after[key]})
    return found


def _every(after: dict[str, Any]) -> list[Change]:
    return [{"op": "set", "key": key, "value": after[key]} for key in sorted(after)]


def _prompt(
    random: Random, device: str, state: dict[str, Any], said: list[str], changes: list[Change]
) -> str:
    keys = random.sample(list(state), len(state))
    settings = "\n".join(f"  {key}: {json.dumps(state[key])}" for key in keys)
    kinds = """\
  {"op": "set", "key": text, "value": the new value}, for a key that is there and changes"""
    if len(changes) > 1:
        kinds += """
  {"op": "add", "key": text, "value": the value}, for a key that was not there
  {"op": "remove", "key": text}, for a key that is there no more"""
    note = "\n".join(said)
    return f"""Settings of a {device} as they are:
{settings}

Note:
{note}

Write the changes from the settings above to those after the whole note as one JSON document.
Reply with the document only.

Contract: one object with exactly one key:
- "changes": list in alphabetical order of "key"; one entry for each key that differs in the end,
  none for a key whose value is the same in the end as above; every entry is
{kinds}
"""


def _schema(path: str) -> dict[str, Any]:
    key = {"type": "string"}
    value = {"type": ["string", "integer", "boolean", "null"]}
    kinds = [_closed({"op": {"enum": ["set"]}, "key": key, "value": value})]
    if path != "one":
        kinds.append(_closed({"op": {"enum": ["add"]}, "key": key, "value": value}))
        kinds.append(_closed({"op": {"enum": ["remove"]}, "key": key}))
    return _closed({"changes": {"type": "array", "items": {"oneOf": kinds}}})


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    """An object with exactly these keys."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(properties),
        "properties": properties,
    }
