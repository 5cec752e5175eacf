"""Times requests of given shapes: one at a time, several at once, or one after another."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from bench_loop.contracts.chat import ChatReply, Message
from bench_loop.contracts.provider import Provider
from bench_loop.engine.context import refuse_cut_prompt
from bench_loop.engine.packs import Pack
from bench_loop.engine.recorder import Recorder, TrialLog, TrialSettings
from bench_loop.engine.speed_plans import (
    CALIBRATION,
    OVERHEAD,
    PLANS,
    PREFILL,
    STREAM,
    WARMUP_ROUNDS,
    Rates,
    Timing,
    calibrated,
    wall_limit_s,
)
from bench_loop.engine.speed_prompts import Prompt, PromptMaker
from bench_loop.engine.trial import clock_fields, total_tokens
from bench_loop.errors import EngineRejectedError, ProviderError
from bench_loop.result.records import SpeedPlan, Trial
from bench_loop.scoring.constants import OVERHEAD_TRIALS
from bench_loop.scoring.load import stream_id, sustained_id
from bench_loop.scoring.rates import Shape


class SpeedRun:
    """Times one model on one server. Prompts are made, and counted, before the clock starts."""

    def __init__(
        self,
        pack: Pack,
        provider: Provider,
        recorder: Recorder,
        settings: TrialSettings,
        within_budget: Callable[[float], float] = lambda limit_s: limit_s,
    ) -> None:
        """`within_budget` cuts the wall limit of a request to what is left of the run's time."""
        self._provider = provider
        self._recorder = recorder
        self._settings = settings
        self._within_budget = within_budget
        self._has_prompt_clock = False
        self._hides_cache = False
        self.prompts = PromptMaker(pack.texts, provider, settings.model_id)
        self.rates: Rates | None = None

    def calibrate(self) -> Rates:
        """Send the discarded first request and learn how fast this machine is.

        Raises ProviderError when the server fails: nothing has been measured then.
        """
        prompt = self.prompts.cold(CALIBRATION.prompt_tokens)
        reply = self._ask(self._recorder, prompt, CALIBRATION)
        if prompt.is_counted:
            refuse_cut_prompt(prompt, reply.tokens.prompt)
        self.prompts.learn(prompt, reply.tokens.prompt)
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
        """Time one shape once. Errors become the trial's outcome.

        Raises ContextCutError when the server read less of the prompt than was sent.
        """
        prompt = self.prompts.cold(timing.shape.prompt_tokens)
        return self._trial(self._recorder, prompt, timing, timing.shape.task_id)

    def measure_sustained(self, shape: Shape, number: int, began: float) -> Trial:
        """Time one request of a sustained load that began at `began` on the monotonic clock.

        Its output, one of hundreds, is not kept.
        """
        prompt = self.prompts.cold(shape.prompt_tokens)
        sent_s = time.monotonic() - began
        trial = self._trial(
            self._recorder, prompt, Timing(shape, number, False), sustained_id(shape)
        )
        return _shifted(trial, sent_s).model_copy(update={"output": None, "thinking": None})

    def measure_together(self, streams: int) -> list[Trial]:
        """Send `streams` requests at the same time, from a thread each, and time all of them."""
        prompts = [self.prompts.cold(STREAM.prompt_tokens) for _ in range(streams)]
        gate = threading.Barrier(streams)
        began = time.monotonic()

        def send(number: int, prompt: Prompt) -> Trial:
            recorder = Recorder(self._provider)
            gate.wait()
            sent_s = time.monotonic() - began
            timing = Timing(STREAM, number, False)
            trial = self._trial(recorder, prompt, timing, stream_id(streams, STREAM))
            return _shifted(trial, sent_s)

        with ThreadPoolExecutor(streams) as threads:
            return list(threads.map(send, range(1, streams + 1), prompts))

    def _trial(self, recorder: Recorder, prompt: Prompt, timing: Timing, task_id: str) -> Trial:
        outcome = reason = message = None
        reply: ChatReply | None = None
        try:
            reply = self._ask(recorder, prompt, timing.shape)
        except EngineRejectedError as error:
            outcome, reason, message = "fail", error.reason, error.message
        except ProviderError as error:
            outcome, reason, message = "infrastructure_error", "server_failed", error.message
        if reply is not None:
            refuse_cut_prompt(prompt, reply.tokens.prompt)
        ending = {"outcome": outcome, "reason": reason, "message": message}
        return Trial.model_validate(
            {
                "suite": "speed",
                "task_id": task_id,
                "prompt_hash": self.prompts.content_hash(timing.shape),
                "trial": timing.number,
                "seed": self._settings.seed,
                "is_warmup": timing.is_warmup,
                **ending,
                **_reply_fields(reply, recorder.log),
            }
        )

    def _ask(self, recorder: Recorder, prompt: Prompt, shape: Shape) -> ChatReply:
        limit_s = wall_limit_s(self.rates, shape.prompt_tokens, shape.output_tokens)
        recorder.begin(
            replace(
                self._settings,
                max_tokens=shape.output_tokens,
                wall_limit_s=self._within_budget(limit_s),
                use_prompt_cache=False,
                force_length=True,
            )
        )
        return recorder.chat((Message(role="user", content=prompt.text),))


def _reply_fields(reply: ChatReply | None, log: TrialLog) -> dict[str, object]:
    """What a trial keeps of its exchange."""
    return {
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


def _shifted(trial: Trial, seconds: float) -> Trial:
    """The trial with its requests on the clock of its group, which began `seconds` earlier."""
    requests = tuple(
        request.model_copy(update={"sent_s": request.sent_s + seconds})
        for request in trial.requests or ()
    )
    return trial.model_copy(update={"requests": requests})
