"""The window in truth: prompts that a server cuts without a word, and how much of it is usable."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass

from bench_loop.contracts.chat import ChatReply
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.speed_plans import Rates
from bench_loop.engine.speed_prompts import Prompt, PromptMaker
from bench_loop.errors import ContextCutError, EngineRejectedError, ProviderError
from bench_loop.result.records import Trial

COUNTED_SHARE = 0.95
"""Share of a prompt counted by the server's own tokenizer below which it was cut."""
ESTIMATED_SHARE = 0.75
"""The same for a prompt whose tokens are estimated from earlier ones."""
FEWEST_CHARACTERS_PER_TOKEN, USUAL_CHARACTERS_PER_TOKEN, MOST_CHARACTERS_PER_TOKEN = 2, 4, 10
"""Bounds of what a token of a task's text may hold, and a usual value."""
LEAST_CHARACTERS = 2000
"""Tasks shorter than this tell too little."""

PROBE_SHARE = 0.10
"""Share of the run's expected time that a probe of the window may take."""
PROBE_CONTROL_TOKENS = 256
"""A prompt in which every model that can repeat a marker at all should find it."""
PROBE_SPARE_TOKENS = 64
"""Tokens of the window that a probe leaves to template and answer."""
PROBE_OUTPUT_TOKENS = 24
PROBE_TRIES = 5
"""Sizes that are tried, each half of the one before."""


SAMPLE_CHARACTERS = 4000
"""How much of a long prompt is sent to learn how many tokens the whole of it has."""

Ask = Callable[[str, int], ChatReply]
"""Sends a prompt with a budget of output tokens. Raises ProviderError."""
Count = Callable[[str], int | None]
"""Tokens of a text by the server's own tokenizer; None: it has none."""


@dataclass(frozen=True, slots=True)
class Usable:
    """What a probe of the window found: tokens, or why there is no figure."""

    tokens: int | None
    why_not: str | None


def refuse_cut_prompt(prompt: Prompt, read_tokens: int | None) -> None:
    """Raises ContextCutError when the server read clearly fewer tokens than were sent."""
    share = COUNTED_SHARE if prompt.is_counted else ESTIMATED_SHARE
    if read_tokens is not None and read_tokens < share * prompt.tokens:
        raise _cut(read_tokens, prompt.tokens)


def refuse_cut_task(task: BenchmarkTask, trial: Trial, window: int | None) -> None:
    """The same for the first request of a quality trial, whose tokens nobody counted before.

    Only a prompt that may not fit the loaded `window` (None: unknown) can have been cut. Some
    servers leave remembered tokens out of their count, so a short prompt proves nothing. The
    program of a harness may ask something else first, or shorten the prompt by itself.
    """
    if trial.harness is not None:
        return
    read_tokens = trial.requests[0].tokens.prompt if trial.requests else None
    characters = first_prompt_characters(task)
    at_most = characters // FEWEST_CHARACTERS_PER_TOKEN
    if read_tokens is None or at_most < (window or 0) / 2:
        return
    if LEAST_CHARACTERS <= characters > read_tokens * MOST_CHARACTERS_PER_TOKEN:
        raise _cut(read_tokens, characters // USUAL_CHARACTERS_PER_TOKEN)


def first_prompt_characters(task: BenchmarkTask) -> int:
    """Characters that a task is opened with; tools and what they tell are not among them."""
    return sum(len(message.content) for message in task.messages)


class WindowGuard:
    """Tells the tasks that a window cannot hold, before anything of them is sent.

    A server may refuse such a prompt, or cut it without a word and answer the rest: neither says
    anything of what the model makes of the task.
    """

    def __init__(self, count: Count, ask: Ask, window: int | None) -> None:
        """`count` gives the tokens of a text, None without a tokenizer; `window` None: unknown."""
        self._count = count
        self._ask = ask
        self._window = window

    def why_not(self, task: BenchmarkTask, answer_tokens: int) -> str | None:
        """Why `task` cannot be asked, as a sentence; None: it can, or nobody can tell."""
        window, characters = self._window, first_prompt_characters(task)
        if window is None or characters / FEWEST_CHARACTERS_PER_TOKEN + answer_tokens <= window:
            return None
        text = "\n".join(message.content for message in task.messages)
        counted = self._count(text)
        tokens = self._estimated(text) if counted is None else counted
        if tokens is None or tokens + answer_tokens <= window:
            return None
        about = "about " if counted is None else ""
        return (
            f"The prompt has {about}{tokens:,} tokens and the answer may take {answer_tokens:,}, "
            f"more than the loaded window of {window:,}; nothing was sent."
        )

    def _estimated(self, text: str) -> int | None:
        """Tokens of `text` by what the server reads of a part of it; None: it did not tell."""
        start = max(0, len(text) - SAMPLE_CHARACTERS) // 2
        sample = text[start : start + SAMPLE_CHARACTERS]
        try:
            read_tokens = self._ask(sample, 1).tokens.prompt
        except ProviderError:
            return None
        # The template's own tokens are in it: a little too much, rather than too little.
        return round(len(text) * read_tokens / len(sample)) if read_tokens else None


def probe_steps(window: int) -> list[int]:
    """Sizes of the prompts, in tokens, at which a window is probed: all of it, then halves."""
    sizes = [max(1, window - PROBE_SPARE_TOKENS) >> halves for halves in range(PROBE_TRIES)]
    return [size for size in sizes if size > PROBE_CONTROL_TOKENS]


def usable_window(
    prompts: PromptMaker, ask: Ask, window: int, rates: Rates, budget_s: float
) -> Usable:
    """The largest prompt, in tokens, from whose very beginning the model still repeats a marker.

    A short prompt comes first: a model that cannot repeat a marker there says nothing of its
    window. No step is taken that would lead beyond `budget_s`, the expected seconds that may be
    spent. Raises ProviderError.
    """
    sizes = [PROBE_CONTROL_TOKENS, *probe_steps(window)]
    left_s = budget_s
    for number, size in enumerate(sizes):
        step_s = rates.seconds(size, PROBE_OUTPUT_TOKENS)
        if step_s > left_s:
            continue
        left_s -= step_s
        read_tokens = _repeats_marker(prompts, ask, size)
        if number == 0 and read_tokens is None:
            return Usable(None, "the model cannot repeat a marker even from a short prompt")
        if number > 0 and read_tokens is not None:
            return Usable(read_tokens, None)
    return Usable(None, "no size that was tried gave the marker back within the time for probing")


def _repeats_marker(prompts: PromptMaker, ask: Ask, tokens: int) -> int | None:
    """Tokens of the prompt that was read, when its marker came back; None: it did not."""
    marker = secrets.token_hex(3)
    prompt = prompts.with_marker(marker, tokens)
    try:
        reply = ask(prompt.text, PROBE_OUTPUT_TOKENS)
    except EngineRejectedError:
        return None
    if marker not in f"{reply.thinking} {reply.text}".lower():
        return None
    return reply.tokens.prompt or prompt.tokens


def _cut(read_tokens: int, own_tokens: int) -> ContextCutError:
    return ContextCutError(
        f"The server read only {read_tokens:,} tokens of a prompt of about {own_tokens:,}: "
        "it cuts prompts without a word.",
        remedy="Load the model with a larger window (Ollama: num_ctx or OLLAMA_CONTEXT_LENGTH; "
        "llama.cpp: -c), or run with a smaller --context-window.",
    )
