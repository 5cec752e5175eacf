"""The keys of the coding families by other ways: unit by unit, letter by letter, key by key.

The second solvers know the path; all other choices of the seed they read out of the prompt.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest

from bench_loop.engine.families import Instance, load_family
from bench_loop.engine.packs import load_pack
from tests.packs.near_misses import faults

DRAWS = 20
SEED = 2029
Solver = Callable[[str, str, list[Any]], Any]
"""Path, prompt in one line, arguments: the value. Raises ValueError where that is due."""
Record = dict[str, Any]


def units(prompt: str, spans: list[list[int]], size: int | None) -> Iterator[list[int]]:
    """The units of each span, walked from its start."""
    bounds = re.search(r"whole numbers from (\d+) to (\d+)", prompt)
    first, last = map(int, bounds.groups()) if bounds else (0, 0)
    is_closed = "The end belongs to the span" in prompt
    for start, end in spans:
        if bounds is None:
            assert size is not None
            low, high = (1, size) if is_closed else (0, size)
            if end < start or start < low or end > high:
                raise ValueError
            yield [at for at in range(low, high + 1) if start <= at and at < end + is_closed]
            continue
        walked = [start]
        while walked[-1] != end or (not is_closed and len(walked) == 1 and start == end):
            following = walked[-1] + 1
            walked.append(following if following <= last else first)
            if walked[-1] == end:
                break
        yield walked if is_closed else walked[:-1]


def solve_spans(path: str, prompt: str, args: list[Any]) -> Any:
    spans, size = args[0], args[1] if len(args) > 1 else None
    covered = list(units(prompt, spans, size))
    if path == "added":
        return [
            len([unit for unit in units if not any(unit in one for one in covered[:at])])
            for at, units in enumerate(covered)
        ]
    bounds = re.search(r"whole numbers from (\d+) to (\d+)", prompt)
    is_from_one = "1 to size" in prompt
    line = list(range(1, size + 1) if is_from_one else range(size)) if size else []
    everything = list(range(int(bounds[1]), int(bounds[2]) + 1)) if bounds else line
    times = [sum(unit in one for one in covered) for unit in everything]
    if path == "gap":
        marks = "".join("x" if count else "." for count in times)
        runs = re.findall(r"\.+", marks * 2 if bounds else marks)
        return min(max(map(len, runs), default=0), len(everything))
    return {
        "covered": len(everything) - times.count(0),
        "twice": len(everything) - times.count(0) - times.count(1),
        "peak": sorted(times)[-1],
    }[path]


def without_comment(line: str, mark: str, *, is_quoting: bool) -> str:
    """`line` up to a mark at its beginning or after a blank, letter by letter."""
    is_inside, kept = False, ""
    for letter in line:
        is_inside ^= is_quoting and letter == '"'
        if letter == mark and not is_inside and (not kept or kept[-1] == " "):
            return kept
        kept += letter
    if is_inside:
        raise ValueError
    return kept


def logical_lines(path: str, text: str, mark: str) -> Iterator[str]:
    """The lines that say something, put together from the end of the text backwards."""
    lines = [line.strip() for line in text.splitlines()]
    if path in ("comment", "quoted"):
        lines = [without_comment(line, mark, is_quoting=path == "quoted").strip() for line in lines]
    at = 0
    while at < len(lines):
        last = at
        is_comment = path in ("section", "continued") and lines[at].startswith(mark)
        while path == "continued" and lines[at] and not is_comment and lines[last].endswith("\\"):
            last += 1
            if last == len(lines):
                raise ValueError
        parts = [part.removesuffix("\\").strip() for part in lines[at : last + 1]]
        if lines[at] and not is_comment:
            yield " ".join(part for part in parts if part) if last > at else lines[at]
        at = last + 1


def solve_lines(path: str, prompt: str, args: list[Any]) -> dict[str, str]:
    sep = "=" if "name = value" in prompt else ":"
    mark = (re.findall(r"(?:A|with) ([;#])", prompt) or ["#"])[0]
    said: dict[str, list[str]] = {}
    section = ""
    for line in logical_lines(path, args[0], mark):
        if path == "section" and line[0] == "[" and line[-1] == "]":
            section = line[1:-1].strip()
            continue
        at = line.find(sep)
        if at < 0:
            if f"without {sep} raises ValueError" in prompt:
                raise ValueError
            continue
        name, value = line[:at].strip(), line[at + 1 :].strip()
        if path == "quoted":
            value = value.strip('"')
        said.setdefault(f"{section}.{name}" if section else name, []).append(value)
    if "more than once raises ValueError" in prompt and any(len(v) > 1 for v in said.values()):
        raise ValueError
    which = 0 if "its first value counts" in prompt else -1
    return {name: values[which] for name, values in said.items()}


def one_of(prompt: str, key: str, mine: Record | None, other: Record | None, path: str) -> Record:
    """What becomes of the records that both sides have for one key."""
    if mine is None or other is None:
        return (mine or other) or {}
    if path == "newer":
        is_tie = mine["changed"] == other["changed"]
        tie = other if "the one of theirs is taken" in prompt else mine
        return tie if is_tie else sorted([mine, other], key=lambda row: row["changed"])[1]
    strong, weak = (other, mine) if "the value of theirs counts" in prompt else (mine, other)
    return {field: weak[field] if strong[field] is None else strong[field] for field in mine}


def solve_versions(prompt: str, base: Record, ours: Record, theirs: Record) -> Record:
    kept = re.findall(r"it is as in (\w+), and absent", prompt)[0]
    tables = {"base": base, "ours": ours, "theirs": theirs}
    merged, conflicts = {}, []
    for key in sorted([*base, *ours, *theirs]):
        told = {
            side: None
            if tables[side].get(key) == base.get(key)
            else f"to {tables[side][key]}"
            if key in tables[side]
            else "removed"
            for side in ("ours", "theirs")
        }
        changes = {change for change in told.values() if change}
        source = next((side for side in told if told[side]), "base")
        if len(changes) == 2:
            source = kept
            conflicts += [key] if key not in conflicts else []
        if key in tables[source]:
            merged[key] = tables[source][key]
    return {"merged": merged, "conflicts": conflicts}


def apply_changes(prompt: str, key: str, field: str, ours: Any, theirs: Any) -> list[Record]:
    names = [row[key] for row in ours]
    values = [row[field] for row in ours]
    for row in theirs:
        is_there = row[key] in names
        if row[field] is None and not is_there:
            if "raises ValueError" in prompt:
                raise ValueError
        elif row[field] is None:
            at = names.index(row[key])
            del names[at], values[at]
        elif is_there:
            values[names.index(row[key])] = row[field]
        else:
            names.append(row[key])
            values.append(row[field])
    return [{key: name, field: value} for name, value in zip(names, values, strict=True)]


def solve_merge(path: str, prompt: str, args: list[Any]) -> Any:
    if path == "three_way":
        return solve_versions(prompt, *args)
    ours, theirs = args
    key, field = re.findall(r'"(\w+)"', prompt)[:2]
    order = list(dict.fromkeys(row[key] for row in [*ours, *theirs]))
    if path == "changes":
        result = apply_changes(prompt, key, field, ours, theirs)
    elif path == "total":
        numbers = [[row[field] for row in [*ours, *theirs] if row[key] == name] for name in order]
        result = [{key: name, field: sum(n)} for name, n in zip(order, numbers, strict=True)]
        if "is left out" in prompt:
            result = [row for row in result if row[field] != 0]
    else:
        sides = [{row[key]: row for row in side} for side in (ours, theirs)]
        result = [one_of(prompt, key, *(side.get(n) for side in sides), path) for n in order]
    if "The result is sorted" in prompt:
        result = sorted(result, key=lambda row: str(row[key]))
    return result


SOLVERS: dict[str, Solver] = {
    "span-arithmetic": solve_spans,
    "line-format": solve_lines,
    "keyed-merge": solve_merge,
}


@cache
def instances(name: str) -> list[Instance]:
    return load_family(load_pack("coding").folder, name).instances(SEED, DRAWS)


@pytest.mark.parametrize("name", SOLVERS)
def test_every_key_of_a_family_is_found_again_by_another_way(name: str) -> None:
    wrong = []
    for instance in instances(name):
        prompt = " ".join(instance.task.messages[0].content.split())
        for case in instance.task.expected["cases"]:
            due = {field: case[field] for field in ("value", "raises") if field in case}
            try:
                found = {"value": SOLVERS[name](instance.path, prompt, case["args"])}
            except ValueError:
                found = {"raises": "ValueError"}
            if found != due:
                wrong.append((instance.path, case, found))
    assert wrong == []


@pytest.mark.parametrize("name", SOLVERS)
def test_each_near_miss_is_caught_where_the_others_pass(name: str) -> None:
    found = [(one.path, fault) for one in instances(name) for fault in faults(one.task)]
    assert found == []
