"""Checks packs: every file is read, and every answer that its tasks give gets the verdict due.

Of each task the reference and all of `also_right` must pass, every near miss must fail for the
reason that it names, and answers that no task may accept must fail without credit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench_loop.config import bundled
from bench_loop.contracts.chat import ToolCall
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.contracts.verifier import Output, TaskScore
from bench_loop.engine.packs import (
    MANIFEST,
    Pack,
    read_manifest,
    read_pack,
    read_task,
    task_files,
)
from bench_loop.errors import PackError
from bench_loop.verifiers.expectation import task_file
from bench_loop.verifiers.judging import judge

FEWEST_ALSO_RIGHT = 2
FEWEST_NEAR_MISSES = 3

DEGENERATE = {
    "nothing": "",
    "white space": " \n\t\n",
    "abc": "abc",
    "yes": "yes",
    "no": "No.",
    "an empty object": "{}",
    "an empty list": "[]",
    "null": "null",
    "off-topic prose": "The sea was calm that day, and 12 gulls sat on the pier.",
    "a refusal": "I'm sorry, but I can't help with that.",
    "a claim": "Done.",
    "valid-looking JSON": '{"status": "ok", "result": "success", "items": []}',
    "a tool call written as text": '{"name": "list_files", "arguments": {}}',
    "an empty answer line": "ANSWER:",
    "a fence without content": "```\n```",
}
"""Answers that are right for no task, by what they are."""

CONSTANT_CALL = ToolCall(id="call_0", name="list_files", arguments="{}")


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong: the file as `pack/file`, the dotted field or None, and why."""

    file: str
    field: str | None
    reason: str

    def __str__(self) -> str:
        return ": ".join(part for part in (self.file, self.field, self.reason) if part)


@dataclass(frozen=True, slots=True)
class Validation:
    """What was looked at, and every fault found."""

    packs: tuple[str, ...]
    task_count: int
    faults: tuple[Fault, ...]


def validate(folder: Path | None = None) -> Validation:
    """Check the pack in `folder`, or all packs in it; by default those of this installation.

    Raises PackError when there is none.
    """
    folder = folder or bundled("packs")
    found = [folder] if (folder / MANIFEST).is_file() else _packs_in(folder)
    faults: list[Fault] = []
    for pack in found:
        faults += pack_faults(pack.resolve())
    return Validation(
        packs=tuple(pack.resolve().name for pack in found),
        task_count=sum(len(task_files(pack)) for pack in found),
        faults=tuple(faults),
    )


def _packs_in(folder: Path) -> list[Path]:
    found = sorted(file.parent for file in folder.glob(f"*/{MANIFEST}"))
    if not found:
        raise PackError(
            str(folder),
            None,
            f"holds no pack: there is no {MANIFEST} in it or in a folder of it",
        )
    return found


def pack_faults(folder: Path) -> list[Fault]:
    """Every fault of one pack: of its files if there are any, else of its tasks' answers."""
    faults = list(_file_faults(folder))
    if faults:
        return faults
    try:
        pack = read_pack(folder)
    except PackError as error:
        return [_fault(error)]
    return [fault for task in pack.tasks for fault in task_faults(pack, task)]


def _file_faults(folder: Path) -> Iterator[Fault]:
    """One fault for each file that cannot be read, so that all are told at once."""
    try:
        read_manifest(folder)
    except PackError as error:
        yield _fault(error)
    for path in task_files(folder):
        try:
            read_task(path, folder.name)
        except PackError as error:
            yield _fault(error)


def _fault(error: PackError) -> Fault:
    return Fault(error.file, error.field, error.reason)


def task_faults(pack: Pack, task: BenchmarkTask) -> list[Fault]:
    """Every answer of a task that gets another verdict than it should."""
    file = task_file(task)
    found = [*_right(pack, task), *_near_misses(pack, task), *_degenerate(pack, task)]
    return [Fault(file, field, reason) for field, reason in found]


Finding = tuple[str, str]
"""Field and reason."""


def _right(pack: Pack, task: BenchmarkTask) -> Iterator[Finding]:
    if len(task.also_right) < FEWEST_ALSO_RIGHT:
        yield "also_right", f"at least {FEWEST_ALSO_RIGHT} other right forms are needed"
    answers = {"reference": task.reference}
    answers |= {f"also_right.{number}": text for number, text in enumerate(task.also_right)}
    for field, text in answers.items():
        verdict = judge(pack.output(text), task)
        if verdict.outcome != "pass":
            yield field, f"must pass, and is judged {_words(verdict)}"


def _near_misses(pack: Pack, task: BenchmarkTask) -> Iterator[Finding]:
    if len(task.near_misses) < FEWEST_NEAR_MISSES:
        yield "near_misses", f"at least {FEWEST_NEAR_MISSES} wrong answers are needed"
    for number, miss in enumerate(task.near_misses):
        verdict = judge(pack.output(miss.output), task)
        if (verdict.outcome, verdict.reason) != ("fail", miss.reason):
            yield (
                f"near_misses.{number}",
                f"must fail as {miss.reason}, and is judged" + (f" {_words(verdict)}"),
            )


def _degenerate(pack: Pack, task: BenchmarkTask) -> Iterator[Finding]:
    """Answers that any task must refuse without credit, and those that belong to other tasks."""
    for name, output in degenerate_outputs(pack, task).items():
        verdict = judge(output, task)
        if verdict.outcome != "fail" or verdict.score:
            yield "expected", f"accepts {name}: it is judged {_words(verdict)}"
    for other in pack.tasks:
        if other.id != task.id:
            verdict = judge(pack.output(other.reference), task)
            if verdict.outcome == "pass":
                yield "expected", f"accepts the reference of {other.id}"


def degenerate_outputs(pack: Pack, task: BenchmarkTask) -> dict[str, Output]:
    """What no task may accept, by what it is: fixed answers, and echoes of the task's prompt."""
    prompt = task.messages[-1].content
    lines = prompt.splitlines() or [""]
    texts = DEGENERATE | {
        "the prompt": prompt,
        "the prompt twice": f"{prompt}\n{prompt}",
        "the first line of the prompt": lines[0],
        "the last line of the prompt": lines[-1],
    }
    outputs = {name: pack.output(text) for name, text in texts.items()}
    call = pack.output("", finish_reason="tool_calls")
    outputs["one constant tool call"] = call.model_copy(update={"tool_calls": (CONSTANT_CALL,)})
    return outputs


def _words(verdict: TaskScore) -> str:
    """A verdict in short: `fail (wrong_value)`."""
    words = f"{verdict.outcome} ({verdict.reason})" if verdict.reason else verdict.outcome
    credit = f", credit {verdict.score:.2f}" if verdict.outcome != "pass" and verdict.score else ""
    return words + credit
