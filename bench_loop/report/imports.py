"""What an import came to, in a terminal: a line for each run, then what is wrong with its file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from bench_loop.console import clean, in_signs, signs
from bench_loop.report import figures, views
from bench_loop.report.marks import LABEL, label, wrapped
from bench_loop.result.records import RunResult


def print_imports(saved: Sequence[tuple[RunResult, Path | None]], screen: Console) -> None:
    """Print every run with its file; None: it was imported before, and is there already."""
    drawn = signs(screen)
    for result, file in saved:
        for line in _lines(result, file, screen):
            screen.print(in_signs(line, drawn), soft_wrap=True)
        screen.print()
    new = sum(file is not None for _, file in saved)
    known = f", {len(saved) - new} known already" if new < len(saved) else ""
    screen.print(Text(f"{new} imported{known}. Not ranked, imported.", style="basis"))


def _score_lines(result: RunResult) -> Iterator[Text]:
    """Each task with its share of right items; the names are long and stay whole."""
    room = max((len(clean(suite.suite)) for suite in result.suites), default=0)
    for suite in result.suites:
        figure = views.score_figure(suite.score, suite.score_interval)
        line = Text(f"{clean(suite.suite):<{max(room + 1, LABEL)}}").append(str(figure), "figure")
        count = f"  {figures.count(suite.task_count)} items" if suite.task_count else ""
        yield line.append(count, style="basis")


def _lines(result: RunResult, file: Path | None, screen: Console) -> Iterator[Text]:
    imported = result.imported
    assert imported is not None  # by what this prints
    name = " ".join(filter(None, (result.subject.model_id, result.subject.quantization)))
    tag = imported.stated.get("tag")
    title = Text(clean(name), style="figure")
    title.append(f"  {clean(tag)}" if tag else "").append(f"  {views.device(result.machine)}")
    yield from wrapped(title, screen)
    speed = result.speed
    for what, spread in (
        ("generation", speed.generation_tps if speed else None),
        ("prompt", speed.prompt_tps if speed else None),
    ):
        if spread is not None:
            line = label(what).append(str(views.spread_figure(spread)), style="figure")
            yield line.append(f" tok/s, n {spread.n}", style="basis")
    yield from _score_lines(result)
    for finding in imported.findings:
        yield from wrapped(Text(clean(finding), style="fail"), screen)
    yield label("saved").append(clean(str(file)) if file else "already there, nothing written")
