# Not for training data: benchloop-canary-6f0d2c5e-91b7-4d0a-8c3e-5a7e1b942f60
"""A station gets a new name in all files; something else that has the same name keeps it.

The hinge is the homonym: a person (`person`), a station whose name begins alike (`longer`), what
was printed in the past (`past`), or the address of a box in a file that also shows the name
(`address`). The seed decides which one, and where the name stands.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

PATHS = ("person", "longer", "past", "address")

OLD = ("Alder", "Marsh", "Heath", "Glen", "Brook", "Stone", "Barrow", "Linden", "Reed", "Frost")
OTHERS = ("Quay", "Market", "Museum", "Kiln", "Orchard", "Mill", "Fort", "Pond", "Abbey", "Fair")
NEW = (("North", "Old", "Upper", "West", "Green", "Long"), ("Gate", "Cross", "Hill", "Court"))

TASK = """\
On tram line {line} the station {old} is called {new} from now on. Put the new name wherever \
the files of this folder use the name of that station, except in what README.md says is never \
changed. Whatever else is called {old} keeps its name. \
Finish with one line: ANSWER: <how many lines had to change in all>
"""
TALK = (
    "Change at {T} for the ferry.",
    "The lift at {T} is out of order.",
    "Last tram to {T}: 23:40.",
    "{T} is the stop for the baths.",
    "Bicycles may stand behind {T}.",
)
OTHER_TALK = ("Mind the step at {0}.", "{0} has a new shelter.", "No parking in front of {0}.")

Files = dict[str, list[str]]
"""Path to lines; {T} is where the station's name stands."""


