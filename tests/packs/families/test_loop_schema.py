"""The keys of the families of loop_schema once more, read out of the finished prompts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.families import load_family
from bench_loop.engine.packs import load_pack

PACK = load_pack("loop_schema")
DRAWS = 200

Value = dict[str, Any]


@cache
def drawn(name: str) -> tuple[BenchmarkTask, ...]:
    return tuple(one.task for one in load_family(PACK.folder, name).instances(3, DRAWS))


def prompt_of(task: BenchmarkTask) -> str:
    return task.messages[0].content


def listed(prompt: str) -> Value:
    """The listing taken over letter by letter; only the last line is no text."""
    found = re.search(r"exactly (?:four|five) keys: (.+)\.$", prompt, re.MULTILINE)
    assert found is not None
    keys = found[1].split(", ")
    entry = re.compile(r"(?!The )[A-Z][a-z ]+: \S")
    lines = [line for line in prompt.splitlines() if entry.match(line)]
    texts = [line.split(": ", 1)[1] for line in lines]
    *text, last = zip(keys, texts, strict=True)
    return {**dict(text), last[0]: json.loads(last[1])}


SHARES = {
    "half as long": Fraction(1, 2),
    "twice as long": Fraction(2),
    "a third of that time": Fraction(1, 3),
    "three times as long": Fraction(3),
}


def walked(prompt: str) -> Value:
    """The plan run through minute by minute, from the end backwards where the note names that."""
    note = prompt[prompt.index("Note, titled") :].split("\n\n")[0]
    kind, part = re.findall(r'\{"do": "(\w+)", "(\w+)": one capital', prompt)[0]
    title = re.findall(r'titled "([^"]+)"', note)[0]
    one, length = re.findall(r"\b([A-H]) for (\d+) minutes", note)[0]
    other, share = re.findall(rf"{part} ([A-H]) ({'|'.join(SHARES)})", note)[0]
    pause = int(re.findall(r"let (\d+) minutes pass", note)[0])
    ring = {"do": "ring", "times": int(re.findall(r"ring (\d+) times", note)[0])}
    second = int(length) * SHARES[share]
    assert second.denominator == 1
    minutes = [one] * int(length) + [None] * pause + [other] * int(second)
    hours, rest = map(int, re.findall(r"(\d\d):(\d\d)", note)[0])
    clock = hours * 60 + rest
    if "Right after" in note:
        for _ in minutes:
            clock -= 1
    steps: list[Value] = []
    for at, letter in enumerate(minutes):
        if at == 0 or letter != minutes[at - 1]:
            target = {"do": "wait"} if letter is None else {"do": kind, part: letter}
            steps.append({**target, "minutes": 0})
        steps[-1]["minutes"] += 1
    steps = [ring, *steps] if "Before all that" in note else [*steps, ring]
    return {"title": title, "starts": f"{clock // 60:02d}:{clock % 60:02d}", "steps": steps}


def settings_of(prompt: str) -> Value:
    pairs = re.findall(r"^  (\w+): (\S+)$", prompt.split("Note:")[0], re.MULTILINE)
    return {key: json.loads(part) for key, part in pairs}


def noted(prompt: str) -> Value:
    """The settings after the note, carried out sentence by sentence with all earlier states kept.

    What is taken back is looked up in the state before the note that did it.
    """
    note = prompt.split("Note:\n")[1].split("\n\n")[0]
    states = [settings_of(prompt)]
    for line in note.splitlines():
        now = dict(states[-1])
        for key, part in re.findall(r"(?:Set |)(\w+) (?:is now|stays|to) (\"\w+\"|\d+)\.", line):
            now[key] = json.loads(part)
        for key, part in re.findall(r"Raise (\w+) by (\d+)", line):
            now[key] = states[0][key] + int(part)
        for key, times, source in re.findall(r"Set (\w+) to (twice|three times) what (\w+)", line):
            now[key] = sum(states[-1][source] for _ in range({"twice": 2}.get(times, 3)))
        for key, part in re.findall(r"Add (\w+) with the value (\"\w+\"|\d+)", line):
            now[key] = json.loads(part)
        for key in re.findall(r"(\w+) is not needed", line):
            del now[key]
        for number, key in re.findall(r"what note (\d) did to (\w+)", line):
            now[key] = states[int(number) - 1][key]
        states.append(now)
    return states[-1]


def is_least(state: Value, after: Value, changes: list[Value]) -> bool:
    """Whether carrying out `changes` on `state` gives `after`, each of them being needed."""
    now = dict(state)
    for change in changes:
        key = change["key"]
        if (change["op"] == "add") == (key in now):
            return False
        if change["op"] == "remove":
            del now[key]
        elif now.get(key) == change["value"]:
            return False
        else:
            now[key] = change["value"]
    keys = [change["key"] for change in changes]
    return now == after and keys == sorted(set(keys))


def tasks_of(name: str) -> list[BenchmarkTask]:
    """Drawn ones and the frozen ones that came out of a draw."""
    frozen = [task for task in PACK.tasks if task.family == name and task.id not in BY_HAND]
    return [*drawn(name), *frozen]


BY_HAND = {"loop_schema.irrigation-plan"}
"""Of a family, but with words of its own: its key is derived in test_keys_loop_schema.py."""
SOLVERS: dict[str, Callable[[str], Value]] = {"yaml-lookalikes": listed, "step-plan": walked}


@pytest.mark.parametrize("name", SOLVERS)
def test_what_is_read_out_of_the_prompt_is_the_key(name: str) -> None:
    for task in tasks_of(name):
        assert SOLVERS[name](prompt_of(task)) == task.expected["value"], task.id


def test_the_changes_lead_from_the_settings_to_those_after_the_note() -> None:
    for task in tasks_of("change-list"):
        prompt = prompt_of(task)
        changes = task.expected["value"]["changes"]
        assert changes, task.id
        assert is_least(settings_of(prompt), noted(prompt), changes), task.id


def test_a_plan_begins_and_ends_on_one_day() -> None:
    for task in drawn("step-plan"):
        value = task.expected["value"]
        hours, rest = map(int, value["starts"].split(":"))
        assert hours * 60 + rest + sum(step.get("minutes", 0) for step in value["steps"]) < 24 * 60
