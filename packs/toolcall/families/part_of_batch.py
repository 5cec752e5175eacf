# Not for training data: benchloop-canary-6f0d2c5e-91b7-4d0a-8c3e-5a7e1b942f60
"""Some things out of a list are moved, the others stay: which ones, only the replies tell.

Nothing checks the moves, so a wrong one happens and shows at the end. The seed decides the trade,
the things and the path: `field` and `linked` shut one thing out by its own record or by the one of
its owner; `refused` has the tool itself refuse one, with a switch to force it; `limit` has room
that shrinks with every move, and one thing more that may not be moved and so takes no room.
"""

from random import Random
from textwrap import fill
from typing import Any

PATHS = ("field", "linked", "refused", "limit")

TRADES: tuple[dict[str, Any], ...] = (
    {
        "thing": "crate",
        "letter": "C",
        "act": "load_crate",
        "about": "Loads a crate from the dock onto the van.",
        "places": ("dock", "van"),
        "do": "Load {} onto the van.",
        "done": "loaded",
        "size": "weight_kg",
        "size_words": "weight",
        "room": ("get_van", "free_kg", "The van and the weight that it can still take."),
        "room_words": "the weight that the van can still take",
        "facts": ("goods", ("paint thinner", ("books", "tiles", "linen", "bulbs"))),
        "bar": "crates with paint thinner stay on the dock",
        "owner": ("customer", "account", ("blocked", "open")),
        "bar_owner": "crates of a customer whose account is blocked stay on the dock",
        "refusal": "this crate is on hold; it was not loaded",
        "stays": "stays on the dock",
    },
    {
        "thing": "picture",
        "letter": "P",
        "act": "hang_picture",
        "about": "Moves a picture from the store to the north wall.",
        "places": ("store", "north wall"),
        "do": "Hang {} on the north wall.",
        "done": "hung",
        "size": "width_cm",
        "size_words": "width",
        "room": ("get_wall", "free_cm", "The north wall and the width that is still free on it."),
        "room_words": "the width that is still free on the wall",
        "facts": ("frame", ("none", ("oak", "pine", "brass", "walnut"))),
        "bar": "pictures without a frame stay in the store",
        "owner": ("lender", "contract", ("unsigned", "signed")),
        "bar_owner": "pictures of a lender whose contract is unsigned stay in the store",
        "refusal": "this picture is under repair; it was not moved",
        "stays": "stays in the store",
    },
    {
        "thing": "volume",
        "letter": "V",
        "act": "send_volume",
        "about": "Sends a volume from the shelf to the bindery.",
        "places": ("shelf", "bindery"),
        "do": "Send {} to the bindery.",
        "done": "sent",
        "size": "price_eur",
        "size_words": "price",
        "room": ("get_budget", "left_eur", "The budget for binding and what is left of it."),
        "room_words": "what is left of the budget",
        "facts": ("paper", ("brittle", ("sound", "stained", "yellowed", "waxed"))),
        "bar": "volumes with brittle paper stay on the shelf",
        "owner": ("branch", "consent", ("missing", "given")),
        "bar_owner": "volumes of a branch whose consent is missing stay on the shelf",
        "refusal": "this volume is reserved; it was not sent",
        "stays": "stays on the shelf",
    },
)


def draw(random: Random, path: str) -> dict[str, Any] | None:
    trade = random.choice(TRADES)
    count = 4 if path == "limit" else 3
    codes = [f"{trade['letter']}-{n}" for n in random.sample(range(100, 1000), count)]
    owners = [f"N{n}" for n in random.sample(range(10, 100), count)]
    odd = random.randrange(count)
    facts = random.sample(trade["facts"][1][1], count)
    things = [
        {
            "code": code,
            "size": 5 * random.randrange(8, 60),
            "fact": facts[at],
            "owner": owners[at],
            "is_barred": at == odd,
        }
        for at, code in enumerate(codes)
    ]
    if path in ("field", "limit"):
        things[odd]["fact"] = trade["facts"][1][0]
    room = sum(one["size"] for one in things) + 5 * random.randrange(1, 20)
    moved = [one for one in things if not one["is_barred"]]
    if path == "limit":
        room = 5 * random.randrange(60, 100)
        moved = _fitting(moved, room)
        if not _is_sharp(things, moved, room):
            return None
    batch = {"trade": trade, "things": things, "moved": moved, "room": room, "odd": things[odd]}
    return {
        "title": {
            "field": "One of three may not go",
            "linked": "The owner's record decides",
            "refused": "One of three is refused",
            "limit": "What still fits, one after the other",
        }[path],
        "difficulty": "hard" if path == "limit" else "medium",
        "capability_tags": {
            "field": ["filtering", "multi_turn", "restraint"],
            "linked": ["filtering", "multi_turn", "tool_choice"],
            "refused": ["tool_error", "restraint", "tool_arguments"],
            "limit": ["capacity_limit", "state", "filtering", "multi_turn"],
        }[path],
        "verifier_type": "tool_trace",
        "expected_turns": _least_calls(batch, path) + 1,
        "notes": _notes(batch, path),
        "prompt": _prompt(random, batch, path),
        "tools": _tools(batch, path),
        "replies": _replies(batch, path),
        "limits": {"answer_tokens": 100 * _least_calls(batch, path) + 80},
        **_examples(batch, path),
    }


