# Not for training data: benchloop-canary-6f0d2c5e-91b7-4d0a-8c3e-5a7e1b942f60
"""One entry of a book is closed: person to number, number to rows, row to entry, entry to receipt.

Each link comes only from the reply before it. The seed decides the book, the names, which of the
person's rows is meant, and the path: `search` lets the first way to look the person up find
nothing, `namesake` gives two people of that name, `renumbered` gives an entry that has moved to
another number, `busy` refuses the last step once, for a reason that passes.
"""

from random import Random
from textwrap import fill
from typing import Any

PATHS = ("search", "namesake", "renumbered", "busy")

BOOKS: tuple[dict[str, Any], ...] = (
    {
        "person": "customer",
        "rows": "repairs",
        "row": "repair",
        "act": "mark_collected",
        "act_about": "Enters that the owner has collected a repair; gives the slip number.",
        "what": "item",
        "things": ("floor lamp", "kettle", "record player", "sewing machine", "desk fan"),
        "states": ("ready", "collected"),
        "event": "{who} has just collected the {thing}. Enter it in the repair book.",
        "receipt": "slip",
        "card": "customer card",
        "letters": "KR",
    },
    {
        "person": "gardener",
        "rows": "loans",
        "row": "loan",
        "act": "close_loan",
        "act_about": "Enters that a borrowed tool is back; gives the number of the note.",
        "what": "tool",
        "things": ("shredder", "hedge trimmer", "long ladder", "seed drill", "wheel hoe"),
        "states": ("out", "back"),
        "event": "{who} has brought back the {thing}. Close that loan in the garden book.",
        "receipt": "note",
        "card": "plot card",
        "letters": "GL",
    },
    {
        "person": "pupil",
        "rows": "hires",
        "row": "hire",
        "act": "end_hire",
        "act_about": "Enters that a hired instrument is back; gives the voucher number.",
        "what": "instrument",
        "things": ("viola", "clarinet", "cornet", "half-size cello", "oboe"),
        "states": ("hired", "ended"),
        "event": "{who} has returned the {thing}. End that hire in the music school's book.",
        "receipt": "voucher",
        "card": "pupil card",
        "letters": "PH",
    },
)
FIRST = ("Marta", "Jonas", "Priya", "Oskar", "Leila", "Henrik", "Noemi", "Tariq")
LAST = ("Linde", "Abbott", "Sorensen", "Okafor", "Marek", "Duarte", "Whitlow", "Hale")
STREETS = ("Mill Lane", "Quay Street", "Orchard Row", "Station Road", "Chapel Hill")


def draw(random: Random, path: str) -> dict[str, Any] | None:
    book = random.choice(BOOKS)
    who = f"{random.choice(FIRST)} {random.choice(LAST)}"
    card = str(random.randrange(10000, 100000))
    streets = random.sample(STREETS, 2)
    numbers = [f"{book['letters'][0]}-{n}" for n in random.sample(range(100, 1000), 2)]
    ids = [f"{book['letters'][1]}-{n}" for n in random.sample(range(1000, 10000), 5)]
    slips = [f"B{n}" for n in random.sample(range(10000, 100000), 5)]
    meant, other = random.sample(book["things"], 2)
    # The person's rows: the right one, the same thing of long ago, another thing.
    right, old, beside, false, false_beside = (
        {"id": one, "thing": thing, "is_open": is_open, "slip": slip}
        for one, slip, (thing, is_open) in zip(
            ids,
            slips,
            ((meant, True), (meant, False), (other, True), (meant, True), (other, False)),
            strict=True,
        )
    )
    own, foreign = [right, old, beside], [false, false_beside]
    random.shuffle(own)
    random.shuffle(foreign)
    has_foreign = path in ("namesake", "renumbered")
    chain = {
        "book": book,
        "who": who,
        "card": card,
        "street": streets[0],
        "other_street": streets[1],
        "number": numbers[0],
        "other_number": numbers[1],
        "lists": {numbers[0]: own} | ({numbers[1]: foreign} if has_foreign else {}),
        "right": right,
        "old": old,
        "beside": beside,
        "false": false,
        "fails_by": random.choice(("name", "card")),
    }
    return {
        "title": {
            "search": "The first search finds nobody",
            "namesake": "Two people of one name",
            "renumbered": "An entry that has moved",
            "busy": "The book is in use for a moment",
        }[path],
        "difficulty": "medium",
        "capability_tags": ["tool_arguments", "multi_turn"]
        + (["tool_error"] if path in ("search", "busy") else ["roles"]),
        "verifier_type": "tool_trace",
        "expected_turns": 5 if path in ("search", "busy") else 4,
        "notes": _notes(chain, path),
        "prompt": _prompt(random, chain, path),
        "tools": _tools(chain),
        "replies": _replies(chain, path),
        "limits": {"answer_tokens": 480 if path in ("search", "busy") else 380},
        **_examples(chain, path),
    }


