"""Tries installed models one after another, and stops as soon as one is clearly the best."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Literal

from bench_loop.contracts.chat import Sampling
from bench_loop.contracts.provider import ModelFacts, ServerFacts
from bench_loop.engine.events import Event, Listener, SpeedPlanned, TrialFinished
from bench_loop.engine.packs import load_pack
from bench_loop.engine.plan import PlannedSuite, RunPlan
from bench_loop.engine.profiles import ProfileRules
from bench_loop.engine.stopping import StopEarly
from bench_loop.errors import BenchLoopError
from bench_loop.machine.room import Room, lack_of_room
from bench_loop.names.parse import parse_model
from bench_loop.result.records import RunResult, Trial
from bench_loop.scoring.intervals import mean
from bench_loop.scoring.rates import generation_rate
from bench_loop.scoring.sequential import (
    Duel,
    Shares,
    duel,
    evidence_needed,
    fewest_wins,
    places,
)
from bench_loop.scoring.suites import is_scored

PURPOSES = {
    "coding": ("coding", "loop_code_fix"),
    "agent": ("agent", "toolcall"),
    "chat": ("instructfollow", "dataextract", "reasonmath", "loop_schema"),
}
"""Suites whose tasks are asked for each purpose."""
RULES = ProfileRules("custom", "Suites for one purpose; not ranked.", ("minimum",), 90, None, False)
REPEATS = 3
"""Trials of each task where the tasks are too few to make a winner clear: they steady the lead."""
REPEATED = Sampling(temperature=0.7, top_p=0.95)
"""Sampling of these: greedy, the second trial would only say the first one's answer again."""

MOST_SPEED_SHARE = 1 / 3
"""Share of a model's time that the speed suite may take; where it takes more it is left out."""

Kind = Literal["clear", "ahead", "equal", "alone", "none", "nothing"]
"""`none`: no model did a single task; `nothing`: none was measured."""
Task = tuple[str, str]
"""Suite and id of a task."""
Attempt = tuple[str, str, int]
"""Suite and id of a task, and the number of the trial."""
Passes = Mapping[Attempt, bool]
"""Whether each scored trial passed, in the order of running."""


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
    def passes(self) -> Passes:
        """Of the scored trials; empty where nothing was measured."""
        return passes_of(() if self.result is None else self.result.trials)

    @property
    def shares(self) -> dict[Task, float]:
        """Share of passed trials of each scored task, in the order of running."""
        return task_shares(self.passes)

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
class Outlook:
    """What a race can show, known before any time is spent."""

    model_count: int
    """Models to be tried."""
    task_count: int
    trials: int
    """Of each task."""

    @property
    def fewest_wins(self) -> int:
        """Tasks to win without a loss, to be clearly better than a rival."""
        return fewest_wins(self.model_count, self.task_count)

    @property
    def needed(self) -> float:
        """Evidence that makes a model clearly better."""
        return evidence_needed(self.model_count, self.task_count)

    @property
    def can_be_clear(self) -> bool:
        """Whether there are tasks enough to make any model clearly the best."""
        return self.fewest_wins <= self.task_count


@dataclass(frozen=True, slots=True)
class Recommendation:
    """Who is to be taken, how sure that is, and what else was looked at."""

    purpose: str
    kind: Kind
    tried: tuple[Tried, ...]
    """The pick first, then the runner-up, then the others; those that failed come last."""
    skipped: tuple[Candidate, ...]
    outlook: Outlook
    """What the race could show at best."""
    duel: Duel | None
    """Of the pick against the runner-up."""

    @property
    def pick(self) -> Tried | None:
        return None if self.kind in ("none", "nothing") else self.tried[0]

    @property
    def runner_up(self) -> Tried | None:
        return self.tried[1] if self.duel is not None else None


