"""What a harness costs: of one arm its own figures, of a pair of arms what it adds to `raw`.

The unit is the task, never the trial: a task counts with the mean of its trials, and all instances
of one family as one. Infrastructure errors and what is not applicable are left out and counted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from bench_loop.contracts.chat import CallRecord
from bench_loop.result.compare import times_not_comparable
from bench_loop.result.records import RunResult, Trial
from bench_loop.scoring import asking
from bench_loop.scoring.aggregates import reliability_interval, reliability_score
from bench_loop.scoring.constants import OUTCOMES
from bench_loop.scoring.estimates import (
    Estimate,
    mean_estimate,
    ratio_estimate,
    share_estimate,
)
from bench_loop.scoring.intervals import mean
from bench_loop.scoring.paired import Pair, is_same_prompt, scored_tasks
from bench_loop.scoring.suites import (
    ScoredSuite,
    ScoredTask,
    all_pass_chance,
    one_by_family,
    pass_cubed,
    scored_suites,
)


@dataclass(frozen=True, slots=True)
class ArmFigures:
    """What one arm (a model in a harness, or raw) did, over its quality suites.

    None: no task of the arm tells it, never 0.
    """

    task_count: int
    """With at least one scored trial."""
    trial_count: int
    """Scored trials."""
    infrastructure_count: int
    """Trials left out as infrastructure errors."""
    not_applicable_count: int
    """Trials left out, since the harness lacks what their tasks need."""
    unrecorded_count: int
    """Scored trials without a record of their requests."""
    wall_s: Estimate | None
    """Seconds a task: mean over tasks; warm trials with a verdict."""
    first_prompt_tokens: Estimate | None
    """Tokens of the first prompt of a task: mean over tasks."""
    prompt_tokens: Estimate | None
    """Prompt tokens of a whole task: mean over tasks; trials with a verdict."""
    requests: Estimate | None
    """Requests a task: mean over tasks."""
    malformed: Estimate | None
    """Malformed tool calls, percent of the calls of a task that calls any."""
    useless: Estimate | None
    """Useless tool calls, percent likewise."""
    call_count: int
    """Tool calls behind both shares."""
    completion: Estimate | None
    """Percent of a task's scored trials that ended with a verdict."""
    truncated: Estimate | None
    """Percent that were cut."""
    harness_errors: Estimate | None
    """Percent that ended as harness_error."""
    pass_cubed: Estimate | None
    """Percent; over the suites of which every task has three scored trials or more."""
    reliability: Estimate | None
    """0 to 100."""


@dataclass(frozen=True, slots=True)
class Added:
    """What a harness adds to raw on the same tasks."""

    amount: Estimate
    """Mean over tasks of (harness minus raw), in seconds or tokens."""
    ratio: Estimate | None
    """Geometric mean over tasks of harness / raw; None: no task needed something in both arms."""


@dataclass(frozen=True, slots=True)
class AddedTime:
    """Cold and warm trials apart; each None where no task has such trials in both arms.

    Trials of a run that is no arm of a matrix are taken for warm. In an arm, one that is marked as
    neither is in neither.
    """

    cold: Added | None
    warm: Added | None


@dataclass(frozen=True, slots=True)
class HarnessCosts:
    """What a harness adds to raw with one model. Amounts in seconds and tokens."""

    pair_count: int
    """Tasks scored in both arms with the same prompt hash."""
    unpaired_count: int
    """Tasks scored in one arm only, or asked in other words."""
    time_reasons: tuple[str, ...]
    """Why the times of the two arms say nothing beside each other, as sentences; then both times
    are without figures."""
    both_pass: AddedTime
    """Wall time, tasks that both pass: of the trials that passed."""
    both_judged: AddedTime
    """Wall time, tasks with verdicts in both arms: of the trials with a verdict."""
    first_prompt: Added | None
    """Prompt tokens of a task's first request; scored trials."""
    prompt: Added | None
    """Prompt tokens of the whole task; trials with a verdict."""


