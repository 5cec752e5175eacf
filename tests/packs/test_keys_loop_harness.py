"""The suite for harnesses: its keys once more by other ways.

The official tasks of its families are solved again beside their instances, in
`families/test_loop_harness.py`.
"""

from __future__ import annotations

import builtins
import csv
import re
import subprocess
import sys
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from bench_loop.contracts.sandbox import Sandbox
from bench_loop.engine.packs import load_pack
from bench_loop.engine.trajectory import example_output
from bench_loop.verifiers.artifact import judge_original

PACK = load_pack("loop_harness")
TASKS = {task.id.partition(".")[2]: task for task in PACK.tasks}


def expected(name: str) -> Any:
    return TASKS[name].expected


def files(name: str) -> dict[str, str]:
    return TASKS[name].files


def prompt(name: str) -> str:
    return " ".join(TASKS[name].messages[0].content.split())


def columns(text: str) -> dict[str, list[str]]:
    """A table's columns by their heads."""
    head, *rows = csv.reader(text.splitlines())
    return dict(zip(head, map(list, zip(*rows, strict=True)), strict=True))


def test_the_keeper_is_who_is_left_when_other_nights_and_lights_are_struck_out() -> None:
    lines = files("harbour-watch")["watch.txt"].splitlines()
    night, light = re.findall(r'the line "(\S+) (\w+)"', prompt("harbour-watch"))[0]
    left = {line.split()[2] for line in lines if night in line}
    left &= {line.split()[2] for line in lines if f" {light}:" in line}
    left -= {line.split()[2] for line in lines if night not in line and light in line}
    wanted = expected("harbour-watch")
    assert set(wanted["answer"]["parts"]) == left
    assert [wanted["workspace"]["lines"]] == [{"tonight.txt": [keeper]} for keeper in left]
    assert set(wanted["answer"]["among"]) == {line.split()[2] for line in lines}


def shown(times: list[str], now: str) -> str | None:
    """The next of `times`, found by going through the minutes of the day after `now`."""
    clock = [f"{hour:02}:{minute:02}" for hour in range(24) for minute in range(60)]
    by_clock = {time.zfill(5): time for time in times}
    coming = clock[clock.index(now.zfill(5)) + 1 :]
    return next((by_clock[time] for time in coming if time in by_clock), None)


def test_the_shows_minute_by_minute() -> None:
    wanted = expected("next-show")
    for case in [wanted["visible"], *wanted["cases"]]:
        times, *now = case["args"]
        if case["call"] == "shows.last":
            early = [time for time in times if shown(times, time) is not None]
            assert case["value"] == next((time for time in times if time not in early), None)
        elif case["call"] == "board.line":
            found = shown(times, *now)
            is_last = found is not None and shown(times, found) is None
            said = f"{'Last' if is_last else 'Next'} show: {found}"
            assert case["value"] == (said if found else "No more shows today"), case
        else:
            assert "0:00" not in times
            assert case["value"] == shown(times, *(now or ["0:00"])), case


def test_the_test_of_the_board_fails_and_passes_after_the_repair(tmp_path: Path) -> None:
    task = TASKS["next-show"]
    repaired = example_output(PACK, task, task.reference).files
    for folder, texts, status in (("as-it-is", task.files, 1), ("repaired", repaired, 0)):
        (tmp_path / folder).mkdir()
        for path, text in (texts or {}).items():
            (tmp_path / folder / path).write_text(text or "")
        command = [sys.executable, "-B", "test_board.py"]
        run = subprocess.run(command, cwd=tmp_path / folder, capture_output=True, text=True)
        assert run.returncode == status, run.stderr
        assert ("AssertionError" in run.stderr) == bool(status)


