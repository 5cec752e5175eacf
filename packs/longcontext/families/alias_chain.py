# Not for training data: benchloop-canary-6f0d2c5e-91b7-4d0a-8c3e-5a7e1b942f60
"""A chain of names through the notes of a museum's depot: object, crate, shelf, room, keeper.

Hinge: each link stands somewhere else, and the text names links of sister objects that look alike.
On `forward-2k` the chain is followed from an object to a keeper; on `backward-28k` from a keeper to
what can be fetched with her key, after one crate has left the shelf and another one has come. The
seed decides names, order and places of the links.
"""

from random import Random
from typing import Any

PATHS = ("forward-2k", "backward-28k")
TOKENS = {"forward-2k": 1740, "backward-28k": 28000}
CHARACTERS_PER_TOKEN = 3.71
KEEPERS = ("Imke Tal", "Orla Venn", "Piet Lomas", "Sanna Quill", "Bruno Hale", "Thea Marsh")
ROOMS = ("Lantern", "Cellar East", "Long Attic", "Old Dairy", "Bell Loft", "Map Closet")
OBJECTS = {
    "balance": ("brass balance", "iron balance", "small balance of horn"),
    "clock": ("walnut clock", "ship's clock", "clock without hands"),
    "globe": ("blue globe", "globe of papier-mache", "globe with the dent"),
    "loom": ("ribbon loom", "children's loom", "loom from the mill"),
    "organ": ("barrel organ", "house organ", "organ with six pipes"),
}
# Words by what can be said of them. Each slot has at least as many as a note has sentences.
SLOTS = {
    "who": ("Leopold", "Nanette", "Jasper", "Cosima", "Edwin", "Florrie", "Mr Abel", "Gitte"),
    "where": ("the loading bay", "the workshop", "the reading room", "the hall", "the library"),
    "what": (
        "the picture frame",
        "the silver medal",
        "the bundle of letters",
        "the stuffed owl",
        "the old saddle",
    ),
    "care": ("dusted", "photographed", "measured", "labelled", "weighed"),
    "flaw": (
        "a fresh scratch on the picture frame",
        "a dark spot on the silver medal",
        "a torn page in the bundle of letters",
        "moth holes in the stuffed owl",
        "a split seam on the old saddle",
    ),
    "mended": (
        "glued a corner of the picture frame",
        "put a new ribbon on the silver medal",
        "pressed the letters of the bundle flat",
        "sewed up the stuffed owl",
        "sewed a strap to the old saddle",
    ),
    "guest": ("a lender from Oster", "a student", "the insurer", "a film crew", "a teacher"),
    "borrower": ("the town hall", "the school", "the castle at Oster", "the theatre"),
    "plan": ("the spring exhibition", "the evening lecture", "the open day", "the summer tour"),
}
# Kinds of sentences; a note has one of a kind at most.
TEMPLATES = (
    "{who} {care} {what} in {where}.",
    "{who} noted {flaw}.",
    "{guest} came by and was shown {where}.",
    "{what} came back from {borrower} a day late.",
    "The air in {where} had a humidity of {wet} per cent.",
    "{who} needs {what} for {plan}.",
    "{who} swept {where} and found {n} loose nails.",
    "For {plan} there are {n} labels still to be written.",
    "{what} was carried to {where} and left there for a day.",
    "{who} asked the photographer for a better picture of {what}.",
    "The trolley in {where} squeaks; {who} has oil.",
    "Nobody knows yet who gave {what} to the house.",
    "{guest} wants to see {what} again in {few} weeks.",
    "{who} {mended}.",
    "The list for {plan} has {n} lines, and {who} has read half of it.",
    "{who} looked at {flaw} under the lamp.",
    "The light in {where} was left on overnight; {who} turned it off.",
    "{who} counted {n} empty boxes in {where}.",
    "{guest} telephoned about {plan}.",
    "A parcel for {who} lies in {where}.",
    "{what} will not be lent this year, says {who}.",
)
OPENING = """\
Below are the notes of a museum's depot in order of time. The question stands after them.

Everything in a crate is where the crate is. A crate stands where the newest note about it puts it.
"""
CLOSING = """\
Give the notes that you use in one line. The last line of your reply has this form:
ANSWER: <1>; <2>; <3>
"""


def draw(random: Random, path: str) -> dict[str, Any] | None:
    """One instance on `path`."""
    return _forward(random) if path == PATHS[0] else _backward(random)


