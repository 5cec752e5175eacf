# Not for training data: benchloop-canary-6f0d2c5e-91b7-4d0a-8c3e-5a7e1b942f60
"""A departure board after messages that change it, and the last of them changes a message.

The hinge is the state: what runs, when and where, after all messages. The seed decides whether an
earlier message named the wrong one, is withdrawn, or whether two swaps in a row have to be followed
in their order.
"""

from __future__ import annotations

from random import Random
from typing import Any

PATHS = ("wrong_name", "withdrawn", "two_swaps")

BOARDS = (
    ("boat", "boats", "leaves", "pier", "Otter Heron Marten Swift Teal Perch"),
    ("coach", "coaches", "leaves", "bay", "Amber Cobalt Ochre Indigo Russet Jade"),
    ("class", "classes", "starts", "room", "Weaving Pottery Carving Bookbinding Felting Etching"),
    ("film", "films", "starts", "hall", "Driftwood Lanterns Saltmarsh Snowline Hayfield Quarry"),
)
PLURAL = {"pier": "piers", "bay": "bays", "room": "rooms", "hall": "halls"}
FEWEST_WRONG = 3

Entry = tuple[int, int, bool]
"""Minute of the day, place, whether it is on."""
Board = dict[str, Entry]
Message = tuple[str, str, Any]
"""Kind, name, and what it needs: a minute, a place, another name, or nothing."""


def draw(random: Random, path: str) -> dict[str, Any] | None:
    """One instance on `path`; None where two things would be at one place at one time."""
    kind, plural, when, place, pool = random.choice(BOARDS)
    names = random.sample(pool.split(), 5)
    start = random.randrange(9 * 60, 18 * 60, 5)
    hours = [start + minutes for minutes in random.sample(range(0, 180, 5), 3)]
    board: Board = {
        name: (random.choice(hours), random.randrange(1, 5), is_on)
        for name, is_on in zip(names, random.sample([True] * 4 + [False], 5), strict=True)
    }
    messages, meant = _messages(random, path, board, hours)
    if any(kind == "time" and board[name][0] == more for kind, name, more in messages):
        return None
    key = written(plural, _after(board, meant))
    if not _is_clear(board) or any(not _is_clear(state) for state in _states(board, meant)):
        return None
    final = _after(board, meant)
    on_times = [minute for minute, _, is_on in final.values() if is_on]
    if not 3 <= len(on_times) <= 4 or len(set(on_times)) == len(on_times):
        return None
    sent = [message for message in messages if message[0] not in ("wrong_name", "withdrawn")]
    wrong = {
        text: why for text, why in _slips(plural, board, sent, meant, path).items() if text != key
    }
    if len(wrong) < FEWEST_WRONG:
        return None
    if path != "two_swaps" and written(plural, _after(board, sent)) == key:
        return None
    words = [_words(message, (kind, when, place)) for message in messages]
    lines = key.split("\n")
    return {
        "answer": key,
        "title": f"The {kind} board after five messages: {path.replace('_', ' ')}",
        "difficulty": "hard",
        "capability_tags": ["correction", "filtering", "ordering", "counting", "format"],
        "verifier_type": "exact",
        "notes": f"Hinge: what each message does. Path: {path}. Key: {' / '.join(lines)}.",
        "prompt": _prompt((kind, plural, when, place), board, words),
        "expected": {
            "lines": len(lines),
            "line_equals": {str(at): line for at, line in enumerate(lines, 1)},
        },
        "limits": {"answer_tokens": 256},
        "reference": f"{key}\n",
        "also_right": [
            "\n" + key.replace("\n", " \n") + " \n",
            f"<think>One by one.</think>\n\n{key}".replace("\n", "\r\n"),
        ],
        "near_misses": [
            {"output": text, "reason": reason_of(text, key), "why": why}
            for text, why in wrong.items()
        ],
    }


def reason_of(text: str, key: str) -> str:
    """Why a text of lines is not the key."""
    lines, right = text.split("\n"), key.split("\n")
    if len(lines) != len(right):
        return "line_count"
    return f"wrong_line:{[a == b for a, b in zip(lines, right, strict=True)].index(False) + 1}"


def clock(minute: int) -> str:
    return f"{minute // 60:02d}:{minute % 60:02d}"


