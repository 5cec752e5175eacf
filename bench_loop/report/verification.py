"""What `bench-loop verify` found, as a table in a terminal and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.text import Text

from bench_loop.console import clean, in_signs, signs
from bench_loop.engine.verify import Check, Verification
from bench_loop.report.figures import counted
from bench_loop.report.marks import LABEL, label, wrapped

STATE = 11
"""Columns of the word after a check's name."""
WORDS = {"holds": "holds", "fails": "FAILS", "unchecked": "not checked"}
STYLES = {"holds": "pass", "fails": "fail", "unchecked": "partial"}


def print_verification(found: Verification, screen: Console) -> None:
    """A line for each check, what speaks against it below, then the sum."""
    drawn = signs(screen)
    for line in _lines(found, screen):
        screen.print(in_signs(line, drawn), soft_wrap=True)


def _lines(found: Verification, screen: Console) -> Iterator[Text]:
    subject = found.result.subject
    title = " ".join(filter(None, (subject.model_id, subject.quantization)))
    head = Text(clean(title), style="figure")
    head.append(f"  {found.result.profile}, run {found.result.run_id}", style="basis")
    yield from wrapped(head, screen)
    yield Text()
    for check in found.checks:
        yield from _check_lines(check, screen)
    yield Text()
    yield from wrapped(_sum(found), screen)


def _check_lines(check: Check, screen: Console) -> Iterator[Text]:
    indent = LABEL + STATE + 1
    if screen.width < 2 * indent + 10:
        # Too narrow for a column of sentences: they go below.
        yield label(check.name).append(WORDS[check.standing], style=STYLES[check.standing])
        yield from wrapped(Text(clean(check.sentence)), screen, indent=2)
    else:
        lines = wrapped(Text(clean(check.sentence)), screen, indent=indent)
        head = label(check.name)
        head.append(f"{WORDS[check.standing]:{STATE}} ", style=STYLES[check.standing])
        yield head.append_text(lines[0][indent:])
        yield from lines[1:]
    for detail in check.details:
        yield from wrapped(Text(clean(detail), style="basis"), screen, indent=2)


def _sum(found: Verification) -> Text:
    count = {
        standing: sum(check.standing == standing for check in found.checks) for standing in WORDS
    }
    if count["fails"]:
        return Text(
            f"{counted(count['fails'], 'check')} failed: do not believe this file.", style="fail"
        )
    rest = f" {count['unchecked']} could not be checked here." if count["unchecked"] else ""
    return Text(f"{counted(count['holds'], 'check')} held, none failed.{rest}", style="figure")


def verification_json(found: Verification, name: str) -> dict[str, Any]:
    """The same for a program to read."""
    return {
        "file": name,
        "run_id": found.result.run_id,
        "holds": found.holds,
        "checks": [
            {
                "name": check.name,
                "standing": check.standing,
                "sentence": check.sentence,
                "details": list(check.details),
            }
            for check in found.checks
        ],
    }
