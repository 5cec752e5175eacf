"""Reads what a task expects: its `expected` block as the verifier's own strict record."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TypeVar, cast

from pydantic import BaseModel, ValidationError

from bench_loop.contracts.task import BenchmarkTask
from bench_loop.contracts.verifier import TaskScore
from bench_loop.errors import PackError

Expectation = TypeVar("Expectation", bound=BaseModel)


def task_file(task: BenchmarkTask) -> str:
    """The task's file inside `packs/`, for messages."""
    return f"{task.suite}/{task.id.partition('.')[2]}.yaml"


def field_path(error: ValidationError) -> tuple[str, str]:
    """The dotted path and the sentence of a validation error's first finding."""
    first = error.errors(include_url=False, include_input=False)[0]
    return ".".join(str(part) for part in first["loc"]), first["msg"]


def read_expected(task: BenchmarkTask, record: type[Expectation]) -> Expectation:
    """`task.expected` as `record`. Raises PackError that names the field."""
    try:
        return cast(Expectation, _parse(record, json.dumps(task.expected)))
    except ValidationError as error:
        path, reason = field_path(error)
        field = f"expected.{path}" if path else "expected"
        raise PackError(task_file(task), field, reason) from error


@lru_cache(maxsize=512)
def _parse(record: type[BaseModel], text: str) -> BaseModel:
    return record.model_validate_json(text)


def refuse(task: BenchmarkTask, field: str, reason: str) -> PackError:
    """The PackError of an `expected` block that is well formed and means nothing."""
    return PackError(task_file(task), f"expected.{field}", reason)


def passed(answer: str) -> TaskScore:
    return TaskScore(outcome="pass", score=1.0, answer=answer)


def failed(
    reason: str, message: str, *, answer: str | None = None, credit: float = 0.0
) -> TaskScore:
    """A fail; `answer` is what the convention read, None where it could read nothing."""
    return TaskScore(outcome="fail", score=credit, reason=reason, message=message, answer=answer)
