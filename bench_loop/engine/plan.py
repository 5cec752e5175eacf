"""The plan of a run: fixed before the first request, so that what is missing can be told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TypeVar

from bench_loop.contracts.chat import Sampling
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.packs import Pack, pack_names
from bench_loop.engine.profiles import CONTEXT_WINDOW, CUSTOM, PROFILES, ProfileRules
from bench_loop.engine.shelf import Shelf, refuse_faults
from bench_loop.errors import UsageError
from bench_loop.registry import pick
from bench_loop.result.records import Settings, SpeedPlan, SuiteSettings
from bench_loop.scoring.recompute import SuiteKey

FIRST_SEED = 1000
SEED_RULE = "1000 + number of the trial"
WALL_LIMIT_RULE = (
    "120 s + 3 x (prompt tokens / prompt tok/s + budget / generation tok/s), speeds of the "
    "calibration, a token for every two characters of the prompt"
)
THINKING_TOKENS = 4096
"""Tokens for thinking, on top of the answer budget."""
LONG_THINKING_TOKENS = 8192
LONG_THINKING_SUITES = frozenset({"reasonmath", "coding", "loop_code_fix", "loop_code_fix_files"})
"""Suites whose tasks get more of them."""
OFFICIAL = Shelf()
UNMEASURED_WALL_LIMIT_S = 600.0
"""Wall limit of a request before anything is known of the machine's speed, in seconds."""
UNMEASURED_WALL_LIMIT_RULE = f"{UNMEASURED_WALL_LIMIT_S:g} s, as no speed was measured"


@dataclass(frozen=True, slots=True)
class PlannedSuite:
    """One pack and the tasks of it that the run does."""

    pack: Pack
    tasks: tuple[BenchmarkTask, ...]
    trials: int | None = None
    """Trials of each task; None: those of the plan."""
    sampling: Sampling | None = None
    """None: that of the plan."""
    left_out: int | None = None
    """Of a fresh pack: official tasks that have no family, and so no fresh instance."""

    def key(self) -> SuiteKey:
        """What scoring needs to know of the suite."""
        return SuiteKey(
            suite=self.pack.name,
            version=self.pack.version,
            pack_hash=self.pack.pack_hash,
            dimension=self.pack.dimension,
            task_ids=tuple(task.id for task in self.tasks),
            left_out=self.left_out,
            is_private=self.pack.is_private,
        )


