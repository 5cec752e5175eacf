"""The keys of `loop_code_fix` by other ways than the programs', and its tests run for real."""

from __future__ import annotations

import datetime as dt
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.packs import load_pack
from tests.packs.repairs import cases, changed_files, counted, played, put, tidied

TASKS = {task.id.partition(".")[2]: task for task in load_pack("loop_code_fix").tasks}

CALL_TESTS = """
import importlib, pathlib
for path in pathlib.Path("tests").glob("test_*.py"):
    tests = vars(importlib.import_module(f"tests.{path.stem}"))
    for name in [name for name in tests if name.startswith("test_")]:
        tests[name]()
"""
"""Runs the tests of a folder without pytest, which takes its time to start."""


def dates(values: list[dict[str, str]]) -> list[dt.date]:
    return [dt.date.fromisoformat(value["$date"]) for value in values]


def due(start: dt.date, count: int) -> list[dt.date]:
    """Each month's last day that is not after the day of `start`, found day by day."""
    found: list[dt.date] = []
    day = start.replace(day=1)
    while len(found) < count + 1:
        if day.day <= start.day:
            if found and found[-1].month == day.month:
                found[-1] = day
            else:
                found.append(day)
        day += dt.timedelta(days=1)
    return found[:count]


def test_the_due_dates_day_by_day() -> None:
    for case in cases(TASKS["due-date-drift"]):
        start, number = dates([case["args"][0]])[0], case["args"][1]
        if case["call"].endswith("due_dates"):
            assert dates(case["value"]) == due(start, number), case
        else:
            first, after = due(start, number + 2)[number:]
            assert dates(case["value"]["$tuple"]) == [first, after - dt.timedelta(days=1)], case


def test_the_delivery_fee_in_cents() -> None:
    for case in cases(TASKS["free-delivery"]):
        cents = round(case["args"][0] * 100)
        assert case["value"] == (4 if cents in range(5000) else 0)


def test_the_chairs_digit_by_digit() -> None:
    for case in cases(TASKS["chairs-as-text"]):
        chairs = 0
        for row in case["args"][0]:
            for power, digit in enumerate(reversed(row)):
                chairs += "0123456789".index(digit) * 10**power
        assert case["value"] == chairs


@pytest.mark.parametrize("name", ["child-ticket", "return-fee"])
def test_one_wrong_word_by_counting(name: str) -> None:
    for case in cases(TASKS[name]):
        assert case["value"] == counted(TASKS[name], case["args"]), case


def test_the_hours_of_each_name_by_going_through_the_list_again_and_again() -> None:
    for case in cases(TASKS["volunteer-hours"]):
        entries = [entry["$tuple"] for entry in case["args"][0]]
        names = [name for name, _ in entries]
        firsts = [name for at, name in enumerate(names) if name not in names[:at]]
        wanted = [[name, sum(hours for who, hours in entries if who == name)] for name in firsts]
        assert [total["$tuple"] for total in case["value"]] == wanted, case


def test_a_field_of_the_label_holds_as_many_whole_characters_as_fit() -> None:
    for case in cases(TASKS["label-field"]):
        texts = case["args"][0] if isinstance(case["args"][0], list) else case["args"]
        printed = bytes.fromhex(case["value"]["$bytes"])
        assert len(printed) == 12 * len(texts)
        for at, text in enumerate(texts):
            whole = printed[12 * at : 12 * at + 12].decode("utf-8")
            kept = max((text[:end] for end in range(13) if whole.startswith(text[:end])), key=len)
            assert not whole[len(kept) :].strip(" ")
            following = text[len(kept) : len(kept) + 1]
            assert not following or len((kept + following).encode("utf-8")) > 12, case


@pytest.mark.parametrize("name", ["orchard-rows", "page-ranges"])
def test_the_spans_by_the_set_of_all_that_is_in_them(name: str) -> None:
    for case in cases(TASKS[name]):
        assert case["value"] == tidied(TASKS[name], *case["args"]), case


@pytest.mark.parametrize("name", ["pump-round", "scan-cancelled"])
def test_what_is_given_back_by_the_sentences_of_the_docstring(name: str) -> None:
    for case in cases(TASKS[name]):
        assert case["value"] == played(TASKS[name], *case["args"]), case


def shared(steps: list[str]) -> tuple[list[str], dict[str, Any]]:
    """The loads and the outcomes of a cache that keeps its promises, without an event loop."""
    known: dict[str, int] = {}
    waiting: dict[str, list[str]] = {}
    loads: list[str] = []
    outcomes: dict[str, Any] = {}
    for step in steps:
        name, verb, *rest = step.split()
        if verb == "asks" and rest[0] in known:
            outcomes[name] = known[rest[0]]
        elif verb == "asks":
            loads += [] if rest[0] in waiting else [rest[0]]
            waiting.setdefault(rest[0], []).append(name)
            outcomes[name] = "waits"
        elif verb == "is":
            outcomes[name] = "cancelled"
        else:
            came = int(rest[0]) if verb == "gives" else "OSError"
            callers = waiting.pop(name)
            outcomes |= {one: came for one in callers if outcomes[one] == "waits"}
            known |= {name: came} if isinstance(came, int) else {}
    return loads, outcomes


def test_the_shared_load_by_the_sentences_of_the_docstring() -> None:
    for case in cases(TASKS["shared-load"]):
        loads, outcomes = shared(*case["args"])
        assert case["value"] == (loads if case["call"].endswith("loads") else outcomes), case


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS.keys())
def test_the_test_that_is_shown_fails_as_the_prompt_says_and_passes_after_the_repair(
    task: BenchmarkTask, tmp_path: Path
) -> None:
    said = re.findall(r"^    (?:[>E]   )?(\S.*)$", task.messages[0].content.split("```")[0], re.M)
    said = said or re.findall(r"^    [>E]   (\S.*)$", task.messages[0].content, re.M)
    put(task, tmp_path, {})
    code, output = run_tests(tmp_path)
    assert code == 1
    assert [line for line in said if line not in output] == []
    assert said
    put(task, tmp_path, changed_files(task, str(task.reference)))
    subprocess.run([sys.executable, "-B", "-c", CALL_TESTS], cwd=tmp_path, check=True)


def run_tests(folder: Path) -> tuple[int, str]:
    """Exit code and output of the tests in `folder`, as a person runs them."""
    command = [sys.executable, "-B", "-m", "pytest", "-p", "no:cacheprovider", "-c", "/dev/null"]
    done = subprocess.run(
        [*command, "--rootdir", str(folder), "tests"],
        cwd=folder,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": "120"},
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout
