"""Judges one saved output against one task file, shipped or not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from bench_loop.contracts.chat import CallRecord
from bench_loop.contracts.sandbox import Sandbox
from bench_loop.contracts.task import BenchmarkTask, Convention
from bench_loop.contracts.verifier import Output, TaskScore
from bench_loop.engine.packs import MANIFEST, read_lone_task, read_manifest, read_task
from bench_loop.errors import EngineRejectedError, PackError, UsageError
from bench_loop.providers.saved import SavedFormat, read_saved
from bench_loop.verifiers.expectation import failed
from bench_loop.verifiers.extraction import without_thinking
from bench_loop.verifiers.judging import judge

OutputFormat = Literal["text"] | SavedFormat


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict and what it rests on; `output` is None where the engine's answer was an error."""

    task: BenchmarkTask
    convention: Convention
    output: Output | None
    verdict: TaskScore

    @property
    def final_text(self) -> str | None:
        """What was judged: the text without its thinking."""
        return None if self.output is None else without_thinking(self.output.text).text

    @property
    def has_thinking(self) -> bool:
        """Whether there was thinking, apart from the text or inside it."""
        if self.output is None:
            return False
        return bool(self.output.thinking) or self.final_text != self.output.text


def find_task(path: Path, convention: Convention | None) -> tuple[BenchmarkTask, Convention]:
    """The task in the file `path`, and how its suite reads answers.

    The `pack.yaml` beside it says that; where there is none, `convention` does. Raises PackError
    for a wrong file, UsageError when the convention is missing or not the suite's.
    """
    if not path.is_file():
        raise PackError(str(path), None, "there is no such file")
    if not (path.parent / MANIFEST).is_file():
        task = read_lone_task(path)
        if convention is None:
            raise UsageError(
                f"There is no {MANIFEST} beside {path.name} that says how answers are read.",
                remedy=f"Say it: --convention {', '.join(get_args(Convention))}.",
            )
        return task, convention
    manifest = read_manifest(path.resolve().parent)
    if convention not in (None, manifest.convention):
        raise UsageError(
            f"The suite {manifest.name} reads answers as {manifest.convention}.",
            remedy="Leave --convention out.",
        )
    return read_task(path, manifest.name), manifest.convention


def judge_saved(
    task: BenchmarkTask,
    convention: Convention,
    data: bytes,
    form: OutputFormat,
    sandbox: Sandbox | None = None,
) -> Judgement:
    """The verdict on what a model wrote, or on the answer that a model server gave.

    Raises SandboxError for a task that needs a sandbox where there is none.
    """
    try:
        output = _output(data, form, convention)
    except EngineRejectedError as error:
        return Judgement(task, convention, None, failed(error.reason, error.message))
    return Judgement(task, convention, output, judge(output, task, sandbox))


def _output(data: bytes, form: OutputFormat, convention: Convention) -> Output:
    if form == "text":
        return Output(text=data.decode("utf-8", "replace"), convention=convention)
    reply = read_saved(data, form)
    return Output(
        text=reply.text,
        thinking=reply.thinking,
        tool_calls=tuple(CallRecord(**call.model_dump(), turn=1) for call in reply.tool_calls),
        finish_reason=reply.finish_reason,
        convention=convention,
    )
