"""The recorder between a harness and a provider: settings in, three tries, everything kept.

It is to the `raw` harness what the gateway is to the others: a harness says what it wants to ask,
the recorder pins model, sampling, seed, budgets and window, and keeps what happened.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench_loop.contracts.chat import ChatReply, ChatRequest, Message, Sampling
from bench_loop.contracts.harness import HarnessRunResult
from bench_loop.contracts.provider import Provider, Watch
from bench_loop.errors import (
    EngineRejectedError,
    LimitReachedError,
    ModelNotFoundError,
    ProviderError,
)
from bench_loop.result.records import RequestRecord

TRIES = 3
BACKOFF_S = 1.0
"""Pause after the first failed try; doubled after each."""
MAX_PAUSE_S = 60.0
"""Longest pause that a server's Retry-After is honoured for."""

_CONTROL = (Message(role="user", content="Say hello."),)
_CONTROL_TOKENS = 4
_CONTROL_WALL_S = 60.0


@dataclass(frozen=True, slots=True)
class TrialSettings:
    """What the engine pins for one trial; tokens and wall time are for all its requests."""

    model_id: str
    sampling: Sampling
    seed: int
    max_tokens: int
    context_window: int
    wall_limit_s: float
    thinking: bool | None = None
    use_prompt_cache: bool = True
    force_length: bool = False


@dataclass(slots=True)
class TrialLog:
    """What passed between harness and server in one trial."""

    started: float
    replies: list[ChatReply] = field(default_factory=list)
    requests: list[RequestRecord] = field(default_factory=list)

    @property
    def retries(self) -> int:
        """Requests that repeated a failed one."""
        return sum(request.retry > 0 for request in self.requests)


class Recorder:
    """Carries the requests of one trial after another. Not for use by several threads at once."""

    def __init__(
        self,
        provider: Provider,
        pause: Callable[[float], None] = time.sleep,
        control: Recorder | None = None,
    ) -> None:
        """`control` asks the control requests where `provider` counts what it is asked."""
        self._provider = provider
        self._pause = pause
        self._control = control or self
        self._settings: TrialSettings | None = None
        self._watch: Watch | None = None
        self.log = TrialLog(time.monotonic())

    def begin(self, settings: TrialSettings, watch: Watch | None = None) -> None:
        """Start a trial; `watch` sees the text as it arrives, and costs time in a timed one."""
        self._settings = settings
        self._watch = watch
        self.log = TrialLog(time.monotonic())

    def chat(self, messages: Sequence[Message], tools: Sequence[dict[str, Any]] = ()) -> ChatReply:
        """Ask the model, with up to three tries.

        Raises EngineRejectedError when the stack is at fault (each try failed while every control
        request between them went through), ProviderError when the server is, LimitReachedError
        when nothing is left of the trial's tokens or time.
        """
        assert self._settings is not None, "begin() comes first"
        settings = self._settings
        tokens, wall_s = self._left(settings)
        request = ChatRequest(
            model_id=settings.model_id,
            messages=tuple(messages),
            sampling=settings.sampling,
            seed=settings.seed,
            max_tokens=tokens,
            context_window=settings.context_window,
            thinking=settings.thinking,
            tools=tuple(tools),
            use_prompt_cache=settings.use_prompt_cache,
            force_length=settings.force_length,
            wall_limit_s=wall_s,
        )
        is_stack_at_fault = True
        for attempt in range(TRIES):
            try:
                return self._once(request, attempt)
            except ModelNotFoundError:
                raise
            except ProviderError as error:
                last = error
                if _is_final(error):
                    raise
                is_stack_at_fault = self._control.control_succeeds(settings) and is_stack_at_fault
                if attempt + 1 < TRIES:
                    asked = error.retry_after_s or BACKOFF_S * 2**attempt
                    self._pause(min(asked, MAX_PAUSE_S))
        if is_stack_at_fault:
            raise stack_fault(last) from last
        raise last

    def settle(self, made: HarnessRunResult) -> HarnessRunResult:
        """`made` as it is: a harness in this process knows all that happened."""
        return made

    def fault(self) -> ProviderError | None:
        """None: a harness in this process has met all failures itself."""
        return None

    def _left(self, settings: TrialSettings) -> tuple[int, float]:
        """Tokens and seconds that the trial has left. Raises LimitReachedError."""
        if not self.log.replies:
            return settings.max_tokens, settings.wall_limit_s
        used = sum(reply.tokens.completion or 0 for reply in self.log.replies)
        left_s = settings.wall_limit_s - (time.monotonic() - self.log.started)
        if used >= settings.max_tokens:
            raise LimitReachedError("tokens")
        if left_s <= 0:
            raise LimitReachedError("wall")
        return settings.max_tokens - used, left_s

    def _once(self, request: ChatRequest, attempt: int) -> ChatReply:
        sent = time.monotonic()
        try:
            reply = self._provider.chat(request, self._watch)
        except ProviderError as error:
            self.log.requests.append(
                RequestRecord(
                    sent_s=sent - self.log.started,
                    latency_s=time.monotonic() - sent,
                    status=error.status,
                    retry=attempt,
                    error=error.message,
                )
            )
            raise
        self.log.replies.append(reply)
        self.log.requests.append(
            RequestRecord(
                sent_s=sent - self.log.started,
                latency_s=reply.latency_s,
                status=200,
                retry=attempt,
                finish_reason=reply.finish_reason,
                tokens=reply.tokens,
            )
        )
        return reply

    def control_succeeds(self, settings: TrialSettings) -> bool:
        """Whether the server answers a fixed short prompt: then the fault is not its absence."""
        try:
            reply = self._provider.chat(
                ChatRequest(
                    model_id=settings.model_id,
                    messages=_CONTROL,
                    max_tokens=_CONTROL_TOKENS,
                    context_window=settings.context_window,
                    thinking=settings.thinking,
                    wall_limit_s=_CONTROL_WALL_S,
                )
            )
        except ProviderError:
            return False
        return reply.finish_reason != "limit"


def _is_final(error: ProviderError) -> bool:
    """A try that cannot end otherwise: the prompt does not fit, or the server refuses for good."""
    if isinstance(error, EngineRejectedError):
        return error.reason == "context_overflow"
    return not error.is_transient


def stack_fault(error: ProviderError) -> EngineRejectedError:
    """`error` as that of a server which answers other requests."""
    if isinstance(error, EngineRejectedError):
        return error
    return EngineRejectedError(error.message, reason="engine_crashed", status=error.status)
