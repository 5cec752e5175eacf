"""Solves a longcontext task by reading its text line by line, as no generator does.

What a generator knows beforehand is found here with patterns and worked out by replaying the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, product


@dataclass(frozen=True, slots=True)
class Found:
    """The three parts of the answer, the numbers of the entries used, and how many there are."""

    parts: tuple[str, str, str]
    used: tuple[int, ...]
    entries: int


def solve(prompt: str) -> Found:
    """The answer to a task of any family. Raises StopIteration where the text holds no answer."""
    for reads, solver in READERS.items():
        if re.search(reads, prompt):
            return solver(prompt)
    raise ValueError("no such question")


def _rows(prompt: str) -> list[tuple[int, str]]:
    rows = [(int(n), text) for n, text in re.findall(r"^(?:Entry|Note) (\d+): (.*)$", prompt, re.M)]
    assert [n for n, _ in rows] == list(range(1, len(rows) + 1))
    return rows


def _told(prompt: str, pattern: str) -> Iterator[tuple[int, re.Match[str]]]:
    for number, text in _rows(prompt):
        for match in re.finditer(pattern, text):
            yield number, match


def _asked(prompt: str, pattern: str) -> re.Match[str]:
    found = re.search(pattern, prompt)
    assert found
    return found


def _found(prompt: str, parts: tuple[object, object, object], used: list[int]) -> Found:
    first, second, third = map(str, parts)
    return Found((first, second, third), tuple(used), len(_rows(prompt)))


def _largest_rise(prompt: str) -> Found:
    meter = _asked(prompt, r"reading of meter (B\d)")[1]
    shown = [(n, int(m[1])) for n, m in _told(prompt, rf"Meter {meter} shows (\d+) cubic")]
    pairs = [(b[1] - a[1], b[0]) for a, b in pairwise(shown)]
    rise, entry = max(pairs)
    assert [pair[0] for pair in pairs].count(rise) == 1
    return _found(prompt, (rise, entry, sum(pair[0] for pair in pairs)), [n for n, _ in shown])


def _changed_meter(prompt: str) -> Found:
    meter = _asked(prompt, r"went through meter (B\d)")[1]
    changed = r"was changed.*? showed (\d+) cubic.*? showed (\d+) when"
    pattern = rf"Meter {meter} (?:shows (\d+) cubic|{changed})"
    through, since, at, stands, used = 0, 0, 0, None, []
    for number, match in _told(prompt, pattern):
        value = int(match[1] or match[2])
        passed = 0 if stands is None else value - stands
        assert passed >= 0
        through, since, stands = through + passed, since + passed, value
        used.append(number)
        if match[3]:
            at, since, stands = number, 0, int(match[3])
    return _found(prompt, (through, at, since), used)


def _soaking_times(prompt: str) -> tuple[dict[int, dict[str, int]], dict[str, list[int]]]:
    """Entry to the times that hold after it, and vat to the entries about it."""
    pattern = (
        r"soaking time of vat (?P<vat>\w+) is (?:set to|corrected: it is) (?P<to>\d+) minutes"
        r"|What entry (?P<of>\d+) says about vat (?P<withdrawn>\w+) is withdrawn"
    )
    told: dict[int, re.Match[str]] = dict(_told(prompt, pattern))
    history: dict[str, list[tuple[int, int]]] = {}
    after: dict[int, dict[str, int]] = {}
    used: dict[str, list[int]] = {}
    for number, _ in _rows(prompt):
        if (match := told.get(number)) is not None:
            vat = match["vat"] or match["withdrawn"]
            used.setdefault(vat, []).append(number)
            if match["vat"]:
                history.setdefault(vat, []).append((number, int(match["to"])))
            else:
                history[vat] = [one for one in history[vat] if one[0] != int(match["of"])]
        after[number] = {vat: values[-1][1] for vat, values in history.items()}
    return after, used


def _latest(prompt: str) -> Found:
    x, y, z = _asked(
        prompt, r"times of the vats (\w+), (\w+) and (\w+) together at the end"
    ).groups()
    after, used = _soaking_times(prompt)
    holds = after[len(after)]
    entries = [entry for vat in (x, y, z) for entry in used[vat]]
    return _found(prompt, (holds[x], holds[y], holds[x] + holds[y] + holds[z]), entries)


def _as_of(prompt: str) -> Found:
    x, entry = _asked(prompt, r"time of vat (\w+) when entry (\d+) was written").groups()
    y = _asked(prompt, r"2\. How many minutes is the soaking time of vat (\w+)")[1]
    after, used = _soaking_times(prompt)
    end = after[len(after)]
    parts = (after[int(entry)][x], end[y], end[x] + end[y])
    return _found(prompt, parts, [*used[x], *used[y], int(entry)])


_PACKED = r"The ([^.;]+) was packed into crate (\w-\d+)(?:; it is insured for (\d+) crowns)?"
_PUT = r"Crate (\w-\d+) was (?:put on|moved from shelf \d+ to) shelf (\d+)"
_BUILT = r"Shelf (\d+) stands in the room ([A-Z][\w ]+)\."
_GIVEN = r"The key to the room ([A-Z][\w ]+) was given to ([A-Z]\w+ [A-Z]\w+)\."


def _chains(prompt: str) -> Iterator[tuple[tuple[str, ...], list[int]]]:
    """Every object with its crate, shelf, room, keeper and worth, and the notes that say so."""
    last = {match[1]: (number, match[2]) for number, match in _told(prompt, _PUT)}
    links = (_told(prompt, _PACKED), _told(prompt, _BUILT), _told(prompt, _GIVEN))
    for (packed, thing), (built, shelf), (given, key) in product(*map(list, links)):
        put = last.get(thing[2])
        if put and put[1] == shelf[1] and shelf[2] == key[1]:
            chain = (thing[1], thing[2], shelf[1], shelf[2], key[2], thing[3] or "0")
            yield chain, [packed, put[0], built, given]


def _forward(prompt: str) -> Found:
    thing = _asked(prompt, r"In which crate is the (.+)\?")[1]
    ((chain, used),) = [one for one in _chains(prompt) if one[0][0] == thing]
    return _found(prompt, (chain[1], chain[2], chain[4]), used)


def _backward(prompt: str) -> Found:
    keeper = _asked(prompt, r"was written, (\w+ \w+) takes the key")[1]
    chains = [one for one in _chains(prompt) if one[0][4] == keeper]
    ((crate, shelf),) = {(chain[1], chain[2]) for chain, _ in chains}
    worth = sum(int(chain[5]) for chain, _ in chains)
    assert len(chains) == 2
    return _found(prompt, (shelf, crate, worth), list({n for _, used in chains for n in used}))


_DELIVERY = re.compile(
    r"(?=.*?(?P<weight>\d+) kg of (?P<crop>\w+))(?=.*?moisture (?P<moist>\d+))"
    r"(?=.*?(?P<place>bay \d+|the drying floor))"
    r"(?:(?=.*?brought by (?P<by>[A-Z]\w+ [A-Z]\w+))|(?P<who>[A-Z]\w+ [A-Z]\w+) from)",
    re.IGNORECASE,
)


def _deliveries(prompt: str) -> list[tuple[int, dict[str, str]]]:
    found = []
    for number, text in _rows(prompt):
        match = _DELIVERY.match(text)
        assert match, text
        found.append((number, match.groupdict()))
    return found


def _heavy(prompt: str) -> Found:
    asked = _asked(prompt, r"deliveries of (\w+) that weigh more than (\d+) kg")
    hits = [
        (int(one["weight"]), number)
        for number, one in _deliveries(prompt)
        if one["crop"] == asked[1] and int(one["weight"]) > int(asked[2])
    ]
    parts = (len(hits), sum(weight for weight, _ in hits), max(hits)[1])
    return _found(prompt, parts, [number for _, number in hits])


def _rule(prompt: str) -> Found:
    asked = _asked(prompt, r"one rule: (\w+) with a moisture above (\d+) goes")
    own = [(number, one) for number, one in _deliveries(prompt) if one["crop"] == asked[1]]
    floor = [(number, one) for number, one in own if one["place"] == "the drying floor"]
    moist = [(number, one) for number, one in own if int(one["moist"]) > int(asked[2])]
    ((at, breaker),) = [one for one in moist if one not in floor]
    total = sum(int(one["weight"]) for _, one in floor)
    used = [at, *(number for number, _ in floor)]
    return _found(prompt, (at, breaker["by"] or breaker["who"], total), used)


READERS = {
    r"largest rise": _largest_rise,
    r"the old one and the new one together": _changed_meter,
    r"when entry \d+ was written": _as_of,
    r"together at the end\?": _latest,
    r"In which crate": _forward,
    r"takes the key": _backward,
    r"that weigh more than": _heavy,
    r"breaks the rule": _rule,
}
"""What tells a question, and who solves it."""
