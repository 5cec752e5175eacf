"""The speed suite: calibrate, choose the largest plan that fits, and time its shapes in turn."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from bench_loop.contracts.chat import ChatReply, Message
from bench_loop.contracts.provider import Provider
from bench_loop.engine.packs import Pack
from bench_loop.engine.plan import UNMEASURED_WALL_LIMIT_S
from bench_loop.engine.profiles import ProfileRules
from bench_loop.engine.recorder import Recorder, TrialSettings
from bench_loop.engine.trial import clock_fields, total_tokens
from bench_loop.errors import EngineRejectedError, ProviderError
from bench_loop.result.fingerprint import tagged_hash
from bench_loop.result.records import SpeedPlan, Trial
from bench_loop.scoring.constants import (
    HEADLINE_OUTPUT_TOKENS,
    HEADLINE_PROMPT_TOKENS,
    MIN_ARRIVALS,
    OVERHEAD_PROMPT_TOKENS,
    OVERHEAD_TRIALS,
    PREFILL_PROMPT_TOKENS,
)
from bench_loop.scoring.rates import Shape

CUT_TRIES = 6
"""Corrections when a text is cut to a number of tokens."""
SHORTEST_WITH_REQUEST = 100
"""Prompt tokens from which a prompt ends with a request to write on at length."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Speeds that predictions and wall limits rest on, in tokens per second."""

    prompt_tps: float
    generation_tps: float

    def seconds(self, prompt_tokens: int, output_tokens: int) -> float:
        """Expected time of one request."""
        return prompt_tokens / self.prompt_tps + output_tokens / self.generation_tps


@dataclass(frozen=True, slots=True)
class Timing:
    """One trial of the schedule: a shape, and 1, 2, ... among its scored trials (0: warm-up)."""

    shape: Shape
    number: int
    is_warmup: bool


HEADLINE = Shape(HEADLINE_PROMPT_TOKENS, HEADLINE_OUTPUT_TOKENS)
PREFILL = Shape(PREFILL_PROMPT_TOKENS, 64)
CALIBRATION = Shape(512, 64)
OVERHEAD = Shape(OVERHEAD_PROMPT_TOKENS, 8)
"""Prompt so short that its time is all overhead: L0, where the engine has no clock of its own."""

_NINE = tuple(Shape(prompt, output) for prompt in (128, 1024, 4096) for output in (64, 256, 768))
_FIVE = (Shape(128, 256), Shape(1024, 64), HEADLINE, Shape(1024, 768), PREFILL)

# Rounds of shapes; the first round of `nine` and `five` is a warm-up that is kept and not scored.
PLANS: dict[SpeedPlan, tuple[tuple[Shape, ...], ...]] = {
    "nine": (_NINE,) * 4,
    "five": (_FIVE,) * 4,
    "headline": ((HEADLINE, PREFILL, Shape(128, 64)), (HEADLINE,), (HEADLINE,)),
    "minimum": ((Shape(1024, 64),),) * 3,
}
WARMUP_ROUNDS: dict[SpeedPlan, int] = {"nine": 1, "five": 1, "headline": 0, "minimum": 0}


def choose_plan(rules: ProfileRules, rates: Rates, budget_s: float) -> tuple[SpeedPlan, float]:
    """The largest plan of the profile that fits the budget (or its smallest), and its seconds."""
    for plan in rules.speed_plans:
        expected = expected_s(rates, (shape for one_round in PLANS[plan] for shape in one_round))
        if expected <= budget_s:
            break
    return plan, expected


def expected_s(rates: Rates, shapes: Iterable[Shape]) -> float:
    """Expected time of one request of each of `shapes`."""
    return sum(rates.seconds(shape.prompt_tokens, shape.output_tokens) for shape in shapes)