def _fitting(things: list[dict[str, Any]], room: int) -> list[dict[str, Any]]:
    """Those that fit one after the other; one that does not is passed over."""
    found = []
    for one in things:
        if one["size"] <= room:
            found.append(one)
            room -= one["size"]
    return found


def _until_full(things: list[dict[str, Any]], room: int) -> list[dict[str, Any]]:
    """A slip: the first that does not fit ends the work."""
    found = []
    for one in things:
        if one["size"] > room:
            break
        found.append(one)
        room -= one["size"]
    return found


def _counted(things: list[dict[str, Any]], room: int) -> list[dict[str, Any]]:
    """A slip: what may not be moved takes room all the same."""
    return [one for one in _fitting(things, room) if not one["is_barred"]]


def _is_sharp(things: list[dict[str, Any]], moved: list[dict[str, Any]], room: int) -> bool:
    """Whether every slip ends elsewhere, and nothing fits to the last unit."""
    allowed = [one for one in things if not one["is_barred"]]
    left = room - sum(one["size"] for one in moved)
    slips = (_until_full(allowed, room), _counted(things, room), allowed)
    return (
        len(moved) == 2
        and moved not in slips
        and left > 0
        and all(one["size"] < room for one in things)
    )


def _least_calls(batch: dict[str, Any], path: str) -> int:
    """Reads and moves of the shortest way, one by one."""
    reads = {"field": 3, "linked": 6, "refused": 0, "limit": 5}[path]
    return reads + (3 if path == "refused" else len(batch["moved"]))


def _prompt(random: Random, batch: dict[str, Any], path: str) -> str:
    trade, things = batch["trade"], batch["things"]
    thing = trade["thing"]
    codes = ", ".join(one["code"] for one in things[:-1]) + f" and {things[-1]['code']}"
    if path == "limit":
        rule = (
            f"Take them one by one in this order. A {thing} may be {trade['done']} only if its "
            f"{trade['size_words']} is at most {trade['room_words']} at that moment; one that does "
            f"not fit is passed over, and you go on with the next. But {trade['bar']} in any case. "
            "The tools check none of this; you must. What is done cannot be undone."
        )
    elif path == "refused":
        rule = f"A {thing} that the tool refuses {trade['stays']}; go on with the next."
    else:
        bar = trade["bar"] if path == "field" else trade["bar_owner"]
        rule = f"But {bar}. The tools do not check that; you must."
    opening = random.choice(
        (
            trade["do"].format(f"the {thing}s {codes}"),
            f"On today's list are {codes}. {trade['do'].format(f'these {thing}s')}",
        )
    )
    line = f"ANSWER: <{thing}s that you have {trade['done']}, in the order given>"
    return f"{opening}\n{fill(rule, 100)}\nAt the end reply with one line: {line}\n"