def arm_figures(run: RunResult) -> ArmFigures:
    """The figures of one arm."""
    suites = scored_suites(run)
    trials = [trial for suite in suites for trial in suite.trials]
    unscored = [trial for suite in suites for trial in suite.unscored]
    calls = [asking.model_calls(trial) for trial in trials]
    return ArmFigures(
        task_count=sum(len(suite.tasks) for suite in suites),
        trial_count=len(trials),
        infrastructure_count=sum(one.outcome == "infrastructure_error" for one in unscored),
        not_applicable_count=sum(one.outcome == "not_applicable" for one in unscored),
        unrecorded_count=sum(trial.requests is None for trial in trials),
        wall_s=_amount(suites, _seconds(_both(_is_verdict, _warm(run)))),
        first_prompt_tokens=_amount(
            suites, lambda task: _mean(map(asking.first_prompt_tokens, task.trials))
        ),
        prompt_tokens=_amount(suites, _prompt_tokens),
        requests=_amount(suites, lambda task: _mean(map(asking.request_count, task.trials))),
        malformed=share_estimate(
            _values(suites, lambda task: _call_share(task, asking.malformed_calls))
        ),
        useless=share_estimate(
            _values(suites, lambda task: _call_share(task, asking.useless_calls))
        ),
        call_count=sum(len(made) for made in calls if asking.malformed_calls(made) is not None),
        completion=_outcome_share(suites, _is_verdict),
        truncated=_outcome_share(suites, lambda trial: trial.outcome == "truncated"),
        harness_errors=_outcome_share(suites, lambda trial: trial.outcome == "harness_error"),
        pass_cubed=share_estimate(
            _values([one for one in suites if pass_cubed(one) is not None], all_pass_chance)
        ),
        reliability=_reliability(suites),
    )


def harness_costs(raw: RunResult, run: RunResult) -> HarnessCosts:
    """Overhead of a task = mean seconds of its trials in the harness, minus, and by, the mean of
    those in raw.

    Over the tasks that have a scored trial in both, with the same prompt hash. Seconds are those of
    model and tools; of a program all from its start to its end. It is told for tasks that both
    pass, from the trials that passed, and for tasks with verdicts in both, from the trials with a
    verdict; what was cut, or ended as harness_error, took time too and is in neither. Cold trials,
    the first of their block after another arm had the model, are held against cold ones, warm
    against warm; the first of a block that follows one of the same arm may be either and is left
    out.
    The token tax is the same difference and ratio of prompt tokens: of the first request, and of
    the whole task from trials with a verdict. Amounts are told as a mean over tasks, since they add
    up over a run; ratios as a geometric mean. Null where no task tells both sides, and for seconds
    where the two runs had other machines or settings of speed.
    """
    ours, theirs = scored_tasks(raw), scored_tasks(run)
    pairs = _Pairs(
        {
            task: (ours[task], theirs[task])
            for task in sorted(ours.keys() & theirs.keys())
            if is_same_prompt(ours[task], theirs[task])
        }
    )
    reasons = times_not_comparable(raw, run)
    timed = pairs if not reasons else _Pairs({})
    return HarnessCosts(
        pair_count=len(pairs.tasks),
        unpaired_count=len(ours.keys() | theirs.keys()) - len(pairs.tasks),
        time_reasons=reasons,
        both_pass=_added_time(timed, _is_pass, _warm(raw), _warm(run)),
        both_judged=_added_time(timed, _is_verdict, _warm(raw), _warm(run)),
        first_prompt=pairs.added(
            lambda task: _mean(map(asking.first_prompt_tokens, task.trials)),
        ),
        prompt=pairs.added(_prompt_tokens),
    )