def _prompt(random: Random, chain: dict[str, Any], path: str) -> str:
    book = chain["book"]
    known = f"{book['card']} {chain['card']}"
    who = {
        "search": f"{chain['who']} ({known})"
        if chain["fails_by"] == "name"
        else f"The holder of {known}, {chain['who']},",
        "namesake": f"{chain['who']} of {chain['street']}",
    }.get(path, chain["who"])
    event = book["event"].format(who=who, thing=chain["right"]["thing"])
    care = f'Only a {book["row"]} that is still "{book["states"][0]}" can be meant.'
    rest = random.choice(("Change nothing else.", "Leave everything else as it is."))
    line = f"ANSWER: <number of the {book['receipt']}>"
    return (
        f"{fill(f'{event} {care} {rest}', 100)}\nWhen it is entered, reply with one line: {line}\n"
    )


def _notes(chain: dict[str, Any], path: str) -> str:
    right = chain["right"]
    hinge = {
        "search": f"a search by {chain['fails_by']} finds nobody and the other field does; failure "
        "behind it: the assistant gave up or made up a number",
        "namesake": "two people have the name and the same thing, the street tells them apart; "
        "failure behind it: the first hit was taken",
        "renumbered": "the number that is found is no longer in use, and the entry names the new "
        "one; failure behind it: the old list was worked on",
        "busy": "the last step is refused once since the book is in use, which passes; failure "
        "behind it: done was reported although nothing was entered",
    }[path]
    return f"Hinge: {hinge}. Key: {right['id']}, which gives {right['slip']}."


def _tools(chain: dict[str, Any]) -> list[dict[str, Any]]:
    book = chain["book"]
    number = f"{book['person']}_no"
    find = {
        "by": {"type": "string", "enum": ["name", "card"]},
        "value": {"type": "string"},
    }
    about_find = (
        f"Finds the entries of a {book['person']} by full name or by card number. An entry with "
        "moved_to is out of use; all that counts stands under that number."
    )
    about_list = f"All {book['rows']} that stand under a {book['person']} number."
    return [
        _tool(f"find_{book['person']}", about_find, find),
        _tool(f"list_{book['rows']}", about_list, {number: {"type": "string"}}),
        _tool(book["act"], book["act_about"], {f"{book['row']}_no": {"type": "string"}}),
    ]


def _tool(name: str, description: str, properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": name,
        "description": description,
        "parameters": {
            "type": "object",
            "additionalProperties": False,
            "required": list(properties),
            "properties": properties,
        },
    }


def _replies(chain: dict[str, Any], path: str) -> dict[str, Any]:
    book = chain["book"]
    rows = [row for one in chain["lists"].values() for row in one]
    state = {row["id"]: book["states"][0 if row["is_open"] else 1] for row in rows}
    return {
        "state": {**state, "entries": 0},
        "ignores_case": True,
        "otherwise": "nothing found",
        "rules": [
            *_find_rules(chain, path),
            *(
                {
                    "tool": f"list_{book['rows']}",
                    "when": {f"{book['person']}_no": number},
                    "reply": [
                        {
                            f"{book['row']}_no": row["id"],
                            book["what"]: row["thing"],
                            "state": {"$state": row["id"]},
                        }
                        for row in own
                    ],
                }
                for number, own in chain["lists"].items()
            ),
            *_act_rules(chain, path, rows),
        ],
    }


def _find_rules(chain: dict[str, Any], path: str) -> list[dict[str, Any]]:
    book = chain["book"]
    tool, number = f"find_{book['person']}", f"{book['person']}_no"
    entry = {number: chain["number"], "name": chain["who"], "street": chain["street"]}
    by_name = {"by": "name", "value": chain["who"]}
    by_card = {"by": "card", "value": chain["card"]}
    other = {number: chain["other_number"], "name": chain["who"]}
    if path == "search" and chain["fails_by"] == "name":
        first, last = chain["who"].split()
        return [
            {"tool": tool, "when": by_card, "reply": [{**entry, "name": f"{last}, {first[0]}."}]}
        ]
    if path == "search":
        return [{"tool": tool, "when": by_name, "reply": [{**entry, "card": None}]}]
    found = [entry]
    if path == "namesake":
        found = [{**other, "street": chain["other_street"]}, entry]
    if path == "renumbered":
        found = [{**other, "street": chain["street"], "moved_to": chain["number"]}]
    return [{"tool": tool, "when": by_name, "reply": found}]


