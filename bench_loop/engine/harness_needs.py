"""Whether a model on its server is enough for a harness, found before time is spent on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bench_loop.contracts.chat import ChatReply, ChatRequest, Message
from bench_loop.contracts.harness import HarnessAdapter, Needs
from bench_loop.contracts.provider import Provider
from bench_loop.errors import NeedsError, ProviderError, SetupError

PROBE_TOOL = {
    "type": "function",
    "function": {
        "name": "tell_time",
        "description": "Tells what time it is.",
        "parameters": {"type": "object", "properties": {}, "additionalProperties": False},
    },
}
PROBE = (Message(role="user", content="What time is it? Call the tool tell_time."),)
PROBE_TOKENS = 64


@dataclass(frozen=True, slots=True)
class Served:
    """What a server gives a harness. None is unknown."""

    window: int | None
    """Tokens of the window that its requests get."""
    takes_tools: bool | None
    """Whether a streamed request with tools is answered."""
    declared: int | None = None
    """Tokens of the window that the model is made for."""


@dataclass(frozen=True, slots=True)
class Unmet:
    """One need of a harness that the server does not meet."""

    need: str
    evidence: str
    remedy: str


def unmet(name: str, needs: Needs, served: Served) -> tuple[Unmet, ...]:
    """What the harness `name` needs and does not get; what is unknown is not held against it."""
    found = []
    if served.window is not None and served.window < needs.context_window:
        found.append(
            Unmet(
                "context_window",
                f"{name} needs a window of {needs.context_window:,} tokens, and gets "
                f"{served.window:,}",
                _wider(needs.context_window, served.declared),
            )
        )
    if needs.tool_calls and served.takes_tools is False:
        found.append(
            Unmet(
                "tool_calls",
                f"{name} works by tool calls, and the server refuses a request with tools",
                "Take a model whose chat template knows tools (llama.cpp: start it with --jinja), "
                "or a harness that needs none, like aider",
            )
        )
    return tuple(found)


def _wider(window: int, declared: int | None) -> str:
    """How to come to so many tokens; no setting helps a model that is made for fewer."""
    if declared is not None and declared < window:
        return f"Take a model made for {window:,} tokens or more: this one is for {declared:,}"
    return (
        f"Load the model with --context-window {window} "
        "(Ollama: OLLAMA_CONTEXT_LENGTH; llama.cpp: -c), or take a model made for more"
    )


def refuse_unmet(harness: HarnessAdapter, found: Sequence[Unmet]) -> None:
    """Raises NeedsError that names every need in `found` with its remedy."""
    if not found:
        return
    raise NeedsError(
        f"{harness.name} cannot work here: {'; '.join(one.evidence for one in found)}.",
        needs=[one.need for one in found],
        remedy=f"{'; '.join(one.remedy for one in found)}; or run it all the same with --force, "
        "which the result records.",
    )


def refuse_other_window(served: int, wanted: int) -> None:
    """Raises SetupError where a server that takes no window in requests gives another one.

    The run itself asks for its window, and a server that changes it loads the model anew each time.
    """
    if served == wanted:
        return
    raise SetupError(
        f"The server gives a harness a window of {served:,} tokens, and the run asks for "
        f"{wanted:,}.",
        remedy=f"Start it with OLLAMA_CONTEXT_LENGTH={wanted}, or run with "
        f"--context-window {served}.",
    )


def takes_tools(provider: Provider, model_id: str, window: int) -> bool | None:
    """Ask the server once with a tool. None: it failed in another way than by refusing.

    Whether the model calls the tool is its own affair, and what the suites are for.
    """
    try:
        _ask(provider, model_id, window)
    except ProviderError as error:
        return False if error.status is not None and 400 <= error.status < 600 else None
    return True


def _ask(provider: Provider, model_id: str, window: int) -> ChatReply:
    return provider.chat(
        ChatRequest(
            model_id=model_id,
            messages=PROBE,
            tools=(PROBE_TOOL,),
            max_tokens=PROBE_TOKENS,
            context_window=window,
        )
    )
