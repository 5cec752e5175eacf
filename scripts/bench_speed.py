"""Times BenchLoop's own clocks and costs, and prints them beside their bars: `make bench`.

Takes about six minutes, in which nothing else should run; `--quick` leaves out the slow servers
and the real engine. Says on standard error what it is doing. A row without a bar is there to
compare with: `bare socket` is a client that does nothing but read the clock. The nearest public
tool is installed into a virtual environment of its own and asked by the same simulated server;
where it cannot be had, the table says so.
"""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from bench_loop.console import console
from bench_loop.machine.detect import detect
from bench_loop.report.selftest_progress import SelfTestProgress
from bench_loop.scoring.rates import Shape
from bench_loop.selftest.bare import listen
from bench_loop.selftest.cases import DIALECTS, TRIALS, cases, traps
from bench_loop.selftest.measure import DELAY_BAR_S, Bench
from bench_loop.selftest.run import Bar, p99, self_test
from bench_loop.selftest.simulated import Simulated, simulator
from bench_loop.simulator.settings import Dialect, Program, Settings

CPU_BAR_S = 0.00015
REQUEST_BAR_S = 0.005
MEMORY_BAR_MB = 60.0

RUNS = 3
EVENTS = 7000
EVENTS_TPS = 1000.0
REQUESTS = 100
REQUEST_TOKENS = 16

OTHER_TOOL = "benchloop-cli==0.2.3"
SUITES = "reasonmath,instructfollow"
"""Suites of the same name in both tools: short prompts, no code to run."""

PEAK = """
import sys
from bench_loop.cli import main
try:
    main(sys.argv[1:])
finally:
    with open("/proc/self/status") as status:
        print(next(line for line in status if line.startswith("VmHWM")), file=sys.stderr)
"""


