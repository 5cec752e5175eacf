"""The keys of the agent families, found once more from the files alone, by other ways."""

from __future__ import annotations

import configparser
import csv
import itertools
import re
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest

from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.families import load_family
from bench_loop.engine.packs import load_pack

DRAWS = 200
PACK = load_pack("agent")
LAYERS = ("site.ini", "hosts/")


def tasks(name: str) -> list[BenchmarkTask]:
    """Fresh instances of the family `name`, and its official tasks."""
    family = load_family(PACK.folder, name)
    drawn = [instance.task for instance in family.instances(2026, DRAWS)]
    return [*drawn, *(task for task in PACK.tasks if task.family == name)]


def prompt(task: BenchmarkTask) -> str:
    return " ".join(task.messages[0].content.split())


def found(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    assert match is not None, (pattern, text)
    return match[1]


def settings(*texts: str) -> dict[str, str]:
    parser = configparser.ConfigParser()
    for text in texts:
        parser.read_string(text)
    return {
        f"{name}.{key}": value for name in parser.sections() for key, value in parser[name].items()
    }


def in_force(layers: dict[str, dict[str, str]], key: str) -> dict[str, str | None]:
    """Host to the value of `key` there: the last of the layers that has one."""
    return {
        host: next(
            (
                layers[name][key]
                for name in (host, "site.ini", "defaults.ini")
                if key in layers[name]
            ),
            None,
        )
        for host in layers
        if host.startswith("hosts/")
    }


def allowed(layers: dict[str, dict[str, str]], key: str) -> bool:
    """Whether `key` stands where the rules of the README want it."""
    hosts = [layers[name].get(key) for name in layers if name.startswith("hosts/")]
    below = layers["site.ini"].get(key, layers["defaults.ini"][key])
    is_common = None not in hosts and len(set(hosts)) == 1
    return not is_common and below not in hosts


def changes(
    layers: dict[str, dict[str, str]], key: str, new: str, wanted: dict[str, str | None]
) -> list[dict[str, dict[str, str]]]:
    """All ways to bring `wanted` about that touch the fewest files: each layer in each state."""
    names = [name for name in layers if name.startswith(LAYERS)]
    ways: list[tuple[int, dict[str, dict[str, str]]]] = []
    for states in itertools.product(("as it is", "set", "gone"), repeat=len(names)):
        tried = {name: dict(layer) for name, layer in layers.items()}
        for name, state in zip(names, states, strict=True):
            if state == "set":
                tried[name][key] = new
            elif state == "gone":
                tried[name].pop(key, None)
        touched = sum(tried[name] != layers[name] for name in names)
        if in_force(tried, key) == wanted and allowed(tried, key):
            ways.append((touched, tried))
    fewest = min(touched for touched, _ in ways)
    found_ways = [tried for touched, tried in ways if touched == fewest]
    return [way for at, way in enumerate(found_ways) if way not in found_ways[:at]]


def test_the_layer_found_by_trying_every_change() -> None:
    for task in tasks("layered-config"):
        if "site.ini" not in task.files:
            continue  # The official one with a vendor's file and no hosts.
        text = prompt(task)
        key = found(r"the value of (\S+) that", text)
        asked = found(r"in force on (\w+) before", text)
        host = f"hosts/{asked}.ini"
        new = found(r"(?:shall be|become|to) (\d+) on ", text)
        layers = {
            name: settings(body) for name, body in task.files.items() if name.endswith(".ini")
        }
        before = in_force(layers, key)
        is_for_all = " on every " in text
        wanted = {
            name: new if is_for_all or name == host else value for name, value in before.items()
        }
        assert allowed(layers, key), task.id
        (way,) = changes(layers, key, new, wanted)
        rules = task.expected["workspace"]["settings"]
        exact = {rule["files"][0]: rule["values"] for rule in rules if rule.get("exactly")}
        assert exact == {name: way[name] for name in way if name.startswith(LAYERS)}, task.id
        for rule in rules:
            if not rule.get("exactly"):
                own = rule["files"][2]
                assert rule["files"] == ["defaults.ini", "site.ini", own]
                merged = {one: in_force(way, one)[own] for one in way["defaults.ini"]}
                assert rule["values"] == merged, task.id
        assert task.expected["answer"]["parts"] == [before[host]], task.id
        assert {before[host], new} <= set(task.expected["answer"]["among"])


Table = list[list[str]]


def trips(task: BenchmarkTask, rows: Table) -> list[tuple[int, list[str]]]:
    repaired = []
    for car in {row[1] for row in rows}:
        own = [at for at, row in enumerate(rows) if row[1] == car]
        for last, at in itertools.pairwise(own):
            if rows[at][2] != rows[last][3] and rows[at][4] != "new meter":
                repaired.append((at, [*rows[at][:2], rows[last][3], *rows[at][3:]]))
    return repaired


def stock(task: BenchmarkTask, rows: Table) -> list[tuple[int, list[str]]]:
    light = [row for row in rows if row[3] == "g" and Fraction(row[2]) < 100]
    assert [row[4] for row in light] == ["sample"] * len(light)
    return [
        (at, [*row[:2], str(Fraction(row[2]) * 1000), "g", row[4]])
        for at, row in enumerate(rows)
        if row[3] != "g"
    ]


def sales(task: BenchmarkTask, rows: Table) -> list[tuple[int, list[str]]]:
    """The prices are followed day by day through the month."""
    steps = [line.split(",") for line in task.files["prices.csv"].splitlines()[1:]]
    on: dict[int, dict[str, int]] = {0: {}}
    for day in range(1, 32):
        starts = {item: int(price) for item, price, start in steps if int(start) == day}
        on[day] = on[day - 1] | starts
    right = [str(0 if row[5] == "gift" else int(row[3]) * on[int(row[1])][row[2]]) for row in rows]
    return [
        (at, [*row[:4], amount, row[5]])
        for at, (row, amount) in enumerate(zip(rows, right, strict=True))
        if row[4] != amount
    ]


def hours(task: BenchmarkTask, rows: Table) -> list[tuple[int, list[str]]]:
    counted = Counter((row[1], row[2]) for row in rows if not row[4].startswith("half "))
    (twin,) = (cell for cell, count in counted.items() if count == 2)
    both = [at for at, row in enumerate(rows) if (row[1], row[2]) == twin]
    stays = found(r"Then the (\w+) of the two holds", task.files["README.md"])
    return [(both[0] if stays == "last" else both[1], [])]


SOLVERS = {"trips.csv": trips, "stock.csv": stock, "sales.csv": sales, "hours.csv": hours}


def cells(row: list[Any]) -> list[str]:
    return [str(cell) for cell in row]


def test_the_broken_row_found_by_its_table_alone() -> None:
    seen = Counter[str]()
    for task in tasks("row-repair"):
        (name,) = task.expected["workspace"]["tables"]
        seen[name] += 1
        head, *rows = csv.reader(task.files[name].splitlines())
        ((at, repaired),) = SOLVERS[name](task, rows)
        right = [head, *rows[:at], *([repaired] if repaired else []), *rows[at + 1 :]]
        wanted = task.expected["workspace"]["tables"][name]["rows"]
        assert list(map(cells, wanted)) == right, task.id
        assert task.expected["answer"]["parts"] == [rows[at][0]], task.id
        assert task.expected["answer"]["among"] == [row[0] for row in rows]
    assert min(seen[name] for name in SOLVERS) >= DRAWS // len(SOLVERS)


def test_the_new_name_put_in_by_what_stands_around_the_old_one() -> None:
    for task in tasks("name-change"):
        text = prompt(task)
        old = found(r"the station (\w+) is called", text)
        new = found(r"is called (\w+ \w+) from now on", text)
        namesake = rf"(?:M[sr]|Dr) {old}|\[{old}\]|{old} (?:Bridge|Road|Park|Lane)"
        changed: dict[str, list[str]] = {}
        count = 0
        for path, body in task.files.items():
            if path.startswith("archive/"):
                continue
            marked = re.sub(rf"({namesake})|\b{old}\b", lambda hit: hit[1] or "\0", body)
            lines = marked.replace("\0", new).splitlines()
            different = sum(map(str.__ne__, lines, body.splitlines()))
            count += different
            if different:
                changed[path] = lines
        assert task.expected["workspace"]["lines"] == changed, task.id
        assert set(task.expected["workspace"]["unchanged"]) == set(task.files) - set(changed)
        assert task.expected["answer"]["value"] == count, task.id
        assert count != len(changed)
        assert re.search(namesake, "".join(task.files.values())) or "archive/" in str(task.files)


@pytest.mark.parametrize("name", ["layered-config", "row-repair", "name-change"])
def test_the_files_of_an_instance_are_few_and_small(name: str) -> None:
    for task in tasks(name):
        assert len(task.files) <= 6, task.id
        assert sum(map(len, task.files.values())) <= 4096, task.id