@dataclass(frozen=True, slots=True)
class RunPlan:
    """What a run is going to do."""

    profile: ProfileRules
    suites: tuple[PlannedSuite, ...]
    trials: int
    """Trials of each task in suites that have no number of their own."""
    sampling: Sampling
    """For speed, and for suites that have none of their own."""
    context_window: int
    is_thinking: bool = False
    is_cut_short: bool = False
    """It ends when it tells enough, or its time is spent, and is not resumed. Its tasks come one of
    each suite in turn, so that any beginning of the run is a fair part of it."""

    @property
    def speed_suite(self) -> PlannedSuite | None:
        """The speed suite, or None when the run has none."""
        return next((suite for suite in self.suites if suite.pack.dimension == "speed"), None)

    @property
    def quality_suites(self) -> tuple[PlannedSuite, ...]:
        """The suites whose tasks are judged."""
        return tuple(suite for suite in self.suites if suite.pack.dimension == "quality")

    @property
    def quality_trials(self) -> tuple[tuple[PlannedSuite, BenchmarkTask, int], ...]:
        """Suite, task and number of every trial in order: all tasks once, then again those of
        the suites that have more trials."""
        columns = [[(suite, task) for task in suite.tasks] for suite in self.quality_suites]
        if self.is_cut_short:
            columns = [[one for one in row if one] for row in zip_longest(*columns)]
        return tuple(
            (suite, task, trial)
            for trial in range(1, max(map(self.trials_of, self.quality_suites), default=0) + 1)
            for column in columns
            for suite, task in column
            if trial <= self.trials_of(suite)
        )

    def trials_of(self, suite: PlannedSuite) -> int:
        """Trials of each task of a suite."""
        return self.trials if suite.trials is None else suite.trials

    def sampling_of(self, suite: PlannedSuite) -> Sampling:
        """What the requests of a suite are sampled with."""
        return self.sampling if suite.sampling is None else suite.sampling

    @property
    def own_settings(self) -> tuple[SuiteSettings, ...]:
        """How the suites are run that are not run as `trials` and `sampling` say."""
        return tuple(
            SuiteSettings(
                suite=suite.pack.name,
                trials=self.trials_of(suite),
                sampling=self.sampling_of(suite),
            )
            for suite in self.quality_suites
            if suite.trials is not None or suite.sampling is not None
        )

    @property
    def quality_counts(self) -> dict[str, int]:
        """How many trials each judged suite has."""
        return {
            suite.pack.name: len(suite.tasks) * self.trials_of(suite)
            for suite in self.quality_suites
        }

    @property
    def needs_sandbox(self) -> bool:
        """Whether a suite runs code that a model wrote."""
        return any(suite.pack.needs_sandbox for suite in self.suites)

    @property
    def fresh_seed(self) -> int | None:
        """Seed of its fresh instances; None: its tasks are those of the packs' files."""
        seeds = (suite.pack.fresh_seed for suite in self.suites)
        return next((seed for seed in seeds if seed is not None), None)

    @property
    def private_suites(self) -> tuple[PlannedSuite, ...]:
        """The suites that are a person's own."""
        return tuple(suite for suite in self.suites if suite.pack.is_private)

    @property
    def wall_limit_rule(self) -> str:
        """How a quality trial gets its wall limit, as the result file tells it."""
        if self.speed_suite is None:
            return UNMEASURED_WALL_LIMIT_RULE
        return WALL_LIMIT_RULE

    def answer_tokens(self, task: BenchmarkTask) -> int:
        """Tokens that the answer to `task` may have, thinking not counted."""
        cap = self.profile.answer_tokens_cap
        own = task.limits.answer_tokens
        return own if cap is None else min(own, cap)

    def answer_budget(self, task: BenchmarkTask) -> int:
        """Tokens that the model may generate for `task`, its thinking included."""
        if not self.is_thinking:
            return self.answer_tokens(task)
        return self.answer_tokens(task) + (
            LONG_THINKING_TOKENS if task.suite in LONG_THINKING_SUITES else THINKING_TOKENS
        )

    @property
    def thinking_budget(self) -> int | None:
        """Tokens on top of the answer in most suites; None where the model does not think."""
        return THINKING_TOKENS if self.is_thinking else None

    @property
    def answer_budget_rule(self) -> str:
        """The rule of `answer_budget`, as the result file tells it."""
        rule = "4 x the longest reference answer, at least 256 tokens"
        cap = self.profile.answer_tokens_cap
        if cap is not None:
            rule = f"{rule}, cut to {cap} by the profile"
        if self.is_thinking:
            suites = ", ".join(sorted(LONG_THINKING_SUITES))
            rule = f"{rule}; thinking {THINKING_TOKENS} on top, {LONG_THINKING_TOKENS} in {suites}"
        return rule


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What a run does beside its plan, and how long it may take. Times are seconds."""

    speed_budget_s: float | None = None
    """For the speed plan; None: the profile's own."""
    budget_s: float | None = None
    """For the whole run; None: as long as it takes."""
    has_context_curve: bool = False
    concurrency: tuple[int, ...] = ()
    """Numbers of streams to send at once."""
    sustained_s: float | None = None
    speed_plan: SpeedPlan | None = None
    """The speed plan to take; None: the largest that fits the budget for it."""
    probes_context: bool = False
    probes_determinism: bool = False
    """In a ranked profile it is probed in any case."""

    @property
    def need_speed(self) -> bool:
        """Whether they rest on the calibration of the speed suite."""
        timed = (self.budget_s, self.sustained_s, *self.concurrency)
        return any(timed) or self.has_context_curve or self.probes_context