def recommend_plan(
    purpose: str, context_window: int, model_count: int, *, has_sandbox: bool = True
) -> RunPlan:
    """The tasks for a purpose, one suite in turn with the others, after a short look at speed.

    Tasks that are too few to make one of `model_count` models clearly the best are asked REPEATS
    times: more trials are no more tasks, and cannot make it clear, but the order that they give
    rests less on chance. Without a sandbox, suites that need one are left out.
    """
    packs = [load_pack(name) for name in ("speed", *PURPOSES[purpose])]
    suites = tuple(
        PlannedSuite(pack, pack.tasks) for pack in packs if has_sandbox or not pack.needs_sandbox
    )
    once = RunPlan(RULES, suites, 1, Sampling(), context_window, is_cut_short=True)
    if outlook_of(once, model_count).can_be_clear:
        return once
    return replace(once, trials=REPEATS, sampling=REPEATED)


def outlook_of(plan: RunPlan, model_count: int) -> Outlook:
    """What a race of so many models on this plan can show."""
    tasks = sum(len(suite.tasks) for suite in plan.quality_suites)
    return Outlook(model_count, tasks, plan.trials)


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


def passes_of(trials: Sequence[Trial]) -> Passes:
    """Whether each scored quality trial passed, in the order in which they came."""
    return {
        (trial.suite, trial.task_id, trial.trial): trial.outcome == "pass"
        for trial in trials
        if is_scored(trial)
    }


def task_shares(passes: Passes, among: Collection[Attempt] | None = None) -> dict[Task, float]:
    """Share of passed trials of each task, in the order of running; of those `among` these."""
    by_task: dict[Task, list[float]] = {}
    for attempt, passed in passes.items():
        if among is None or attempt in among:
            by_task.setdefault(attempt[:2], []).append(float(passed))
    return {task: mean(values) for task, values in by_task.items()}


class Turn:
    """One model's part of a race: how long it may take, and what ends it before."""

    def __init__(
        self,
        candidate: Candidate,
        share_s: float,
        clock: Callable[[], float],
        end_if_settled: Callable[[Sequence[Trial]], None],
    ) -> None:
        self.candidate = candidate
        self._share_s = share_s
        self._clock = clock
        self._ends_at = clock() + share_s
        self._end_if_settled = end_if_settled

    @property
    def left_s(self) -> float:
        """Seconds of its share that are left; never below 0."""
        return max(0.0, self._ends_at - self._clock())

    def ended(self, listen: Listener) -> Listener:
        """`listen`, that raises StopEarly when the model's place is settled, and SpeedTooLong
        before its speed takes too much of the time."""
        trials: list[Trial] = []

        def hear(event: Event) -> None:
            listen(event)
            if isinstance(event, SpeedPlanned):
                if event.expected_s > MOST_SPEED_SHARE * self._share_s:
                    raise SpeedTooLong("Its speed would take too much of the time.")
            elif isinstance(event, TrialFinished) and is_scored(event.trial):
                trials.append(event.trial)
                self._end_if_settled(trials)

        return hear


