"""A task and an output for tests that judge one thing at a time."""

from __future__ import annotations

from typing import Any

from bench_loop.contracts.chat import FinishReason, Message
from bench_loop.contracts.task import BenchmarkTask, Convention, VerifierType
from bench_loop.contracts.verifier import Output, TaskScore
from bench_loop.verifiers.judging import judge


def make_task(
    verifier_type: VerifierType, expected: dict[str, Any], **fields: Any
) -> BenchmarkTask:
    """A task of the suite `cases`, with tools or files where `fields` gives some."""
    values = {
        "suite": "cases",
        "id": "cases.case",
        "title": "A case",
        "difficulty": "easy",
        "capability_tags": ("format",),
        "verifier_type": verifier_type,
        "notes": "A case.",
        "messages": (Message(role="user", content="?"),),
        "expected": expected,
        "reference": "",
    }
    return BenchmarkTask.model_validate(values | fields)


def code_task(**expected: Any) -> BenchmarkTask:
    """A task that asks for the function `total`."""
    return make_task("artifact", {"function": "total", **expected}, limits={"wall_s": 2.0})


def judged(
    verifier_type: VerifierType,
    expected: dict[str, Any],
    text: str,
    convention: Convention = "whole_reply",
    *,
    thinking: str = "",
    finish_reason: FinishReason = "stop",
) -> TaskScore:
    output = Output(
        text=text, thinking=thinking, finish_reason=finish_reason, convention=convention
    )
    return judge(output, make_task(verifier_type, expected))
