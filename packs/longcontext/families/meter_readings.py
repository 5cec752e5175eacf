# Not for training data: benchloop-canary-6f0d2c5e-91b7-4d0a-8c3e-5a7e1b942f60
"""Readings of one water meter, scattered over the book of a boathouse.

Hinge: on `largest-rise-2k` the largest rise between neighbouring readings, while another meter, an
expectation and a memory offer numbers of the same size; on `changed-meter-14k` the meter itself was
changed, so that last minus first says nothing, and another meter was changed too. The seed decides
which rise is the largest, where the change lies, and where every fact stands.
"""

from random import Random
from typing import Any

PATHS = ("largest-rise-2k", "changed-meter-14k")
TOKENS = {"largest-rise-2k": 1700, "changed-meter-14k": 14000}
CHARACTERS_PER_TOKEN = 3.41
OPENING = """\
Below is the book of a boathouse, one entry a day. The question stands after it.

A reading is a sentence that says what a meter shows. What somebody expects, remembers or guesses is
no reading.
"""
CHANGES = """\
The sentence about a change of meter holds two readings: the last one of the old meter and the first
one of the new meter.
"""
CLOSING = """\
Give the readings that you use, each with its entry, in one line. The last line of your reply has
this form:
"""
# Words by what can be said of them. Each slot has at least as many as an entry has sentences.
SLOTS = {
    "boat": (
        "Plover",
        "Grey Hen",
        "Tansy",
        "Old Otto",
        "Marigold",
        "Kestrel",
        "Lapwing",
        "Dabchick",
    ),
    "who": ("Ruan", "Imogen", "Tobiah", "Wenna", "Hask", "Perrin", "Odile", "Mr Crake", "Jory"),
    "place": ("slip", "north jetty", "sail loft", "boat shed", "workshop", "crane"),
    "berth": ("slip", "north jetty", "long jetty", "gravel bank"),
    "quay": ("north jetty", "long jetty", "stone quay"),
    "wooden": ("north jetty", "long jetty", "sail loft", "boat shed", "workshop"),
    "lift": ("slip", "crane", "gravel bank"),
    "tap": ("boat shed", "workshop", "slip", "north jetty"),
    "thing": (
        "a coil of rope",
        "an oar",
        "the spare rudder",
        "a box of shackles",
        "the tar kettle",
    ),
    "lost": ("a coil of rope", "a boat hook", "a lifebelt", "a wet oilskin"),
    "cover": ("the workbench", "the loft stairs", "an old sail", "the upturned dinghy"),
    "part": ("keel", "transom", "gunwale", "rudder", "forward hatch", "mast"),
    "hold": ("bilge", "forepeak", "stern locker", "cabin"),
    "sky": (
        "Rain from the west until noon",
        "A clear and windless day",
        "Fog over the water",
        "Sleet",
    ),
    "job": ("scraped", "painted", "rubbed down", "oiled", "washed", "measured"),
    "guest": (
        "a school class",
        "two anglers",
        "a surveyor",
        "the pilot's widow",
        "a couple on bicycles",
    ),
}
# Kinds of sentences; an entry has one of a kind at most.
TEMPLATES = (
    (
        "{sky}, and nobody went out.",
        "{sky}; the {boat} stayed at the {berth}.",
        "The {boat} came in with water in the {hold}, which {who} pumped out in {n} minutes.",
    ),
    ("{who} {job} the {part} of the {boat} and left the tools at the {place}.",),
    ("{who} and a helper carried {thing} to the {place}.",),
    ("{guest} asked for the way to the {place}.",),
    ("The {boat} was hauled out at the {lift}; her {part} is sound.",),
    ("{who} found {lost} under {cover} and hung it up.",),
    ("Of the {n} buoys off the {berth} one has lost its ring.",),
    ("{who} paid for {n} nights at the {quay} and will stay on.",),
    ("The lamp at the {place} burned all night again.",),
    ("{who} wants the {boat} in the water before the others.",),
    ("The new planks for the {wooden} came, {n} of them, all of larch.",),
    ("A heron stood on the {boat} until {who} came with {thing}.",),
    ("The hose at the {tap} dripped; {who} tightened it.",),
    ("{who} read aloud from the tide table, and {guest} listened.",),
    ("The {part} of the {boat} needs a second coat.",),
    ("{guest} left a note for {who} at the {place}.",),
    ("The water stood {n} centimetres below the edge of the {quay}.",),
    ("Somebody moved {thing}; {who} says it was not the wind.",),
)