class Race:
    """Models on the same tasks in the same order, each ended when it has clearly lost.

    A model is ended when one that was tried before is clearly better (`Outlook.needed`), and the
    last one also when it is clearly better than all. Its share of the time is its run's budget.
    """

    def __init__(
        self,
        purpose: str,
        plan: RunPlan,
        candidates: Sequence[Candidate],
        budget_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._purpose = purpose
        self._skipped = [each for each in candidates if each.refused]
        self._runners = [each for each in candidates if not each.refused]
        self.outlook = outlook_of(plan, len(self._runners))
        self._tried: list[Tried] = []
        self._clock = clock
        self._ends_at = clock() + budget_s

    def go(self, measure: Callable[[Turn], Tried]) -> Recommendation:
        """Try every candidate; `measure` runs one within its turn."""
        for number, runner in enumerate(self._runners):
            left_s = self._ends_at - self._clock()
            if left_s <= 0:
                self._tried.append(Tried(runner, None, "No time of the budget was left for it."))
                continue
            try:
                self._tried.append(measure(self._turn(runner, number, left_s)))
            except BenchLoopError as error:
                self._tried.append(Tried(runner, None, error.message))
        return decide(self._purpose, self._tried, self._skipped, self.outlook)

    def _turn(self, runner: Candidate, number: int, left_s: float) -> Turn:
        """An equal share of what is left for this model and those to come."""
        to_come = len(self._runners) - number
        earlier = [each for each in self._tried if each.passes]

        def end_if_settled(trials: Sequence[Trial]) -> None:
            self._end_if_settled(trials, earlier, is_last=to_come == 1)

        return Turn(runner, left_s / to_come, self._clock, end_if_settled)

    def _end_if_settled(
        self, trials: Sequence[Trial], earlier: Sequence[Tried], *, is_last: bool
    ) -> None:
        """Raises StopEarly when the rest of its tasks cannot change what is said of the model.

        Only with one trial a task: a look at tasks whose shares may still change is no fair look.
        """
        count, needed = self.outlook.task_count, self.outlook.needed
        if not earlier or self.outlook.trials > 1 or len(trials) == count:
            return
        after = f"Stopped after {len(trials)} of {count} tasks"
        passes = passes_of(trials)
        duels = [_duel(passes, rival.passes) for rival in earlier]
        for rival, found in zip(earlier, duels, strict=True):
            if found.rival_evidence >= needed:
                raise StopEarly(f"{after}: {rival.model_id} is clearly better.")
        if is_last and all(found.evidence >= needed for found in duels):
            raise StopEarly(f"{after}: it is clearly better than every other model.")


def decide(
    purpose: str, tried: Sequence[Tried], skipped: Sequence[Candidate], outlook: Outlook
) -> Recommendation:
    """Pick a model: who is clearly behind another is out; of the others the one with more right
    answers on the tasks that they share, else the faster, else the smaller.
    """
    needed = outlook.needed
    measured = [each for each in tried if each.passes]
    failed = [each for each in tried if not each.passes]

    def told(kind: Kind, ordered: Sequence[Tried], found: Duel | None = None) -> Recommendation:
        return Recommendation(purpose, kind, (*ordered, *failed), tuple(skipped), outlook, found)

    if measured and not any(any(each.passes.values()) for each in measured):
        return told("none", _in_order(measured))
    if len(measured) < 2:
        return told("alone" if measured else "nothing", measured)
    beaten = [
        each
        for each in measured
        if any(_duel(each.passes, rival.passes).rival_evidence >= needed for rival in measured)
    ]
    best = _in_order([each for each in measured if each not in beaten] or measured)
    ordered = [*best, *_in_order([each for each in measured if each not in best])]
    first = _duel(ordered[0].passes, ordered[1].passes)
    if first.wins < first.losses:
        # Cut after different tasks: what all share says otherwise than what these two share.
        ordered[:2] = reversed(ordered[:2])
    first, *others = (_duel(ordered[0].passes, rival.passes) for rival in ordered[1:])
    if all(each.evidence >= needed for each in (first, *others)):
        return told("clear", ordered, first)
    return told("ahead" if first.wins > first.losses else "equal", ordered, first)


def _duel(own: Passes, rival: Passes) -> Duel:
    """Task by task, each by its share of passes in the trials that both were given."""
    both = own.keys() & rival.keys()
    ours, theirs = task_shares(own, both), task_shares(rival, both)
    return duel(Shares(share, theirs[task]) for task, share in ours.items())


def _in_order(models: Sequence[Tried]) -> list[Tried]:
    """Best first, on the trials that all of them were given; where there are none, on their own."""
    if not models:
        return []
    every = [each.passes for each in models]
    shared = set.intersection(*map(set, every)) or None
    passed = [mean(list(task_shares(passes, shared).values())) for passes in every]
    order = places(
        passed,
        [each.generation_tps for each in models],
        [each.candidate.model.size_bytes for each in models],
    )
    return [models[index] for index in order]
