"""Tries installed models one after another, and stops as soon as one is clearly the best."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Literal

from bench_loop.contracts.chat import Sampling
from bench_loop.contracts.provider import ModelFacts, ServerFacts
from bench_loop.engine.events import Event, Listener, SpeedPlanned, TrialFinished
from bench_loop.engine.packs import load_pack
from bench_loop.engine.plan import PlannedSuite, RunPlan
from bench_loop.engine.profiles import ProfileRules
from bench_loop.engine.run import StopEarly
from bench_loop.errors import BenchLoopError
from bench_loop.machine.room import Room, lack_of_room
from bench_loop.names.parse import parse_model
from bench_loop.result.records import RunResult, Trial
from bench_loop.scoring.intervals import mean
from bench_loop.scoring.rates import generation_rate
from bench_loop.scoring.sequential import Duel, Shares, duel, evidence_needed, places
from bench_loop.scoring.suites import is_scored

PURPOSES = {
    "coding": ("coding", "loop_code_fix"),
    "agent": ("agent", "toolcall"),
    "chat": ("instructfollow", "reasonmath", "loop_schema"),
}
"""Suites whose tasks are asked for each purpose."""
RULES = ProfileRules("custom", "Suites for one purpose; not ranked.", ("minimum",), 90, None, False)

MOST_SPEED_SHARE = 1 / 3
"""Share of a model's time that the speed suite may take; where it takes more it is left out."""

Kind = Literal["clear", "ahead", "equal", "alone", "nothing"]
Task = tuple[str, str]
"""Suite and id of a task."""


class SpeedTooLong(StopEarly):
    """Before anything was measured: its speed would take too much of the model's time."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A model of a server, and why it is not tried; None: it can be."""

    provider: str
    endpoint: str
    model: ModelFacts
    refused: str | None = None
    is_named: bool = True
    """The user named its server or saved it: only such a one is given a key."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What a model did. `result` is None where it could not be measured, and `note` says why."""

    candidate: Candidate
    result: RunResult | None
    note: str = ""

    @property
    def model_id(self) -> str:
        return self.candidate.model.model_id

    @property
    def shares(self) -> dict[Task, float]:
        """Share of passed trials of each scored task, in the order of running."""
        return task_shares(() if self.result is None else self.result.trials)

    @property
    def generation_tps(self) -> float | None:
        """Of the speed suite, else the median of the tasks; None where neither can tell."""
        if self.result is None:
            return None
        if self.result.speed is not None and self.result.speed.generation_tps is not None:
            return self.result.speed.generation_tps.median
        rates = [rate.tps for rate in map(generation_rate, self.result.trials) if rate]
        return median(rates) if rates else None


@dataclass(frozen=True, slots=True)
class Recommendation:
    """Who is to be taken, how sure that is, and what else was looked at."""

    purpose: str
    kind: Kind
    tried: tuple[Tried, ...]
    """The pick first, then the runner-up, then the others; those that failed come last."""
    skipped: tuple[Candidate, ...]
    needed: float
    """Evidence that makes a model clearly better."""
    task_count: int
    """Tasks of the whole plan."""
    shared_count: int
    """Tasks that pick and runner-up were both given."""
    duel: Duel | None
    """Of the pick against the runner-up."""

    @property
    def pick(self) -> Tried | None:
        return None if self.kind == "nothing" else self.tried[0]

    @property
    def runner_up(self) -> Tried | None:
        return self.tried[1] if self.duel is not None else None


def recommend_plan(purpose: str, context_window: int) -> RunPlan:
    """The tasks for a purpose, one suite in turn with the others, after a short look at speed."""
    packs = [load_pack(name) for name in ("speed", *PURPOSES[purpose])]
    suites = tuple(PlannedSuite(pack, pack.tasks) for pack in packs)
    return RunPlan(RULES, suites, 1, Sampling(), context_window, is_interleaved=True)


def without_speed(plan: RunPlan) -> RunPlan:
    """The plan for a model whose speed takes too long to measure: its tasks alone."""
    return replace(plan, suites=plan.quality_suites)


def candidate(
    server: ServerFacts, model: ModelFacts, room: Room, window: int, *, is_named: bool = True
) -> Candidate:
    """A model with the reason why it is not tried: no chat model, not local, or too large."""
    refused = parse_model(model.model_id, model, provider=server.engine).refuse_reason
    if refused is None:
        refused = lack_of_room(model, room, window, server.kv_cache_type)
    return Candidate(server.provider, server.endpoint, model, refused, is_named)


def task_shares(trials: Sequence[Trial]) -> dict[Task, float]:
    """Share of passed trials of each scored quality task, in the order in which they came."""
    passed: dict[Task, list[float]] = {}
    for trial in trials:
        if is_scored(trial):
            passed.setdefault((trial.suite, trial.task_id), []).append(trial.outcome == "pass")
    return {task: mean(values) for task, values in passed.items()}


