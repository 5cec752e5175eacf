"""The self-test as a terminal report and as JSON: its bars first, then every figure behind them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bench_loop.console import NARROW, Signs, in_signs, signs, width
from bench_loop.report import figures
from bench_loop.report.figures import UNKNOWN
from bench_loop.report.marks import sign, signal_path
from bench_loop.selftest.measure import CaseResult, Figure, TrapResult
from bench_loop.selftest.run import Bar, SelfTest, Unit

COLUMNS = (("generation", "%"), ("prompt", "%"), ("ttft", "ms"), ("ttfa", "ms"))
"""The errors shown of each case, and their units."""

_HEADS = {"generation": "tok/s", "prompt": "prompt", "ttft": "TTFT", "ttfa": "TTFA"}


def print_selftest(result: SelfTest, screen: Console) -> None:
    """Print the bars, the table of errors, the traps, and in one sentence whether all is well."""
    look = signs(screen)
    screen.print(signal_path(("simulated server", "its log", "BenchLoop's clocks"), look))
    screen.print()
    _print(_bar_table(result.bars(), look), screen)
    if result.engine.why_not is not None:
        _say(f"llama.cpp's own timings: not run, {result.engine.why_not}.", screen, "basis")
        screen.print()
    _print(_error_table(result.cases, look, is_narrow=width(screen) < NARROW), screen)
    _print(_trap_table(result.traps, look), screen)
    failed = [bar for bar in result.bars() if not bar.passes]
    if not failed:
        _say("BenchLoop's clocks meet every bar on this machine.", screen, "pass")
        return
    names = ", ".join(bar.name for bar in failed)
    _say(f"Not met on this machine: {names}.", screen, "fail")
    _say("The bars hold for a quiet machine: stop other programs and run it again.", screen, "")


def selftest_json(result: SelfTest) -> dict[str, Any]:
    """The self-test for a program to read; times in seconds, errors of speeds as shares."""
    return {
        "passes": result.passes,
        "bars": [
            {
                "name": bar.name,
                "unit": bar.unit,
                "bar": bar.bar,
                "worst": bar.worst,
                "where": bar.where,
                "passes": bar.passes,
            }
            for bar in result.bars()
        ],
        "cases": [_case_json(case) for case in result.cases],
        "traps": [
            {
                "name": found.trap.name,
                "server": found.trap.dialect,
                "expected": found.trap.code,
                "noticed": list(found.noticed),
                "passes": found.passes,
            }
            for found in result.traps
        ],
        "engine": {
            "why_not": result.engine.why_not,
            "figures": [_figure_json(figure) for figure in result.engine.figures],
        },
    }


def _case_json(result: CaseResult) -> dict[str, Any]:
    return {
        "name": result.case.name,
        "server": result.case.dialect,
        "passes": result.passes,
        "figures": [_figure_json(figure) for figure in result.figures],
    }


def _figure_json(figure: Figure) -> dict[str, Any]:
    return {
        "name": figure.name,
        "true": figure.true,
        "measured": figure.measured,
        "error": figure.error,
        "bar": figure.bar,
        "passes": figure.passes,
    }


def _bar_table(bars: Sequence[Bar], look: Signs) -> Table:
    table = _table("", "error of", right=("at most", "worst"), left=("in",))
    for bar in bars:
        table.add_row(
            _mark(look, passes=bar.passes),
            Text(bar.name),
            Text(_amount(bar.bar, bar.unit), "basis"),
            Text("none" if bar.worst is None else _amount(bar.worst, bar.unit), "figure"),
            Text(bar.where or "", "basis"),
        )
    return table


def _error_table(results: Sequence[CaseResult], look: Signs, *, is_narrow: bool) -> Table:
    shown = COLUMNS[:1] if is_narrow else COLUMNS
    heads = tuple(f"{_HEADS[name]} {unit}" for name, unit in shown)
    table = _table("", "case", "server", right=("true tok/s", *heads))
    for result in results:
        by_name = {figure.name: figure for figure in result.figures}
        table.add_row(
            _mark(look, passes=result.passes),
            Text(result.case.name),
            Text(result.case.dialect, "basis"),
            Text(figures.significant(by_name["generation"].true)),
            *(_error(by_name.get(name), look) for name, _ in shown),
        )
    return table


def _trap_table(results: Sequence[TrapResult], look: Signs) -> Table:
    table = _table("", "trap", "server", left=("noticed",))
    for result in results:
        table.add_row(
            _mark(look, passes=result.passes),
            Text(result.trap.name),
            Text(result.trap.dialect, "basis"),
            Text(", ".join(result.noticed) or "nothing"),
        )
    return table


def _table(*heads: str, right: Iterable[str] = (), left: Iterable[str] = ()) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="basis")
    for head in heads:
        table.add_column(head, no_wrap=True)
    for head in right:
        table.add_column(head, justify="right", no_wrap=True)
    for head in left:
        table.add_column(head)
    return table


def _mark(look: Signs, *, passes: bool) -> Text:
    outcome = "pass" if passes else "fail"
    return Text(sign("pass" if passes else "fail", look), outcome)


def _error(figure: Figure | None, look: Signs) -> Text:
    """An error in percent or milliseconds, signed; red where it is beyond its bar."""
    if figure is None:
        return in_signs(Text(UNKNOWN, "basis"), look)
    if figure.error is None:
        return Text("none", "fail")
    is_share = figure.name in ("generation", "prompt")
    text = figures.signed(100 * figure.error, 2) if is_share else _milliseconds(figure.error)
    return in_signs(Text(text, "" if figure.passes else "fail"), look)


def _milliseconds(seconds: float) -> str:
    return figures.signed(1000 * seconds, 1)


def _amount(value: float, unit: Unit) -> str:
    if unit == "share":
        return f"{figures.number(100 * value, 2)} %"
    if unit == "seconds":
        return f"{figures.number(1000 * value, 1)} ms"
    return figures.number(value, 0)


def _print(table: Table, screen: Console) -> None:
    screen.print(table, width=width(screen))
    screen.print()


def _say(sentence: str, screen: Console, style: str) -> None:
    screen.print(Text(sentence, style), width=width(screen))
