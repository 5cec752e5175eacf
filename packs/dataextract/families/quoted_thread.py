# Not for training data: benchloop-canary-6f0d2c5e-91b7-4d0a-8c3e-5a7e1b942f60
"""A thread of mails from which a booking is filled in; each fact stands at another level.

Hinge: which mail decides a field. The seed decides what changes and how: the newest mail may change
what was noted (`changed`), take one of two hours that the office offered (`accepted`), or take back
one change of two, so that the first note holds again for it (`withdrawn`). One question of the
office is never answered.
"""

import datetime as dt
import json
from random import Random
from typing import Any

PATHS = ("changed", "accepted", "withdrawn")
NOTES = (
    "Hinge: which mail decides a field, and what nobody answered is null. Failure behind it: "
    "a clerk copied a figure out of the quoted history."
)

PLACES = [
    "the salt works",
    "the old lighthouse",
    "the paper mill",
    "the bell foundry",
    "the ice cellar",
]
NAMES = ["Ilka Brandt", "Owen Talvik", "Sunniva Moe", "Pavel Hruby", "Noor Dekker", "Amadou Faye"]
QUESTIONS = {
    "language": "In which language shall the guide speak?",
    "invoice_address": "To which address do we send the invoice?",
    "coach_plate": "What is the number plate of your coach?",
}
INVENTED = {"language": "English", "invoice_address": "the tour office", "coach_plate": "unknown"}
LETTERS = "BCDFGHKLMNPRTVWX"
FIELDS = ("reference", "date", "start", "people", "phone")


def draw(random: Random, path: str) -> dict[str, Any] | None:
    first = dt.date(2026, 2, 2) + dt.timedelta(days=random.randrange(300))
    facts: dict[str, Any] = {
        "place": random.choice(PLACES),
        "name": random.choice(NAMES),
        "reference": f"{''.join(random.sample(LETTERS, 2))}-{random.randrange(1000, 9999)}",
        "sent": [first + dt.timedelta(days=number) for number in range(5)],
        "days": [first + dt.timedelta(days=random.randrange(20, 60)) for _ in range(2)],
        "hours": [
            f"{random.randrange(9, 17):02d}:{random.choice(['00', '15', '30', '45'])}"
            for _ in range(3)
        ],
        "people": random.sample(range(12, 58), 2),
        "phones": [
            f"0555 01{random.randrange(10)} {random.randrange(1000, 9999)}" for _ in range(2)
        ],
        "asked": random.choice(list(QUESTIONS)),
        "new": random.sample(["date", "start", "people"], 2),
        "is_later": random.random() < 0.5,
        "back": random.choice(["people", "start"]),
        "has_new_phone": random.random() < 0.5,
        "plan": random.randrange(2),
    }
    if len(set(facts["hours"])) < 3 or facts["days"][0] == facts["days"][1]:
        return None
    if facts["phones"][0] == facts["phones"][1]:
        return None
    asked = facts["asked"]
    if path == "changed":
        value, slips = _changed(facts)
    elif path == "accepted":
        value, slips = _accepted(facts)
    else:
        value, slips = _withdrawn(facts)
    slips.append((asked, INVENTED[asked], "an answer that nobody gave"))
    slips.append((asked, "null", "the text null is an answer that nobody gave"))
    if facts["has_new_phone"]:
        slips.append(("phone", _digits(facts["phones"][0]), "the number of the first mail"))
    as_float = json.dumps(value | {"people": float(value["people"])})
    return {
        "answer": json.dumps(value),
        "title": f"A booking out of a thread of mails ({path})",
        "difficulty": "hard" if path == "withdrawn" else "medium",
        "capability_tags": [
            "extraction",
            "correction",
            "absent_value",
            "json",
            *(["state"] if path == "withdrawn" else []),
        ],
        "verifier_type": "json_schema",
        "notes": NOTES,
        "prompt": _prompt(facts, _mails(facts, path)),
        "expected": {"schema": _schema(asked), "value": value},
        "limits": {"answer_tokens": 400},
        "reference": json.dumps(value),
        "also_right": [
            f"```json\n{json.dumps(dict(reversed(value.items())), indent=2)}\n```",
            f"Here is the booking:\n\n{as_float}\n\nOne question is still open.",
        ],
        "near_misses": [
            {
                "output": json.dumps(value | {field: wrong}),
                "reason": f"wrong_value:{field}",
                "why": why,
            }
            for field, wrong, why in slips
        ]
        + [
            {
                "output": json.dumps({key: part for key, part in value.items() if key != asked}),
                "reason": "schema",
                "why": "a missing key is not null",
            }
        ],
    }


Slips = list[tuple[str, Any, str]]


def _changed(facts: dict[str, Any]) -> tuple[dict[str, Any], Slips]:
    old = _noted(facts)
    new = {
        "date": facts["days"][1].isoformat(),
        "start": facts["hours"][1],
        "people": facts["people"][1],
    }
    value = old | {field: new[field] for field in facts["new"]}
    slips: Slips = [(field, old[field], "what the quoted mail noted") for field in facts["new"]]
    return value, slips


