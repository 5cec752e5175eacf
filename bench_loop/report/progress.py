"""What a run looks like while it goes on: a live display, or plain lines on a pipe."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from bench_loop.console import Signs, clean, in_signs, signs, width
from bench_loop.contracts.verifier import Outcome
from bench_loop.engine.events import (
    Event,
    Forecasted,
    Noted,
    RunFinished,
    RunStarted,
    SpeedPlanned,
    SuitesLeftOut,
    TrialFinished,
    TrialStarted,
)
from bench_loop.engine.forecast import TimeLeft
from bench_loop.report import figures
from bench_loop.report.marks import (
    cell,
    cut,
    label,
    outcome_word,
    sign,
    signal_path,
    tape_lines,
    wrapped,
)
from bench_loop.result.records import Trial
from bench_loop.scoring.load import is_sustained

SPEED = "speed"
REFRESH_S = 0.25
SUSTAINED_LINE_S = 30.0
"""On a pipe, the time from one line about a sustained load to the next."""


class RunProgress:
    """Shows a run while it goes on. A context manager, and the listener of the run's events.

    On a terminal it is one display that is drawn when something happens and four times a second;
    from the start of a timed trial to its end nothing is drawn. On a pipe one line is written for
    each finished trial. `planned` holds the number of quality trials by suite in the order of
    running and `nodes` the signal path; without them the display is only less complete.

    `file` is where the result was written, once it is.
    """

    def __init__(
        self,
        console: Console,
        *,
        planned: Mapping[str, int] | None = None,
        nodes: Sequence[str] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.file: Path | None = None
        self._console = console
        self._clock = clock
        self._signs = signs(console)
        self._path = signal_path(nodes, self._signs) if nodes else None
        self._planned = dict(planned or {})
        self._outcomes: dict[str, list[Outcome | None]] = {name: [] for name in self._planned}
        self._left: TimeLeft | None = None
        self._quality_total = self._total = sum(self._planned.values())
        self._current: TrialStarted | None = None
        self._note = ""
        self._last_loss: Text | None = None
        self._rate: float | None = None
        self._began = self._left_since = clock()
        self._next_sustained_line = self._began
        self._screen = Screen(console, self._frame) if console.is_interactive else None
        self._lock = self._screen.lock if self._screen else threading.RLock()

    def __enter__(self) -> Self:
        self._began = self._clock()
        self.note("Waiting for the model")
        if self._screen:
            self._screen.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Take the display away; when the run was cut short, its last state stays to be read."""
        if self._screen:
            self._screen.close(keep=kind is not None)
        if kind is not None and self.file:
            self._write(Text(f"Finished trials are kept in {clean(str(self.file))}"))

    def __call__(self, event: Event) -> None:
        """Take in one event of the run; returns at once."""
        with self._lock:
            match event:
                case RunStarted():
                    self._start(event)
                case SuitesLeftOut():
                    left_out = ", ".join(event.suites)
                    self._write(Text(f"Not run: {left_out}. {event.reason} {event.remedy}"))
                case SpeedPlanned():
                    self._plan_speed(event)
                case Forecasted():
                    self._forecast(event.left)
                case Noted():
                    self.note(event.sentence)
                case TrialStarted():
                    self._begin(event)
                case TrialFinished():
                    self._finish(event)
                case RunFinished():
                    self.file = event.file

    def note(self, sentence: str) -> None:
        """Say what goes on outside of any trial, like loading the model."""
        with self._lock:
            self._note = clean(sentence)
            self._draw()

    def _start(self, event: RunStarted) -> None:
        # A race of models begins a run again without its speed where that takes too long.
        self._planned.pop(SPEED, None)
        self._outcomes = {name: [] for name in self._planned}
        self._quality_total = self._total = event.total
        self._take_kept(event.kept)
        self._note = "Predicting how long speed will take"
        if not self._screen:
            self._write(self._path or Text(clean(event.model_id), style="figure"))
        self._draw()

    def _take_kept(self, trials: Sequence[Trial]) -> None:
        """Of a run that is resumed: what is done already."""
        trials = [trial for trial in trials if not is_sustained(trial.task_id)]
        timed = sum(trial.suite == SPEED for trial in trials)
        if timed:
            self._planned = {SPEED: timed, **self._planned}
            self._outcomes = {SPEED: [], **self._outcomes}
            self._total += timed
        for trial in trials:
            self._outcomes.setdefault(trial.suite, []).append(trial.outcome)

    def _plan_speed(self, event: SpeedPlanned) -> None:
        trials = event.total - self._quality_total
        self._planned = {SPEED: trials} | self._planned | {SPEED: trials}
        self._outcomes = {SPEED: [], **self._outcomes}
        self._total = event.total
        if not self._screen:
            expected = figures.duration(event.expected_s)
            self._write(Text(f"speed plan {event.plan}: {trials} trials, about {expected}"))
        self._draw()

    def _forecast(self, left: TimeLeft) -> None:
        """Take in what is left of the run; it may hold more or fewer timed trials than before."""
        if SPEED in self._planned:
            planned = len(self._outcomes[SPEED]) + left.timed_trials
            self._total += planned - self._planned[SPEED]
            self._planned[SPEED] = planned
        if self._left is None and not self._screen:
            self._write(Text(f"{_words(left)} to go"))
        self._left, self._left_since = left, self._clock()
        self._draw()

    def _begin(self, event: TrialStarted) -> None:
        self._current = event
        self._outcomes.setdefault(event.suite, [])
        self._note = "Sustained load" if is_sustained(event.task_id) else ""
        self._draw()
        if self._screen:
            self._screen.is_still = event.is_timed

    def _finish(self, event: TrialFinished) -> None:
        trial = event.trial
        self._rate = event.generation_tps or self._rate
        if is_sustained(trial.task_id):
            self._sustain(event)
            return
        self._outcomes.setdefault(trial.suite, []).append(trial.outcome)
        if self._screen:
            self._screen.is_still = False
            if trial.outcome not in (None, "pass"):
                self._last_loss = loss_line(trial, self._signs)
        else:
            self._write(finished_line(event, self._total, trial.suite))
        self._draw()

    def _sustain(self, event: TrialFinished) -> None:
        """One request of a sustained load: of hundreds, so no cell and not a line each."""
        if self._screen:
            self._screen.is_still = False
        elif self._clock() >= self._next_sustained_line:
            self._next_sustained_line = self._clock() + SUSTAINED_LINE_S
            self._write(self._sustained_line(event))
        self._draw()

    def _sustained_line(self, event: TrialFinished) -> Text:
        line = Text(" " * len(f"[{self._total}/{self._total}] ")).append_text(label(SPEED))
        line.append("sustained")
        if event.generation_tps is not None:
            line.append(f"  {figures.significant(event.generation_tps, 2)} tok/s")
        return line

    def _draw(self) -> None:
        if self._screen:
            self._screen.draw()

    def _write(self, line: Text) -> None:
        self._console.print(line, soft_wrap=True)

    def _frame(self) -> Group:
        """The whole display as it is now."""
        lines = [Text()]
        if self._path:
            lines += [*wrapped(self._path, self._console), Text()]
        lines += [line for name in self._outcomes for line in self._suite_lines(name)]
        lines += [Text(), self._now_line(), self._time_line()]
        if self._last_loss:
            lines.append(self._last_loss)
        columns = width(self._console)
        return Group(*(cut(in_signs(line, self._signs), columns) for line in lines))

    def _suite_lines(self, name: str) -> list[Text]:
        done = self._outcomes[name]
        is_current = self._current is not None and self._current.suite == name
        planned = max(self._planned.get(name, 0), len(done))
        cells = [cell(outcome, self._signs) for outcome in done]
        if is_current and len(done) < planned:
            cells.append((self._signs.current, "figure"))
        cells += [(self._signs.to_come, "basis")] * (planned - len(cells))
        waits = not done and not is_current
        count = self._count(name, planned) if done else "waits" if waits else "now"
        longest = max(
            max(self._planned.get(suite, 0), len(outcomes))
            for suite, outcomes in self._outcomes.items()
        )
        return tape_lines(name, cells, count, width(self._console), longest=longest, is_quiet=waits)

    def _count(self, name: str, planned: int) -> str:
        """What passed of what is finished; of speed trials, what is measured of the plan."""
        done = self._outcomes[name]
        if name == SPEED:
            return f"{len(done)} of {planned}"
        return f"{Counter(done)['pass']} of {len(done)}"

    def _now_line(self) -> Text:
        if self._note or not self._current:
            return Text(self._note, style="basis")
        current = self._current
        line = Text()
        line.append(f"{current.number} of {max(self._total, current.number)}", style="figure")
        line.append(f"   {clean(current.suite)}")
        return line.append(f"  {task_name(current.suite, current.task_id)}", style="basis")

    def _time_line(self) -> Text:
        line = Text()
        left = self._time_left()
        if left:
            line.append(f"{left} left", style="figure").append("   ")
        line.append(f"{elapsed(self._clock() - self._began)} so far", style="basis")
        if self._rate is not None:
            line.append("   ").append(figures.significant(self._rate), style="figure")
            line.append(" tok/s", style="basis")
        return line

    def _time_left(self) -> str | None:
        """The range of time left in words; None before there is evidence, or a plan."""
        if self._left is None:
            return None
        return _words(self._left.after(self._clock() - self._left_since))