def _notes(batch: dict[str, Any], path: str) -> str:
    trade, odd = batch["trade"], batch["odd"]
    key = ", ".join(one["code"] for one in batch["moved"])
    if path == "limit":
        sizes = ", ".join(f"{one['code']} {one['size']}" for one in batch["things"])
        return (
            f"Two hinges, the second on the first: {odd['code']} may not go and so takes no room; "
            "then the room shrinks with each move, one does not fit and a later one does. Failure "
            f"behind it: every size was held against the room of the beginning. Key: room "
            f"{batch['room']}; {sizes}; so {key}."
        )
    hinge = {
        "field": f"the record of {odd['code']} shuts it out; failure behind it: the whole list "
        "was worked off unread",
        "linked": f"what shuts {odd['code']} out stands with its {trade['owner'][0]}; failure "
        "behind it: only the thing's own record was read",
        "refused": f"the move of {odd['code']} is refused, and `force` would get round it; "
        "failure behind it: the refusal was overridden, or reported as done",
    }[path]
    return f"Hinge: {hinge}. Key: {key}."


def _tools(batch: dict[str, Any], path: str) -> list[dict[str, Any]]:
    trade = batch["trade"]
    thing = trade["thing"]
    tools = [_tool(f"get_{thing}", f"The record of one {thing}.", {thing: {"type": "string"}})]
    if path == "linked":
        owner = trade["owner"][0]
        about = f"The record of one {owner}."
        tools.append(_tool(f"get_{owner}", about, {owner: {"type": "string"}}))
    if path == "limit":
        tools.append(_tool(trade["room"][0], trade["room"][2], {}))
    act = _tool(trade["act"], trade["about"], {thing: {"type": "string"}})
    if path == "refused":
        act["description"] += " With force it goes through in any case."
        act["parameters"]["properties"]["force"] = {"type": "boolean"}
    return [*tools, act]


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


def _replies(batch: dict[str, Any], path: str) -> dict[str, Any]:
    trade, things = batch["trade"], batch["things"]
    thing, (start, end) = trade["thing"], trade["places"]
    owner, owner_field, (barring, usual) = trade["owner"]
    get, room_field, _ = trade["room"]
    rules: list[dict[str, Any]] = []
    for one in things:
        record = {thing: one["code"], trade["size"]: one["size"], trade["facts"][0]: one["fact"]}
        if path == "linked":
            record[owner] = one["owner"]
            state = barring if one["is_barred"] else usual
            reply = {owner: one["owner"], owner_field: state}
            rules.append({"tool": f"get_{owner}", "when": {owner: one["owner"]}, "reply": reply})
        record["place"] = {"$state": one["code"]}
        rules.append({"tool": f"get_{thing}", "when": {thing: one["code"]}, "reply": record})
        move = {
            "tool": trade["act"],
            "when": {thing: one["code"]},
            "where": {one["code"]: start},
            "reply": {"ok": True},
            "set": {one["code"]: end},
            "add": {"room": -one["size"]},
        }
        if path == "refused" and one["is_barred"]:
            rules.append({**move, "when": {thing: one["code"], "force": True}})
            move = {"tool": trade["act"], "when": {thing: one["code"]}, "error": trade["refusal"]}
        rules.append(move)
    if path == "limit":
        reply = {"place": end, room_field: {"$state": "room"}}
        rules.append({"tool": get, "reply": reply})
    return {
        "state": {**{one["code"]: start for one in things}, "room": batch["room"]},
        "ignores_case": True,
        "otherwise": f"there is no such {thing} here",
        "rules": rules,
    }


