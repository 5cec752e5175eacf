"""One verdict and what it rests on, in a terminal and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.text import Text

from bench_loop.console import clean, in_signs, signs
from bench_loop.engine.score import Judgement
from bench_loop.report.marks import label, outcome_word, sign, wrapped
from bench_loop.report.trials import calls_text


def print_judgement(found: Judgement, screen: Console) -> None:
    """The verdict, its reason and sentence, the answer read, and what was judged."""
    drawn = signs(screen)
    verdict = found.verdict
    head = Text()
    head.append(f"{sign(verdict.outcome, drawn)} ", style=verdict.outcome)
    head.append(f"{outcome_word(verdict.outcome)}  ", style=verdict.outcome)
    head.append(clean(found.task.id), style="figure")
    if verdict.reason:
        head.append(f"  {clean(verdict.reason)}", style="basis")
    screen.print(in_signs(head, drawn))
    if verdict.message:
        screen.print(*wrapped(Text(clean(verdict.message)), screen, indent=2), sep="\n")
    for name, value in _evidence(found):
        first, *rest = wrapped(Text(clean(value)), screen, indent=len(label("").plain), limit=4)
        screen.print(label(name).append_text(first[len(label("").plain) :]))
        screen.print(*rest, sep="\n", end="\n" if rest else "")


def _evidence(found: Judgement) -> Iterator[tuple[str, str]]:
    verdict, output = found.verdict, found.output
    yield "answer read", "none" if verdict.answer is None else verdict.answer
    yield "convention", f"{found.convention}, verifier {found.task.verifier_type}"
    if verdict.score not in (0.0, 1.0):
        yield "credit", f"{verdict.score:.2f} in the diagnostic score"
    if output is None:
        return
    yield "finish reason", output.finish_reason
    if found.has_thinking:
        yield "thinking", "left out of what is judged"
    if output.tool_calls:
        yield "tool calls", calls_text(output.tool_calls)
    for call in output.tool_calls:
        yield "tool call", f"{call.name}({call.arguments})"
    yield "text judged", found.final_text or "none"


def judgement_json(found: Judgement) -> dict[str, Any]:
    """The same for a program to read."""
    output = found.output
    return {
        "task_id": found.task.id,
        **found.verdict.model_dump(mode="json"),
        "convention": found.convention,
        "verifier_type": found.task.verifier_type,
        "finish_reason": None if output is None else output.finish_reason,
        "has_thinking": found.has_thinking,
        "final_text": found.final_text,
        "tool_calls": []
        if output is None
        else [call.model_dump(mode="json") for call in output.tool_calls],
    }
