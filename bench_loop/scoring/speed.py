"""Speed of a run: spreads over its trials, headline figures, curves and findings."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from statistics import median

from bench_loop.result.records import ShapeSpeed, Speed, SpeedPlan, Spread, Trial
from bench_loop.scoring.constants import (
    DRIFT_TRIALS,
    ENGINE_CLIENT_GAP,
    FAST_GENERATION_TPS,
    FAST_OUTPUT_TOKENS,
    FINDINGS,
    HEADLINE_OUTPUT_TOKENS,
    HEADLINE_PROMPT_TOKENS,
    HIDDEN_CACHE_AGREEMENT,
    MIN_TOTAL_WINDOW_S,
    MINIMUM_OUTPUT_TOKENS,
    OVERHEAD_FACTOR,
    OVERHEAD_PROMPT_TOKENS,
    OVERHEAD_TRIALS,
    PREFILL_PROMPT_TOKENS,
    PUBLISHABLE_HALF_WIDTH,
    THROTTLING_RATIO,
)
from bench_loop.scoring.intervals import TWO_SIDED, t_quantile
from bench_loop.scoring.load import concurrency, context_curve, sustained, token_gaps
from bench_loop.scoring.rates import (
    TRUST,
    Overhead,
    Rate,
    Shape,
    client_rate,
    engine_rate,
    generation_rate,
    is_cold,
    loaded_the_model,
    prompt_rate,
    ttfa_s,
    ttft_s,
    uncached_tokens,
)
from bench_loop.scoring.spreads import spread
from bench_loop.scoring.suites import is_warmup

FAST_HEADLINE = Shape(HEADLINE_PROMPT_TOKENS, FAST_OUTPUT_TOKENS)
"""Shape of the headline generation speed on machines that are too fast for the usual one."""


def half_width(values: Spread | None) -> float | None:
    """Half-width h = t(0.975, n - 1) x s / (sqrt(n) x mean), a share of the mean.

    Trials are repeated until h of generation speed and of TTFT is at most TARGET_HALF_WIDTH, or
    MAX_SPEED_TRIALS trials, or the time budget is spent. Null below two trials. A run with h above
    PUBLISHABLE_HALF_WIDTH is not ranked.
    """
    if values is None or values.stdev is None or values.mean <= 0:
        return None
    return t_quantile(TWO_SIDED, values.n - 1) * relative_error(values)


def reach(values: Spread | None) -> float | None:
    """The half-width in the unit of the values, for showing; None below two trials."""
    share = half_width(values)
    return None if values is None or share is None else share * values.mean


def relative_error(values: Spread) -> float:
    """Standard error of the mean of two or more values, a share of the mean."""
    assert values.stdev is not None
    return values.stdev / (math.sqrt(values.n) * values.mean)


def known_overhead(trials: Iterable[Trial]) -> Overhead | None:
    """L0 and its tokens; None with fewer than the needed prompts."""
    seen = [
        (first, uncached_tokens(trial))
        for shape, trial in _shaped(trials)
        if shape.prompt_tokens == OVERHEAD_PROMPT_TOKENS
        and not loaded_the_model(trial)
        and (first := ttft_s(trial)) is not None
    ]
    if len(seen) < OVERHEAD_TRIALS:
        return None
    counts = [tokens for _, tokens in seen if tokens is not None]
    return Overhead(
        median(first for first, _ in seen), median(counts) if counts else OVERHEAD_PROMPT_TOKENS
    )


def measure_speed(trials: Iterable[Trial], plan: SpeedPlan, load_s: float | None = None) -> Speed:
    """Speed of a run from the trials of its speed suite; warm-ups and failed trials are left out.

    Headline figures: generation tok/s is the median over the trials with HEADLINE_PROMPT_TOKENS
    prompt and HEADLINE_OUTPUT_TOKENS output tokens, prompt tok/s that of the trials with
    PREFILL_PROMPT_TOKENS prompt tokens, TTFT and TTFA those of the cold trials with
    HEADLINE_PROMPT_TOKENS prompt tokens. Under plan `minimum` all come from
    HEADLINE_PROMPT_TOKENS x MINIMUM_OUTPUT_TOKENS, and give no speed score. Above
    FAST_GENERATION_TPS tok/s (plan `minimum`: where its windows are too short) generation tok/s
    comes from trials with FAST_OUTPUT_TOKENS output tokens in place of the usual ones. A generation
    speed needs windows of MIN_TOTAL_WINDOW_S s in all its trials together; else it is null and the
    run has the finding `too_short_to_rate`. Loading the model (`load_s`) is in none of them.
    """
    tried = [trial for trial in trials if not is_warmup(trial)]
    measured = [trial for trial in tried if trial.outcome is None]
    whole = [trial for trial in measured if trial.finish_reason in ("stop", "length")]
    bench = _Bench(_shaped(whole), known_overhead(whole))
    headline = bench.select(FAST_HEADLINE.__eq__) or bench.select(usual_headline(plan).__eq__)
    prefill = bench.select(lambda shape: _is_prefill(shape, plan))
    first = bench.select(lambda shape: shape.prompt_tokens == HEADLINE_PROMPT_TOKENS)
    generation, ttft = bench.generation(headline), bench.ttft(first)
    findings = bench.findings(headline, prefill, first)
    if len(whole) < len(measured):
        findings.add("broken_stream")
    shapes = tuple(bench.shape_speed(shape) for shape in bench.shapes())
    load = sustained(tried)
    if load is not None and load.ratio < THROTTLING_RATIO:
        findings.add("throttling")
    widths = (half_width(generation), half_width(ttft))
    if any(width is not None and width > PUBLISHABLE_HALF_WIDTH for width in widths):
        findings.add("wide_spread")
    return Speed(
        plan=plan,
        generation_tps=generation,
        prompt_tps=bench.prompt(prefill),
        ttft_s=ttft,
        ttfa_s=bench.ttfa(first),
        load_s=None if load_s is None else spread([load_s]),
        generation_half_width=widths[0],
        ttft_half_width=widths[1],
        findings=tuple(code for code in FINDINGS if code in findings),
        shapes=shapes,
        token_gap_s=token_gaps(headline),
        curve=context_curve(shapes),
        concurrency=concurrency(tried),
        sustained=load,
    )


class _Bench:
    """The measured trials of one run by shape, and the figures that groups of them give."""

    def __init__(self, trials: Iterable[tuple[Shape, Trial]], known: Overhead | None) -> None:
        self._overhead = known
        self._by_shape: dict[Shape, list[Trial]] = defaultdict(list)
        for shape, trial in trials:
            self._by_shape[shape].append(trial)

    def shapes(self) -> list[Shape]:
        return sorted(self._by_shape)

    def select(self, wanted: Callable[[Shape], bool]) -> list[Trial]:
        """The trials of the wanted shapes in the order that they were run in."""
        trials = [
            trial for shape in self.shapes() if wanted(shape) for trial in self._by_shape[shape]
        ]
        return sorted(trials, key=lambda trial: trial.trial)

    def generation(self, trials: Sequence[Trial]) -> Spread | None:
        rates = _rates(trials, generation_rate)
        if math.fsum(rate.window_s for rate in rates) < MIN_TOTAL_WINDOW_S:
            return None
        return _rate_spread(rates)

    def prompt(self, trials: Sequence[Trial]) -> Spread | None:
        rates = self._prompt_rates(trials)
        return None if _hides_a_warm_prompt(trials, rates) else _rate_spread(rates)

    def ttft(self, trials: Sequence[Trial]) -> Spread | None:
        return spread(_times(trials, ttft_s))

    def ttfa(self, trials: Sequence[Trial]) -> Spread | None:
        return spread(_times(trials, ttfa_s))

    def shape_speed(self, shape: Shape) -> ShapeSpeed:
        trials = self._by_shape[shape]
        latencies = [trial.latency_s for trial in trials if trial.latency_s is not None]
        return ShapeSpeed(
            prompt_tokens=shape.prompt_tokens,
            output_tokens=shape.output_tokens,
            generation_tps=self.generation(trials),
            prompt_tps=self.prompt(trials),
            ttft_s=self.ttft(trials),
            ttfa_s=self.ttfa(trials),
            latency_s=spread(latencies),
        )

    def findings(
        self, headline: Sequence[Trial], prefill: Sequence[Trial], first: Sequence[Trial]
    ) -> set[str]:
        """Codes of what limits the trust in the headline figures."""
        found = _generation_findings(headline)
        if headline and self.generation(headline) is None and "tokens_unknown" not in found:
            found.add("too_short_to_rate")
        if not headline and not prefill and not first:
            found.add("no_trials")
        if any(loaded_the_model(trial) for trial in first):
            found.add("loaded_in_trial")
        return found | self._prompt_findings(prefill, first)

    def _prompt_findings(self, prefill: Sequence[Trial], first: Sequence[Trial]) -> set[str]:
        found = set()
        rates = self._prompt_rates(prefill)
        is_warm = any(not is_cold(trial) for trial in (*prefill, *first))
        if is_warm or _hides_a_warm_prompt(prefill, rates):
            found.add("warm")
        if len(rates) == 1 and _hides_its_cache(prefill):
            found.add("cache_hidden")
        if any(self._is_near_overhead(trial) for trial in prefill):
            found.add("too_close_to_overhead")
        if any(rate.basis == "estimated" for rate in rates):
            found.add("estimated_tokens")
        if prefill and not rates and not found:
            is_blind = self._overhead is None and not any(map(_has_prompt_time, prefill))
            found.add("overhead_unknown" if is_blind else "too_short_to_rate")
        return found

    def _prompt_rates(self, trials: Sequence[Trial]) -> list[Rate]:
        return _rates(trials, lambda trial: prompt_rate(trial, self._overhead))

    def _is_near_overhead(self, trial: Trial) -> bool:
        first = ttft_s(trial)
        if first is None or self._overhead is None or prompt_rate(trial, self._overhead):
            return False
        return first < OVERHEAD_FACTOR * self._overhead.seconds


def usual_headline(plan: SpeedPlan) -> Shape:
    """The shape of the headline generation speed, unless the machine is too fast for it."""
    is_minimum = plan == "minimum"
    return Shape(
        HEADLINE_PROMPT_TOKENS, MINIMUM_OUTPUT_TOKENS if is_minimum else HEADLINE_OUTPUT_TOKENS
    )


def is_too_fast(trials: Sequence[Trial], plan: SpeedPlan) -> bool:
    """Whether these trials of the usual headline shape are too short for so fast a machine."""
    rates = _rates(trials, lambda trial: engine_rate(trial) or client_rate(trial))
    if not rates:
        return False
    if plan == "minimum":
        return math.fsum(rate.window_s for rate in rates) < MIN_TOTAL_WINDOW_S
    return median(rate.tps for rate in rates) > FAST_GENERATION_TPS


def _is_prefill(shape: Shape, plan: SpeedPlan) -> bool:
    wanted = HEADLINE_PROMPT_TOKENS if plan == "minimum" else PREFILL_PROMPT_TOKENS
    return shape.prompt_tokens == wanted


def _shaped(trials: Iterable[Trial]) -> list[tuple[Shape, Trial]]:
    pairs = ((Shape.parse(trial.task_id), trial) for trial in trials)
    return [(shape, trial) for shape, trial in pairs if shape is not None]


def _rates(trials: Iterable[Trial], rate: Callable[[Trial], Rate | None]) -> list[Rate]:
    return [found for trial in trials if (found := rate(trial)) is not None]


def _times(trials: Iterable[Trial], time: Callable[[Trial], float | None]) -> list[float]:
    """Times to a token in cold trials in which the model was loaded before."""
    fit = (trial for trial in trials if is_cold(trial) and not loaded_the_model(trial))
    return [found for trial in fit if (found := time(trial)) is not None]


def _rate_spread(rates: Sequence[Rate]) -> Spread | None:
    """The spread of rates; its basis is the least trusted among them."""
    if not rates:
        return None
    basis = max((rate.basis for rate in rates), key=TRUST.index)
    return spread([rate.tps for rate in rates], basis)


def _has_prompt_time(trial: Trial) -> bool:
    return trial.engine_timings is not None and trial.engine_timings.prompt_s is not None


def _hides_its_cache(trials: Sequence[Trial]) -> bool:
    return any(trial.tokens.cached is None for trial in trials)


def _hides_a_warm_prompt(trials: Sequence[Trial], rates: Sequence[Rate]) -> bool:
    """Whether prompts of one length, sent to a server that hides its cache, disagree too much."""
    if not _hides_its_cache(trials) or len(rates) < 2:
        return False
    speeds = [rate.tps for rate in rates]
    return max(speeds) > (1 + HIDDEN_CACHE_AGREEMENT) * min(speeds)


def _generation_findings(trials: Sequence[Trial]) -> set[str]:
    found = set()
    rates = _rates(trials, generation_rate)
    if len(rates) < len(trials):
        is_counted = all(map(_has_token_count, trials))
        found.add("too_short_to_rate" if is_counted else "tokens_unknown")
    if any(rate.basis == "estimated" for rate in rates):
        found.add("estimated_tokens")
    if any(_has_clock_gap(trial) for trial in trials if generation_rate(trial)):
        found.add("engine_client_gap")
    is_one_series = len({trial.trial for trial in trials}) == len(trials)
    if is_one_series and _is_drifting([rate.tps for rate in rates]):
        found.add("drifting")
    return found


def _has_token_count(trial: Trial) -> bool:
    return trial.tokens.completion is not None or engine_rate(trial) is not None


def _has_clock_gap(trial: Trial) -> bool:
    engine, client = engine_rate(trial), client_rate(trial)
    if engine is None or client is None or client.basis == "estimated":
        return False
    return abs(engine.tps / client.tps - 1) > ENGINE_CLIENT_GAP


def _is_drifting(speeds: Sequence[float]) -> bool:
    if len(speeds) < DRIFT_TRIALS:
        return False
    steps = [later - earlier for earlier, later in pairwise(speeds)]
    return all(step > 0 for step in steps) or all(step < 0 for step in steps)
