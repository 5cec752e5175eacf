"""The fact that a tool loop's final text reports: the line `ANSWER: ...`, read and compared."""

from __future__ import annotations

import re
from fractions import Fraction

from pydantic import Field

from bench_loop.contracts.record import Record
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.verifiers.expectation import refuse
from bench_loop.verifiers.extraction import marked_line, plain
from bench_loop.verifiers.quantity import read_quantity

Broken = tuple[str, str]
"""Why the report is wrong: the reason code and the sentence."""

_NO_ANSWER = ("no_answer", "The final text has no line ANSWER: ...")
_WRONG_ANSWER = ("wrong_answer", "The final text reports something else.")


class Report(Record):
    """What the answer line must say: `parts`, or a `value`. Case never counts."""

    parts: tuple[str, ...] = Field(
        (), description="The parts in order, separated by commas or semicolons."
    )
    among: tuple[str, ...] = Field(
        (), description="All words that could be a part: those on the line are read, others not."
    )
    value: float | None = Field(None, description="The number that the line states.")
    units: dict[str, float] = Field({"": 1.0}, description="Unit text to factor, for `value`.")


def check_report(task: BenchmarkTask, report: Report) -> None:
    """Raises PackError when the report can't be right."""
    if bool(report.parts) == (report.value is not None):
        raise refuse(task, "answer", "give either parts or a value")
    known = {part.casefold() for part in report.among}
    if report.among and not {part.casefold() for part in report.parts} <= known:
        raise refuse(task, "answer.parts", "every part must be among `among`")


def read_report(text: str) -> str | None:
    """The answer line of a final text; None: it has none."""
    return marked_line(text)


def broken_report(report: Report, text: str) -> Broken | None:
    """Why the final `text` does not report what it must; None: it does."""
    line = marked_line(text)
    if line is None:
        return _NO_ANSWER
    return None if _is_right(report, line) else _WRONG_ANSWER


def _is_right(report: Report, line: str) -> bool:
    if report.value is not None:
        units = {plain(unit).casefold(): Fraction(repr(f)) for unit, f in report.units.items()}
        return read_quantity(line, units).value == Fraction(repr(report.value))
    wanted = [_bare(part) for part in report.parts]
    if report.among:
        return _named(report.among, line) == wanted
    return [_bare(part) for part in re.split(r"[,;]", line)] == wanted


def _named(among: tuple[str, ...], line: str) -> list[str]:
    """The words of `among` that stand on `line`, in its order; the longest where two begin."""
    words = sorted(map(re.escape, among), key=len, reverse=True)
    pattern = rf"(?<![\w/.-])(?:\./)?(?:{'|'.join(words)})(?![\w/-])"
    return [_bare(found[0]) for found in re.finditer(pattern, line, re.IGNORECASE)]


def _bare(part: str) -> str:
    """Without quotes, the angle brackets of a placeholder that was filled in, and a full stop."""
    part = plain(part).strip().strip("\"'<>").rstrip(".").strip()
    return part.removeprefix("./").casefold()


def mentions(text: str, phrases: tuple[str, ...]) -> bool:
    """Whether every phrase stands in `text` as whole words."""
    return all(
        re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", text, re.IGNORECASE) for phrase in phrases
    )