def _messages(
    random: Random, path: str, board: Board, hours: list[int]
) -> tuple[list[Message], list[Message]]:
    """Five messages as they are sent, and what they mean in the end."""
    names = random.sample(sorted(board), 5)
    off = next(name for name, entry in board.items() if not entry[2])
    on = [name for name in names if name != off]
    move: Message = ("time", on[2], random.choice(hours))
    if path == "two_swaps":
        one, two, three = on[0], on[1], on[2]
        sent: list[Message] = [
            ("swap", one, two),
            ("time", three, random.choice(hours)),
            ("swap", one, three),
            ("off", random.choice(on), None),
            ("on", off, None),
        ]
        return sent, sent
    if path == "wrong_name":
        sent = [("on", off, None), ("off", on[0], None), move, ("swap", on[1], on[2])]
        head = sent[random.choice([0, 0, 2]) :]
        rest = [one for one in sent if one not in head]
        sent = head + rest
        at = sent.index(("off", on[0], None))
        meant = [*sent[:at], ("off", on[3], None), *sent[at + 1 :]]
        return [*sent, ("wrong_name", on[0], (at + 1, on[3]))], meant
    sent = [("on", off, None), ("swap", on[0], on[1]), move, ("off", on[3], None)]
    random.shuffle(sent)
    at = sent.index(random.choice([one for one in sent if one[0] in ("swap", "off", "time")]))
    return [*sent, ("withdrawn", "", at + 1)], [*sent[:at], *sent[at + 1 :]]


def _step(board: Board, message: Message) -> Board:
    kind, name, more = message
    minute, place, is_on = board[name]
    if kind == "swap":
        other = board[more]
        swapped = {name: (minute, other[1], is_on), more: (other[0], place, other[2])}
        return {**board, **swapped}
    entry = {
        "on": (minute, place, True),
        "off": (minute, place, False),
        "time": (more, place, is_on),
    }[kind]
    return {**board, name: entry}


def _states(board: Board, messages: list[Message]) -> list[Board]:
    """The board after each message."""
    states = [board]
    for message in messages:
        states.append(_step(states[-1], message))
    return states[1:]


def _after(board: Board, messages: list[Message]) -> Board:
    return _states(board, messages)[-1] if messages else board


def _is_clear(board: Board) -> bool:
    """Whether no two that are on share a time and a place."""
    taken = [(minute, place) for minute, place, is_on in board.values() if is_on]
    return len(set(taken)) == len(taken)


def written(plural: str, board: Board, by_place: bool = True) -> str:
    """The text of a board."""
    rows = [(minute, place, name) for name, (minute, place, is_on) in board.items() if is_on]
    rows.sort(key=lambda row: row[:2] if by_place else (row[0], 0))
    lines = [f"{plural.upper()}: {len(rows)}"]
    lines += [f"{clock(minute)} {name.upper()} {place}" for minute, place, name in rows]
    return "\n".join(lines)


def _slips(
    plural: str, board: Board, sent: list[Message], meant: list[Message], path: str
) -> dict[str, str]:
    final = _after(board, meant)
    slips = {
        written(plural, board): "the board as it was before all messages",
        written(plural, _after(board, [m for m in meant if m[0] != "swap"])): "no swap carried out",
        written(plural, _after(board, [m for m in meant if m[0] != "time"])): "an old time kept",
        written(plural, {name: (*entry[:2], True) for name, entry in final.items()}): (
            "one that is off is shown as well"
        ),
        written(plural, final, by_place=False): "the order of the table where two have one time",
    }
    if path == "two_swaps":
        swaps = [message for message in meant if message[0] == "swap"]
        others = [message for message in meant if message[0] != "swap"]
        slips[written(plural, _after(board, [*others, *swaps[::-1]]))] = (
            "the second swap carried out before the first"
        )
        slips[written(plural, _after(board, [*others, swaps[0]]))] = "the second swap forgotten"
    else:
        slips[written(plural, _after(board, sent))] = "the last message not carried out"
        slips[written(plural, _after(board, [*sent, *meant]))] = "the last message half carried out"
    return slips


def _words(message: Message, nouns: tuple[str, str, str]) -> str:
    kind, name, more = message
    noun, when, place = nouns
    if kind == "time":
        return f"{name} {when} at {clock(more)}."
    if kind == "wrong_name":
        number, right = more
        return (
            f"Message {number} named the wrong {noun}: it is {right} that is off. {name} stays on."
        )
    return {
        "on": f"{name} is on again.",
        "off": f"{name} is off.",
        "swap": f"{name} and {more} swap {PLURAL[place]}.",
        "withdrawn": f"Message {more} is withdrawn; read the others as if it had never been sent.",
    }[kind]


def _prompt(nouns: tuple[str, str, str, str], board: Board, messages: list[str]) -> str:
    noun, plural, when, place = nouns
    table = "\n".join(
        f"{name} | {clock(minute)} | {at} | {'on' if is_on else 'off'}"
        for name, (minute, at, is_on) in board.items()
    )
    listed = "\n".join(f"{number}. {words}" for number, words in enumerate(messages, 1))
    return (
        f"{plural.capitalize()} today:\n\n{noun} | {when} | {place} | state\n{table}\n\n"
        f"Messages since then, oldest first:\n{listed}\n\nWrite the board as it is after all "
        f"messages, as plain text and nothing else. First line: {plural.upper()}: NUMBER, where "
        f"NUMBER is how many {plural} are on. Then one line for each of these {plural}, as HH:MM "
        f"NAME {place.upper()} with the name in capital letters (for example 07:50 EXAMPLE 9), "
        f"earliest first; of {plural} at the same time the lower {place} comes first.\n"
    )
