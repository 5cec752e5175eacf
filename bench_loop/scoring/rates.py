"""What a single trial says about speed, from its time marks and token counts.

All times are seconds after the request was sent, on the client's monotonic clock.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from bench_loop.contracts.chat import Basis
from bench_loop.result.records import Trial
from bench_loop.scoring.constants import (
    MAX_CACHED_SHARE,
    MAX_CACHED_TOKENS,
    MAX_LOAD_IN_TRIAL_S,
    MIN_ARRIVALS,
    MIN_GENERATED_TOKENS,
    MIN_PROMPT_WINDOW_S,
    MIN_UNCACHED_TOKENS,
    MIN_WINDOW_S,
    OVERHEAD_FACTOR,
)

TRUST: tuple[Basis, ...] = ("engine_timings", "usage", "tokenizer", "estimated")
"""Where a rate can come from, most trusted first."""

_SHAPE = re.compile(r"p([0-9]{1,7})x([0-9]{1,7})", re.ASCII)


@dataclass(frozen=True, slots=True, order=True)
class Shape:
    """Prompt and output tokens aimed at by a speed trial; its task id is `p1024x256`."""

    prompt_tokens: int
    output_tokens: int

    @property
    def task_id(self) -> str:
        return f"p{self.prompt_tokens}x{self.output_tokens}"

    @classmethod
    def parse(cls, task_id: str) -> Shape | None:
        """The shape of a speed trial's task id; None when it is no such id."""
        match = _SHAPE.fullmatch(task_id)
        return cls(int(match[1]), int(match[2])) if match else None


@dataclass(frozen=True, slots=True)
class Rate:
    """Tokens a second in one trial, the seconds it was taken over, and where it comes from."""

    tps: float
    window_s: float
    basis: Basis


@dataclass(frozen=True, slots=True)
class Overhead:
    """L0: the TTFT of prompts that are almost nothing, and the tokens that they have all the same.

    `tokens` are the uncached ones: the prompt's own and those of the model's chat template.
    """

    seconds: float
    tokens: float


def ttft_s(trial: Trial) -> float | None:
    """TTFT = min(first thinking token, first answer token), after the request was sent.

    A chunk with only a role or with nothing in it is no token. Null for a buffered stream, whose
    arrival times are not the tokens' own.
    """
    marks = (trial.t_first_thinking_s, trial.t_first_answer_s)
    seen = [mark for mark in marks if mark is not None and mark > 0]
    return min(seen) if seen and not _is_buffered(trial) else None


def ttfa_s(trial: Trial) -> float | None:
    """TTFA = first token of the answer, after the request was sent. Null as for TTFT."""
    mark = trial.t_first_answer_s
    return mark if mark is not None and mark > 0 and not _is_buffered(trial) else None


def client_rate(trial: Trial) -> Rate | None:
    """Client's generation tok/s = (tokens - tokens in the first event) / (t_last - t_first).

    Tokens, never chunks. The servers' counts include the end token, which arrives after the last
    token that is seen: after a stop it is taken off.
    """
    counts, stream, first = trial.tokens, trial.stream, ttft_s(trial)
    if counts.completion is None or counts.basis is None or stream is None:
        return None
    if first is None or trial.t_last_s is None or trial.t_last_s <= first:
        return None
    basis: Basis = "usage" if counts.basis == "engine_timings" else counts.basis
    unseen = 1 if basis == "usage" and trial.finish_reason == "stop" else 0
    tokens = counts.completion - stream.first_event_tokens - unseen
    window_s = trial.t_last_s - first
    return Rate(tokens / window_s, window_s, basis) if tokens > 0 else None


def engine_rate(trial: Trial) -> Rate | None:
    """Engine's generation tok/s = (generated tokens - 1) / generation time.

    The engine's clock starts at the first token, so that one is not in its window. Null for a
    single token, whose window some engines give as a microsecond.
    """
    timings = trial.engine_timings
    if timings is None or timings.generated_tokens is None or not timings.generation_s:
        return None
    if timings.generated_tokens < 2:
        return None
    tokens = timings.generated_tokens - 1
    return Rate(tokens / timings.generation_s, timings.generation_s, "engine_timings")