def draw(random: Random, path: str) -> dict[str, Any] | None:
    old = random.choice(OLD)
    new = f"{random.choice(NEW[0])} {random.choice(NEW[1])}"
    line = random.randrange(1, 30)
    others = random.sample(OTHERS, 4)
    makers = {"person": _person, "longer": _longer, "past": _past, "address": _address}
    files = _common(random, others, line)
    rule, hinge = makers[path](random, files, old, others)
    files["README.md"] += rule
    before, after = _named(files, old), _named(files, new)
    changed = [name for name in before if before[name] != after[name]]
    if len(changed) < 3:
        return None
    count = sum(
        one != other
        for name in changed
        for one, other in zip(before[name], after[name], strict=True)
    )
    if count == len(changed):
        return None
    texts = {name: _text(lines) for name, lines in before.items()}
    look = [
        [{"search_files": {"text": old}}, {"read_file": {"path": "README.md"}}],
        [{"read_file": {"path": name}} for name in changed],
    ]
    write = [_write(name, after[name]) for name in changed]
    say = {"say": f"ANSWER: {count}"}
    reference = {"trajectory": [*look, write, say]}

    def near(why: str, wrong: Files, told: int = count) -> dict[str, Any]:
        steps = [_write(name, lines) for name, lines in wrong.items() if lines != before[name]]
        done = [*look, *([steps] if steps else []), {"say": f"ANSWER: {told}"}]
        return {
            "reason": _reason(wrong, after, changed),
            "why": why,
            "output": {"trajectory": done},
        }

    everywhere = {name: [one.replace(old, new) for one in lines] for name, lines in before.items()}
    hits = sum(
        one != other
        for name in before
        for one, other in zip(before[name], everywhere[name], strict=True)
    )
    also_right = [
        {
            "trajectory": [
                [{"read_file": {"path": name}} for name in texts],
                *([one] for one in reversed(write)),
                {"say": f"{len(changed)} files were changed.\n**ANSWER: {count} lines**"},
            ]
        },
        {
            "trajectory": [
                look[0],
                _patches(before, after, changed),
                {"say": f"{old} is {new} now.\nANSWER: {count}"},
            ]
        },
    ]
    longest = max(len(json.dumps(one)) for one in (reference, *also_right))
    return {
        "answer": json.dumps([count, *(after[name] for name in changed)]),
        "title": f"{old} becomes {new}",
        "difficulty": "medium",
        "capability_tags": ["filtering", "multi_turn", "counting"],
        "verifier_type": "artifact",
        "expected_turns": 3 + 2 * len(changed),
        "notes": f"{hinge} Key: {count} lines in {len(changed)} files.",
        "prompt": TASK.format(line=line, old=old, new=new),
        "files": texts,
        "tools": "workspace",
        "expected": {
            "workspace": {
                "unchanged": [name for name in texts if name not in changed],
                "lines": {name: after[name] for name in changed},
            },
            "answer": {"value": count, "units": {"": 1, "lines": 1}},
            "least_calls": 2 + 2 * len(changed),
        },
        "limits": {"answer_tokens": max(256, 8 * longest // 5)},
        "reference": reference,
        "also_right": also_right,
        "near_misses": [
            near("replaced wherever the word stands", everywhere, hits),
            near("one file was left out", {**after, changed[-1]: before[changed[-1]]}),
            near(
                "only the list of stations was changed", {**before, changed[0]: after[changed[0]]}
            ),
            near("counted and not changed", before),
            near("the files were counted in place of the lines", after, len(changed)),
        ],
    }


def _common(random: Random, others: list[str], line: int) -> Files:
    """What every path has: the stations, their departures, and the words on the signs."""
    stations = ["{T}", *others]
    random.shuffle(stations)
    times = sorted(random.sample(range(6 * 12, 9 * 12), 6))
    stops = ["{T}", "{T}", *random.sample(others, 3), random.choice(others)]
    random.shuffle(stops)
    signs = [*random.sample(TALK, 2), random.choice(OTHER_TALK).format(others[0])]
    random.shuffle(signs)
    clock = [f"{time // 12:02d}:{time % 12 * 5:02d}" for time in times]
    return {
        "README.md": [
            f"# Tram line {line}",
            "stations.csv lists the stations, departures.csv when a tram leaves,",
            "signs.txt what the signs say.",
        ],
        "stations.csv": [
            "number,name,zone",
            *(f"{at},{name},{random.randrange(1, 4)}" for at, name in enumerate(stations, 1)),
        ],
        "departures.csv": ["departs,from", *(map(",".join, zip(clock, stops, strict=True)))],
        "signs.txt": signs,
    }


def _person(random: Random, files: Files, old: str, others: list[str]) -> tuple[list[str], str]:
    title = random.choice(["Ms", "Mr", "Dr"])
    files["staff.csv"] = ["name,works at", f"{title} {old},{others[1]}", "Ms Okoro,{T}"]
    files["signs.txt"].insert(
        random.randrange(3),
        random.choice(
            [
                f"Lost something? Ask {title} {old} at {others[1]}.",
                f"{title} {old} opens the kiosk at {{T}} at 06:00.",
            ]
        ),
    )
    rule = "staff.csv lists who works where. Numbers, times and zones are never changed."
    return [rule], f"A person is called {old} too and keeps the name."


def _longer(random: Random, files: Files, old: str, others: list[str]) -> tuple[list[str], str]:
    longer = f"{old} {random.choice(['Bridge', 'Road', 'Park', 'Lane'])}"
    files["stations.csv"].append(f"6,{longer},{random.randrange(1, 4)}")
    files["departures.csv"].append(f"09:{random.randrange(10, 60)},{longer}")
    files["signs.txt"].append(
        random.choice(
            [f"From {{T}} to {longer}: 4 minutes.", f"{longer} lies two stops after {{T}}."]
        )
    )
    rule = f"{longer} is a station of its own. Numbers, times and zones are never changed."
    return [rule], f"{longer} is another station and keeps its name."


def _past(random: Random, files: Files, old: str, others: list[str]) -> tuple[list[str], str]:
    year = random.randrange(2014, 2025)
    files[f"archive/{year}.txt"] = [
        f"1 March {year}: {old} is closed for a week.",
        f"{random.randrange(2, 28)} May {year}: new clocks at {old} and {others[2]}.",
    ]
    files["map.txt"] = [
        "The line from west to east:",
        f"{others[3]} - {others[0]} - {{T}} - {others[1]}",
    ]
    rules = [
        "map.txt is the map in words.",
        "archive/ keeps what was printed in the past; nothing in it is ever changed.",
    ]
    return rules, "What was printed in the past keeps the old name."


def _address(random: Random, files: Files, old: str, others: list[str]) -> tuple[list[str], str]:
    blocks = [
        [f"[{old}]", "label = {T}", f"rows = {random.randrange(2, 7)}"],
        [f"[{others[1]}]", f"label = {others[1]}", f"rows = {random.randrange(2, 7)}"],
    ]
    random.shuffle(blocks)
    files["boards.ini"] = [*blocks[0], "", *blocks[1]]
    rules = [
        "boards.ini sets up the boards: label is the station's name, which the board shows.",
        "The names in square brackets are the addresses of the boards and are never changed.",
    ]
    return rules, "The address of a board is no name of a station, the label under it is."


def _named(files: Files, name: str) -> Files:
    return {path: [line.replace("{T}", name) for line in lines] for path, lines in files.items()}


def _reason(found: Files, after: Files, changed: list[str]) -> str:
    """What the verifier must say of these files."""
    if any(found[name] != after[name] for name in found if name not in changed):
        return "protected_file_changed"
    wrong = [name for name in changed if found[name] != after[name]]
    return f"wrong_content:{wrong[0]}" if wrong else "wrong_answer"


def _patches(before: Files, after: Files, changed: list[str]) -> list[dict[str, Any]]:
    """The lines that change, patched one by one."""
    return [
        {"patch_file": {"path": name, "old": f"{one}\n", "new": f"{other}\n"}}
        for name in changed
        for one, other in zip(before[name], after[name], strict=True)
        if one != other
    ]


def _text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _write(name: str, lines: list[str]) -> dict[str, Any]:
    return {"write_file": {"path": name, "content": _text(lines)}}