def draw(random: Random, path: str) -> dict[str, Any] | None:
    """One instance on `path`."""
    own, other = random.sample(["B2", "B5", "B7", "B8"], 2)
    return _rise(random, own, other) if path == PATHS[0] else _change(random, own, other)


def _rise(random: Random, own: str, other: str) -> dict[str, Any] | None:
    rises = [random.randrange(8, 60) for _ in range(4)]
    values = [random.randrange(210, 380)]
    for rise in rises:
        values.append(values[-1] + rise)
    largest = max(rises)
    at = rises.index(largest)
    if largest - sorted(rises)[-2] < 4 or len(set(rises)) < 4:
        return None
    expected, remembered = values[-1] + largest + 9, values[at] + largest // 3
    elsewhere = values[0] + random.randrange(5, 20)
    facts = [f"Meter {own} shows {value} cubic metres." for value in values]
    friends = [
        f"Meter {other} shows {elsewhere} cubic metres.",
        f"The water office expects meter {own} to pass {expected} before the season ends.",
        f"Meter {other} shows {elsewhere + largest + 21} cubic metres.",
        f"{random.choice(SLOTS['who'])} remembers {remembered} on meter {own}, but not the day.",
    ]
    question = f"""\
1. What is the largest rise from one reading of meter {own} to its next reading, in cubic metres?
2. What is the number of the entry with the later reading of these two?
3. By how many cubic metres did meter {own} rise from its first reading in the book to its last?
"""
    text, entries = _book(random, "largest-rise-2k", OPENING, facts, friends, question)
    total = values[-1] - values[0]
    key = (largest, entries[at + 1], total)
    listed = ", ".join(f"{v} in {e}" for v, e in zip(values, entries, strict=True))
    wrongs = [
        ((largest + 21, key[1], total), "wrong_part:1", "the rise of the other meter"),
        (
            (sorted(rises)[-2], entries[rises.index(sorted(rises)[-2]) + 1], total),
            "wrong_part:1",
            "the second largest rise",
        ),
        ((largest, entries[at], total), "wrong_part:2", "the entry where the rise begins"),
        ((largest, key[1], values[-1]), "wrong_part:3", "the last reading, not the rise"),
        (
            (largest, key[1], expected - values[0]),
            "wrong_part:3",
            "the expectation taken as a reading",
        ),
    ]
    return _task(
        f"The largest rise of meter {own}",
        "medium",
        text,
        key,
        wrongs,
        listed,
        ["long_context", "filtering", "arithmetic"],
    )


def _change(random: Random, own: str, other: str) -> dict[str, Any] | None:
    before = [random.randrange(640, 720)]
    after = [random.randrange(2, 12)]
    for values, count in ((before, random.randrange(2, 4)), (after, random.randrange(2, 4))):
        for _ in range(count):
            values.append(values[-1] + random.randrange(17, 71))
    *read_before, out = before
    start, *read_after = after
    used_before, used_after = out - read_before[0], read_after[-1] - start
    facts = [
        *(f"Meter {own} shows {value} cubic metres." for value in read_before),
        _changed(own, out, start),
        *(f"Meter {own} shows {value} cubic metres." for value in read_after),
    ]
    lost, fresh = out + random.randrange(11, 40), start + random.randrange(3, 9)
    friends = [
        f"Meter {other} shows {lost - 30} cubic metres.",
        _changed(other, lost, fresh),
        f"Meter {other} shows {read_after[-1] + 14} cubic metres.",
        f"The water office expects meter {own} to show {read_after[-1] + 33} when the season ends.",
        f"{random.choice(SLOTS['who'])} believes that meter {own} will be changed next year.",
    ]
    question = f"""\
1. How many cubic metres went through meter {own}, the old one and the new one together, from its
first reading in the book to its last?
2. What is the number of the entry in which meter {own} was changed?
3. How many cubic metres went through the new meter {own} from when it was put in to its last
reading?
"""
    text, entries = _book(random, "changed-meter-14k", OPENING + CHANGES, facts, friends, question)
    key = (used_before + used_after, entries[len(read_before)], used_after)
    listed = ", ".join(
        f"{v} in {e}"
        for v, e in zip([*read_before, f"{out} and {start}", *read_after], entries, strict=True)
    )
    unchanged = read_after[-1] - read_before[0]
    wrongs = [
        (
            (abs(unchanged), key[1], used_after),
            "wrong_part:1",
            "last minus first, as if it were one meter",
        ),
        (
            (used_before + read_after[-1], key[1], used_after),
            "wrong_part:1",
            "the new meter taken to start at nothing",
        ),
        ((used_before, key[1], used_after), "wrong_part:1", "the old meter alone"),
        (
            (key[0], entries[len(read_before) + 1], used_after),
            "wrong_part:2",
            "the first reading of the new one",
        ),
        (
            (key[0], key[1], read_after[-1]),
            "wrong_part:3",
            "the last reading, not what went through",
        ),
    ]
    return _task(
        f"What went through meter {own}",
        "hard",
        text,
        key,
        wrongs,
        listed,
        ["long_context", "state", "arithmetic"],
    )