def test_the_lantern_by_what_is_left_of_all_numbers_and_names() -> None:
    texts = files("lantern-entry")
    props, gone = columns(texts["props.csv"]), columns(texts["gone.csv"])
    given = {int(number) for number in [*props["number"], *gone["number"]]}
    given |= {int(number) for number in re.findall(r"added (\d+)", texts["log.txt"])}
    number = next(one for one in range(1, 99) if not given & set(range(one, 99)))
    metres, room = re.findall(
        r"is ([\d.]+) m tall and is kept in the (\w+)", prompt("lantern-entry")
    )[0]
    row = [str(number), "lantern", str(Fraction(metres) * 100), room]
    wanted = expected("lantern-entry")
    head, *rows = [
        [str(cell) for cell in one] for one in wanted["workspace"]["tables"]["props.csv"]["rows"]
    ]
    assert head == list(props)
    assert all(one[1] < other[1] for one, other in pairwise(rows))
    rows.remove(row)
    assert rows == [list(one) for one in zip(*props.values(), strict=True)]
    assert wanted["workspace"]["lines"]["log.txt"] == [
        f"added {number} lantern",
        *texts["log.txt"].splitlines(),
    ]
    assert wanted["answer"]["value"] == number


def test_the_truck_loaded_backwards() -> None:
    """From the last weighing to the first: a seal that was seen is not loaded again."""
    texts = files("orchestra-truck")
    head, *rows = csv.reader(texts["list.csv"].splitlines())
    loaded: list[list[str]] = []
    for row in reversed(rows):
        if row[0] not in [one[0] for one in loaded]:
            loaded.insert(0, row)
    assert len(loaded) == int(texts["door.txt"]) == len(rows) - 1
    wanted = expected("orchestra-truck")
    table = wanted["workspace"]["tables"]["list.csv"]["rows"]
    assert [[str(cell) for cell in row] for row in table] == [head, *loaded]
    weight = sum(int(row[2]) for row in loaded)
    assert wanted["answer"]["value"] == weight
    assert wanted["workspace"]["lines"] == {"load.txt": [str(weight)]}
    assert f"list.csv has {len(rows)} cases, door.txt says {len(loaded)}" in prompt(
        "orchestra-truck"
    )


def of_the_clock(text: str, *, takes_hours: bool = False) -> int:
    """Minutes of a time, counted one by one. Raises ValueError for what is none."""
    found = re.fullmatch(r"(\d+):(\d+)" + ("|(\\d+)" if takes_hours else ""), text)
    if found is None:
        raise ValueError(text)
    hours, minutes = (found[1] or found[0], found[2] or "0")
    return len(range(int(hours) * 60)) + len(range(int(minutes)))


def of_the_evening(text: str) -> int:
    """Minutes of a time since six in the morning: what is before six comes a whole day later."""
    since_six = of_the_clock(text) - len(range(6 * 60))
    return since_six if since_six >= 0 else since_six + len(range(24 * 60))


def rounds(start: str, end: str, each: int) -> int:
    at, last = (of_the_clock(text, takes_hours=True) for text in (start, end))
    if each == 0:
        raise ZeroDivisionError
    count = 0
    while at + each <= last:
        at, count = at + each, count + 1
    return count


CLOCKS: dict[str, Any] = {
    "hall.length": lambda start, end: of_the_clock(end) - of_the_clock(start),
    "bar.shift": lambda start, end: of_the_evening(end) - of_the_evening(start),
    "cleaning.rounds": rounds,
    "rota.order": lambda starts: [
        name for minute in range(4000) for name in starts if of_the_evening(starts[name]) == minute
    ],
}


def test_the_clock_counted_minute_by_minute() -> None:
    for case in expected("one-clock")["cases"]:
        if "raises" in case:
            with pytest.raises(getattr(builtins, case["raises"])):
                CLOCKS[case["call"]](*case["args"])
        else:
            assert CLOCKS[case["call"]](*case["args"]) == case["value"], case


def test_the_copies_as_they_are_give_what_must_stay(sandbox: Sandbox) -> None:
    """They lack the one thing that is asked for, and nothing else."""
    assert judge_original(TASKS["one-clock"], sandbox).reason == "unused:clock.py"
