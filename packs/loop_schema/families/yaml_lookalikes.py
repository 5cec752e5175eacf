# Not for training data: benchloop-canary-6f0d2c5e-91b7-4d0a-8c3e-5a7e1b942f60
"""Settings written as YAML, some of which must be text although they look like something else.

Hinge: what a plain scalar becomes when a program loads it. The seed decides how the texts mislead:
as numbers whose zeros count (`numbers`), as truth values and null (`words`), or by signs that YAML
itself uses (`signs`).
"""

import json
from collections.abc import Callable
from random import Random
from typing import Any

PATHS = ("numbers", "words", "signs")
NOTES = (
    "Hinge: a plain scalar of YAML 1.2 is read as number, truth value, null or a part of YAML "
    "where it looks like one. Failure behind it: a device asked for a release that was never "
    "made."
)

KEYS = {
    "numbers": ["site", "firmware", "batch", "shelf", "model", "device"],
    "words": ["caption", "label", "button", "reply", "answer", "remark"],
    "signs": ["caption", "label", "part", "shelf", "remark", "place"],
}
PLAIN = ["north wing", "06:30", "spare part", "no", "second floor", "on", "12:45", "blue pump"]
WHOLE = ["interval_s", "pieces", "distance_m"]

Trap = tuple[str, str, str]
"""The text, the reason why it fails when it stands there without quotes, and a damaged text."""


def draw(random: Random, path: str) -> dict[str, Any] | None:
    traps = {"numbers": _numbers, "words": _words, "signs": _signs}[path](random)
    keys = random.sample(KEYS[path], 4)
    texts = [trap[0] for trap in traps] + [random.choice(PLAIN)]
    order = random.sample(range(4), 4)
    value: dict[str, Any] = {keys[at]: texts[at] for at in order}
    other, other_value, other_is = _other(random, path)
    value[other] = other_value
    places = [(key, traps[texts.index(text)]) for key, text in value.items() if text in texts[:3]]
    near_misses = [
        *(
            _miss(value, key, trap[0], trap[1], "it loads as something else than text")
            for key, trap in places
        ),
        *(
            _miss(value, key, json.dumps(trap[2]), f"wrong_value:{key}", "text, but another one")
            for key, trap in places[:2]
        ),
        _miss(
            value,
            other,
            json.dumps(_scalar(other_value)),
            "schema",
            "everything quoted, this one too",
        ),
    ]
    return {
        "answer": json.dumps(value),
        "title": f"YAML texts that look like {path}",
        "difficulty": "medium",
        "capability_tags": ["yaml", "types", "copying"],
        "verifier_type": "json_schema",
        "notes": NOTES,
        "prompt": _prompt(random, value, other, other_is),
        "expected": {"format": "yaml", "schema": _schema(value), "value": value},
        "limits": {"answer_tokens": 256},
        "reference": _yaml(value, json.dumps),
        "also_right": [
            f"```yaml\n{_yaml(dict(reversed(value.items())), _single_quoted)}\n```",
            json.dumps(value),
        ],
        "near_misses": near_misses,
    }


def _numbers(random: Random) -> list[Trap]:
    zero = random.randrange(100, 900)
    version = f"{random.randrange(1, 9)}.{random.randrange(1, 9)}"
    mantissa, power = random.randrange(1, 9), random.randrange(2, 6)
    dates = random.randrange(1000, 9000)
    pool = [
        (f"0{zero}", "schema", str(zero)),
        (f"{version}0", "schema", version),
        (f"{mantissa}e{power}", "schema", str(mantissa * 10**power)),
        (f"+{dates}", "schema", str(dates)),
    ]
    return random.sample(pool, 3)


def _words(random: Random) -> list[Trap]:
    pool = [
        ("true", "schema", "True"),
        ("False", "schema", "false"),
        ("null", "schema", "none"),
        ("~", "schema", "null"),
        ("FALSE", "schema", "false"),
        ("Null", "schema", "null"),
        ("TRUE", "schema", "true"),
    ]
    return random.sample(pool, 3)


def _signs(random: Random) -> list[Trap]:
    number = random.randrange(2, 90)
    pool = [
        (f"#{number} bolt", "schema", f"{number} bolt"),
        (f"[{number}]", "schema", f"{number}"),
        (f"left: {number}", "invalid_yaml", f"left {number}"),
        ("*north", "invalid_yaml", "north"),
        (f"@gate {number}", "invalid_yaml", f"gate {number}"),
        ("{blue}", "schema", "blue"),
        (f"!late {number}", "unsafe_tag", f"late {number}"),
        (f"%{number}", "invalid_yaml", f"{number}%"),
    ]
    return random.sample(pool, 3)


def _other(random: Random, path: str) -> tuple[str, Any, str]:
    """Key, value and kind of the one value that is not text."""
    if path == "words":
        return "armed", random.random() < 0.5, "a truth value (true or false)"
    return random.choice(WHOLE), random.randrange(10, 990), "a whole number"


def _prompt(random: Random, value: dict[str, Any], other: str, other_is: str) -> str:
    listing = "\n".join(f"{_caption(key)}: {_scalar(one)}" for key, one in value.items())
    keys = ", ".join(value)
    rules = (
        "The document is a mapping with exactly five keys: {}.\n"
        "After a program has loaded the document, the first four values must be text, with every"
        " character as it\nis written {}, and {} must be {}."
    )
    task = "Write the settings {} as one YAML 1.2 document. Reply with the document only."
    if random.random() < 0.5:
        where = f"{task}\n\n{rules}\n\n".format("below", keys, "below", other, other_is)
        return f"{where}{listing}\n"
    where = f"{task}\n{rules}\n".format("above", keys, "above", other, other_is)
    return f"{listing}\n\n{where}"


def _caption(key: str) -> str:
    return {"interval_s": "Interval in seconds", "distance_m": "Distance in metres"}.get(
        key, key.capitalize()
    )


def _scalar(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _single_quoted(value: Any) -> str:
    return f"'{value}'" if isinstance(value, str) else json.dumps(value)


def _yaml(value: dict[str, Any], quoted: Callable[[Any], str]) -> str:
    return "\n".join(f"{key}: {quoted(part)}" for key, part in value.items())


def _miss(value: dict[str, Any], key: str, scalar: str, reason: str, why: str) -> dict[str, str]:
    """The right document, but for the characters that stand at `key`."""
    lines = [f"{one}: {scalar if one == key else json.dumps(part)}" for one, part in value.items()]
    return {"output": "\n".join(lines), "reason": reason, "why": f"{key}: {why}"}


def _schema(value: dict[str, Any]) -> dict[str, Any]:
    kinds = {str: "string", bool: "boolean", int: "integer"}
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(value),
        "properties": {key: {"type": kinds[type(part)]} for key, part in value.items()},
    }
