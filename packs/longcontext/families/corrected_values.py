# Not for training data: benchloop-canary-6f0d2c5e-91b7-4d0a-8c3e-5a7e1b942f60
"""Soaking times in the day book of a dye works, and what later entries make of them.

Hinge: the newest statement counts, while a proposal, another vat and a temperature offer numbers of
the same size. On `latest-7k` two times were corrected and one was not; on `as-of-28k` a time is
asked for as it held at a certain entry, and a correction was withdrawn later. The seed decides
which vat has which history, and where every statement stands.
"""

from random import Random
from typing import Any

PATHS = ("latest-7k", "as-of-28k")
TOKENS = {"latest-7k": 7000, "as-of-28k": 28000}
CHARACTERS_PER_TOKEN = 3.55
VATS = ("Alder", "Bramble", "Comfrey", "Dogwood", "Elder", "Fennel", "Gorse", "Hazel")
# Words by what can be said of them. Each slot has at least as many as an entry has sentences.
SLOTS = {
    "vat": VATS,
    "cloth": ("sailcloth", "fine wool", "linen", "felt", "hemp", "worsted", "cotton drill"),
    "who": ("Mirela", "Anselm", "Dorrit", "Kezia", "Lorne", "Bastian", "Ottoline", "Feodor"),
    "colour": ("madder red", "weld yellow", "woad blue", "walnut brown", "iron grey", "moss green"),
    "tool": (
        "the hand cart",
        "the copper sieve",
        "the drying frame",
        "the hand press",
        "the hoist",
    ),
    "stirrer": ("the long paddle", "the ash pole", "the wooden fork", "the old oar"),
    "buyer": (
        "the theatre in Harle",
        "a bookbinder",
        "the parish of Upper Tamm",
        "an upholsterer",
    ),
    "fault": (
        "streaks at the hem",
        "a pale fold",
        "spots like rain",
        "a torn edge",
        "a grey bloom",
    ),
    "stain": ("a pale streak", "a pale fold", "spots like rain", "a grey bloom"),
    "damp": ("a damp morning", "a foggy day", "a day of rain", "a cold and still day"),
    "dry": ("a bright day", "a day with a strong wind", "a warm day", "a dry and windy day"),
}
# Kinds of sentences; an entry has one of a kind at most.
TEMPLATES = (
    (
        "It was {damp}, and the {cloth} dried slowly.",
        "It was {dry}, and the {cloth} dried quickly.",
        "It was {damp}; vat {vat} was kept covered.",
    ),
    ("{who} dyed {n} metres of {cloth} in {colour} and hung them in the loft.",),
    ("{buyer} sent back {n} metres of {cloth}: {fault}.",),
    ("Vat {vat} is held at {t} degrees for {colour}.",),
    ("{who} cleaned vat {vat} with sand and mended {tool}.",),
    ("{who} fetched {n} buckets of ash for the lye.",),
    ("The {cloth} for {buyer} shows {stain}, and {who} will dye it again.",),
    ("Vat {vat} was filled with fresh water and left to stand.",),
    ("{buyer} asks for {n} metres of {cloth} in {colour} by the end of the month.",),
    ("{who} weighed out {n} spoons of alum and wrote the tin's number on the lid.",),
    ("{tool} was lent to the mill and came back in good order.",),
    ("Two lots of {cloth} were dyed in vat {vat}, both in {colour}.",),
    ("{who} compared the {colour} of this week with the sample from spring: no difference.",),
    ("The new apprentice stirred vat {vat} for {n} turns with {stirrer}.",),
    ("{buyer} paid, and {who} wrote the receipt.",),
    ("In the loft {n} hooks are free again.",),
    ("{who} found {fault} on the {cloth} before it was packed.",),
    ("The stock of {colour} will last for {n} more lots.",),
    ("{who} wrote to the chemist about the {colour} and has no answer yet.",),
)
OPENING = """\
Below is the day book of a dye works, one entry after the other in order of time. The question
stands after it.

The soaking time of a vat is what the newest entry about it sets. A time that somebody proposes is
not set.
"""
WITHDRAWALS = """\
When an entry withdraws an earlier one, the time that was set before that one holds again.
"""
CLOSING = """\
Give the entries that you use in one line. The last line of your reply has this form:
ANSWER: <1>; <2>; <3>
"""


def draw(random: Random, path: str) -> dict[str, Any] | None:
    """One instance on `path`."""
    return _latest(random) if path == PATHS[0] else _as_of(random)


