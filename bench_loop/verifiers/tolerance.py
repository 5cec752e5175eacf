"""A number with its unit: right when it is within a tolerance of the expected value."""

from __future__ import annotations

from fractions import Fraction

from pydantic import Field

from bench_loop.contracts.record import Record
from bench_loop.contracts.sandbox import Sandbox
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.contracts.verifier import Output, TaskScore
from bench_loop.verifiers.expectation import failed, passed, read_expected, refuse
from bench_loop.verifiers.extraction import answer_line, plain
from bench_loop.verifiers.quantity import read_quantity

_MESSAGES = {
    "no_single_answer": "The answer line does not state one single value.",
    "unknown_unit": "The value is given in a unit that the task does not know.",
}


class Expected(Record):
    """What a tolerance task expects."""

    value: float = Field(description="The right value in the base unit.")
    tolerance: float = Field(ge=0, description="Greatest difference that still passes.")
    units: dict[str, float] = Field(
        {"": 1.0}, description="Unit text to factor; the empty text is a bare number."
    )


def check(task: BenchmarkTask) -> None:
    """Raises PackError when `expected` is not a value, a tolerance and units with a base unit."""
    expected = read_expected(task, Expected)
    if any(factor <= 0 for factor in expected.units.values()):
        raise refuse(task, "units", "every factor must be greater than zero")
    if 1.0 not in expected.units.values():
        raise refuse(task, "units", "one unit must be the base unit, with factor 1")


def needs_sandbox(task: BenchmarkTask) -> bool:
    """Never: nothing is run."""
    return False


def judge(output: Output, task: BenchmarkTask, sandbox: Sandbox | None = None) -> TaskScore:
    """The verdict on the answer line of `output.text`, from which thinking has been removed."""
    expected = read_expected(task, Expected)
    line = answer_line(output.text)
    if line is None:
        return failed("no_answer", "The reply has no answer line.")
    units = {plain(unit).casefold(): _exact(factor) for unit, factor in expected.units.items()}
    read = read_quantity(line, units)
    if read.value is None:
        reason = read.reason or "no_single_answer"
        return failed(reason, _MESSAGES[reason], answer=line if reason == "unknown_unit" else None)
    answer = f"{float(read.value):.12g}"
    if abs(read.value - _exact(expected.value)) <= _exact(expected.tolerance):
        return passed(answer)
    return failed("wrong_value", f"The answer {answer} is not the expected value.", answer=answer)


def _exact(number: float) -> Fraction:
    """The decimal that the file shows, not the binary fraction next to it."""
    return Fraction(repr(number))
