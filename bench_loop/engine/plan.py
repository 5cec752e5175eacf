"""The plan of a run: fixed before the first request, so that what is missing can be told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bench_loop.contracts.chat import Sampling
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.packs import Pack, load_pack, pack_names
from bench_loop.engine.profiles import CUSTOM, PROFILES, ProfileRules
from bench_loop.errors import UsageError
from bench_loop.registry import pick
from bench_loop.scoring.recompute import SuiteKey

CONTEXT_WINDOW = 8192
"""Tokens of the one window that a run asks for."""

FIRST_SEED = 1000
SEED_RULE = "1000 + number of the trial"
WALL_LIMIT_RULE = (
    "120 s + 3 x (prompt tokens / prompt tok/s + budget / generation tok/s), speeds of the "
    "calibration, a token for every two characters of the prompt"
)
UNMEASURED_WALL_LIMIT_S = 600.0
"""Wall limit of a request before anything is known of the machine's speed, in seconds."""


@dataclass(frozen=True, slots=True)
class PlannedSuite:
    """One pack and the tasks of it that the run does."""

    pack: Pack
    tasks: tuple[BenchmarkTask, ...]

    def key(self) -> SuiteKey:
        """What scoring needs to know of the suite."""
        return SuiteKey(
            suite=self.pack.name,
            version=self.pack.version,
            pack_hash=self.pack.pack_hash,
            dimension=self.pack.dimension,
            task_ids=tuple(task.id for task in self.tasks),
        )


@dataclass(frozen=True, slots=True)
class RunPlan:
    """What a run is going to do."""

    profile: ProfileRules
    suites: tuple[PlannedSuite, ...]
    trials: int
    sampling: Sampling
    context_window: int

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
        """Suite, task and number of every trial in order: all tasks once, then all again."""
        return tuple(
            (suite, task, trial)
            for trial in range(1, self.trials + 1)
            for suite in self.quality_suites
            for task in suite.tasks
        )

    @property
    def wall_limit_rule(self) -> str:
        """How a quality trial gets its wall limit, as the result file tells it."""
        if self.speed_suite is None:
            return f"{UNMEASURED_WALL_LIMIT_S:g} s, as no speed was measured"
        return WALL_LIMIT_RULE

    def answer_budget(self, task: BenchmarkTask) -> int:
        """Tokens that the model may generate for `task`."""
        cap = self.profile.answer_tokens_cap
        own = task.limits.answer_tokens
        return own if cap is None else min(own, cap)

    @property
    def answer_budget_rule(self) -> str:
        """The rule of `answer_budget`, as the result file tells it."""
        rule = "4 x the longest reference answer, at least 256 tokens"
        cap = self.profile.answer_tokens_cap
        return rule if cap is None else f"{rule}; at most {cap}"


def make_plan(
    *,
    profile: str | None = None,
    suites: Sequence[str] | None = None,
    trials: int = 1,
    context_window: int = CONTEXT_WINDOW,
) -> RunPlan:
    """Plan a run of a profile, or of suites picked by name (all their tasks).

    Raises UsageError for an unknown name, or when both or neither are given.
    """
    if (profile is None) == (suites is None):
        raise UsageError("Give either a profile or suites.", remedy="--profile quick")
    if profile is not None:
        rules = PROFILES[pick("profile", profile, PROFILES)]
        planned = _of_profile(rules)
    else:
        rules = CUSTOM
        chosen = dict.fromkeys(pick("suite", name, pack_names()) for name in suites or ())
        if not chosen:
            raise UsageError("No suite is named.", remedy=f"One of: {', '.join(pack_names())}.")
        planned = tuple(PlannedSuite(pack, pack.tasks) for pack in map(load_pack, chosen))
    return RunPlan(rules, planned, trials, Sampling(), context_window)


def _of_profile(rules: ProfileRules) -> tuple[PlannedSuite, ...]:
    planned = []
    for pack in map(load_pack, pack_names()):
        if rules.name not in pack.profiles:
            continue
        wanted = pack.profiles[rules.name]
        tasks = tuple(task for task in pack.tasks if task.id in wanted)
        planned.append(PlannedSuite(pack, tasks))
    return tuple(planned)