def _examples(batch: dict[str, Any], path: str) -> dict[str, Any]:
    trade, things, moved, odd = (batch[name] for name in ("trade", "things", "moved", "odd"))
    thing, (start, end) = trade["thing"], trade["places"]
    codes = [one["code"] for one in things]

    def get(one: dict[str, Any]) -> dict[str, Any]:
        return {f"get_{thing}": {thing: one["code"]}}

    def act(one: dict[str, Any], **more: bool) -> dict[str, Any]:
        return {trade["act"]: {thing: one["code"], **more}}

    owner = trade["owner"][0]
    asked = [{f"get_{owner}": {owner: one["owner"]}} for one in things]
    room = [{trade["room"][0]: {}}]
    reading: list[list[dict[str, Any]]] = {
        "field": [[get(one) for one in things]],
        "linked": [[get(one) for one in things], asked],
        "refused": [],
        "limit": [[*room, *map(get, things)]],
    }[path]
    one_by_one = [[call] for turn in reading for call in turn]
    tried = things if path == "refused" else moved

    def told(some: list[dict[str, Any]]) -> str:
        return f"ANSWER: {', '.join(one['code'] for one in some)}"

    def slip(reason: str, why: str, some: list[dict[str, Any]]) -> dict[str, Any]:
        """A near miss that read everything and moved `some`."""
        steps = [*reading, [act(one) for one in some], told(some)]
        return {"reason": reason, "why": why, "output": _run(*steps)}

    def first_wrong(some: list[dict[str, Any]]) -> str:
        """The reason that the verdict names: the first thing that is not where it must be."""
        code = next(one["code"] for one in things if (one in some) != (one in moved))
        return f"wrong_state:{code}"

    right = told(moved)
    misses = [
        {
            "reason": f"wrong_state:{moved[0]['code']}",
            "why": "claims without acting",
            "output": _run(*reading, right),
        },
        {
            "reason": "wrong_answer",
            "why": "the moves are right, the report names all of the list",
            "output": _run(*reading, [act(one) for one in tried], told(things)),
        },
    ]
    if path != "limit":
        why = "stopped after the first"
        misses.append(slip(f"wrong_state:{moved[1]['code']}", why, moved[:1]))
    if path in ("field", "linked"):
        wrong = [one for one in things if one is not moved[-1]]
        misses += [
            slip(f"wrong_state:{odd['code']}", "the whole list was moved", things),
            slip(first_wrong(wrong), "another one was left behind", wrong),
            {
                "reason": "acted_before_reading",
                "why": "a lucky guess, nothing was read",
                "output": _run([act(one) for one in moved], right),
            },
        ]
    if path == "refused":
        forced = [act(one, force=True) if one is odd else act(one) for one in things]
        misses += [
            {
                "reason": f"wrong_state:{odd['code']}",
                "why": "the refusal was overridden",
                "output": _run([act(one) for one in things], [act(odd, force=True)], told(things)),
            },
            {
                "reason": f"wrong_state:{odd['code']}",
                "why": "forced from the beginning",
                "output": _run(forced, told(things)),
            },
            {
                "reason": "missing_refusal",
                "why": "a lucky guess, the one that is refused was never tried",
                "output": _run([act(one) for one in moved], right),
            },
        ]
    if path == "limit":
        allowed = [one for one in things if not one["is_barred"]]
        slips = [
            ("every size was held against the room of the beginning", allowed),
            ("the first that did not fit ended the work", _until_full(allowed, batch["room"])),
            ("what may not go was given room", _counted(things, batch["room"])),
            ("what may not go was moved", _fitting(things, batch["room"])),
        ]
        different = {told(some): (why, some) for why, some in slips}
        misses += [slip(first_wrong(some), why, some) for why, some in different.values()]
        misses.append(
            {
                "reason": "acted_before_reading",
                "why": "a lucky guess, nothing was read",
                "output": _run([act(one) for one in moved], right),
            }
        )
    expected: dict[str, Any] = {
        "state": {one["code"]: end if one in moved else start for one in things},
        "changes": len(moved),
        "least_calls": _least_calls(batch, path),
        "answer": {"parts": [one["code"] for one in moved], "among": codes},
    }
    if path == "refused":
        expected["refused"] = [{"tool": trade["act"], "args": {thing: odd["code"]}}]
    else:
        pairs = [(_pattern(get(one)), _pattern(act(one))) for one in moved]
        if path == "linked":
            pairs += [(_pattern(asked[things.index(one)]), _pattern(act(one))) for one in moved]
        if path == "limit":
            pairs.append((_pattern(room[0]), _pattern(act(moved[0]))))
        expected["before"] = [{"first": first, "then": then} for first, then in pairs]
    last = [[act(one)] for one in tried]
    backwards = [turn[::-1] for turn in reading]
    return {
        "answer": right,
        "expected": expected,
        "reference": _run(*reading, [act(one) for one in tried], right),
        "also_right": [
            _run(*one_by_one, *last, f"The others had to stay.\n\n**{right}**"),
            _run(*backwards, *last, [get(moved[0])], f"{right.replace(', ', '; ')}."),
        ],
        "near_misses": misses,
    }


def _pattern(call: dict[str, Any]) -> dict[str, Any]:
    """A call as the invariants name it."""
    ((tool, args),) = call.items()
    return {"tool": tool, "args": args}


def _run(*steps: Any) -> dict[str, Any]:
    """A trajectory: calls made together as lists, the final text as a string."""
    return {"trajectory": [{"say": step} if isinstance(step, str) else step for step in steps]}
