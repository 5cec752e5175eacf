"""What the programs of `loop_code_fix` must give, without them: by counting, by sets, by rules."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from bisect import bisect_left
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench_loop.contracts.task import BenchmarkTask
from bench_loop.verifiers.code import find_files

CALLER = """
import importlib, json, sys
values = []
for call, args in json.load(sys.stdin):
    module, _, name = call.rpartition(".")
    try:
        value = getattr(importlib.import_module(module), name)(*args)
    except Exception as error:
        value = type(error).__name__
    values.append(value)
print(json.dumps(values))
"""


def cases(task: BenchmarkTask) -> list[dict[str, Any]]:
    """The visible case and the hidden ones."""
    return [task.expected["visible"], *task.expected["cases"]]


def changed_files(task: BenchmarkTask, reply: str) -> dict[str, str]:
    """The files that a reply changes."""
    return dict(find_files(reply, task.files, task.expected["editable"]).files)


def values(task: BenchmarkTask, folder: Path, changed: dict[str, str]) -> list[Any]:
    """What all cases give with these files changed, in a process of its own."""
    put(task, folder, changed)
    asked = json.dumps([[case["call"], case["args"]] for case in cases(task)])
    command = [sys.executable, "-B", "-c", CALLER]
    done = subprocess.run(
        command, cwd=folder, input=asked, capture_output=True, text=True, check=True
    )
    found: list[Any] = json.loads(done.stdout)
    return found


def put(task: BenchmarkTask, folder: Path, changed: dict[str, str]) -> None:
    """The files of the task, some of them changed, on disk."""
    for path, text in {**task.files, **changed}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")


def counted(task: BenchmarkTask, args: list[Any]) -> int:
    """A function with one wrong word, by the sentences of its docstring."""
    text = re.search(r'"""(.+?)"""', task.messages[0].content, re.DOTALL)
    assert text is not None
    a, b, *_ = [*map(int, re.findall(r"\d+", text[1])), 0]
    if "are free" in text[1]:
        return sum(b for one in range(1, args[0] + 1) if one > a)
    if "filled up" in text[1]:
        return len(range(args[0], a)) if args[0] in range(b) else 0
    if "How many" in text[1]:
        return len(args[0]) - bisect_left(sorted(args[0]), a)
    return sum([a] * args[0] + [b] * args[1])


def tidied(task: BenchmarkTask, text: str) -> str:
    """Spans of numbers or of the clock, by the set of all that is in them.

    On the clock a number stands for a minute and is in the span that it begins in.
    """
    source = task.files[next(path for path in task.files if path.endswith("/read.py"))]
    separator, sign = re.findall(r'(?:split|partition)\("(.+?)"\)', source)
    is_clock = ":" in text
    members: set[int] = set()
    for part in text.split(separator):
        ends = [_number(end) for end in part.strip().split(sign)]
        members |= set(range(ends[0], ends[-1] + (not is_clock)))
    parts = []
    for first in sorted(one for one in members if one - 1 not in members):
        last = first
        while last + 1 in members:
            last += 1
        ends = [first, last + 1] if is_clock else [first, last][: 1 + (last > first)]
        parts.append(sign.join(_clock(end) if is_clock else str(end) for end in ends))
    return f"{separator} ".join(parts)


def _number(text: str) -> int:
    hours, _, minutes = text.rpartition(":")
    return int(hours or 0) * 60 + int(minutes)


def _clock(minutes: int) -> str:
    hours = 0
    while minutes >= 60:
        hours, minutes = hours + 1, minutes - 60
    return f"{hours // 10}{hours % 10}:{minutes // 10}{minutes % 10}"


def played(task: BenchmarkTask, script: Any) -> list[Any]:
    """What must come of a play of things that are taken and given back, by the docstring."""
    found = re.search(r"(?:times|price:) (\d+)", task.messages[0].content)
    assert found is not None
    factor = int(found[1])
    if isinstance(script, list):
        return _Shop(factor).play(script)
    is_round = "line is free" in task.messages[0].content
    error = next(_errors(script, is_round), None)
    if is_round:
        silent = [name for name, text in script.items() if text is None]
        heard = list(script)[: list(script).index(silent[0])] if silent else list(script)
        return [error or {name: factor * int(script[name]) for name in heard}, "free"]
    numbers = [factor * int(text) for text in script.values() if text.isdigit()]
    return [error or numbers, 0, min(1, len(script))]


def _errors(script: dict[str, str | None], is_round: bool) -> Iterator[str]:
    """The errors that come up, the first of them first; a silent one ends a round."""
    for text in script.values():
        if text is None and is_round:
            return
        if text == "broken":
            yield "OSError"
        elif text and not text.isdigit():
            yield "ValueError"


class _Shop:
    """Two machines and one tool, moved on by hand: no event loop, no task."""

    def __init__(self, price: int) -> None:
        self.price = price
        self.queue: list[tuple[str, str]] = []
        self.with_machine: list[tuple[str, str]] = []
        self.at_work: tuple[str, str] | None = None
        self.outcomes: dict[str, Any] = {}

    def play(self, steps: list[str]) -> list[Any]:
        for step in steps:
            name, verb, *rest = step.split()
            if verb == "starts":
                self.queue.append((name, "".join(rest)))
                self.outcomes[name] = "waits"
            elif verb == "is":
                self.leave(name, "cancelled")
            elif self.at_work is not None and self.at_work[1] == name:
                self.leave(self.at_work[0], int(rest[0]) * self.price if rest else "OSError")
            self.move_on()
        machines = 2 - len(self.with_machine) - (self.at_work is not None)
        return [self.outcomes, machines, 1 - (self.at_work is not None)]

    def leave(self, name: str, outcome: Any) -> None:
        self.outcomes[name] = outcome
        self.queue = [one for one in self.queue if one[0] != name]
        self.with_machine = [one for one in self.with_machine if one[0] != name]
        if self.at_work is not None and self.at_work[0] == name:
            self.at_work = None

    def move_on(self) -> None:
        """First come, first served, until nothing moves."""
        while True:
            if self.queue and len(self.with_machine) + (self.at_work is not None) < 2:
                self.with_machine.append(self.queue.pop(0))
            elif self.with_machine and self.at_work is None:
                self.at_work = self.with_machine.pop(0)
                if not self.at_work[1]:
                    self.leave(self.at_work[0], 0)
            else:
                return