Value = Callable[[ScoredTask], float | None]
"""A value of a task in one arm; None: the task does not tell it."""
Choice = Callable[[Trial], bool]


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Tasks in raw and in the harness, by suite and task id."""

    tasks: dict[tuple[str, str], Pair]

    def added(self, value: Value, of_harness: Value | None = None) -> Added | None:
        """What the harness adds, over the tasks that tell `value` in both arms; `of_harness` is how
        it is read in the harness's, None: as in raw's."""
        read = of_harness or value
        by_suite: dict[str, list[tuple[ScoredTask, float, float]]] = defaultdict(list)
        for (suite, _), (ours, theirs) in self.tasks.items():
            before, after = value(ours), read(theirs)
            if before is not None and after is not None:
                by_suite[suite].append((ours, before, after))
        units = [
            unit for told in by_suite.values() for unit in one_by_family(told, lambda one: one[0])
        ]
        amounts = [mean([after - before for _, before, after in unit]) for unit in units]
        amount = mean_estimate(amounts)
        if amount is None:
            return None
        return Added(amount, ratio_estimate([_unit_means(unit) for unit in units]))


def _unit_means(unit: Sequence[tuple[ScoredTask, float, float]]) -> tuple[float, float]:
    return mean([before for _, before, _ in unit]), mean([after for _, _, after in unit])


def _added_time(pairs: _Pairs, choice: Choice, raw_warm: Choice, warm: Choice) -> AddedTime:
    return AddedTime(
        cold=pairs.added(_seconds(_both(choice, _is_cold))),
        warm=pairs.added(_seconds(_both(choice, raw_warm)), _seconds(_both(choice, warm))),
    )


def _values(suites: Sequence[ScoredSuite], value: Value) -> list[float]:
    """One for each unit in which a task tells `value`."""
    told = (
        [found for task in unit if (found := value(task)) is not None]
        for suite in suites
        for unit in suite.units
    )
    return [mean(values) for values in told if values]


def _amount(suites: Sequence[ScoredSuite], value: Value) -> Estimate | None:
    """Of seconds, tokens or requests, of which there is no less than none."""
    return mean_estimate(_values(suites, value), least=0.0)


def _outcome_share(suites: Sequence[ScoredSuite], choice: Choice) -> Estimate | None:
    def share(task: ScoredTask) -> float:
        return mean([float(choice(trial)) for trial in task.trials])

    return share_estimate(_values(suites, share))


def _call_share(
    task: ScoredTask, count: Callable[[Sequence[CallRecord]], int | None]
) -> float | None:
    """Of the calls in the trials of a task of which all is known; None: there are none."""
    found = counted = 0
    for trial in task.trials:
        calls = asking.model_calls(trial)
        if (number := count(calls)) is not None:
            found, counted = found + number, counted + len(calls)
    return found / counted if counted else None


def _reliability(suites: Sequence[ScoredSuite]) -> Estimate | None:
    score, interval = reliability_score(suites), reliability_interval(suites)
    if score is None or interval is None:
        return None
    return Estimate(score, *interval, n=sum(len(suite.units) for suite in suites))


def _prompt_tokens(task: ScoredTask) -> float | None:
    return _mean(asking.prompt_tokens(trial) for trial in task.trials if _is_verdict(trial))


def _seconds(choice: Choice) -> Value:
    """Of a task, the mean seconds of the trials that are chosen."""
    return lambda task: _mean(trial.latency_s for trial in task.trials if choice(trial))


def _both(first: Choice, second: Choice) -> Choice:
    return lambda trial: first(trial) and second(trial)


def _mean(values: Iterable[float | None]) -> float | None:
    """Of those that are known; None: none is."""
    known = [value for value in values if value is not None]
    return mean(known) if known else None


def _is_pass(trial: Trial) -> bool:
    return trial.outcome == "pass"


def _is_verdict(trial: Trial) -> bool:
    return trial.outcome is not None and OUTCOMES[trial.outcome].is_verdict


def _is_cold(trial: Trial) -> bool:
    return trial.is_cold is True


def _warm(run: RunResult) -> Choice:
    """Which trials of `run` are warm: outside a matrix none is marked, and all are taken for so."""
    if run.matrix is None:
        return lambda trial: not _is_cold(trial)
    return lambda trial: trial.is_cold is False
