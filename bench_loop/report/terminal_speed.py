"""Speed in the report of a run, in a terminal: raw figures, with what they stand on."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from bench_loop.console import clean
from bench_loop.report import figures, views
from bench_loop.report.marks import (
    LABEL,
    label,
)
from bench_loop.report.records import LoadTable
from bench_loop.report.speed import load_tables
from bench_loop.report.terminal_page import Page
from bench_loop.result.records import Speed


def speed_lines(speed: Speed | None, page: Page) -> Iterator[Text]:
    """The headline figures of speed, raw, with what they stand on."""
    if speed is None:
        yield label("speed").append(figures.NOT_RUN, style="basis")
        return
    readings = (
        ("", speed.generation_tps, "tok/s"),
        ("prompt ", speed.prompt_tps, "tok/s"),
        ("TTFT ", speed.ttft_s, "s"),
        ("load ", speed.load_s, "s"),
    )
    shown = [
        Text.assemble(name, (str(views.spread_figure(spread)), "figure"), (f" {unit}", "basis"))
        for name, spread, unit in readings
        if spread is not None
    ]
    unknown = Text("not measured", style="basis")
    yield from page.beside("speed", shown or [unknown])
    yield from page.prose(Text(_speed_basis(speed), style="basis"), indent=LABEL)
    for table in load_tables(speed):
        yield from _load_lines(table, page)


def _load_lines(table: LoadTable, page: Page) -> Iterator[Text]:
    """A table of a few figures as lines, each known figure after its name."""
    for number, row in enumerate(table.rows):
        shown = [
            Text.assemble((f"{name} ", "basis"), (figure, "figure"), (f" {unit}".rstrip(), "basis"))
            for (name, unit), figure in zip(table.heads, row, strict=True)
            if figure != figures.UNKNOWN
        ]
        yield from page.beside("" if number else table.title.lower(), shown)


def _speed_basis(speed: Speed) -> str:
    counted = speed.generation_tps
    parts = [f"plan {speed.plan}" if speed.plan else _shape_words(speed)]
    if counted:
        parts.append(f"n {counted.n}")
    for name, other in (("prompt", speed.prompt_tps), ("TTFT", speed.ttft_s)):
        if counted and other and other.n != counted.n:
            parts.append(f"{name} n {other.n}")
    if counted and counted.basis:
        parts.append(f"tokens by {counted.basis.replace('_', ' ')}")
    parts += [clean(finding).replace("_", " ") for finding in speed.findings]
    return ", ".join(parts)


def _shape_words(speed: Speed) -> str:
    """The shapes of another tool, as llama-bench names them: `pp512, tg128`."""
    words = []
    for shape in speed.shapes:
        depth = f" @ d{shape.depth_tokens}" if shape.depth_tokens else ""
        parts = (("pp", shape.prompt_tokens), ("tg", shape.output_tokens))
        words.append("+".join(f"{name}{n}" for name, n in parts if n) + depth)
    return ", ".join(words)
