"""Judges one saved output against one task file, shipped or not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bench_loop.contracts.harness import HarnessRunResult
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
                remedy="Say it: --convention answer_line, whole_reply or document.",
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
    task: BenchmarkTask, convention: Convention, data: bytes, form: OutputFormat
) -> Judgement:
    """The verdict on what a model wrote, or on the answer that a model server gave."""
    try:
        made = _made_of(data, form)
    except EngineRejectedError as error:
        return Judgement(task, convention, None, failed(error.reason, error.message))
    output = Output(
        text=made.final_text,
        thinking=made.thinking,
        tool_calls=made.tool_calls,
        finish_reason=made.finish_reason,
        convention=convention,
    )
    return Judgement(task, convention, output, judge(output, task))


def _made_of(data: bytes, form: OutputFormat) -> HarnessRunResult:
    if form == "text":
        return HarnessRunResult(data.decode("utf-8", "replace"))
    reply = read_saved(data, form)
    return HarnessRunResult(
        final_text=reply.text,
        thinking=reply.thinking,
        finish_reason=reply.finish_reason,
        tool_calls=reply.tool_calls,
    )