def _times(random: Random, count: int) -> list[int]:
    """Minutes that differ by at least three from each other."""
    return [3 * time for time in random.sample(range(9, 32), count)]


def _set(vat: str, minutes: int) -> str:
    return f"The soaking time of vat {vat} is set to {minutes} minutes."


def _corrected(vat: str, minutes: int) -> str:
    return f"The soaking time of vat {vat} is corrected: it is {minutes} minutes from now on."


def _proposed(random: Random, vat: str, minutes: int) -> str:
    who = random.choice(SLOTS["who"])
    return f"{who} proposes {minutes} minutes for vat {vat}; nothing was decided."


def _latest(random: Random) -> dict[str, Any] | None:
    once, twice, never = vats = random.sample(VATS, 3)
    a, b, c, d, e, f, other, wish, wish_too = _times(random, 9)
    told = [[(once, a), (once, b)], [(twice, c), (twice, d), (twice, e)], [(never, f)]]
    order = [vat for vat, part in zip(range(3), told, strict=True) for _ in part]
    random.shuffle(order)
    rows = [told[vat].pop(0) for vat in order]
    first: set[str] = set()
    facts = []
    for vat, minutes in rows:
        facts.append(_corrected(vat, minutes) if vat in first else _set(vat, minutes))
        first.add(vat)
    stranger = random.choice([vat for vat in VATS if vat not in vats])
    friends = [
        _set(stranger, other),
        _proposed(random, never, wish),
        _proposed(random, once, wish_too),
    ]
    holds = {once: b, twice: e, never: f}
    x, y, z = random.sample(vats, 3)
    question = f"""\
1. How many minutes is the soaking time of vat {x} at the end of the book?
2. How many minutes is the soaking time of vat {y} at the end of the book?
3. How many minutes are the soaking times of the vats {x}, {y} and {z} together at the end?
"""
    text, entries = _book(random, "latest-7k", OPENING, facts, friends, lambda places: question)
    key = (holds[x], holds[y], holds[x] + holds[y] + holds[z])
    listed = "; ".join(
        f"entry {at}: {vat} {minutes}" for at, (vat, minutes) in zip(entries, rows, strict=True)
    )

    def slip(**changed: int) -> tuple[int, int, int]:
        held = holds | changed
        return held[x], held[y], held[x] + held[y] + held[z]

    wrongs = [
        (slip(**{once: a}), "the correction of one vat overlooked"),
        (slip(**{twice: d}), "the second correction overlooked"),
        (slip(**{never: wish}), "a proposal taken for a setting"),
        ((key[0], key[1], key[0] + key[1]), "the third vat left out of the sum"),
    ]
    return _task(
        f"The soaking times of {x}, {y} and {z}",
        "easy",
        text,
        key,
        wrongs,
        listed,
        ["long_context", "correction", "arithmetic"],
    )


def _as_of(random: Random) -> dict[str, Any] | None:
    x, y, stranger = random.sample(VATS, 3)
    a, b, c, d, e, other, wish, wish_too = _times(random, 8)
    # Of vat x the middle time is asked for; of vat y the correction that is withdrawn comes late.
    rows = [(x, a), (y, d), (x, b), (None, 0), (y, e), (x, c), (y, 0)]
    if random.random() < 0.5:
        rows[0], rows[1] = rows[1], rows[0]
    if random.random() < 0.5:
        rows[4], rows[5] = rows[5], rows[4]
    corrected = rows.index((y, e))
    anchor = f"{random.choice(SLOTS['who'])} signed the stock list that hangs by the door."

    def facts(places: list[int]) -> list[str]:
        seen: set[str] = set()
        told = []
        for vat, minutes in rows:
            if vat is None:
                told.append(anchor)
            elif minutes == 0:
                told.append(f"What entry {places[corrected]} says about vat {vat} is withdrawn.")
            else:
                told.append(_corrected(vat, minutes) if vat in seen else _set(vat, minutes))
                seen.add(vat)
        return told

    friends = [
        _set(stranger, other),
        _proposed(random, x, wish),
        _proposed(random, y, wish_too),
    ]

    def question(places: list[int]) -> str:
        return f"""\
1. How many minutes was the soaking time of vat {x} when entry {places[3]} was written?
2. How many minutes is the soaking time of vat {y} at the end of the book?
3. How many minutes are the soaking times of the vats {x} and {y} together at the end of the book?
"""

    text, entries = _book(random, "as-of-28k", OPENING + WITHDRAWALS, facts, friends, question)
    key = (b, d, c + d)
    listed = "; ".join(
        f"entry {at}: {vat} {minutes or 'withdrawn'}"
        for at, (vat, minutes) in zip(entries, rows, strict=True)
        if vat is not None
    )
    wrongs = [
        ((c, d, c + d), "the time at the end in place of the one at that entry"),
        ((a, d, c + d), "the first time of the vat, its first correction overlooked"),
        ((b, e, c + e), "the withdrawal overlooked"),
        ((b, d, b + d), "the sum made with the time at that entry"),
        ((b, wish_too, c + wish_too), "a proposal taken for a setting"),
    ]
    return _task(
        f"{x} as it was, {y} as it is",
        "hard",
        text,
        key,
        wrongs,
        listed,
        ["long_context", "correction", "state", "arithmetic"],
    )


