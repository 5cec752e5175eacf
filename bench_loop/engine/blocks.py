"""The order of a matrix: arms take turns with the model, block by block; pure rules.

A block is all tasks of one suite and one trial number in one arm. Over the trials of a suite the
order of the arms is forth, back, forth, ... (ABBA), so that what changes slowly, like heat or
another program's load, falls on all arms nearly alike, and quite alike when the rounds are even;
over the suites it alternates too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bench_loop.engine.plan import RunPlan
from bench_loop.result.records import MatrixArm, Trial


@dataclass(frozen=True, slots=True)
class Block:
    """One turn of one arm."""

    number: int
    """1, 2, ... in the order of the matrix."""
    arm: int
    """Place of its arm in the order of odd rounds, from 0."""
    suite: str
    trial: int
    task_ids: tuple[str, ...]

    def holds(self, task_id: str, trial: int) -> bool:
        """Whether this trial of this task belongs to it."""
        return trial == self.trial and task_id in self.task_ids

    def of(self, trials: Sequence[Trial]) -> list[Trial]:
        """Those of the `trials` that belong to it."""
        return [one for one in trials if self.holds(one.task_id, one.trial)]

    def is_done(self, trials: Sequence[Trial]) -> bool:
        """Whether each of its trials is among `trials` and says something of the arm."""
        kept = {one.task_id for one in self.of(trials) if one.outcome != "infrastructure_error"}
        return kept == set(self.task_ids)


@dataclass(frozen=True, slots=True)
class Turn:
    """A block as the run of its arm sees it: what it may do before others have the model."""

    matrix: MatrixArm
    block: Block
    is_after_other: bool = True
    """Whether another arm, or none, had the model before: at a turn of the order an arm follows
    itself, and the server may still hold its prompt."""


def blocks(plan: RunPlan, arm_count: int) -> tuple[Block, ...]:
    """The blocks of a matrix whose `arm_count` arms run `plan` each."""
    return tuple(
        Block(number, arm, suite, trial, task_ids)
        for number, (arm, suite, trial, task_ids) in enumerate(_turns(plan, arm_count), start=1)
    )


def _turns(plan: RunPlan, arm_count: int) -> Iterator[tuple[int, str, int, tuple[str, ...]]]:
    suites = plan.quality_suites
    most = max((plan.trials_of(suite) for suite in suites), default=0)
    for trial in range(1, most + 1):
        for at, suite in enumerate(suites):
            if trial > plan.trials_of(suite):
                continue
            forth: Sequence[int] = range(arm_count)
            is_forth = (trial - 1 + at) % 2 == 0
            task_ids = tuple(task.id for task in suite.tasks)
            for arm in forth if is_forth else reversed(forth):
                yield arm, suite.pack.name, trial, task_ids