class Race:
    """Models on the same tasks in the same order, each ended when it has clearly lost.

    A model is ended when one that was tried before is clearly better (`evidence_needed`), the last
    one also when it is clearly better than all, and any one when its share of the time is spent.
    """

    def __init__(
        self,
        purpose: str,
        task_count: int,
        candidates: Sequence[Candidate],
        budget_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._purpose = purpose
        self._task_count = task_count
        self._skipped = [each for each in candidates if each.refused]
        self._runners = [each for each in candidates if not each.refused]
        self._needed = evidence_needed(len(self._runners))
        self._tried: list[Tried] = []
        self._clock = clock
        self._ends_at = clock() + budget_s

    def go(
        self, run: Callable[[Candidate, Callable[[Listener], Listener]], Tried]
    ) -> Recommendation:
        """Try every candidate. `run` measures one, with its listener wrapped in what ends it."""
        for number, runner in enumerate(self._runners):
            left_s = self._ends_at - self._clock()
            if left_s <= 0:
                self._tried.append(Tried(runner, None, "No time of the budget was left for it."))
                continue
            share_s = left_s / (len(self._runners) - number)
            is_last = number == len(self._runners) - 1
            try:
                self._tried.append(run(runner, self._ended_after(share_s, is_last=is_last)))
            except BenchLoopError as error:
                self._tried.append(Tried(runner, None, error.message))
        return decide(self._purpose, self._tried, self._skipped, self._task_count)

    def _ended_after(self, share_s: float, *, is_last: bool) -> Callable[[Listener], Listener]:
        ends_at = self._clock() + share_s
        earlier = [each for each in self._tried if each.shares]
        trials: list[Trial] = []

        def wrapped(listen: Listener) -> Listener:
            def hear(event: Event) -> None:
                listen(event)
                if isinstance(event, SpeedPlanned):
                    if event.expected_s > MOST_SPEED_SHARE * share_s:
                        raise SpeedTooLong("Its speed would take too much of the time.")
                elif isinstance(event, TrialFinished) and is_scored(event.trial):
                    trials.append(event.trial)
                    self._end_if_settled(trials, earlier, is_last=is_last)
                    if self._clock() >= ends_at and len(trials) < self._task_count:
                        raise StopEarly(
                            f"Stopped after {len(trials)} of {self._task_count} tasks: its share "
                            "of the budget was spent."
                        )

            return hear

        return wrapped

    def _end_if_settled(
        self, trials: Sequence[Trial], earlier: Sequence[Tried], *, is_last: bool
    ) -> None:
        if not earlier or len(trials) == self._task_count:
            return
        after = f"Stopped after {len(trials)} of {self._task_count} tasks"
        shares = task_shares(trials)
        duels = [_duel(shares, rival.shares) for rival in earlier]
        for rival, found in zip(earlier, duels, strict=True):
            if found.rival_evidence >= self._needed:
                raise StopEarly(f"{after}: {rival.model_id} is clearly better.")
        if is_last and all(found.evidence >= self._needed for found in duels):
            raise StopEarly(f"{after}: it is clearly better than every other model.")


def decide(
    purpose: str, tried: Sequence[Tried], skipped: Sequence[Candidate], task_count: int
) -> Recommendation:
    """Pick a model: who is clearly behind another is out; of the others the one with more right
    answers on the tasks that they share, else the faster, else the smaller.
    """
    needed = evidence_needed(len(tried))
    measured = [each for each in tried if each.shares]
    failed = tuple(each for each in tried if not each.shares)
    if not measured:
        return Recommendation(
            purpose, "nothing", failed, tuple(skipped), needed, task_count, 0, None
        )
    beaten = {
        id(each)
        for each in measured
        for rival in measured
        if _duel(each.shares, rival.shares).rival_evidence >= needed
    }
    best = _in_order([each for each in measured if id(each) not in beaten] or measured)
    ordered = [*best, *_in_order([each for each in measured if each not in best])]
    everyone = (*ordered, *failed)
    if len(ordered) == 1:
        return Recommendation(
            purpose, "alone", everyone, tuple(skipped), needed, task_count, 0, None
        )
    duels = [_duel(ordered[0].shares, rival.shares) for rival in ordered[1:]]
    first = duels[0]
    if first.wins < first.losses:
        # Cut after different tasks: what all share says otherwise than what these two share.
        ordered[:2] = reversed(ordered[:2])
        everyone = (*ordered, *failed)
        duels = [_duel(ordered[0].shares, rival.shares) for rival in ordered[1:]]
        first = duels[0]
    is_clear = all(each.evidence >= needed for each in duels)
    kind: Kind = "clear" if is_clear else "ahead" if first.wins > first.losses else "equal"
    return Recommendation(
        purpose, kind, everyone, tuple(skipped), needed, task_count, first.tasks, first
    )


def _duel(own: dict[Task, float], rival: dict[Task, float]) -> Duel:
    return duel(Shares(share, rival[task]) for task, share in own.items() if task in rival)


def _in_order(models: Sequence[Tried]) -> list[Tried]:
    """Best first, on the tasks that all of them were given; where there are none, on their own."""
    if not models:
        return []
    shared = set.intersection(*(set(each.shares) for each in models))
    passed = [
        mean([share for task, share in each.shares.items() if task in shared or not shared])
        for each in models
    ]
    order = places(
        passed,
        [each.generation_tps for each in models],
        [each.candidate.model.size_bytes for each in models],
    )
    return [models[index] for index in order]