def generation_rate(trial: Trial) -> Rate | None:
    """Generation tok/s of a trial, from the most trusted basis that it has.

    In this order: `engine_timings`, `usage`, `tokenizer`, `estimated` (never ranked). Null unless
    the trial generated MIN_GENERATED_TOKENS tokens that arrived at MIN_ARRIVALS distinct times,
    over a window of MIN_WINDOW_S s: anything shorter would rate the clock and not the model.
    """
    rate = engine_rate(trial) or client_rate(trial)
    if rate is None or rate.window_s < MIN_WINDOW_S or not math.isfinite(rate.tps):
        return None
    if trial.stream is None or trial.stream.distinct_arrivals < MIN_ARRIVALS:
        return None
    return rate if _generated_tokens(trial) >= MIN_GENERATED_TOKENS else None


def prompt_rate(trial: Trial, overhead: Overhead | None) -> Rate | None:
    """Prompt tok/s = the engine's prompt tokens / prompt time; else (N - N0) / (TTFT - L0).

    N are the prompt's uncached tokens. L0, the server's overhead, is the median TTFT of
    OVERHEAD_TRIALS prompts of OVERHEAD_PROMPT_TOKENS tokens with the model loaded; N0 is the median
    of their own uncached tokens, the chat template's included. The time of those N0 tokens is in
    L0 and so is taken off: they must be taken off above the line too, or the speed comes out too
    high by N0 / N. Null unless the prompt had MIN_UNCACHED_TOKENS uncached tokens and was cold,
    and, without the engine's timings, unless TTFT >= OVERHEAD_FACTOR x L0.
    """
    if not is_cold(trial):
        return None
    timings = trial.engine_timings
    if timings is not None and timings.prompt_tokens is not None and timings.prompt_s is not None:
        tokens, window_s = timings.prompt_tokens, timings.prompt_s
        return _prompt_rate(tokens, Overhead(0.0, 0.0), window_s, "engine_timings")
    first, counts, tokens_read = ttft_s(trial), trial.tokens, uncached_tokens(trial)
    if first is None or overhead is None or tokens_read is None or counts.basis is None:
        return None
    if first < OVERHEAD_FACTOR * overhead.seconds or loaded_the_model(trial):
        return None
    basis: Basis = "usage" if counts.basis == "engine_timings" else counts.basis
    return _prompt_rate(tokens_read, overhead, first, basis)


def uncached_tokens(trial: Trial) -> int | None:
    """Prompt tokens that the server read anew, as far as it tells of its cache; None: unknown."""
    counts = trial.tokens
    return None if counts.prompt is None else counts.prompt - (counts.cached or 0)


def is_cold(trial: Trial) -> bool:
    """Whether the prompt was processed and not remembered: cold or warm.

    A trial is warm when more than max(MAX_CACHED_TOKENS tokens, MAX_CACHED_SHARE of the prompt)
    came from the prompt cache. Prompt speed and TTFT are taken from cold trials only. Where the
    server hides its cache, a prompt that was sent again after an error counts as warm.
    """
    counts = trial.tokens
    if counts.cached is None:
        return trial.retries == 0
    return counts.cached <= max(MAX_CACHED_TOKENS, MAX_CACHED_SHARE * (counts.prompt or 0))


def _prompt_rate(tokens: int, overhead: Overhead, time_s: float, basis: Basis) -> Rate | None:
    window_s = time_s - overhead.seconds
    if tokens < MIN_UNCACHED_TOKENS or window_s < MIN_PROMPT_WINDOW_S:
        return None
    return Rate(max(0.0, tokens - overhead.tokens) / window_s, window_s, basis)


def _generated_tokens(trial: Trial) -> int:
    """Tokens generated as the basis of the trial's rate counts them; 0: unknown."""
    timings = trial.engine_timings
    if timings is not None and timings.generated_tokens is not None and engine_rate(trial):
        return timings.generated_tokens
    return trial.tokens.completion or 0


def _is_buffered(trial: Trial) -> bool:
    """Whether a long answer came in so few pieces that the times of its tokens are lost."""
    if trial.stream is None:
        return True
    is_long = _generated_tokens(trial) >= MIN_GENERATED_TOKENS
    return is_long and trial.stream.distinct_arrivals < MIN_ARRIVALS


def loaded_the_model(trial: Trial) -> bool:
    """Whether the server loaded the model inside this trial, so that its TTFT is no TTFT."""
    timings = trial.engine_timings
    return timings is not None and (timings.load_s or 0.0) > MAX_LOAD_IN_TRIAL_S
