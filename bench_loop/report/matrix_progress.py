"""What a matrix looks like while it goes on: who has the model, what each arm has, what is left."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from rich.console import Console, Group
from rich.text import Text

from bench_loop.console import NARROW, clean, in_signs, signs, width
from bench_loop.engine.events import (
    BlockStarted,
    Event,
    Noted,
    RunStarted,
    TrialFinished,
    TrialStarted,
)
from bench_loop.report import figures
from bench_loop.report.marks import (
    LABEL,
    Cell,
    cell,
    cut,
    label,
    side_by_side,
    signal_path,
    wrapped,
)
from bench_loop.report.progress import Screen, elapsed, finished_line, loss_line, task_name
from bench_loop.result.records import Trial

PASSED = 19
"""Columns of what an arm has passed, with the gaps around it."""
EACH = 12
"""Columns of an arm's mean seconds, with their words."""
AROUND = 10
"""Lines of the display that are no arm's: path, block, time, last loss, and space between."""


@dataclass(slots=True)
class ArmSoFar:
    """One arm: its trials as they are finished, of those that are planned."""

    model_id: str
    harness: str
    planned: int
    trials: list[Trial] = field(default_factory=list)
    is_out: bool = False
    """It is not run: the model or its server is not enough for the harness."""


class MatrixProgress:
    """Shows a matrix while it goes on. A context manager, and the listener of all its events.

    On a terminal it is one display for the whole matrix, a row for each arm, from a model's first
    block until it is hidden. On a pipe one line is written for each block and each finished trial.
    """

    def __init__(
        self,
        console: Console,
        arms: Sequence[ArmSoFar],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._console = console
        self._clock = clock
        self._signs = signs(console)
        self._arms: Mapping[tuple[str, str], ArmSoFar] = {
            (arm.model_id, arm.harness): arm for arm in arms
        }
        self._models = tuple(dict.fromkeys(arm.model_id for arm in arms))
        self._path: Text | None = None
        self._block: BlockStarted | None = None
        self._task: str | None = None
        self._note = ""
        self._last_loss: Text | None = None
        self._began = self._block_began = clock()
        self._screen: Screen | None = None

    def __enter__(self) -> Self:
        self._began = self._clock()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Take the display away; when the matrix was cut short, its last state stays to be read."""
        self._close(keep=kind is not None)

    def hide(self) -> None:
        """Take the display away until the next block: others have something to say."""
        self._close(keep=False)

    def _close(self, *, keep: bool) -> None:
        if self._screen:
            self._screen.close(keep=keep)
            self._screen = None

    def show_path(self, nodes: Sequence[str]) -> None:
        """Show what the trials of the block that begins go through."""
        self._path = signal_path(nodes, self._signs)
        self._draw()

    def leave_out(self, model_id: str, harness: str, reason: str) -> None:
        """Show an arm as one that is not run."""
        self._arms[model_id, harness].is_out = True
        self._write(Text(clean(f"{model_id} in {harness} is not run: {reason}")))

    def __call__(self, event: Event) -> None:
        """Take in one event of the matrix, or of the run of the arm that has the model."""
        if self._screen is None:
            self._take(event)
        else:
            with self._screen.lock:
                self._take(event)
                self._screen.draw()
        if self._screen is None and self._block and self._console.is_interactive:
            self._screen = Screen(self._console, self._frame)
            self._screen.open()

    def _take(self, event: Event) -> None:
        match event:
            case BlockStarted():
                self._begin(event)
            case RunStarted() if self._block is not None:
                self._begin_again(self._block, event.kept)
            case Noted():
                self._note = clean(event.sentence)
            case TrialStarted():
                self._note, self._task = "", task_name(event.suite, event.task_id)
            case TrialFinished():
                self._finish(event)

    def _begin(self, block: BlockStarted) -> None:
        self._block, self._task = block, None
        self._block_began = self._clock()
        if not self._console.is_interactive:
            left = self._left()
            words = f"block {block.number} of {block.count}: {self._what(block)}"
            self._write(Text(f"{words}, {left}" if left else words, style="figure"))

    def _begin_again(self, block: BlockStarted, kept: Sequence[Trial]) -> None:
        """Of a block that was begun before only `kept` counts."""
        arm = self._arm(block)
        of_block = (block.suite, block.trial)
        others = [one for one in arm.trials if (one.suite, one.trial) != of_block]
        arm.trials = [*others, *kept]

    def _finish(self, event: TrialFinished) -> None:
        trial = event.trial
        assert self._block is not None
        self._arm(self._block).trials.append(trial)
        if not self._console.is_interactive:
            done, total = self._done()
            self._write(finished_line(event, total, self._block.harness, number=done))
        elif trial.outcome not in (None, "pass"):
            self._last_loss = loss_line(trial, self._signs)

    def _arm(self, block: BlockStarted) -> ArmSoFar:
        return self._arms[block.model_id, block.harness]

    def _done(self) -> tuple[int, int]:
        """Trials that are finished, and all that there will be."""
        arms = [arm for arm in self._arms.values() if not arm.is_out]
        done = sum(len(arm.trials) for arm in arms)
        return done, max(done, sum(arm.planned for arm in arms))

    def _what(self, block: BlockStarted) -> str:
        return clean(f"{block.model_id} in {block.harness}, {block.suite}, trial {block.trial}")

    def _left(self) -> str | None:
        """How long it will still take, in words; None: nothing tells it."""
        block = self._block
        if block is None or block.left_s is None:
            return None
        spent = self._clock() - self._block_began
        low, high = (max(0.0, seconds - spent) for seconds in block.left_s)
        if high == 0.0:
            return "longer than expected"
        words = f"{figures.time_left(low, high)} left"
        after = len(self._models) - self._models.index(block.model_id) - 1
        if not after:
            return words
        return f"{words} for this model, {after} more to come"

    def _draw(self) -> None:
        if self._screen:
            self._screen.draw()

    def _write(self, line: Text) -> None:
        self._console.print(in_signs(line, self._signs), soft_wrap=True)

    def _frame(self) -> Group:
        """The whole display as it is now."""
        lines = [Text()]
        if self._path:
            lines += [*wrapped(self._path, self._console), Text()]
        lines += [*self._rows(), Text(), self._now_line(), *self._time_lines()]
        if self._last_loss:
            lines.append(self._last_loss)
        columns = width(self._console)
        return Group(*(cut(in_signs(line, self._signs), columns) for line in lines))

    def _rows(self) -> list[Text]:
        """A row for each arm, under its model's name where there are several; where these are too
        many for the screen, one row for each model that does not run."""
        named = len(self._models) > 1
        room = self._console.height - AROUND
        has_room = len(self._arms) + len(self._models) * named <= room
        now = self._block.model_id if self._block else self._models[0]
        lines = []
        for model_id in self._models:
            arms = [arm for arm in self._arms.values() if arm.model_id == model_id]
            if has_room or model_id == now:
                if named:
                    lines.append(Text(clean(model_id), style="figure" if model_id == now else ""))
                lines += [self._row(arm) for arm in arms]
            else:
                lines.append(self._short_row(model_id, arms))
        return lines

    def _row(self, arm: ArmSoFar) -> Text:
        is_current = self._block is not None and self._arm(self._block) is arm
        line = Text(f"{self._signs.current} " if is_current else "  ", style="figure")
        waits = not arm.trials and not is_current
        name = label(arm.harness, style="figure" if is_current else "basis" if waits else "label")
        line.append_text(name[: LABEL - 2])
        if arm.is_out:
            return line.append("not run", style="basis")
        columns = width(self._console)
        room = columns - LABEL - PASSED - EACH
        if columns >= NARROW:
            most = max(one.planned for one in self._arms.values())
            cells = self._cells(arm, min(room, most))
            for character, style in cells:
                line.append(character, style=style)
            line.append("  ")
        passed = sum(trial.outcome == "pass" for trial in arm.trials)
        count = (
            f"{passed} of {len(arm.trials)} passed"
            if arm.trials
            else "now"
            if is_current
            else "waits"
        )
        line.append(f"{count:<{PASSED - 2}}", style="figure" if arm.trials else "basis")
        seconds = [trial.latency_s for trial in arm.trials if trial.latency_s is not None]
        if seconds:
            line.append(f"{figures.seconds(sum(seconds) / len(seconds))} s each", style="basis")
        return line

    def _cells(self, arm: ArmSoFar, room: int) -> list[Cell]:
        """An arm's trials in at most `room` cells: one each as they came, or their shares."""
        done = [cell(trial.outcome, self._signs) for trial in arm.trials]
        planned = max(arm.planned, len(done))
        to_come = (self._signs.to_come, "basis")
        if planned <= room:
            return done + [to_come] * (planned - len(done)) + [(" ", "")] * (room - planned)
        cells: list[Cell] = []
        so_far = 0
        counts = Counter(done)
        for kind in sorted(counts, key=lambda one: one != cell("pass", self._signs)):
            so_far += counts[kind]
            upto = max(round(so_far * room / planned), len(cells) + 1)
            cells += [kind] * (upto - len(cells))
        return (cells + [to_come] * (room - len(cells)))[:room]

    def _short_row(self, model_id: str, arms: Sequence[ArmSoFar]) -> Text:
        trials = [trial for arm in arms for trial in arm.trials]
        line = Text(f"{clean(model_id)}  ", style="label" if trials else "basis")
        if not trials:
            return line.append("waits", style="basis")
        passed = sum(trial.outcome == "pass" for trial in trials)
        words = f"{passed} of {len(trials)} passed in {len(arms)} harnesses"
        return line.append(words, style="figure")

    def _now_line(self) -> Text:
        if self._block is None:
            return Text(self._note, style="basis")
        block, line = self._block, Text()
        line.append(clean(block.harness), style="figure")
        line.append(f"  {clean(block.suite)}, trial {block.trial}")
        return line.append(f"  {self._note or self._task or ''}", style="basis")

    def _time_lines(self) -> list[Text]:
        done, total = self._done()
        parts = [Text(f"{done} of {figures.count(total)} trials", style="figure")]
        if left := self._left():
            parts.append(Text(left, style="figure"))
        parts.append(Text(f"{elapsed(self._clock() - self._began)} so far", style="basis"))
        return side_by_side(parts, width(self._console))