def make_plan(
    *,
    profile: str | None = None,
    suites: Sequence[str] | None = None,
    trials: int | None = None,
    context_window: int | None = None,
    least_window: int = 0,
    is_thinking: bool = False,
    sampling: Sampling | None = None,
    shelf: Shelf = OFFICIAL,
) -> RunPlan:
    """Plan a run of a profile, or of suites picked by name (all their tasks).

    `trials` and `sampling` are for all suites alike; None: each suite is run as its pack says.
    `context_window` None is the largest that a suite needs, and no less than `least_window`.
    Raises UsageError for an unknown name, when both or neither are given, or when there is no fresh
    instance of what was picked; PackError for a pack with a fault.
    """
    if (profile is None) == (suites is None):
        raise UsageError("Give either a profile or suites.", remedy="--profile quick")
    if profile is not None and shelf.private is not None:
        raise UsageError(
            "Private packs are in no profile.", remedy="Pick suites by name: --suites A,B"
        )
    if profile is not None:
        rules = PROFILES[pick("profile", profile, PROFILES)]
        planned = _of_profile(rules, shelf)
    else:
        rules = CUSTOM
        chosen = dict.fromkeys(pick("suite", name, shelf.names()) for name in suites or ())
        if not chosen:
            raise UsageError("No suite is named.", remedy=f"One of: {', '.join(shelf.names())}.")
        planned = tuple(
            PlannedSuite(pack, pack.tasks, left_out=pack.left_out_of(rules.name))
            for pack in map(shelf.pack, chosen)
        )
    _refuse_without_instances(planned, shelf)
    refuse_faults(suite.pack for suite in planned if suite.pack.is_private)
    window = context_window or max(least_window, window_of(suite.pack for suite in planned))
    plan = RunPlan(rules, planned, trials or 1, sampling or Sampling(), window, is_thinking)
    suites_own = tuple(
        replace(
            suite,
            trials=None if trials else _unlike(suite.pack.settings.trials, plan.trials),
            sampling=None if sampling else _unlike(suite.pack.settings.sampling, plan.sampling),
        )
        for suite in planned
    )
    return replace(plan, suites=suites_own)


def only_tasks(plan: RunPlan, task_ids: Sequence[str]) -> RunPlan:
    """`plan` with these of its tasks alone. Raises UsageError for one that it does not have."""
    known = [task.id for suite in plan.quality_suites for task in suite.tasks]
    wanted = {pick("task", task_id, known) for task_id in task_ids}
    suites = (
        replace(suite, tasks=tuple(task for task in suite.tasks if task.id in wanted))
        for suite in plan.quality_suites
    )
    return replace(plan, suites=tuple(suite for suite in suites if suite.tasks))


def window_of(packs: Iterable[Pack]) -> int:
    """The one window, in tokens, that a run of these asks for where it is told no other."""
    return max((pack.settings.context_window for pack in packs), default=CONTEXT_WINDOW)


def plan_of(rules: ProfileRules, suites: Sequence[PlannedSuite], settings: Settings) -> RunPlan:
    """The plan of a run that recorded these settings, with suites that are given.

    The settings are those of a run of BenchLoop: none of them is unknown.
    """
    assert settings.trials
    assert settings.sampling
    assert settings.context_window
    own = {one.suite: one for one in settings.by_suite}
    return RunPlan(
        profile=rules,
        suites=tuple(
            replace(
                suite,
                trials=_unlike(own[suite.pack.name].trials, settings.trials),
                sampling=_unlike(own[suite.pack.name].sampling, settings.sampling),
            )
            if suite.pack.name in own
            else replace(suite, trials=None, sampling=None)
            for suite in suites
        ),
        trials=settings.trials,
        sampling=settings.sampling,
        context_window=settings.context_window,
        is_thinking=settings.thinking_budget is not None,
    )


T = TypeVar("T")


def _unlike(own: T, common: T) -> T | None:
    """`own` where it is not what is common anyway."""
    return None if own == common else own


def _refuse_without_instances(planned: Sequence[PlannedSuite], shelf: Shelf) -> None:
    """Raises UsageError for fresh suites of whose tasks none belongs to a family."""
    if shelf.fresh_seed is None:
        return
    fresh = [suite for suite in planned if suite.pack.dimension == "quality"]
    bare = [suite.pack.name for suite in fresh if not suite.tasks]
    if bare or not fresh:
        raise UsageError(
            f"There are no fresh instances of {', '.join(bare) or 'this profile'}: none of its "
            "tasks belongs to a family.",
            remedy="Leave --fresh-seed out, or pick suites with families: bench-loop suites NAME",
        )


def _of_profile(rules: ProfileRules, shelf: Shelf) -> tuple[PlannedSuite, ...]:
    planned = []
    for pack in map(shelf.pack, pack_names()):
        if rules.name not in pack.profiles:
            continue
        wanted = pack.profiles[rules.name]
        tasks = tuple(task for task in pack.tasks if task.id in wanted)
        planned.append(PlannedSuite(pack, tasks, left_out=pack.left_out_of(rules.name)))
    return tuple(planned)
