"""What a run has seen of the machine's pace and of the model's answers, to predict the rest with.

Nothing here is published: it is rough, and follows a machine whose load changes.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass

from bench_loop.engine.speed_plans import CALIBRATION, Rates
from bench_loop.result.records import Trial
from bench_loop.scoring.rates import Shape, ttft_s

MEMORY = 0.8
"""Weight of what was seen before each newer trial: a machine's load changes in minutes."""
LONG_PROMPT = 2048
"""Prompt tokens at which the reading of prompts may have become noticeably slower."""
USUAL_BEND = 0.15
"""How much more a token costs at LONG_PROMPT than at the beginning, before it was seen: little on
a large model, more than its own size on a tiny one."""
BEND_TRIALS = 0.3
"""Trials that this is worth. Few: only a comparison of trials at different times tells better."""
ANSWER_SHARE = 0.35
"""Share of its budget that an answer takes, before any was seen."""
DOUBT_OF_ANSWERS = 0.5
"""Standard deviation, as a share, of how long a suite's answers are, before any was seen."""
SHARE_TRIALS = 3.0
"""Trials that what is expected of a suite's answers is worth, against those seen in the suite."""


@dataclass(frozen=True, slots=True)
class Work:
    """A trial to come. `prompt_tokens` are of all its requests, a guess for tasks.

    `output_tokens` are what a timed trial asks for, and the budget of a task.
    """

    suite: str
    task_id: str
    prompt_tokens: float
    output_tokens: float
    program_s: float = 0.0
    """Of the program of a harness itself, before any was seen; 0: it is none."""

    @classmethod
    def of(cls, shape: Shape) -> Work:
        """A timed request of `shape`."""
        return cls("speed", shape.task_id, shape.prompt_tokens, shape.output_tokens)

    @property
    def is_timed(self) -> bool:
        return self.suite == "speed"


class Pace:
    """Seconds that a trial will take, from the calibration and every trial since."""

    def __init__(self, rates: Rates) -> None:
        self._prompts = _PromptTime()
        self._prompts.see(CALIBRATION.prompt_tokens, CALIBRATION.prompt_tokens / rates.prompt_tps)
        self._generation = _Mean(1 / rates.generation_tps, CALIBRATION.output_tokens)
        self._timed: dict[str, _Mean] = {}
        self._prompt_shares = _Shares(prior=1.0)
        self._answer_shares = _Shares(prior=ANSWER_SHARE)
        self._forced_share = _Mean(1.0, SHARE_TRIALS)
        self._beside: dict[str, _Mean] = defaultdict(lambda: _Mean(0.0, 0.0))
        self._program: _Mean | None = None

    def seconds(self, work: Work) -> float:
        """Expected seconds of a trial, from its announcement to its record."""
        if work.is_timed:
            return self._shape_s(work) * self._shape_factor(work.task_id)
        prompt = work.prompt_tokens * self._prompt_shares.of(work.suite)
        output = work.output_tokens * self._answer_shares.of(work.suite)
        return self.request_s(prompt, output) + self._beside_s(work)

    def _shape_s(self, work: Work) -> float:
        """Expected seconds of a timed trial, by what all requests have shown."""
        output = work.output_tokens * self._forced_share.value
        return self.request_s(work.prompt_tokens, output) + self._beside_s(work)

    def _shape_factor(self, task_id: str) -> float:
        """How much longer this shape takes than the others make expect."""
        seen = self._timed.get(task_id)
        return seen.value if seen else 1.0

    def request_s(self, prompt_tokens: float, output_tokens: float) -> float:
        """Expected seconds of a request of so many uncached and generated tokens."""
        return self._prompts.seconds(prompt_tokens) + output_tokens * self._generation.value

    def learn(self, work: Work, trial: Trial, seconds: float) -> None:
        """Take in a trial that was planned as `work` and took `seconds` in all."""
        prompt, output, latency_s = _uncached(trial), trial.tokens.completion, _model_s(trial)
        if latency_s is None or prompt is None or output is None:
            return
        self._learn_speeds(trial, prompt, output, latency_s)
        self._learn_beside(work, seconds - latency_s)
        if not work.is_timed:
            self._prompt_shares.see(work.suite, prompt, work.prompt_tokens)
            self._answer_shares.see(work.suite, output, work.output_tokens)
            return
        self._forced_share.see(output / work.output_tokens)
        self._timed.setdefault(work.task_id, _Mean(0.0, 0.0)).see(seconds / self._shape_s(work))

    def doubt(self, suite: str) -> float:
        """Standard deviation, as a share, of what is expected of a suite's answers."""
        return DOUBT_OF_ANSWERS / math.sqrt(1 + self._answer_shares.trials(suite))

    def _learn_speeds(self, trial: Trial, prompt: int, output: int, latency_s: float) -> None:
        """Divide the time of a trial between prompt and answer: by its clocks, else as expected."""
        first_s = ttft_s(trial) if trial.turns == 1 and output > 1 else None
        if first_s is None:
            expected = self.request_s(prompt, output)
            first_s = latency_s * self._prompts.seconds(prompt) / expected if expected else 0.0
        if prompt:
            self._prompts.see(prompt, first_s)
        if output > 1:
            self._generation.see((latency_s - first_s) / (output - 1), output - 1)

    def _learn_beside(self, work: Work, seconds: float) -> None:
        self._beside[work.suite].see(seconds)
        if work.program_s:
            self._program = self._program or _Mean(work.program_s, 1.0)
            self._program.see(seconds)

    def _beside_s(self, work: Work) -> float:
        """What a trial takes beside its requests: making the prompt, tools, the verifier.

        A program takes it in all suites alike, as far as is known before its own is seen.
        """
        own = self._beside.get(work.suite)
        if own is None and work.program_s:
            own = self._program or _Mean(work.program_s, 1.0)
        return max(0.0, own.value) if own else 0.0