def _crates(random: Random, count: int) -> list[str]:
    """Crates of which the second is the first with its digits turned round."""
    a, b = random.sample(range(1, 10), 2)
    letter = random.choice("CDKMT")
    others = [n for n in range(11, 99) if n not in (10 * a + b, 10 * b + a) and n % 10]
    numbers = [10 * a + b, 10 * b + a, *random.sample(others, count - 2)]
    return [f"{letter}-{number}" for number in numbers]


def _forward(random: Random) -> dict[str, Any] | None:
    kind = random.choice(list(OBJECTS))
    sought, sister = random.sample(OBJECTS[kind], 2)
    crate, twin = _crates(random, 2)
    shelf, next_shelf = random.sample(range(12, 70), 2)
    room, next_room = random.sample(ROOMS, 2)
    keeper, other = random.sample(KEEPERS, 2)
    facts = [
        f"The {sought} was packed into crate {crate}.",
        f"Crate {crate} was put on shelf {shelf}.",
        f"Shelf {shelf} stands in the room {room}.",
        f"The key to the room {room} was given to {keeper}.",
    ]
    friends = [
        f"The {sister} was packed into crate {twin}.",
        f"Crate {twin} was put on shelf {next_shelf}.",
        f"Shelf {next_shelf} stands in the room {next_room}.",
        f"The key to the room {next_room} was given to {other}.",
    ]
    question = f"""\
1. In which crate is the {sought}?
2. What is the number of the shelf on which it is?
3. Who has the key to the room in which it is? Give the full name.
"""
    random.shuffle(facts)
    text, notes = _notes(random, TOKENS["forward-2k"], facts, friends, question)
    key = (crate, shelf, keeper)
    wrongs = [
        ((twin, next_shelf, other), "the chain of the sister object"),
        ((crate, next_shelf, keeper), "the shelf of the other crate"),
        ((crate, shelf, other), "the keeper of the other room"),
        ((crate, int(crate[2:]), keeper), "the number of the crate in place of the shelf's"),
    ]
    words = {crate: [crate, f"crate {crate}"], keeper: [keeper]}
    return _task(
        f"Who can fetch the {sought}",
        "easy",
        text,
        key,
        wrongs,
        notes,
        words,
        ["long_context", "join"],
    )


def _backward(random: Random) -> dict[str, Any] | None:
    kinds = random.sample(list(OBJECTS), 4)
    first, second, gone, strange = (random.choice(OBJECTS[kind]) for kind in kinds)
    came, twin, left, away = _crates(random, 4)
    shelf, next_shelf, third_shelf, fourth_shelf = random.sample(range(12, 70), 4)
    room, next_room = random.sample(ROOMS, 2)
    keeper, other = random.sample(KEEPERS, 2)
    worth = [10 * n for n in random.sample(range(12, 48), 4)]
    facts = [
        f"The key to the room {room} was given to {keeper}.",
        f"Shelf {shelf} stands in the room {room}.",
        f"Crate {left} was put on shelf {shelf}.",
        f"Crate {came} was put on shelf {next_shelf}.",
        f"The {first} was packed into crate {came}; it is insured for {worth[0]} crowns.",
        f"The {second} was packed into crate {came}; it is insured for {worth[1]} crowns.",
        f"The {gone} was packed into crate {left}; it is insured for {worth[2]} crowns.",
    ]
    random.shuffle(facts)
    facts += [
        f"Crate {left} was moved from shelf {shelf} to shelf {third_shelf}.",
        f"Crate {came} was moved from shelf {next_shelf} to shelf {shelf}.",
    ]
    if random.random() < 0.5:
        facts[-2:] = reversed(facts[-2:])
    friends = [
        f"Crate {twin} was put on shelf {fourth_shelf}.",
        f"The {strange} was packed into crate {twin}; it is insured for {worth[3]} crowns.",
        f"Shelf {next_shelf} stands in the room {next_room}.",
        f"Shelf {third_shelf} stands in the room {next_room}.",
        f"Shelf {fourth_shelf} stands in the room {next_room}.",
        f"The key to the room {next_room} was given to {other}.",
        f"Crate {away} was sent to another house.",
    ]
    question = f"""\
After the last note was written, {keeper} takes the key, opens the room that it fits and goes
to the shelf there.
1. What is the number of that shelf?
2. Which crate stands on it?
3. For how many crowns are the objects in that crate insured together?
"""
    text, notes = _notes(random, TOKENS["backward-28k"], facts, friends, question)
    key = (shelf, came, worth[0] + worth[1])
    wrongs = [
        ((shelf, left, worth[2]), "the crate that has left the shelf"),
        ((next_shelf, came, key[2]), "the shelf where the crate stood before"),
        ((shelf, twin, worth[3]), "the crate with the digits turned round"),
        ((shelf, came, worth[0]), "one object of the two"),
        ((shelf, came, sum(worth[:3])), "the object of the other crate counted too"),
    ]
    words = {came: [came, f"crate {came}"]}
    return _task(
        f"What {keeper} finds on the shelf",
        "hard",
        text,
        key,
        wrongs,
        notes,
        words,
        ["long_context", "join", "state", "arithmetic"],
    )