def _changed(meter: str, out: int, start: int) -> str:
    return (
        f"Meter {meter} was changed today: the old one showed {out} cubic metres when it was taken "
        f"out, and the new one showed {start} when it was put in."
    )


def _book(
    random: Random, path: str, opening: str, facts: list[str], friends: list[str], question: str
) -> tuple[str, list[int]]:
    """The whole prompt, and the numbers of the entries that hold the facts, in their order.

    Every fact stands in another tenth of the book, the false friends anywhere else, in order too.
    """
    form = "ANSWER: <1>; <2>; <3>\n"
    room = TOKENS[path] * CHARACTERS_PER_TOKEN - len(opening + question + CLOSING + form)
    room -= sum(map(len, facts + friends))
    days: list[list[str]] = []
    while room > 0:
        days.append(_sentences(random, random.randrange(1, 4)))
        room -= sum(map(len, days[-1])) + len(days[-1]) + len("Entry 100: ")
    tenths = sorted(random.sample(range(10), len(facts)))
    # The first day of a tenth is the first whose share of the book reaches it.
    bounds = [-(-tenth * len(days) // 10) for tenth in range(11)]
    places = [random.randrange(bounds[tenth], bounds[tenth + 1]) for tenth in tenths]
    free = [place for place in range(len(days)) if place not in places]
    apart = sorted(random.sample(free, len(friends)))
    for place, sentence in (*zip(places, facts, strict=True), *zip(apart, friends, strict=False)):
        days[place].insert(random.randrange(len(days[place]) + 1), sentence)
    book = "\n".join(f"Entry {at}: {' '.join(day)}" for at, day in enumerate(days, 1))
    text = f"{opening}\n{book}\n\n{question}{CLOSING}{form}"
    return text, [place + 1 for place in places]


def _sentences(random: Random, count: int) -> list[str]:
    """Sentences for one entry: of different kinds, and with other words in each."""
    words = {slot: random.sample(known, count) for slot, known in SLOTS.items()}
    texts = []
    for at, kind in enumerate(random.sample(TEMPLATES, count)):
        here = {slot: drawn[at] for slot, drawn in words.items()}
        text = random.choice(kind).format(n=random.randrange(3, 29), **here)
        texts.append(text[0].upper() + text[1:])
    return texts


def _task(
    title: str,
    difficulty: str,
    text: str,
    key: tuple[int, int, int],
    wrongs: list[tuple[tuple[int, int, int], str, str]],
    listed: str,
    tags: list[str],
) -> dict[str, Any] | None:
    if any(wrong == key for wrong, _, _ in wrongs) or len(set(key)) < 3:
        return None
    a, b, c = key
    units = {"": 1, "cubic metres": 1, "cubic meters": 1, "cubic metre": 1, "m3": 1, "m^3": 1}
    return {
        "answer": f"{a}; {b}; {c}",
        "title": title,
        "difficulty": difficulty,
        "capability_tags": tags,
        "verifier_type": "exact",
        "notes": f"Drawn. Key: {listed}: {a}; {b}; {c}.",
        "prompt": text,
        "expected": {
            "parts": [{"value": a, "units": units}, {"value": b}, {"value": c, "units": units}]
        },
        "limits": {"answer_tokens": 256 if difficulty == "medium" else 340},
        "reference": f"{listed}\nANSWER: {a}; {b}; {c}",
        "also_right": [
            f"**ANSWER: {a} m³; entry {b}; {c} m³**",
            f"I read the book once more.\n\nANSWER: <{a} cubic metres>; <{b}>; <{c} cubic metres>",
            f"ANSWER: {a}, {b}, {c}",
        ],
        "near_misses": [
            {"output": f"{listed}\nANSWER: {x}; {y}; {z}", "reason": reason, "why": why}
            for (x, y, z), reason, why in wrongs
        ],
    }