class _Mean:
    """A mean that forgets: what was seen before counts MEMORY times as much with each new value."""

    def __init__(self, value: float, weight: float) -> None:
        self._sum, self._weight = value * weight, weight

    def see(self, value: float, weight: float = 1.0) -> None:
        self._sum = MEMORY * self._sum + value * weight
        self._weight = MEMORY * self._weight + weight

    @property
    def value(self) -> float:
        return self._sum / self._weight


class _PromptTime:
    """Seconds to read a prompt: a n + b n^2, as attention costs the more the more is read.

    `a` and `b` are the weighted least squares of the relative errors, with newer and longer prompts
    weighing more, and USUAL_BEND as one of the observations.
    """

    def __init__(self) -> None:
        self._seen: list[tuple[float, float]] = []
        self._flat = self._bend = 0.0

    def see(self, tokens: float, seconds: float) -> None:
        self._seen.append((tokens, max(seconds, 1e-6)))
        self._fit()

    def seconds(self, tokens: float) -> float:
        return tokens * (self._flat + self._bend * tokens / LONG_PROMPT)

    def _fit(self) -> None:
        """Seconds a token at the beginning of a prompt, and how many more at LONG_PROMPT."""
        usual = math.fsum(s for _, s in self._seen) / math.fsum(n for n, _ in self._seen)
        a2 = ab = a1 = 0.0
        b2, b1 = BEND_TRIALS, BEND_TRIALS * USUAL_BEND
        for age, (tokens, seconds) in enumerate(reversed(self._seen)):
            weight = math.pow(MEMORY, age) * math.sqrt(tokens / LONG_PROMPT)
            each = seconds / tokens / usual
            x, z = 1 / each, tokens / LONG_PROMPT / each
            a2, ab, b2 = a2 + weight * x * x, ab + weight * x * z, b2 + weight * z * z
            a1, b1 = a1 + weight * x, b1 + weight * z
        bend = (a2 * b1 - ab * a1) / (a2 * b2 - ab * ab)
        flat = (a1 - ab * bend) / a2
        if bend < 0:
            flat, bend = a1 / a2, 0.0
        elif flat < 0:
            flat, bend = 0.0, b1 / b2
        self._flat, self._bend = flat * usual, bend * usual


@dataclass(slots=True)
class _Sums:
    """Tokens of so many trials, seen and planned."""

    seen: float = 0.0
    planned: float = 0.0
    trials: int = 0

    def add(self, seen: float, planned: float) -> None:
        self.seen, self.planned, self.trials = (
            self.seen + seen,
            self.planned + planned,
            self.trials + 1,
        )

    def without(self, other: _Sums) -> _Sums:
        return _Sums(
            self.seen - other.seen, self.planned - other.planned, self.trials - other.trials
        )

    def share(self, prior: float) -> float:
        """The ratio of the sums, with SHARE_TRIALS trials of the mean size at `prior`."""
        if not self.trials:
            return prior
        weight = SHARE_TRIALS * self.planned / self.trials
        return (self.seen + weight * prior) / (self.planned + weight)


class _Shares:
    """Tokens seen by tokens planned, by suite.

    A suite starts at what the other suites have shown, and these at `prior`; both are worth
    SHARE_TRIALS trials.
    """

    def __init__(self, prior: float) -> None:
        self._prior = prior
        self._all = _Sums()
        self._by_suite: dict[str, _Sums] = defaultdict(_Sums)

    def see(self, suite: str, tokens: float, planned: float) -> None:
        self._all.add(tokens, planned)
        self._by_suite[suite].add(tokens, planned)

    def trials(self, suite: str) -> int:
        return self._by_suite[suite].trials

    def of(self, suite: str) -> float:
        own = self._by_suite[suite]
        return own.share(self._all.without(own).share(self._prior))


def rates_of(trial: Trial) -> Rates | None:
    """Rough speeds from a trial where there was no calibration; None where it does not tell."""
    prompt, output, latency_s = _uncached(trial), trial.tokens.completion, _model_s(trial)
    if not prompt or not output or not latency_s:
        return None
    first_s = ttft_s(trial) or latency_s / 2
    return Rates(prompt / first_s, output / max(latency_s - first_s, 1e-3))


def _uncached(trial: Trial) -> int | None:
    tokens = trial.tokens
    return None if tokens.prompt is None else max(0, tokens.prompt - (tokens.cached or 0))


def _model_s(trial: Trial) -> float | None:
    """Seconds in which the model was asked; of `raw` its tools' as well. None: not known."""
    return trial.latency_s if trial.harness is None else trial.harness.model_s
