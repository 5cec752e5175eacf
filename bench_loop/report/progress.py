"""What a run looks like while it goes on: a live display, or plain lines on a pipe."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from bench_loop.console import clean, signs, width
from bench_loop.contracts.verifier import Outcome
from bench_loop.report import figures
from bench_loop.report.estimate import time_left
from bench_loop.report.marks import LABEL, cell, cut, outcome_word, sign, signal_path, tape_lines

REFRESH_S = 0.25


class RunProgress:
    """Shows a run while it goes on: a live display on a terminal, plain lines elsewhere.

    Use it as a context manager. `start`, then for each suite `suite`, then for each trial `task`
    and `outcome`; a trial of the speed suite begins with `speed` in place of `task`. From `speed`
    to its `outcome` nothing is drawn and no thread does any work, so that the display never sits
    inside a timed window. On a pipe one line is written for each finished trial.
    """

    def __init__(self, console: Console, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._clock = clock
        self._signs = signs(console)
        self._is_live = console.is_terminal and not console.is_dumb_terminal
        self._live: Live | None = None
        self._ticker: threading.Thread | None = None
        self._ended = threading.Event()
        self._is_timed = False
        self._path: Text | None = None
        self._note = ""
        self._event: Text | None = None
        self._total = 0
        self._planned: dict[str, int] = {}
        self._outcomes: dict[str, list[Outcome | None]] = {}
        self._seconds: dict[str, list[float]] = {}
        self._suite = ""
        self._task: tuple[int, int, str] | None = None
        self._rate: float | None = None
        self._began = self._task_began = clock()

    def __enter__(self) -> Self:
        self._began = self._task_began = self._clock()
        if self._is_live:
            self._live = Live(
                console=self._console,
                auto_refresh=False,
                transient=True,
                get_renderable=self._frame,
            )
            self._live.start()
            self._ticker = threading.Thread(target=self._tick, daemon=True)
            self._ticker.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Take the display away; when the run was cut short, its last state stays to be read."""
        self._ended.set()
        if self._ticker:
            self._ticker.join()
        if self._live:
            self._live.transient = kind is None
            self._live.stop()

    def start(
        self,
        total_tasks: int,
        suites: Mapping[str, int] | None = None,
        path: Sequence[str] = (),
    ) -> None:
        """The plan is known: trials in all, trials by suite in the order of running, and the
        signal path as nodes from model to verifier."""
        self._total = total_tasks
        self._planned = dict(suites or {})
        self._outcomes = {name: [] for name in self._planned}
        self._path = signal_path(path, self._signs) if path else None
        self._note = ""
        if not self._is_live and self._path:
            self._console.print(self._path, soft_wrap=True)
        self._draw()

    def note(self, sentence: str) -> None:
        """What goes on outside of any task, like loading the model."""
        self._note = clean(sentence)
        if not self._is_live:
            self._console.print(Text(self._note), soft_wrap=True)
        self._draw()

    def suite(self, name: str) -> None:
        """The trials that follow belong to this suite."""
        self._suite = name
        self._outcomes.setdefault(name, [])
        self._draw()

    def task(self, n: int, m: int, task_id: str) -> None:
        """Trial `n` of `m` begins."""
        self._begin(n, m, task_id)
        self._draw()

    def speed(self, n: int, m: int, shape: str) -> None:
        """A timed trial of the speed suite begins: one last drawing, then silence."""
        self.suite("speed")
        self._begin(n, m, shape)
        self._draw()
        self._is_timed = True

    def rate(self, tok_s: float) -> None:
        """Generation speed now, in tokens a second. Only stored: it is drawn with the rest."""
        self._rate = tok_s

    def outcome(
        self,
        outcome: Outcome | None,
        *,
        latency_s: float | None = None,
        tok_s: float | None = None,
        reason: str | None = None,
        message: str | None = None,
    ) -> None:
        """The trial begun last is finished; `outcome` is None where nothing is judged."""
        self._is_timed = False
        now = self._clock()
        spent_s = now - self._task_began if latency_s is None else latency_s
        self._outcomes.setdefault(self._suite, []).append(outcome)
        self._seconds.setdefault(self._suite, []).append(now - self._task_began)
        self._rate = tok_s if tok_s is not None else self._rate
        self._task_began = now
        if not self._is_live:
            self._write_line(outcome, spent_s, tok_s, reason)
        elif outcome not in (None, "pass"):
            self._event = self._event_line(outcome, reason, message)
        self._draw()

    def _begin(self, n: int, m: int, task_id: str) -> None:
        self._task = (n, m, clean(task_id).removeprefix(f"{self._suite}."))
        self._note = ""
        self._task_began = self._clock()

    def _tick(self) -> None:
        while not self._ended.wait(REFRESH_S):
            if not self._is_timed:
                self._draw()

    def _draw(self) -> None:
        if self._live and not self._is_timed:
            self._live.refresh()

    def _write_line(
        self, outcome: Outcome | None, spent_s: float, tok_s: float | None, reason: str | None
    ) -> None:
        n, m, name = self._task or (0, 0, "")
        line = Text(f"[{n:>{len(str(m))}}/{m}] {self._suite:<{LABEL - 2}} ")
        line.append(f"{outcome_word(outcome):<9}", style=outcome or "")
        parts = [name, f"{figures.seconds(spent_s)} s"]
        if tok_s is not None:
            parts.append(f"{figures.significant(tok_s, 2)} tok/s")
        if reason:
            parts.append(clean(reason))
        line.append(f" {'  '.join(parts)}")
        self._console.print(line, soft_wrap=True)

    def _event_line(self, outcome: Outcome | None, reason: str | None, message: str | None) -> Text:
        name = self._task[2] if self._task else ""
        why = clean(message or reason or "")
        line = Text(no_wrap=True, overflow="ellipsis")
        line.append(f"{sign(outcome, self._signs)} {outcome_word(outcome)}", style=outcome or "")
        line.append(f"  {name}")
        if why:
            line.append(f": {why}", style="basis")
        return line

    def _frame(self) -> Group:
        lines: list[Text] = [Text("")]
        if self._path:
            lines += [self._path, Text("")]
        lines += [line for name in self._outcomes for line in self._suite_lines(name)]
        lines += [Text(""), self._now_line(), self._time_line()]
        if self._event:
            lines.append(self._event)
        return Group(*(cut(line, width(self._console)) for line in lines))

    def _suite_lines(self, name: str) -> list[Text]:
        done = self._outcomes[name]
        planned = max(self._planned.get(name, 0), len(done))
        if not done and name != self._suite:
            count = "waits"
        elif name == "speed":
            count = f"{len(done)} of {planned}" if planned else f"{len(done)} done"
        else:
            count = f"{Counter(done)['pass']} of {len(done)}"
        is_current = name == self._suite and self._task is not None and len(done) < planned
        cells = [cell(outcome, self._signs) for outcome in done]
        cells += [(self._signs.current, "figure")] * is_current
        cells += [(self._signs.to_come, "basis")] * (planned - len(cells))
        return tape_lines(name, cells, count, width(self._console))

    def _now_line(self) -> Text:
        if self._note or not self._task:
            return Text(self._note, style="basis")
        n, m, name = self._task
        line = Text(f"{n} of {m}", style="figure")
        line.append(f"   {self._suite}  ", style="none")
        line.append(name, style="basis")
        return line

    def _time_line(self) -> Text:
        elapsed = figures.duration(self._clock() - self._began)
        left = self._time_left()
        line = Text()
        if left:
            line.append(f"{left} left", style="figure")
            line.append("   ")
        line.append(f"{elapsed} so far", style="basis")
        if self._rate is not None:
            line.append("   ")
            line.append(figures.significant(self._rate), style="figure")
            line.append(" tok/s", style="basis")
        return line

    def _time_left(self) -> str | None:
        to_come = {
            name: planned - len(self._outcomes.get(name, ()))
            for name, planned in self._planned.items()
            if planned > len(self._outcomes.get(name, ()))
        }
        if not to_come:
            return None
        found = time_left(self._seconds, to_come)
        if found is None:
            return None
        spent = self._clock() - self._task_began
        return figures.time_left(max(found[0] - spent, 0), max(found[1] - spent, 0))
