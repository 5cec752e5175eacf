# Not for training data: benchloop-canary-6f0d2c5e-91b7-4d0a-8c3e-5a7e1b942f60
"""A setting is to be changed where three layers of files give it, on one host or on all.

The hinge is the layer: which file is in force for whom, and in which one the rules of the README
want the change. The seed decides whether the setting is so far the vendor's (`unset`), the host's
own (`shadowed`), the site's, to be changed on one host alone (`one_host`), or the site's with a
host in the way (`everywhere`).
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

PATHS = ("unset", "shadowed", "one_host", "everywhere")

Layer = dict[str, int]
"""section.key to value."""

WORLDS: tuple[dict[str, Any], ...] = (
    {
        "place": "the greenhouses",
        "one": "house",
        "hosts": ("fern", "moss", "ivy", "sedge", "clover"),
        "keys": {
            "heating.night_degrees": ("the night temperature", 6, 19),
            "vents.open_percent": ("the opening of the vents", 10, 90),
            "water.run_minutes": ("the watering time", 5, 60),
            "lamp.lit_hours": ("the hours of lamp light", 4, 16),
        },
    },
    {
        "place": "the catalogue screens",
        "one": "screen",
        "hosts": ("lobby", "attic", "annex", "cellar", "porch"),
        "keys": {
            "loan.days": ("the loan period", 7, 60),
            "search.hits": ("the number of hits on a page", 10, 90),
            "display.dark_after": ("the minutes until the display goes dark", 2, 40),
            "queue.places": ("the places in the waiting list", 3, 30),
        },
    },
    {
        "place": "the ticket machines",
        "one": "machine",
        "hosts": ("pier", "quay", "slip", "jetty", "lock"),
        "keys": {
            "ticket.valid_minutes": ("the time a ticket is valid", 30, 180),
            "card.limit_euros": ("the limit for cards", 20, 200),
            "receipt.copies": ("the number of receipts", 1, 9),
            "idle.reset_seconds": ("the seconds until the machine resets", 15, 120),
        },
    },
)

README = """\
# Settings of {place}
Each {one} reads defaults.ini, then site.ini, then its own file in hosts/. What is read later wins.
`python show.py NAME` prints what is in force on one {one}.
Rules for changes:
1. defaults.ini comes with each release and is never edited.
2. What every {one} has in common stands in site.ini and in no file of hosts/.
3. A file in hosts/ holds only what is different on that {one}.
4. Sections and keys have the names of defaults.ini. Other entries stay, and no file is added.
"""

SHOW = """\
import configparser
import sys

settings = configparser.ConfigParser()
settings.read(["defaults.ini", "site.ini", f"hosts/{sys.argv[1]}.ini"])
for section in settings.sections():
    for key, value in settings[section].items():
        print(f"{section}.{key} = {value}")
"""

PLANS = (
    "In {place}, {phrase} ({key}) shall be {new} {where}.",
    "{Phrase} in {place} should become {new} {where}; the setting is {key}.",
    "Please set {key}, {phrase} in {place}, to {new} {where}.",
)
ORDER = """\
 README.md says how the settings are kept: read it before you change anything. \
