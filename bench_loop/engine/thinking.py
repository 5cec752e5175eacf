"""Thinking as a setting: whether a model has the switch, and whether the switch does anything."""

from __future__ import annotations

from bench_loop.contracts.chat import ChatRequest, Message
from bench_loop.contracts.provider import ModelFacts, Provider
from bench_loop.errors import EngineRejectedError, UsageError

PROBE_TOKENS = 64
_PROBE = (Message(role="user", content="What is 17 + 25?"),)
_OPENINGS = ("<think", "[THINK]", "<reasoning")


def thinking_mode(
    provider: Provider, model: ModelFacts, wanted: bool | None, context_window: int
) -> bool | None:
    """Thinking on or off for a run; None: the model has no switch, and nobody asked for one.

    What the server says of the model decides; where it says nothing, and before thinking is called
    off, one short request shows what the switch does. Raises UsageError when it does not exist or
    does not work, ProviderError when the server fails.
    """
    knows = model.capabilities is not None
    has_switch = "thinking" in (model.capabilities or ())
    if wanted is None:
        return False if has_switch else None
    if knows and not has_switch:
        raise UsageError(
            f"{model.model_id} has no switch for thinking.", remedy="Leave --thinking out."
        )
    if not knows and not _thinks(provider, model, context_window, is_on=True):
        raise UsageError(
            f"{model.model_id} does not think when it is asked to: the switch does nothing here.",
            remedy="Leave --thinking out, or serve a model whose chat template can think.",
        )
    if not wanted and _thinks(provider, model, context_window, is_on=False):
        raise UsageError(
            f"{model.model_id} thinks although thinking is off: it cannot be switched.",
            remedy="Run it with --thinking on.",
        )
    return wanted


def _thinks(provider: Provider, model: ModelFacts, context_window: int, *, is_on: bool) -> bool:
    request = ChatRequest(
        model_id=model.model_id,
        messages=_PROBE,
        max_tokens=PROBE_TOKENS,
        context_window=context_window,
        thinking=is_on,
    )
    try:
        reply = provider.chat(request)
    except EngineRejectedError:
        return False
    return bool(reply.thinking.strip()) or reply.text.lstrip().startswith(_OPENINGS)
