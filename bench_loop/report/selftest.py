"""The self-test as a terminal report and as JSON: its bars first, then every figure behind them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bench_loop.console import NARROW, Signs, in_signs, signs, width
from bench_loop.report import figures
from bench_loop.report.figures import UNKNOWN
from bench_loop.report.marks import sign, signal_path
from bench_loop.selftest.cases import TRIALS
from bench_loop.selftest.measure import CaseResult, Figure, Result, TrapResult, title
from bench_loop.selftest.run import Bar, SelfTest, Unit, p99

COLUMNS = (("generation", "%"), ("prompt", "%"), ("ttft", "ms"), ("ttfa", "ms"))
"""The errors shown of each case, and their units."""

_HEADS = {"generation": "tok/s", "prompt": "prompt", "ttft": "TTFT", "ttfa": "TTFA"}


def print_selftest(result: SelfTest, screen: Console) -> None:
    """Print the bars, the table of errors, the traps, and in one sentence whether all is well."""
    look = signs(screen)
    screen.print(signal_path(("simulated server", "its log", "BenchLoop's clocks"), look))
    screen.print()
    is_narrow = width(screen) < NARROW
    _print(_bar_table(result.bars(), look, is_narrow=is_narrow), screen)
    for note in _notes(is_quick=result.is_quick, is_narrow=is_narrow):
        _say(note, screen, "basis")
    screen.print()
    if result.engine.why_not is not None:
        _say(f"llama.cpp's own timings: not run, {result.engine.why_not}.", screen, "basis")
        screen.print()
    _print(_error_table(result.cases, look, is_narrow=is_narrow), screen)
    _print(_trap_table(result.traps, look), screen)
    failed = [bar for bar in result.bars() if not bar.passes]
    if not failed:
        _say("BenchLoop's clocks meet every bar on this machine.", screen, "pass")
        return
    names = ", ".join(bar.name for bar in failed)
    _say(f"Not met on this machine: {names}.", screen, "fail")
    _say("The bars hold for a quiet machine: stop other programs and run it again.", screen, "")


def result_line(result: Result, look: Signs) -> Text:
    """A case with its errors, or a trap with what was noticed, in one line."""
    line = _mark(look, passes=result.passes) + Text("  ")
    if isinstance(result, TrapResult):
        line += Text(f"{title(result.trap)}: noticed {_noticed(result)}")
        return line
    by_name = {figure.name: figure for figure in result.figures}
    line += Text(f"{title(result.case)}: ")
    shown = [(name, unit) for name, unit in COLUMNS if name in by_name]
    line += Text(", ").join(
        Text(f"{_HEADS[name]} ") + _error(by_name[name], look) + Text(f" {unit}")
        for name, unit in shown
    )
    if len(result.trials) > 1:
        line += Text(f" (median of {len(result.trials)})", "basis")
    return line


def selftest_json(result: SelfTest) -> dict[str, Any]:
    """The self-test for a program to read; times in seconds, errors of speeds as shares."""
    return {
        "passes": result.passes,
        "is_quick": result.is_quick,
        "bars": [
            {
                "name": bar.name,
                "unit": bar.unit,
                "bar": bar.bar,
                "worst": bar.worst,
                "where": bar.where,
                "worst_trial": bar.worst_trial,
                "bare_socket": bar.machine,
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
        "trials": len(result.trials),
        "delay_p99_s": p99(result.delays_s),
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


def _notes(*, is_quick: bool, is_narrow: bool) -> Iterator[str]:
    """What the figures of the bars are."""
    p99_is = "p99: all but the slowest hundredth of the events that are sent in one piece."
    if is_quick:
        yield (
            f"worst: of all cases, each by one trial, or by the median of {TRIALS} where that was"
            f" beyond a bar. {p99_is} A fault that shows now and then can pass: quote the whole"
            " self-test, not --quick."
        )
    else:
        yield f"worst: of all cases, each by the median of {TRIALS} trials. {p99_is}"
    if not is_narrow:
        yield (
            "one trial: the worst of all trials. socket: the worst trial (or p99) of a client that"
            " only reads a bare socket and the clock. Both hold this machine's own pauses and have"
            " no bar."
        )


def _bar_table(bars: Sequence[Bar], look: Signs, *, is_narrow: bool) -> Table:
    more = () if is_narrow else ("one trial", "socket")
    table = _table("", "error of", right=("at most", "worst", *more), left=("in",))
    for bar in bars:
        beside = () if is_narrow else (bar.worst_trial, bar.machine)
        table.add_row(
            _mark(look, passes=bar.passes),
            Text(bar.name),
            Text(_amount(bar.bar, bar.unit), "basis"),
            Text("none" if bar.worst is None else _amount(bar.worst, bar.unit), "figure"),
            *(Text("" if value is None else _amount(value, bar.unit), "basis") for value in beside),
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
            Text(_noticed(result)),
        )
    return table


def _noticed(result: TrapResult) -> str:
    return ", ".join(result.noticed) or "nothing"


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
