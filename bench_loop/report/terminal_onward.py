"""The end of the report of a run, in a terminal: where the result is, and what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from rich.text import Text

from bench_loop.console import clean, program
from bench_loop.report import views
from bench_loop.report.marks import label
from bench_loop.report.terminal_page import Page
from bench_loop.result.records import RunResult


def onward_lines(
    result: RunResult, file: Path | None, endpoint: str | None, page: Page
) -> Iterator[Text]:
    """Where the result is, and the next thing to do with it; never broken, for copying."""
    if file is None:
        return
    place = _from_here(file)
    yield label("saved").append(clean(place))
    if result.status == "complete" and any(suite.is_private for suite in result.suites):
        command, effect = "bench-loop dashboard", "shows all runs on a page"
    elif result.status == "complete" and result.profile != "smoke":
        command = clean(f"bench-loop submit {shlex.quote(place)} --print-payload")
        effect = "shows what would be sent"
    elif result.status != "complete" and result.parts is not None:
        whole = f"run --resume {result.run_id}"
        if result.matrix is not None:
            whole = f"matrix --resume {result.matrix.matrix_id}"
        command, effect = f"bench-loop {whole}", "goes on with it"
    else:
        is_smoke = result.status == "complete"
        again = result.model_copy(update={"profile": "quick"}) if is_smoke else result
        effect = "can be ranked" if is_smoke else "runs it again"
        where = f" --endpoint {shlex.quote(clean(endpoint))}" if endpoint else ""
        command = views.command_line(again) + where
    command = command.replace("bench-loop", program(), 1)
    line = label("next").append(command)
    if line.cell_len + 3 + len(effect) <= page.columns:
        line.append(f"   {effect}", style="basis")
    yield line


def _from_here(file: Path) -> str:
    """The path of `file` as a person here would type it."""
    here = Path.cwd()
    return str(file.relative_to(here) if file.is_relative_to(here) else file)