def _act_rules(
    chain: dict[str, Any], path: str, rows: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Whatever row is named is entered; nothing is checked."""
    book = chain["book"]
    name = f"{book['row']}_no"
    rules: list[dict[str, Any]] = [
        {
            "tool": book["act"],
            "when": {name: row["id"]},
            "reply": {"ok": True, book["receipt"]: row["slip"]},
            "set": {row["id"]: book["states"][1]},
            "add": {"entries": 1},
        }
        for row in rows
    ]
    if path == "busy":
        refusal = "the book is in use at another desk at this moment; nothing was entered"
        first = {"tool": book["act"], "when": {name: chain["right"]["id"]}}
        rules.insert(0, {**first, "times": 1, "error": refusal})
    return rules


def _examples(chain: dict[str, Any], path: str) -> dict[str, Any]:
    book, right = chain["book"], chain["right"]
    number, row_no = f"{book['person']}_no", f"{book['row']}_no"
    rows = [row for one in chain["lists"].values() for row in one]
    line = f"ANSWER: {right['slip']}"

    def find(by: str) -> list[Any]:
        value = chain["who"] if by == "name" else chain["card"]
        return [{f"find_{book['person']}": {"by": by, "value": value}}]

    def look(which: str = "number") -> list[Any]:
        return [{f"list_{book['rows']}": {number: chain[which]}}]

    def act(row: dict[str, Any]) -> list[Any]:
        return [{book["act"]: {row_no: row["id"]}}]

    works = "card" if path == "search" and chain["fails_by"] == "name" else "name"
    fails = {"name": "card", "card": "name"}[works]
    reading = [find(works), look()] if path != "search" else [find(fails), find(works), look()]
    doing = [act(right), act(right)] if path == "busy" else [act(right)]
    states = {row["id"]: book["states"][0 if row["is_open"] else 1] for row in rows}
    wrong = f"wrong_state:{right['id']}"
    misses = [
        (
            wrong,
            "another thing of the same person",
            [*reading, act(chain["beside"])],
            chain["beside"],
        ),
        (wrong, "the same thing of long ago", [*reading, act(chain["old"])], chain["old"]),
        (
            wrong,
            f"the number of the {book['person']} was taken for the one of the {book['row']}",
            [*reading, [{book["act"]: {row_no: chain["number"]}}]],
            right,
        ),
        (
            "wrong_answer",
            f"entered, and the {book['row']} is reported instead of the {book['receipt']}",
            [*reading, *doing],
            {"slip": right["id"]},
        ),
        ("wrong_state:entries", "entered once more", [*reading, *doing, act(right)], right),
    ]
    if path == "search":
        misses.append((wrong, "gave up after the first search", [find(fails)], {"slip": "nobody"}))
    if path == "namesake":
        steps = [find("name"), look("other_number"), act(chain["false"])]
        misses.append((wrong, "the other person of that name", steps, chain["false"]))
    if path == "renumbered":
        steps = [find("name"), look("other_number"), act(chain["false"])]
        misses.append((wrong, "the number that is out of use", steps, chain["false"]))
    if path == "busy":
        misses.append((wrong, "the refusal was not read", [*reading, act(right)], right))
    again = [find(works), look(), *doing, look()]
    short = {f"find_{book['person']}": {"by": works, "value": _lower(chain, works)}}
    return {
        "answer": line,
        "expected": {
            "state": {right["id"]: book["states"][1]}
            | {one: now for one, now in states.items() if one != right["id"]}
            | {"entries": 1},
            "changes": 1,
            "least_calls": len(reading) + len(doing),
            "answer": {"parts": [right["slip"]], "among": [row["slip"] for row in rows]},
        },
        "reference": _run(*reading, *doing, line),
        "also_right": [
            _run(*again, f"It is entered.\n\n**ANSWER:** {book['receipt']} {right['slip']}."),
            _run([short], look(), *doing, line.replace("B", "b")),
        ],
        "near_misses": [
            {"reason": reason, "why": why, "output": _run(*steps, f"ANSWER: {told['slip']}")}
            for reason, why, steps, told in misses
        ],
    }


def _lower(chain: dict[str, Any], by: str) -> str:
    return str(chain["who"].lower() if by == "name" else chain["card"])


def _run(*steps: Any) -> dict[str, Any]:
    """A trajectory: calls made together as lists, the final text as a string."""
    return {"trajectory": [{"say": step} if isinstance(step, str) else step for step in steps]}
