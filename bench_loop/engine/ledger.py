"""The trials of one run as they come, told to whoever listens."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import count

from bench_loop.engine.events import Forecasted, Listener, TrialFinished, TrialStarted
from bench_loop.engine.forecast import Forecast
from bench_loop.result.records import Trial
from bench_loop.scoring.rates import generation_rate

TELL_EVERY_S = 0.5
"""The time left is not reckoned again sooner: nobody reads faster, and it costs a millisecond."""
MOST_OUTAGES = 2
"""Trials in a row that may end as infrastructure_error before the run stops."""


class Ledger:
    """Announces each trial before it begins; keeps and tells of it when it is finished.

    `forecast` is revised by every trial; `deadline` is the moment on `clock` at which the budget of
    the whole run is spent, None where it has none.
    """

    def __init__(
        self,
        listen: Listener,
        write: Callable[[Sequence[Trial]], None] = lambda trials: None,
        kept: Sequence[Trial] = (),
        clock: Callable[[], float] = time.monotonic,
        announced: int | None = None,
    ) -> None:
        """`write` has trials on disk when it returns; `kept` are those of an earlier part.

        The next trial is announced by the number after `announced`; None: after all those kept.
        """
        self.listen = listen
        self._write = write
        self._number = len(kept) if announced is None else announced
        self.trials: list[Trial] = list(kept)
        self._clock = clock
        self._began = clock()
        self._told: float | None = None
        self.forecast: Forecast | None = None
        self.deadline: float | None = None
        self.is_out_of_time = False
        """Whether something was not begun because the budget of the run has no room for it."""

    def announce(self, suite: str, task_id: str, *, is_timed: bool) -> None:
        self._number += 1
        self._began = self._clock()
        if self.forecast is not None:
            self.forecast.begin(suite)
        self.listen(TrialStarted(self._number, suite, task_id, is_timed))

    def keep(self, trial: Trial, *together: Trial) -> None:
        """Keep the trial that was announced, and those that were run `together` with it."""
        self._write((trial, *together))
        self._take(trial)
        for other in together:
            self.announce(other.suite, other.task_id, is_timed=True)
            self._take(other)

    def _take(self, trial: Trial) -> None:
        self.trials.append(trial)
        rate = generation_rate(trial)
        self.listen(TrialFinished(self._number, trial, rate.tps if rate else None))
        if self.forecast is not None:
            now = self._clock()
            self.forecast.finish(trial, now - self._began)
            is_last = not self.forecast.to_come
            if is_last or self._told is None or now - self._told >= TELL_EVERY_S:
                self.tell_time_left()

    def tell_time_left(self) -> None:
        """Say how long the run will still take, where that is known."""
        left = self.forecast.left() if self.forecast is not None else None
        if left is not None:
            self._told = self._clock()
            self.listen(Forecasted(left))

    def end_repeats(self) -> None:
        """The headline of speed stands: no trial of it comes any more."""
        if self.forecast is not None:
            self.forecast.end_repeats()

    @property
    def has_time_to_repeat(self) -> bool:
        """Whether one more timed trial than planned fits the budgets of speed and of the run."""
        return self.forecast is None or self.forecast.has_time_to_repeat(self.left_s)

    def has_time_for(self, suite: str, task_id: str) -> bool:
        """Whether the next trial is expected to end before the budget of the run is spent.

        When it is not, the run is out of time: what is to come is not begun either.
        """
        seconds = self.forecast.seconds(suite, task_id) if self.forecast is not None else 0.0
        return self.has_time(seconds)

    def has_time(self, seconds: float) -> bool:
        """Whether more than so many seconds are left of the budget of the run."""
        left_s = self.left_s
        if left_s is not None and left_s <= seconds:
            self.is_out_of_time = True
        return not self.is_out_of_time

    def within_budget(self, limit_s: float) -> float:
        """The wall limit of a trial that must end with the budget of the run."""
        return limit_s if self.left_s is None else min(limit_s, max(self.left_s, 0.1))

    @property
    def left_s(self) -> float | None:
        """Seconds until the budget of the run is spent; None where it has none."""
        return None if self.deadline is None else self.deadline - self._clock()

    def scored(self, task_id: str) -> list[Trial]:
        """The trials of one task so far, warm-ups left out."""
        return [trial for trial in self.trials if trial.task_id == task_id and not trial.is_warmup]

    def free_number(self, task_id: str) -> int:
        """The first number that no scored trial of a task has: 1, 2, ..."""
        taken = {trial.trial for trial in self.scored(task_id)}
        return next(number for number in count(1) if number not in taken)

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to be begun: the server is gone, or the time."""
        return self.is_out_of_time or self.is_server_gone

    @property
    def is_server_gone(self) -> bool:
        """Whether the last trials all ended in an outage: then the rest would as well."""
        last = self.trials[-MOST_OUTAGES:]
        return len(last) == MOST_OUTAGES and all(
            trial.outcome == "infrastructure_error" for trial in last
        )
