"""The trials of one run as they come, told to whoever listens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count

from bench_loop.engine.events import Listener, TrialFinished, TrialStarted
from bench_loop.result.records import Trial
from bench_loop.scoring.rates import generation_rate

MOST_OUTAGES = 2
"""Trials in a row that may end as infrastructure_error before the run stops."""


class Ledger:
    """Announces each trial before it begins; keeps and tells of it when it is finished."""

    def __init__(
        self,
        listen: Listener,
        write: Callable[[Sequence[Trial]], None] = lambda trials: None,
        kept: Sequence[Trial] = (),
    ) -> None:
        """`write` has trials on disk when it returns; `kept` are those of an earlier part."""
        self.listen = listen
        self._write = write
        self._number = len(kept)
        self.trials: list[Trial] = list(kept)

    def announce(self, suite: str, task_id: str, *, is_timed: bool) -> None:
        self._number += 1
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

    def scored(self, task_id: str) -> list[Trial]:
        """The trials of one task so far, warm-ups left out."""
        return [trial for trial in self.trials if trial.task_id == task_id and not trial.is_warmup]

    def free_number(self, task_id: str) -> int:
        """The first number that no scored trial of a task has: 1, 2, ..."""
        taken = {trial.trial for trial in self.scored(task_id)}
        return next(number for number in count(1) if number not in taken)

    @property
    def is_server_gone(self) -> bool:
        """Whether the last trials all ended in an outage: then the rest would as well."""
        last = self.trials[-MOST_OUTAGES:]
        return len(last) == MOST_OUTAGES and all(
            trial.outcome == "infrastructure_error" for trial in last
        )
