"""The gateway between a harness's program and the model server, trial by trial.

It is to such a harness what the recorder is to `raw`: model, sampling, seed and budgets are pinned,
and what passed is kept. A program may not say what it met: the gateway has seen it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from bench_loop.contracts.chat import ChatReply, ChatRequest, FinishReason
from bench_loop.contracts.harness import HarnessRunResult, ModelAccess
from bench_loop.contracts.provider import Watch
from bench_loop.engine.harness_limits import TrialLimits
from bench_loop.engine.recorder import TRIES, Recorder, TrialLog, TrialSettings, stack_fault
from bench_loop.errors import EngineRejectedError, HarnessError, ProviderError
from bench_loop.gateway.limits import Limits
from bench_loop.gateway.pinning import Pins, Value
from bench_loop.gateway.record import Exchange
from bench_loop.gateway.server import Gateway
from bench_loop.gateway.trial import GatedTrial

PinnedFields = Callable[[ChatRequest], dict[str, Value]]


class GatedRecorder:
    """Carries the requests of a harness's program, one trial after another."""

    def __init__(self, gateway: Gateway, recorder: Recorder, pinned: PinnedFields) -> None:
        """`recorder` is the way to the same server without the gateway, for control requests;
        `pinned` puts the settings of a trial into the server's own words."""
        self._gateway = gateway
        self._recorder = recorder
        self._pinned = pinned
        self._trial: GatedTrial | None = None
        self._settings: TrialSettings | None = None
        self.limits: TrialLimits | None = None
        """Of the trials that begin from now on."""

    def begin(self, settings: TrialSettings, watch: Watch | None = None) -> None:
        """Start a trial under a key of its own; that of the trial before counts no more."""
        assert self.limits is not None
        self.end()
        self._settings = settings
        pins = Pins(
            model_id=settings.model_id,
            answer_tokens=settings.max_tokens,
            fields=self._pinned(_as_request(settings)),
            context_window=settings.context_window,
        )
        limits = Limits(self.limits.requests, settings.max_tokens, self.limits.wall_s)
        self._trial = self._gateway.open(pins, limits, watch)

    def end(self) -> None:
        """Let nothing more of the trial pass."""
        if self._trial is not None:
            self._trial.close()

    @property
    def settings(self) -> TrialSettings:
        """Those of the trial that is open."""
        assert self._settings is not None
        return self._settings

    def access(self) -> ModelAccess:
        """The model as the program reaches it in this trial."""
        assert self._trial is not None
        assert self.limits is not None
        return ModelAccess(
            base_url=self._gateway.base_url,
            key=self._trial.key,
            model_id=self.settings.model_id,
            context_window=self.settings.context_window,
            answer_tokens=self.settings.max_tokens,
            wall_s=self.limits.wall_s,
        )

    @property
    def log(self) -> TrialLog:
        """What has passed in this trial."""
        trial = self._trial
        if trial is None:
            return TrialLog(time.monotonic())
        started = time.monotonic() - trial.age_s
        return TrialLog(started, list(trial.replies()), list(trial.requests()))

    def settle(self, made: HarnessRunResult) -> HarnessRunResult:
        """`made` with what the gateway knows beyond it: the limit that ended the trial, how the
        reply ended that was the model's last word, and the model's calls where the harness tells
        none.

        Raises HarnessError for a program that ended by itself and never asked the model.
        """
        assert self._trial is not None
        self.end()
        limit = made.limit or self._trial.limit
        if limit is None and not self._trial.requests():
            raise HarnessError(f"It never asked the model: {made.failure or 'it does not say why'}")
        ending = None if made.limit else ending_of(made.final_text, self._trial.replies())
        calls = made.tool_calls or tuple(
            call for request in self._trial.requests() for call in request.tool_calls
        )
        return replace(
            made, limit=limit, finish_reason=ending or made.finish_reason, tool_calls=calls
        )

    def fault(self) -> ProviderError | None:
        """The failure of a request that the server never made good, whatever the harness says of
        it; None: there is none.

        It is an EngineRejectedError where the server answers other requests: the stack's fault.
        """
        assert self._trial is not None
        self.end()
        tries = unanswered(self._trial.exchanges())
        return self._blame(tries) if tries else None

    def _blame(self, tries: Sequence[ProviderError]) -> ProviderError:
        """The error for a request that failed in all its `tries`."""
        last = tries[-1]
        if _is_overflow(last) or _is_refusal(last):
            return last
        is_enough = len(tries) >= TRIES or _is_of_output(last)
        if is_enough and self._recorder.control_succeeds(self.settings):
            return stack_fault(last)
        # A crash once is not enough to blame the stack, though the server may call it so.
        return ProviderError(last.message, remedy=last.remedy, status=last.status)


def ending_of(final_text: str, replies: Sequence[ChatReply]) -> FinishReason | None:
    """How the reply ended that a harness gives as its answer; None: there was no reply.

    That is the last one whose text is in the answer, else the last: a harness may ask for other
    things too, like a title, after the model has answered.
    """
    texts = [(reply, reply.text.strip()) for reply in replies]
    said = [reply for reply, text in texts if text and text in final_text]
    last = next(reversed(said or replies), None)
    return last.finish_reason if last is not None else None


def unanswered(exchanges: Sequence[Exchange]) -> tuple[ProviderError, ...]:
    """What failed, try by try, since the server last made good what it had failed; empty: it has.

    A request is made good by an answer to one of as many messages or more: harnesses may word
    their next try otherwise. One that did not fit the window is so by any answer, since a harness
    then makes it shorter. What BenchLoop refused or spoiled on purpose, and where the harness hung
    up, is neither failure nor answer.
    """
    tries: list[ProviderError] = []
    depth = 0
    for exchange in exchanges:
        messages = exchange.record.messages or 0
        if exchange.failure is not None and not exchange.record.fault:
            tries.append(exchange.failure)
            depth = 0 if _is_overflow(exchange.failure) else max(depth, messages)
        elif exchange.reply is not None and messages >= depth:
            tries.clear()
            depth = 0
    return tuple(tries)


def _is_overflow(error: ProviderError) -> bool:
    return isinstance(error, EngineRejectedError) and error.reason == "context_overflow"


def _is_of_output(error: ProviderError) -> bool:
    """Whether the server says that it could not take what the model wrote: an outage says no such
    thing, and a harness that asks no second time has asked all it would."""
    return isinstance(error, EngineRejectedError) and error.reason == "engine_rejected_output"


def _is_refusal(error: ProviderError) -> bool:
    """Whether the server is well and would not have the request: no try more would change that.

    Were it an outage, a command of the model could have any trial done again by one bad request.
    """
    status = error.status or 0
    return isinstance(error, EngineRejectedError) and 400 <= status < 500


def _as_request(settings: TrialSettings) -> ChatRequest:
    """A request with these settings, to be put into a server's words."""
    return ChatRequest(
        model_id=settings.model_id,
        messages=(),
        sampling=settings.sampling,
        seed=settings.seed,
        max_tokens=settings.max_tokens,
        context_window=settings.context_window,
        thinking=settings.thinking,
    )
