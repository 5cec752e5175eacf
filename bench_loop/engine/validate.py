"""Checks packs: every file is read, and every answer that its tasks give gets the verdict due.

Of each task the reference and all of `also_right` must pass, every near miss must fail for the
reason that it names, and answers that no task may accept must fail without credit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench_loop.config import bundled
from bench_loop.contracts.chat import CallRecord
from bench_loop.contracts.sandbox import Sandbox
from bench_loop.contracts.task import BenchmarkTask, Say, Trajectory
from bench_loop.contracts.verifier import Output, TaskScore
from bench_loop.engine.packs import (
    MANIFEST,
    Pack,
    read_manifest,
    read_pack,
    read_task,
    task_files,
)
from bench_loop.engine.toolbox import RUN_TOOL
from bench_loop.engine.trajectory import example_output
from bench_loop.errors import PackError
from bench_loop.verifiers import artifact
from bench_loop.verifiers.expectation import read_expected, task_file
from bench_loop.verifiers.judging import judge, needs_sandbox

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

CONSTANT_CALL = CallRecord(id="call_0", name="list_files", arguments="{}", turn=1)
BLIND_ARGUMENTS: tuple[dict[str, str], ...] = ({}, {"nothing": "nothing"})


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
    """What was looked at, every fault found, and what could not be checked."""

    packs: tuple[str, ...]
    task_count: int
    faults: tuple[Fault, ...]
    unchecked: tuple[str, ...]
    """Ids of the tasks whose answers can be judged in a sandbox only, where there was none."""


def validate(folder: Path | None = None, sandbox: Sandbox | None = None) -> Validation:
    """Check the pack in `folder`, or all packs in it; by default those of this installation.

    Raises PackError when there is none.
    """
    folders = pack_folders(folder)
    faults: list[Fault] = []
    unchecked: list[str] = []
    task_count = 0
    for one in folders:
        found = list(_file_faults(one))
        faults += found
        if found:
            task_count += len(task_files(one))
            continue
        pack = read_pack(one)
        task_count += len(pack.tasks)
        for task in pack.tasks:
            if sandbox is None and _runs_programs(task):
                unchecked.append(task.id)
            else:
                faults += task_faults(pack, task, sandbox)
    return Validation(
        packs=tuple(one.name for one in folders),
        task_count=task_count,
        faults=tuple(faults),
        unchecked=tuple(unchecked),
    )


def pack_folders(folder: Path | None = None) -> list[Path]:
    """`folder` if it is a pack, else the packs in it. Raises PackError when there is none."""
    folder = (folder or bundled("packs")).resolve()
    if (folder / MANIFEST).is_file():
        return [folder]
    found = sorted(file.parent for file in folder.glob(f"*/{MANIFEST}"))
    if not found:
        reason = f"holds no pack: there is no {MANIFEST} in it or in a folder of it"
        raise PackError(str(folder), None, reason)
    return found


def wants_sandbox(folder: Path | None = None) -> bool:
    """Whether a pack in `folder` that can be read has a task that only a sandbox can judge."""
    for one in pack_folders(folder):
        try:
            if read_pack(one).needs_sandbox:
                return True
        except PackError:
            continue  # `validate` tells what is wrong with it.
    return False


def _runs_programs(task: BenchmarkTask) -> bool:
    """Whether the verdicts on its own answers need a sandbox: to judge them, or to do them."""
    examples = (task.reference, *task.also_right, *(miss.output for miss in task.near_misses))
    return needs_sandbox(task) or any(
        RUN_TOOL.name in named
        for example in examples
        if isinstance(example, Trajectory)
        for turn in example.trajectory
        if not isinstance(turn, Say)
        for named in turn
    )


def _file_faults(folder: Path) -> Iterator[Fault]:
    """One fault for each file that cannot be read; else those of the pack as a whole."""
    is_readable = True
    try:
        read_manifest(folder)
    except PackError as error:
        is_readable = False
        yield _fault(error)
    for path in task_files(folder):
        try:
            read_task(path, folder.name)
        except PackError as error:
            is_readable = False
            yield _fault(error)
    if is_readable:
        try:
            read_pack(folder)
        except PackError as error:
            yield _fault(error)


def _fault(error: PackError) -> Fault:
    return Fault(error.file, error.field, error.reason)


def task_faults(pack: Pack, task: BenchmarkTask, sandbox: Sandbox | None = None) -> list[Fault]:
    """Every answer of a task that gets another verdict than it should.

    Raises SandboxError for a task that needs a sandbox where there is none.
    """
    bench = _Bench(pack, task, sandbox)
    found = [*bench.right(), *bench.near_misses(), *bench.degenerate(), *bench.original()]
    return [Fault(task_file(task), field, reason) for field, reason in found]


def answer_faults(pack: Pack, task: BenchmarkTask, sandbox: Sandbox | None = None) -> list[Fault]:
    """As `task_faults`, but of the answers alone that the task itself gives."""
    bench = _Bench(pack, task, sandbox)
    return [Fault(task_file(task), *found) for found in (*bench.right(), *bench.near_misses())]


Finding = tuple[str, str]
"""Field and reason."""


@dataclass(frozen=True, slots=True)
class _Bench:
    """One task under test."""

    pack: Pack
    task: BenchmarkTask
    sandbox: Sandbox | None

    def verdict(self, example: str | Trajectory) -> TaskScore:
        return self.judge(example_output(self.pack, self.task, example, self.sandbox))

    def judge(self, output: Output) -> TaskScore:
        return judge(output, self.task, self.sandbox)

    def right(self) -> Iterator[Finding]:
        if len(self.task.also_right) < FEWEST_ALSO_RIGHT:
            yield "also_right", f"at least {FEWEST_ALSO_RIGHT} other right forms are needed"
        examples = {"reference": self.task.reference}
        examples |= {f"also_right.{at}": one for at, one in enumerate(self.task.also_right)}
        for field, example in examples.items():
            verdict = self.verdict(example)
            if verdict.outcome != "pass" or verdict.score < 1:
                yield field, f"must pass, and is judged {_words(verdict)}"

    def near_misses(self) -> Iterator[Finding]:
        if len(self.task.near_misses) < FEWEST_NEAR_MISSES:
            yield "near_misses", f"at least {FEWEST_NEAR_MISSES} wrong answers are needed"
        for at, miss in enumerate(self.task.near_misses):
            verdict = self.verdict(miss.output)
            if verdict.outcome not in ("fail", "partial") or verdict.reason != miss.reason:
                reason = f"must fail as {miss.reason}, and is judged {_words(verdict)}"
                yield f"near_misses.{at}", reason

    def degenerate(self) -> Iterator[Finding]:
        """Answers that any task must refuse without credit, and those that belong to others."""
        for name, output in degenerate_outputs(self.pack, self.task, self.sandbox).items():
            verdict = self.judge(output)
            if verdict.outcome != "fail" or verdict.score:
                yield "expected", f"accepts {name}: it is judged {_words(verdict)}"
        for other in self.others():
            output = example_output(self.pack, other, other.reference, self.sandbox)
            if self.judge(output).outcome == "pass":
                yield "expected", f"accepts the reference of {other.id}"

    def others(self) -> list[BenchmarkTask]:
        """The tasks whose references must fail here: all that take no program, and the next."""
        tasks = self.pack.tasks
        at = tasks.index(self.task) if self.task in tasks else 0
        following = tasks[(at + 1) % len(tasks)]
        is_quick = not needs_sandbox(self.task)
        return [
            other
            for other in tasks
            if other.id != self.task.id
            and (other is following or (is_quick and not _runs_programs(other)))
        ]

    def original(self) -> Iterator[Finding]:
        """What is to be repaired must be broken: it fails the test that the model is shown."""
        if self.task.verifier_type != "artifact" or self.sandbox is None:
            return
        if read_expected(self.task, artifact.Expected).visible:
            verdict = artifact.judge_original(self.task, self.sandbox)
            if verdict.reason != "visible_value":
                yield "files", f"as they are must fail the visible test: {_words(verdict)}"


def degenerate_outputs(
    pack: Pack, task: BenchmarkTask, sandbox: Sandbox | None = None
) -> dict[str, Output]:
    """What no task may accept, by what it is.

    Fixed answers, echoes of the prompt, blind tool calls, and a workspace in which nothing was
    made, or of which nothing is left.
    """
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
    if task.tools:
        for arguments in BLIND_ARGUMENTS:
            name = f"every tool called with {arguments or 'nothing'}"
            outputs[name] = example_output(pack, task, _blind_calls(task, arguments), sandbox)
    if task.tools == "workspace":
        outputs |= _idle_outputs(pack, task)
    elif task.files:
        text = pack.output("I deleted everything.")
        outputs["no file left"] = text.model_copy(update={"files": {}})
    return outputs


def _idle_outputs(pack: Pack, task: BenchmarkTask) -> dict[str, Output]:
    """A workspace in which nothing was made, with one look around and whatever is said of it.

    The right words alone are no sign of idleness: a task may ask for nothing but a finding.
    """
    # Without a sandbox: what programs would leave is not there either.
    right = example_output(pack, task, task.reference).text
    left: dict[str, dict[str, str | None]] = {
        "the files as they were": dict(task.files),
        "no file left": {},
        "every file emptied": dict.fromkeys(task.files, ""),
    }
    said = {"without a word": "", "with a claim": "Done.", "with the right words": right}
    looked = pack.output("").model_copy(update={"tool_calls": (CONSTANT_CALL,)})
    return {
        f"{state} {words}": looked.model_copy(update={"files": files, "text": text})
        for state, files in left.items()
        for words, text in said.items()
        if files != task.files or text != right
    }


def _blind_calls(task: BenchmarkTask, arguments: dict[str, str]) -> Trajectory:
    """Every tool called once with the same arguments, one by one, and a claim at the end."""
    names = ["list_files", "delete_file"]
    if isinstance(task.tools, tuple):
        names = [tool.name for tool in task.tools]
    calls = [({name: dict(arguments)},) for name in names]
    return Trajectory(trajectory=(*calls, Say(say="ANSWER: done")))


def _words(verdict: TaskScore) -> str:
    """A verdict in short: `fail (wrong_value)`."""
    words = f"{verdict.outcome} ({verdict.reason})" if verdict.reason else verdict.outcome
    credit = f", credit {verdict.score:.2f}" if verdict.outcome != "pass" and verdict.score else ""
    return words + credit
