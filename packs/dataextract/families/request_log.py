# Not for training data: benchloop-canary-6f0d2c5e-91b7-4d0a-8c3e-5a7e1b942f60
"""A log in which the lines of several requests or jobs alternate; one of them is described.

Hinge: which lines belong together. The seed decides what singles the wanted one out: that it failed
(`failed`), that it took longest though units differ (`slowest`), or that it was tried again under
new ids, the last of which is asked about (`retried`).
"""

import json
from random import Random
from typing import Any

PATHS = ("failed", "slowest", "retried")
NOTES = (
    "Hinge: which lines belong together. Failure behind it: a report on an incident named the "
    "client whose line happened to stand above the error."
)

ROUTES = ["/orders", "/stock", "/invoices", "/labels", "/rates", "/pickups"]
CLIENTS = ["kiosk-1", "kiosk-2", "depot", "office", "van-7", "gate"]
ERRORS = [
    "disk full",
    "no connection to db2",
    "lock not released",
    "bad checksum",
    "printer offline",
]
FILES = ["badges.pdf", "menu.pdf", "map.pdf", "rota.pdf", "poster.pdf", "tickets.pdf"]
PRINTERS = ["north", "south", "attic", "cellar"]


def draw(random: Random, path: str) -> dict[str, Any] | None:
    ids = [f"{random.choice('abcdef')}{random.randrange(100, 999)}" for _ in range(6)]
    if len(set(ids)) < len(ids):
        return None
    made = _retried(random, ids) if path == "retried" else _requests(random, ids[:3], path)
    if made is None:
        return None
    lines, question, value, types, slips = made
    slips = [slip for slip in slips if slip[1] != value[slip[0]]]
    if len(slips) < 3:
        return None
    return {
        "answer": json.dumps(value),
        "title": f"One of several alternating entries of a log ({path})",
        "difficulty": "hard" if path == "retried" else "medium",
        "capability_tags": {
            "failed": ["extraction", "json", "filtering", "absent_value"],
            "slowest": ["extraction", "json", "filtering", "units", "absent_value"],
            "retried": ["extraction", "json", "state", "filtering", "counting"],
        }[path],
        "verifier_type": "json_schema",
        "notes": NOTES,
        "prompt": _prompt(lines, question, types),
        "expected": {"schema": _schema(types), "value": value},
        "limits": {"answer_tokens": 400},
        "reference": json.dumps(value),
        "also_right": [
            f"```json\n{json.dumps(dict(reversed(value.items())), indent=2)}\n```",
            f"I followed its lines through the log. {json.dumps(value)} All else is left out.",
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


Types = dict[str, tuple[str, dict[str, Any]]]
"""Key to what the prompt says of it and to its schema."""
Slips = list[tuple[str, Any, str]]
Made = tuple[list[str], str, dict[str, Any], Types, Slips]

TEXT, WHOLE, MAYBE = {"type": "string"}, {"type": "integer"}, {"type": ["string", "null"]}


def _requests(random: Random, ids: list[str], path: str) -> Made | None:
    """Three requests, one of which is asked about; one of the others was made by a user by name."""
    routes, clients = random.sample(ROUTES, 3), random.sample(CLIENTS, 3)
    spans = random.sample(range(120, 2900, 10), 3)
    error = random.choice(ERRORS)
    wanted = random.randrange(3)
    user = random.choice(["ines", "tomas", "wen"])
    named = random.choice([at for at in range(3) if at != wanted])
    if path == "slowest":
        wanted = max(range(3), key=spans.__getitem__)
        if named == wanted or spans[wanted] < 1000:
            return None
    failed = wanted if path == "failed" else random.choice([at for at in range(3) if at != wanted])
    status = [200, 200, 200]
    status[failed] = random.choice([500, 502, 503])
    streams = []
    for at, tag in enumerate(ids):
        stream = [f"[{tag}] GET {routes[at]} from {clients[at]}"]
        if at == named:
            stream.append(f"[{tag}] user {user} signed in")
        if at == failed:
            stream.append(f"[{tag}] error: {error}")
        took = f"{spans[at]} ms"
        if path == "slowest" and at == wanted:
            took = f"{spans[at] / 1000:.2f} s"
        stream.append(f"[{tag}] status {status[at]} after {took}")
        streams.append(stream)
    other = random.choice([at for at in range(3) if at != wanted])
    value = {
        "request": ids[wanted],
        "route": routes[wanted],
        "client": clients[wanted],
        "status": status[wanted],
        "ms": spans[wanted],
        "user": None,
    }
    types: Types = {
        "request": ("its id, without brackets, text", TEXT),
        "route": ("the path after GET, with its slash, text", TEXT),
        "client": ("the word after from, text", TEXT),
        "status": ("number", WHOLE),
        "ms": ("duration in milliseconds, number", WHOLE),
        "user": ("name of the user who signed in during this request, text", MAYBE),
    }
    slips: Slips = [
        ("client", clients[other], "the client of another request"),
        ("route", routes[other], "the route of another request"),
        ("ms", spans[other], "the duration of another request"),
        ("user", user, "the user of another request"),
    ]
    if path == "slowest":
        second = spans.index(sorted(spans)[1])
        slips += [
            ("request", ids[second], "the largest number, whatever its unit"),
            ("ms", spans[wanted] // 10, "seconds turned into hundredths"),
            ("status", status[failed], "the request that failed, not the slowest"),
        ]
        question = "Describe the request that took longest. 1 s is 1000 ms."
    else:
        slips.append(("status", 200, "the status of the requests that went well"))
        question = "Describe the request that failed."
    return _mixed(random, streams), question, value, types, slips


def _retried(random: Random, ids: list[str]) -> Made | None:
    """Two jobs on their way through three ids each; the first id of one of them is asked about."""
    chains = [ids[:3], ids[3:]]
    files, printers = random.sample(FILES, 2), random.sample(PRINTERS, 3)
    errors = random.sample(ERRORS, 4)
    tries = [random.choice([2, 3]), 3]
    random.shuffle(tries)
    pages = [random.sample(range(12, 90), 3), random.sample(range(12, 90), 3)]
    places = [[random.choice(printers) for _ in range(3)] for _ in range(2)]
    streams = []
    for at, chain in enumerate(chains):
        stream = [f"job {chain[0]}: {files[at]}, to printer {places[at][0]}"]
        for number in range(1, tries[at]):
            before, after, why = chain[number - 1], chain[number], errors[2 * at + number - 1]
            stream.append(f"job {before}: failed after {pages[at][number - 1]} pages, {why}")
            stream.append(f"job {before} sent again as {after}, to printer {places[at][number]}")
        stream.append(f"job {chain[tries[at] - 1]}: done, {pages[at][2]} pages")
        streams.append(stream)
    wanted = random.randrange(2)
    other = 1 - wanted
    n, m = tries[wanted], tries[other]
    value = {
        "first_job": chains[wanted][0],
        "last_job": chains[wanted][n - 1],
        "tries": n,
        "printer": places[wanted][n - 1],
        "pages": pages[wanted][2],
        "last_error": errors[2 * wanted + n - 2],
    }
    if places[wanted][n - 1] == places[wanted][0] or places[other][m - 1] == places[wanted][n - 1]:
        return None
    types: Types = {
        "first_job": ("id that the file had at first, text", TEXT),
        "last_job": ("id under which it was done in the end, text", TEXT),
        "tries": (
            "number of jobs that this file took, the first and the last one counted, number",
            WHOLE,
        ),
        "printer": ("name of the printer of the last job, one word, text", TEXT),
        "pages": ("pages of the last job, number", WHOLE),
        "last_error": (
            "why the last of this file's failed jobs failed: the words after the comma, text",
            TEXT,
        ),
    }
    slips: Slips = [
        ("last_job", chains[wanted][n - 2], "one link of the chain was missed"),
        ("last_job", chains[other][m - 1], "the last job of the other file"),
        ("tries", n - 1, "only the times that it was sent again were counted"),
        ("printer", places[wanted][0], "the printer of the first job"),
        ("pages", pages[wanted][n - 2], "pages of a job that failed"),
        ("last_error", errors[2 * other + m - 2], "an error of the other file"),
    ]
    if n == 3:
        slips.append(("last_error", errors[2 * wanted], "the first error, not the last"))
    question = f"Follow the file {files[wanted]} through the log and describe its way."
    return _mixed(random, streams), question, value, types, slips


def _mixed(random: Random, streams: list[list[str]]) -> list[str]:
    """The streams laid into each other, each in its own order, with line numbers.

    A clock would say durations of its own, beside those that the lines state.
    """
    waiting = [list(stream) for stream in streams]
    lines: list[str] = []
    last = -1
    number = random.randrange(100, 900)
    while any(waiting):
        full = [at for at, stream in enumerate(waiting) if stream]
        others = [at for at in full if at != last]
        at = random.choice(others if others and random.random() < 0.7 else full)
        lines.append(f"{number + len(lines)} {waiting[at].pop(0)}")
        last = at
    return lines


def _prompt(lines: list[str], question: str, types: Types) -> str:
    keys = "\n".join(f'- "{key}": {words}' for key, (words, _) in types.items())
    rule = "\nUse null for what the log does not state." if "user" in types else ""
    log = "\n".join(lines)
    form = "Reply with one JSON object with exactly these six keys:"
    return f"{question}\n\n{log}\n\n{form}\n{keys}{rule}\n"


def _schema(types: Types) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(types),
        "properties": {key: schema for key, (_, schema) in types.items()},
    }