def _accepted(facts: dict[str, Any]) -> tuple[dict[str, Any], Slips]:
    offered = sorted(facts["hours"][1:])
    value = _noted(facts) | {"start": offered[facts["is_later"]], "people": facts["people"][1]}
    slips: Slips = [
        ("start", offered[not facts["is_later"]], "the other of the two hours"),
        ("start", facts["hours"][0], "the hour that was asked for first and is not free"),
        ("people", facts["people"][0], "the number of the first mail"),
    ]
    return value, slips


def _withdrawn(facts: dict[str, Any]) -> tuple[dict[str, Any], Slips]:
    first = _noted(facts)
    changed = first | {"start": facts["hours"][1], "people": facts["people"][1]}
    back = facts["back"]
    stays = "start" if back == "people" else "people"
    value = changed | {back: first[back]}
    slips: Slips = [
        (back, changed[back], "the change that was taken back"),
        (stays, first[stays], "the change that stands was taken back too"),
    ]
    return value, slips


def _noted(facts: dict[str, Any]) -> dict[str, Any]:
    """The booking as the office noted it first, and the phone and the open question as they end."""
    return {
        "reference": facts["reference"],
        "date": facts["days"][0].isoformat(),
        "start": facts["hours"][0],
        "people": facts["people"][0],
        "phone": _digits(facts["phones"][facts["has_new_phone"]]),
        facts["asked"]: None,
    }


def _mails(facts: dict[str, Any], path: str) -> list[tuple[str, list[str]]]:
    """Sender and lines of each mail, oldest first."""
    day, other_day = (_long(one) for one in facts["days"])
    old, new = facts["people"]
    hour, *more = facts["hours"]
    question = QUESTIONS[facts["asked"]]
    me = facts["name"]
    ask = f"we would like to see {facts['place']} with {old} people on {day}, at {hour} if you can."
    first = (me, ["Good morning,", ask, f"You can call me on {facts['phones'][0]}."])
    noted = f"Noted under {facts['reference']}: {day}, {hour}, {old} people."
    phone = [f"My number is now {facts['phones'][1]}."] if facts["has_new_phone"] else []
    if path == "changed":
        sentences = {
            "people": f"We will be {new}, not {old}.",
            "start": f"Please let us begin at {more[0]}.",
            "date": f"The visit has to move to {other_day}.",
        }
        news = [sentences[field] for field in facts["new"]]
        last = [
            "Thank you. A few things are different now.",
            *news,
            *phone,
            "All else stays as you noted it.",
        ]
        return [first, ("Tour office", [noted, question]), (me, last)]
    if path == "accepted":
        low, high = sorted(more)
        free = f"On {day} a guide is free at {low} and at {high} only."
        offer = f"Your number is {facts['reference']}. {free}"
        choice = f"The {'later' if facts['is_later'] else 'earlier'} of your two times suits us."
        last = ["Thank you.", choice, f"By now we are {new} people.", *phone]
        return [first, ("Tour office", [offer, question]), (me, last)]
    about = {"people": "the number of people", "start": "the time"}[facts["back"]]
    change = ["Two changes:", f"we will be {new} people, and please let us begin at {more[0]}."]
    when = _long(facts["sent"][2])
    last = [
        f"What I wrote on {when} about {about} was a mistake:",
        "your first note on that holds again. My other change stands.",
        *phone,
    ]
    answer = [f"Both changed: {more[0]}, {new} people.", question]
    return [first, ("Tour office", [noted]), (me, change), ("Tour office", answer), (me, last)]


def _prompt(facts: dict[str, Any], mails: list[tuple[str, list[str]]]) -> str:
    asked = facts["asked"]
    depth = len(mails) - 1
    lines: list[str] = []
    for level, (sender, said) in enumerate(reversed(mails)):
        mark = ">" * level + (" " if level else "")
        lines += [
            f"{mark}{_long(facts['sent'][depth - level])}, {sender} wrote:",
            *(mark + line for line in said),
        ]
        if level < depth:
            lines.append(">" * level)
    rule = "Where two statements differ, the newest one counts."
    head = f"Read the mails, the newest stands first, and fill in the booking. {rule}"
    form = (
        "Reply with one JSON object with exactly these six keys:\n"
        '"reference" (text), "date" (YYYY-MM-DD), "start" (HH:MM, 24 hours), "people" (number),\n'
        f'"phone" (digits only, as text), "{asked}" (text).\nUse null for what no mail states.'
    )
    thread = "\n".join(lines)
    if facts["plan"]:
        return f"{head}\n\n{thread}\n\n{form}\n"
    return f"{form}\n\nThe newest of the mails below stands first. {rule}\n\n{thread}\n"


def _schema(asked: str) -> dict[str, Any]:
    properties: dict[str, Any] = {
        "reference": {"type": "string"},
        "date": {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$"},
        "start": {"type": "string", "pattern": r"^\d{2}:\d{2}$"},
        "people": {"type": "integer"},
        "phone": {"type": "string", "pattern": r"^\d+$"},
        asked: {"type": ["string", "null"]},
    }
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [*FIELDS, asked],
        "properties": properties,
    }


def _digits(phone: str) -> str:
    return phone.replace(" ", "")


def _long(day: dt.date) -> str:
    return f"{day.day} {day:%B} {day.year}"