Make the change and no other. Finish with one line: ANSWER: <the value of {key} that was in force \
on {host} before>
"""


def draw(random: Random, path: str) -> dict[str, Any] | None:
    world = random.choice(WORLDS)
    here, there = random.sample(world["hosts"], 2)
    keys = list(world["keys"])
    random.shuffle(keys)
    target, *others = keys
    phrase, low, high = world["keys"][target]
    if high - low < 4:
        return None
    vendor, site, own, new = random.sample(range(low, high + 1), 4)

    # A layer never says what is in force without it: it would break the rules from the start.
    drawn = {
        key: random.sample(range(world["keys"][key][1], world["keys"][key][2] + 1), 2)
        for key in others
    }
    layers: dict[str, Layer] = {
        "defaults.ini": {key: drawn[key][0] if key in drawn else vendor for key in keys},
        "site.ini": {others[0]: drawn[others[0]][1]},
        f"hosts/{here}.ini": {others[1]: drawn[others[1]][1]},
        f"hosts/{there}.ini": {others[2]: drawn[others[2]][1]},
    }
    if path != "unset":
        layers["site.ini"][target] = site
    if path in ("shadowed", "everywhere"):
        layers[f"hosts/{here}.ini"][target] = own
    right, slip, slip_why = _changes(path, layers, f"hosts/{here}.ini", target, new)
    before = {"unset": vendor, "shadowed": own, "one_host": site, "everywhere": own}[path]
    told_wrong = {"unset": new, "shadowed": site, "one_host": vendor, "everywhere": site}[path]
    is_for_all = path in ("unset", "everywhere")
    where = f"on every {world['one']}" if is_for_all else f"on {here} alone"
    words = {**world, "phrase": phrase, "Phrase": phrase.capitalize(), "key": target, "new": new}
    prompt = (random.choice(PLANS) + ORDER).format(**words, where=where, host=here)
    files = {
        "README.md": README.format(**world),
        "show.py": SHOW,
        **{name: _ini(layer) for name, layer in layers.items()},
    }
    after = {**layers, **right}
    look = [
        [{"list_files": {"path": "."}}],
        [{"read_file": {"path": "README.md"}}],
        [{"read_file": {"path": name}} for name in layers],
    ]
    write = [_write(name, layer) for name, layer in right.items()]
    say = {"say": f"ANSWER: {before}"}
    reference = {"trajectory": [*look, write, say]}
    also_right = [
        {"trajectory": [*look[1:], *_patches(files, layers, right), say]},
        {
            "trajectory": [
                [{"search_files": {"text": target.split(".")[1]}}, *look[1]],
                look[2],
                *([one] for one in reversed(write)),
                {"say": f"{target} is {new} {where}.\n**ANSWER: {before}**"},
            ]
        },
    ]
    shown = {str(value) for layer in layers.values() for value in layer.values()}
    longest = max(len(json.dumps(one)) for one in (reference, *also_right))
    return {
        "answer": f"{json.dumps(right, sort_keys=True)}, was {before}",
        "title": f"Change {target} {where}",
        "difficulty": "hard" if path == "everywhere" else "medium",
        "capability_tags": ["config", "protected_file", "restraint"],
        "verifier_type": "artifact",
        "expected_turns": 7 + len(write),
        "notes": f"Failure behind it: {slip_why}. Key: {target} was {before} on {here}.",
        "prompt": prompt,
        "files": files,
        "tools": "workspace",
        "expected": {
            "workspace": {
                "unchanged": ["README.md", "show.py", "defaults.ini"],
                "settings": [
                    *(_in_force(after, host) for host in (here, there)),
                    *(
                        {"files": [name], "values": _texts(layer), "exactly": True}
                        for name, layer in after.items()
                        if name != "defaults.ini"
                    ),
                ],
            },
            "answer": {"parts": [str(before)], "among": sorted(shown | {str(new)}, key=int)},
            "look_first": ["README.md"],
            "least_calls": 6 + len(write),
        },
        "limits": {"answer_tokens": max(256, 8 * longest // 5)},
        "reference": reference,
        "also_right": also_right,
        "near_misses": [
            {
                "reason": "protected_file_changed",
                "why": "the vendor's file was edited",
                "output": _done(
                    look, {"defaults.ini": {**layers["defaults.ini"], target: new}}, say
                ),
            },
            {
                "reason": f"setting:{target}",
                "why": slip_why,
                "output": _done(look, slip, say),
            },
            {
                "reason": f"setting:{_kept(layers, right)}",
                "why": "the file was written anew and its other entry is lost",
                "output": _done(look, {**right, next(iter(right)): {target: new}}, say),
            },
            {
                "reason": f"setting:{target}",
                "why": "the key went into a section of its own, where nothing reads it",
                "output": _done(
                    look,
                    {
                        name: {**layers[name], "change." + target.split(".")[1]: new}
                        for name in right
                    },
                    say,
                ),
            },
            {
                "reason": "wrong_answer",
                "why": "the change is right, and the value of another layer is told",
                "output": _done(look, right, {"say": f"ANSWER: {told_wrong}"}),
            },
            {
                "reason": "changed_before_looking:README.md",
                "why": "right, and the rules were never read",
                "output": {"trajectory": [look[2], write, say]},
            },
            *(_doubled(look, layers, here, target, new, say) if path == "everywhere" else ()),
        ],
    }


def _changes(
    path: str, layers: dict[str, Layer], own: str, target: str, new: int
) -> tuple[dict[str, Layer], dict[str, Layer], str]:
    """The files as they must become, as the short way would leave them, and what that way is."""
    site = {"site.ini": {**layers["site.ini"], target: new}}
    host = {own: {**layers[own], target: new}}
    if path == "unset":
        return site, host, "the value was set on one host, where every host was meant"
    if path == "shadowed":
        return host, site, "the site's value was changed, which the host's own file hides"
    if path == "one_host":
        return host, site, "the value was changed for every host, where one was meant"
    bare = {own: {key: value for key, value in layers[own].items() if key != target}}
    return site | bare, site, "the site's value was changed, and one host still hides it"


def _doubled(
    look: list[Any], layers: dict[str, Layer], here: str, target: str, new: int, say: Any
) -> list[dict[str, Any]]:
    own = f"hosts/{here}.ini"
    both = {name: {**layers[name], target: new} for name in ("site.ini", own)}
    return [
        {
            "reason": "extra_setting",
            "why": "the host's file still has what every host has in common",
            "output": _done(look, both, say),
        }
    ]


def _done(look: list[Any], changed: dict[str, Layer], say: Any) -> dict[str, Any]:
    return {"trajectory": [*look, [_write(name, layer) for name, layer in changed.items()], say]}


def _write(name: str, layer: Layer) -> dict[str, Any]:
    return {"write_file": {"path": name, "content": _ini(layer)}}


def _patches(
    files: dict[str, str], layers: dict[str, Layer], right: dict[str, Layer]
) -> list[list[dict[str, Any]]]:
    """The change made by patches: lines put in, altered or taken out."""
    turns = []
    for name, layer in right.items():
        added = {key: value for key, value in layer.items() if layers[name].get(key) != value}
        if gone := [key for key in layers[name] if key not in layer]:
            old, new = _ini({gone[0]: layers[name][gone[0]]}).strip(), ""
        elif (key := next(iter(added))) in layers[name]:
            old, new = _ini({key: layers[name][key]}).strip(), _ini(added).strip()
        else:
            head = files[name].splitlines()[0]
            old, new = head, f"{_ini(added).strip()}\n\n{head}"
        turns.append([{"patch_file": {"path": name, "old": old, "new": new}}])
    return turns


def _kept(layers: dict[str, Layer], right: dict[str, Layer]) -> str:
    """The entry of the first changed file that stays as it is."""
    name = next(iter(right))
    return next(key for key, value in layers[name].items() if right[name].get(key) == value)


def _in_force(layers: dict[str, Layer], host: str) -> dict[str, Any]:
    names = ["defaults.ini", "site.ini", f"hosts/{host}.ini"]
    merged: Layer = {}
    for name in names:
        merged |= layers[name]
    return {"files": names, "values": _texts(merged)}


def _texts(layer: Layer) -> dict[str, str]:
    return {key: str(value) for key, value in layer.items()}


def _ini(layer: Layer) -> str:
    blocks = []
    for name, value in layer.items():
        section, key = name.split(".")
        blocks.append(f"[{section}]\n{key} = {value}\n")
    return "\n".join(blocks)