def _book(
    random: Random, path: str, opening: str, facts: Any, friends: list[str], question: Any
) -> Any:
    """The whole prompt, and the numbers of the entries that hold the facts, in their order.

    `facts` (a list, or made from the entries' numbers) stand each in another tenth of the book.
    """
    count = len(facts) if isinstance(facts, list) else 7
    entries: list[str] = []
    length = len(opening) + len(CLOSING) + 90 * (count + len(friends) + 3)
    while length < TOKENS[path] * CHARACTERS_PER_TOKEN:
        entries.append(" ".join(_sentences(random, random.randrange(2, 5))))
        length += len(entries[-1]) + len("Entry 100: \n")
    depths = sorted(random.sample(range(10), count))
    numbers = [random.choice(_tenth(len(entries), depth)) for depth in depths]
    told = facts if isinstance(facts, list) else facts(numbers)
    quiet = [number for number in range(1, len(entries) + 1) if number not in numbers]
    for number, sentence in zip(
        [*numbers, *random.sample(quiet, len(friends))], [*told, *friends], strict=True
    ):
        before, after = entries[number - 1].split(". ", 1)
        entries[number - 1] = f"{before}. {sentence} {after}"
    lines = [f"Entry {number}: {entry}" for number, entry in enumerate(entries, 1)]
    return "\n".join([opening, *lines, "", question(numbers) + CLOSING]), numbers


def _tenth(count: int, depth: int) -> list[int]:
    """The numbers of those of `count` entries that lie so many tenths deep."""
    return [number for number in range(1, count + 1) if (number - 1) * 10 // count == depth]


def _sentences(random: Random, count: int) -> list[str]:
    """Sentences for one entry: of different kinds, and with other words in each."""
    words = {slot: random.sample(known, count) for slot, known in SLOTS.items()}
    texts = []
    for at, kind in enumerate(random.sample(TEMPLATES, count)):
        here = {slot: drawn[at] for slot, drawn in words.items()}
        numbers = {"n": random.randrange(3, 60), "t": random.randrange(31, 92)}
        text = random.choice(kind).format(**numbers, **here)
        texts.append(text[0].upper() + text[1:])
    return texts


def _task(
    title: str,
    difficulty: str,
    text: str,
    key: tuple[int, int, int],
    wrongs: list[tuple[tuple[int, int, int], str]],
    listed: str,
    tags: list[str],
) -> dict[str, Any] | None:
    misses = []
    for wrong, why in wrongs:
        if wrong == key:
            return None
        at = next(at for at in range(3) if wrong[at] != key[at])
        output = f"{listed}\nANSWER: {wrong[0]}; {wrong[1]}; {wrong[2]}"
        misses.append({"output": output, "reason": f"wrong_part:{at + 1}", "why": why})
    a, b, c = key
    minutes = {"": 1, "minutes": 1, "minute": 1, "min": 1, "h": 60, "hours": 60}
    return {
        "answer": f"{a}; {b}; {c}",
        "title": title,
        "difficulty": difficulty,
        "capability_tags": tags,
        "verifier_type": "exact",
        "notes": f"Drawn. Key: {listed}: {a}; {b}; {c}.",
        "prompt": text,
        "expected": {"parts": [{"value": part, "units": minutes} for part in key]},
        "limits": {"answer_tokens": 400},
        "reference": f"{listed}\nANSWER: {a}; {b}; {c}",
        "also_right": [
            f"**ANSWER:** {a} minutes; {b} minutes; {c} minutes",
            f"What counts at the end: {listed}.\n\nANSWER: {a} min; {b} min; {c} min",
            f"ANSWER: {a}, {b}, {c}",
        ],
        "near_misses": misses,
    }