_VERDICTS = {True: "met", False: "NOT MET", None: ""}


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; `is_met` None where there is nothing to be met."""

    what: str
    bar: str
    measured: str
    is_met: bool | None
    beside: str = ""


def main() -> int:
    is_quick = "--quick" in sys.argv[1:]
    machine = machine_line()
    rows = _accuracy_rows(is_quick=is_quick)
    _say(f"{EVENTS} events, {RUNS} times from each server")
    rows += [*_event_rows(), *_bare_rows()]
    _say(f"{REQUESTS} requests, and {RUNS} whole runs")
    rows += [_request_row(), *_run_rows()]
    _say(OTHER_TOOL)
    rows.append(_other_row())
    print(machine)
    print(_trials_line(is_quick=is_quick))
    _print(rows)
    return 1 if any(row.is_met is False for row in rows) else 0


def _print(rows: Sequence[Row]) -> None:
    columns = [(row.what, row.bar, row.measured, _VERDICTS[row.is_met], row.beside) for row in rows]
    what, bar, measured, verdict, _ = (max(map(len, same)) for same in zip(*columns, strict=True))
    for row in columns:
        line = (
            f"{row[0]:{what}}  {row[1]:>{bar}}  {row[2]:>{measured}}  {row[3]:{verdict}}  {row[4]}"
        )
        print(line.rstrip())


def _say(what: str) -> None:
    print(f"Timing {what}", file=sys.stderr, flush=True)


def _trials_line(*, is_quick: bool) -> str:
    """What an `error` is."""
    if is_quick:
        return (
            f"error: the worst case; one trial each, {TRIALS} where that was beyond a bar (quick)"
        )
    return f"error: the worst case, of each the median of {TRIALS} trials"


def machine_line() -> str:
    """What it is measured on, and how busy that was before."""
    facts = detect()
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return (
        f"{facts.cpu_model or platform.machine()}, {facts.logical_cores} CPUs, {platform.system()},"
        f" Python {platform.python_version()}{load}"
    )


def _accuracy_rows(*, is_quick: bool) -> list[Row]:
    """The bars of `bench-loop selftest`."""
    total = len(cases(is_quick=is_quick)) + len(traps())
    with SelfTestProgress(console(stderr=True), total) as watch:
        result = self_test(is_quick=is_quick, watch=watch)
    rows = [_accuracy_row(bar) for bar in result.bars()]
    if result.engine.why_not is not None:
        rows.append(Row("llama.cpp's timings", "", f"not run: {result.engine.why_not}", None))
    return rows


def _accuracy_row(bar: Bar) -> Row:
    factor, unit = {"share": (100, "%"), "seconds": (1000, "ms"), "count": (1, "")}[bar.unit]

    def amount(value: float | None) -> str:
        return "none" if value is None else f"{factor * value:.2f} {unit}".strip()

    beside = [bar.where] if bar.where else []
    if bar.worst_trial is not None and bar.unit != "count":
        beside.append(f"one trial {amount(bar.worst_trial)}")
    if bar.machine is not None:
        beside.append(f"bare socket {amount(bar.machine)}")
    return Row(
        f"error: {bar.name}",
        f"{factor * bar.bar:g} {unit}",
        amount(bar.worst),
        bar.passes,
        "; ".join(beside),
    )


def _event_rows() -> list[Row]:
    """CPU time and delay of each token event, one at a time, at a speed no local model exceeds."""
    rows = []
    for dialect in DIALECTS:
        rounds = [_events(dialect) for _ in range(RUNS)]
        cpu_s = statistics.median(cpu for cpu, _ in rounds)
        delay_s = statistics.median(delay for _, delay in rounds)
        rows += [
            _row(f"client CPU per event, {dialect}", CPU_BAR_S, [cpu for cpu, _ in rounds], cpu_s),
            _row(f"added delay p99, {dialect}", DELAY_BAR_S, [d for _, d in rounds], delay_s),
        ]
    return rows


def _events(dialect: Dialect) -> tuple[float, float]:
    """CPU seconds for each event, and the delay that all but the slowest hundredth stay below."""
    settings = Settings(dialect, {"sim": Program(decode_tps=EVENTS_TPS)})
    with simulator(settings) as server, closing(Bench(server)) as bench:
        bench.ask("sim", "warm up", Shape(8, 8))
        began_s = time.process_time()
        bench.ask("sim", "go on", Shape(8, EVENTS))
        cpu_s = time.process_time() - began_s
        return cpu_s / EVENTS, p99(bench.delays()) or 0.0


def _bare_rows() -> list[Row]:
    """The same events read from a bare socket."""
    rounds = [_bare_events() for _ in range(RUNS)]
    cpu, delay = zip(*rounds, strict=True)
    return [
        _row("CPU per event, bare socket", None, cpu, statistics.median(cpu)),
        _row("delay p99, bare socket", None, delay, statistics.median(delay)),
    ]


def _bare_events() -> tuple[float, float]:
    settings = Settings("openai", {"sim": Program(decode_tps=EVENTS_TPS, has_role_chunk=False)})
    with simulator(settings) as server:
        began_s = time.process_time()
        _, arrivals = listen(server.url, "sim", Shape(8, EVENTS))
        cpu_s = time.process_time() - began_s
        moments = [moment for moment, _, _ in server.sent(0).events]
    delays = [seen - sent for seen, sent in zip(arrivals, moments, strict=False)]
    return cpu_s / EVENTS, p99(delays) or 0.0


def _request_row() -> Row:
    """Whole requests of one connection to a server that does not wait for anything."""
    settings = Settings("openai", {"sim": Program()})
    with simulator(settings) as server, closing(Bench(server)) as bench:
        bench.ask("sim", "warm up", Shape(8, 8))
        times = [_seconds(lambda: _short(bench)) for _ in range(REQUESTS)]
    return _row(
        f"a request of {REQUEST_TOKENS} tokens, no wait",
        REQUEST_BAR_S,
        times,
        statistics.median(times),
    )


def _short(bench: Bench) -> object:
    return bench.ask("sim", "one two three four", Shape(8, REQUEST_TOKENS))


def _run_rows() -> list[Row]:
    """A whole `bench-loop run`: the pause between two requests, and the memory it takes."""
    gaps: list[float] = []
    peaks: list[float] = []
    for _ in range(RUNS):
        with tempfile.TemporaryDirectory() as home, _answering() as server:
            command = [sys.executable, "-c", PEAK, "run", *_arguments(server), "--trials", "3"]
            done = _run(command, {"BENCHLOOP_HOME": home})
            gaps.append(_gap_s(server))
            peaks.append(_peak_mb(done.stderr))
    peak = statistics.median(peaks)
    is_met = peak <= MEMORY_BAR_MB if peak else None
    memory = Row("CLI process, peak memory", f"{MEMORY_BAR_MB:g} MB", f"{peak:.1f} MB", is_met)
    gap = statistics.median(gaps)
    return [_row("bench-loop run, between two requests", REQUEST_BAR_S, gaps, gap), memory]


def _other_row() -> Row:
    """The same of the nearest public tool, on the same server with the same answers."""
    what = f"{OTHER_TOOL}, between two requests"
    program = _other_tool()
    if program is None:
        return Row(what, "", "could not be installed", None)
    gaps = []
    for _ in range(RUNS):
        with tempfile.TemporaryDirectory() as home, _answering() as server:
            # Without this it would send the result to its own site.
            quiet = {"HOME": home, "BENCHLOOP_RUNS": home, "BENCHLOOP_NO_SUBMIT": "1"}
            done = _run([str(program), "run", *_arguments(server)], quiet)
            if done.returncode:
                return Row(what, "", f"did not run: status {done.returncode}", None)
            gaps.append(_gap_s(server))
    return _row(what, None, gaps, statistics.median(gaps))


def _other_tool() -> Path | None:
    """Its program, installed into a virtual environment of its own at first use."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "benchloop-ci" / OTHER_TOOL.replace("==", "-")
    program = folder / "bin" / "benchloop"
    if not program.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        pip = str(folder / "bin" / "pip")
        subprocess.run([pip, "install", "--quiet", OTHER_TOOL], check=False, capture_output=True)
    return program if program.exists() else None