def finished_line(
    event: TrialFinished, total: int, name: str, *, number: int | None = None
) -> Text:
    """A finished trial on a pipe, of `total`; `name` says of which suite or harness it is."""
    trial = event.trial
    number = event.number if number is None else number
    total = max(total, number)
    line = Text(f"[{number:>{len(str(total))}}/{total}] ").append_text(label(name))
    line.append(f"{outcome_word(trial.outcome):<9}", style=trial.outcome or "")
    parts = [_short(trial)]
    if trial.latency_s is not None:
        parts.append(f"{figures.seconds(trial.latency_s)} s")
    if event.generation_tps is not None:
        parts.append(f"{figures.significant(event.generation_tps, 2)} tok/s")
    if trial.reason:
        parts.append(clean(trial.reason))
    return line.append(" " + "  ".join(parts))


def loss_line(trial: Trial, drawn: Signs) -> Text:
    """A trial that was not passed, and why."""
    line = Text()
    line.append(f"{sign(trial.outcome, drawn)} ", style=trial.outcome or "")
    line.append(outcome_word(trial.outcome), style=trial.outcome or "")
    line.append(f"  {_short(trial)}")
    why = trial.message or trial.reason
    return line.append(f": {clean(why)}", style="basis") if why else line


class Screen:
    """A display that is drawn on demand and by a slow clock, and that can be held still.

    What `frame` reads is changed only under `lock`, and it is drawn only under `lock`.
    """

    def __init__(self, console: Console, frame: Callable[[], Group]) -> None:
        self.is_still = False
        self.lock = threading.RLock()
        self._live = Live(console=console, auto_refresh=False, transient=True, get_renderable=frame)
        self._closed = threading.Event()
        self._clock = threading.Thread(target=self._tick, daemon=True)

    def open(self) -> None:
        self._live.start(refresh=True)
        self._clock.start()

    def draw(self) -> None:
        with self.lock:
            if self._live.is_started and not self.is_still:
                self._live.refresh()

    def close(self, *, keep: bool) -> None:
        self._closed.set()
        self._clock.join()
        self._live.transient = not keep
        self._live.stop()

    def _tick(self) -> None:
        while not self._closed.wait(REFRESH_S):
            self.draw()


def elapsed(seconds: float) -> str:
    """Time gone by on a display that is drawn anew: whole seconds, then minutes with seconds."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _words(left: TimeLeft) -> str:
    return figures.time_left(left.low, left.high)


def _short(trial: Trial) -> str:
    return task_name(trial.suite, trial.task_id)


def task_name(suite: str, task_id: str) -> str:
    """A task's name beside its suite's: without the suite's."""
    return clean(task_id).removeprefix(f"{clean(suite)}.")