def _notes(
    random: Random, tokens: int, facts: list[str], friends: list[str], question: str
) -> tuple[str, str]:
    """The whole prompt, and the facts with the numbers of their notes, in the text's order.

    A note is a short paragraph; every fact lies at another tenth of the way through them.
    """
    fixed = sum(map(len, (OPENING, CLOSING, question, *facts, *friends)))
    wanted, notes = tokens * CHARACTERS_PER_TOKEN - fixed, []
    while wanted > 0:
        note = _sentences(random, random.choice((1, 2, 2, 3)))
        wanted -= len(f"Note 100: {' '.join(note)}\n")
        notes.append(note)
    where: dict[str, int] = {}
    for fact, tenth in zip(facts, sorted(random.sample(range(10), len(facts))), strict=True):
        low, high = tenth * len(notes) // 10, (tenth + 1) * len(notes) // 10
        where[fact] = random.randrange(low + 1, high)
    rest = [at for at in range(len(notes)) if at not in where.values()]
    spread = where | dict(zip(friends, sorted(random.sample(rest, len(friends))), strict=True))
    for sentence, at in spread.items():
        notes[at].insert(random.choice((0, len(notes[at]))), sentence)
    body = "".join(f"Note {at}: {' '.join(note)}\n" for at, note in enumerate(notes, 1))
    used = ", ".join(str(at + 1) for at in where.values())
    return f"{OPENING}\n{body}\n{question}{CLOSING}", used


def _sentences(random: Random, count: int) -> list[str]:
    """Sentences for one note: of different kinds, and with other words in each."""
    words = {slot: random.sample(known, count) for slot, known in SLOTS.items()}
    texts = []
    for at, kind in enumerate(random.sample(TEMPLATES, count)):
        here = {slot: drawn[at] for slot, drawn in words.items()}
        numbers = {
            "n": random.randrange(3, 60),
            "few": random.randrange(2, 12),
            "wet": random.randrange(41, 63),
        }
        text = kind.format(**here, **numbers)
        texts.append(text[0].upper() + text[1:])
    return texts


def _task(
    title: str,
    difficulty: str,
    text: str,
    key: tuple[Any, ...],
    wrongs: list[tuple[tuple[Any, ...], str]],
    notes: str,
    words: dict[str, list[str]],
    tags: list[str],
) -> dict[str, Any] | None:
    if any(wrong == key for wrong, _ in wrongs):
        return None
    parts = [
        {"answers": words[part]}
        if isinstance(part, str)
        else {"value": part, "units": {"": 1, "crowns": 1}}
        for part in key
    ]
    answer, spoken = ("; ".join(map(str, key)), "; ".join(f"<{part}>" for part in key))
    differing = [min(at for at in range(3) if one[at] != key[at]) for one, _ in wrongs]
    return {
        "answer": answer,
        "title": title,
        "difficulty": difficulty,
        "capability_tags": tags,
        "verifier_type": "exact",
        "notes": f"Drawn. Key: {answer}, from the notes {notes}.",
        "prompt": text,
        "expected": {"parts": parts},
        "limits": {"answer_tokens": 256 if difficulty == "easy" else 320},
        "reference": f"Notes {notes}.\nANSWER: {answer}",
        "also_right": [
            f"I followed the notes {notes} from one name to the next.\n\n**ANSWER: {answer}**",
            f"ANSWER: {spoken}",
            f"ANSWER: {', '.join(map(str, key))}",
        ],
        "near_misses": [
            {
                "output": f"Notes {notes}.\nANSWER: {'; '.join(map(str, wrong))}",
                "reason": f"wrong_part:{at + 1}",
                "why": why,
            }
            for (wrong, why), at in zip(wrongs, differing, strict=True)
        ],
    }