def _answering() -> AbstractContextManager[Simulated]:
    """A server that answers every question with a few tokens, at once."""
    return simulator(Settings("openai", {"sim": Program(answer_tokens=REQUEST_TOKENS)}))


def _arguments(server: Simulated) -> list[str]:
    provider = ["--provider", "openai_compat", "--endpoint", server.url]
    return ["--model", "sim", *provider, "--suites", SUITES]


def _run(command: Sequence[str], more: dict[str, str]) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | more
    return subprocess.run(
        command, env=env, capture_output=True, text=True, check=False, timeout=300
    )


def _gap_s(server: Simulated) -> float:
    """Median time from the end of an answer to the next request, by the server's log."""
    sent = server.all_sent()
    return statistics.median(
        after.received_s - before.events[-1][0] for before, after in pairwise(sent)
    )


def _peak_mb(stderr: str) -> float:
    """Peak resident memory that PEAK printed, in MB; 0 where the system does not tell."""
    words = stderr.split()
    return int(words[words.index("VmHWM:") + 1]) * 1024 / 1e6 if "VmHWM:" in words else 0.0


def _seconds(do: Callable[[], object]) -> float:
    began_s = time.perf_counter()
    do()
    return time.perf_counter() - began_s


def _row(what: str, bar_s: float | None, times: Sequence[float], middle_s: float) -> Row:
    low, high = 1000 * min(times), 1000 * max(times)
    return Row(
        what,
        f"{1000 * bar_s:g} ms" if bar_s else "",
        f"{1000 * middle_s:.3f} ms",
        middle_s <= bar_s if bar_s else None,
        f"{low:.3f} to {high:.3f}",
    )


if __name__ == "__main__":
    sys.exit(main())