class SpeedRun:
    """Times one model on one server. Prompts are made, and counted, before the clock starts."""

    def __init__(
        self, pack: Pack, provider: Provider, recorder: Recorder, settings: TrialSettings
    ) -> None:
        self._text = pack.texts["prose"]
        self._request = pack.texts["request"]
        self._provider = provider
        self._recorder = recorder
        self._settings = settings
        self._overhead_tokens = 0
        self._tokens_per_character = self._measured_density()
        self._has_prompt_clock = False
        self._hides_cache = False
        self.rates: Rates | None = None

    def calibrate(self) -> Rates:
        """Send the discarded first request and learn how fast this machine is.

        Raises ProviderError when the server fails: nothing has been measured then.
        """
        prompt = self._prompt(CALIBRATION.prompt_tokens)
        reply = self._ask(prompt, CALIBRATION)
        sent = reply.tokens.prompt
        own = self._provider.count_tokens(self._settings.model_id, prompt)
        if sent is not None and own is not None:
            self._overhead_tokens = max(0, sent - own)
        elif sent:
            self._tokens_per_character = sent / len(prompt)
        self.rates = calibrated(reply)
        timings = reply.engine_timings
        self._has_prompt_clock = timings is not None and timings.prompt_s is not None
        self._hides_cache = reply.tokens.cached is None
        return self.rates

    def schedule(self, plan: SpeedPlan) -> list[Timing]:
        """The trials of `plan` in their order, shape after shape and then round again.

        Before them the overhead's, where the engine has no clock of its own for prompts; after
        them a second large prompt, where only its agreement can show that the first was cold.
        """
        overhead = 0 if self._has_prompt_clock else OVERHEAD_TRIALS
        timings = [Timing(OVERHEAD, number, False) for number in range(1, overhead + 1)]
        done: Counter[Shape] = Counter()
        for index, one_round in enumerate(PLANS[plan]):
            is_warmup = index < WARMUP_ROUNDS[plan]
            for shape in one_round:
                done[shape] += not is_warmup
                timings.append(Timing(shape, 0 if is_warmup else done[shape], is_warmup))
        if self._hides_cache and done[PREFILL] == 1:
            timings.append(Timing(PREFILL, 2, False))
        return timings

    def measure(self, timing: Timing) -> Trial:
        """Time one shape once. Errors become the trial's outcome, none is raised."""
        shape = timing.shape
        prompt = self._prompt(shape.prompt_tokens)
        outcome = reason = message = None
        reply: ChatReply | None = None
        try:
            reply = self._ask(prompt, shape)
        except EngineRejectedError as error:
            outcome, reason, message = "fail", error.reason, error.message
        except ProviderError as error:
            outcome, reason, message = "infrastructure_error", "server_failed", error.message
        log = self._recorder.log
        return Trial.model_validate(
            {
                "suite": "speed",
                "task_id": shape.task_id,
                "prompt_hash": self._prompt_hash(shape),
                "trial": timing.number,
                "seed": self._settings.seed,
                "is_warmup": timing.is_warmup,
                "outcome": outcome,
                "reason": reason,
                "message": message,
                "latency_s": reply.latency_s if reply else None,
                "tokens": total_tokens(log.replies),
                "finish_reason": reply.finish_reason if reply else None,
                "turns": len(log.replies),
                "retries": log.retries,
                "output": reply.text if reply else None,
                "thinking": reply.thinking or None if reply else None,
                "requests": tuple(log.requests),
                **clock_fields(reply),
            }
        )

    def _ask(self, prompt: str, shape: Shape) -> ChatReply:
        settings = self._settings
        limit = wall_limit_s(self.rates, shape.prompt_tokens, shape.output_tokens)
        self._recorder.begin(
            TrialSettings(
                model_id=settings.model_id,
                sampling=settings.sampling,
                seed=settings.seed,
                max_tokens=shape.output_tokens,
                context_window=settings.context_window,
                wall_limit_s=limit,
                thinking=settings.thinking,
                use_prompt_cache=False,
                force_length=True,
            )
        )
        return self._recorder.chat((Message(role="user", content=prompt),))

    def _prompt(self, tokens: int) -> str:
        """A cold prompt of about `tokens` tokens, the template's own included.

        It begins with a nonce, so that no prompt cache knows more than the template's first words.
        """
        wanted = max(1, tokens - self._overhead_tokens)
        tail = f"\n\n{self._request}" if tokens >= SHORTEST_WITH_REQUEST else ""
        return self._cut(f"{secrets.token_hex(4)}: ", tail, wanted)

    def _prompt_hash(self, shape: Shape) -> str:
        texts = {"text": self._text, "request": self._request}
        return tagged_hash({"shape": shape.task_id, **texts})

    def _cut(self, head: str, tail: str, tokens: int) -> str:
        """The text between `head` and `tail`, as much of it as makes `tokens` in all."""
        length = round(tokens / self._tokens_per_character)
        best, best_gap = head + tail, tokens
        for _ in range(CUT_TRIES):
            text = head + self._text[: max(0, length - len(head) - len(tail))] + tail
            count = self._provider.count_tokens(self._settings.model_id, text)
            if count is None:
                return text
            gap = tokens - count
            if abs(gap) < abs(best_gap):
                best, best_gap = text, gap
            if gap == 0:
                break
            step = round(gap / self._tokens_per_character)
            length += step or (1 if gap > 0 else -1)
        return best

    def _measured_density(self) -> float:
        """Tokens per character of the text; a usual value until the calibration corrects it."""
        sample = self._text[:4000]
        count = self._provider.count_tokens(self._settings.model_id, sample)
        return count / len(sample) if count else 0.25


def wall_limit_s(rates: Rates | None, prompt_tokens: int, budget: int) -> float:
    """Wall limit of one request: 120 s + 3 x its expected time; fixed before anything is known."""
    return (
        UNMEASURED_WALL_LIMIT_S
        if rates is None
        else 120.0 + 3 * rates.seconds(prompt_tokens, budget)
    )


def calibrated(reply: ChatReply) -> Rates:
    """Rough speeds from the calibration, good enough to predict with; never published.

    Of a stream that came in a few large pieces both are too low: its times are no token's own.
    """
    marks = [reply.t_first_thinking_s, reply.t_first_answer_s]
    first = min((mark for mark in marks if mark is not None), default=reply.latency_s)
    prompt = reply.tokens.prompt or CALIBRATION.prompt_tokens
    generated = reply.tokens.completion or 1
    window = reply.latency_s - first
    arrivals = reply.stream.distinct_arrivals if reply.stream else 0
    if arrivals < min(MIN_ARRIVALS, generated):
        first = window = reply.latency_s
    return Rates(prompt / max(first, 1e-3), max(generated - 1, 1) / max(window, 1e-3))
