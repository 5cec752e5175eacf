"""Prompts of a given number of tokens, each so new that no prompt cache knows it."""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from bench_loop.contracts.provider import Provider
from bench_loop.result.fingerprint import tagged_hash
from bench_loop.scoring.rates import Shape

CUT_TRIES = 6
"""Corrections when a text is cut to a number of tokens."""
SHORTEST_WITH_REQUEST = 100
"""Prompt tokens from which a prompt ends with a request to write on at length."""
USUAL_DENSITY = 0.25
"""Tokens per character before anything is known of the tokenizer."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A text, and how many tokens it is with the chat template's own."""

    text: str
    tokens: int
    is_counted: bool
    """By the server's tokenizer; else estimated from earlier prompts."""


class PromptMaker:
    """Makes prompts for one model; the first reply teaches it what a prompt of this model costs."""

    def __init__(self, texts: Mapping[str, str], provider: Provider, model_id: str) -> None:
        self._text = texts["prose"]
        self._request = texts["request"]
        self._provider = provider
        self._model_id = model_id
        self._overhead_tokens = 0
        self._tokens_per_character = self._measured_density()

    def cold(self, tokens: int) -> Prompt:
        """A prompt of about `tokens` tokens, the template's own included.

        It begins with a nonce, so that no prompt cache knows more than the template's first words.
        """
        tail = f"\n\n{self._request}" if tokens >= SHORTEST_WITH_REQUEST else ""
        return self._filled(f"{secrets.token_hex(4)}: ", tail, tokens)

    def with_marker(self, marker: str, tokens: int) -> Prompt:
        """A prompt of about `tokens` tokens that begins with `marker` and ends by asking for it."""
        head = f"The marker is {marker}. Keep it in mind.\n\n"
        tail = "\n\nRepeat the marker from the very first line. Answer with the marker alone."
        return self._filled(head, tail, tokens)

    def learn(self, prompt: Prompt, read_tokens: int | None) -> None:
        """Take in how many tokens the server says that it read for `prompt`."""
        if prompt.is_counted:
            self._overhead_tokens += max(0, (read_tokens or 0) - prompt.tokens)
        elif read_tokens:
            self._tokens_per_character = read_tokens / len(prompt.text)

    def content_hash(self, shape: Shape) -> str:
        """Hash of what a prompt of this shape is made of, the nonce left out."""
        texts = {"text": self._text, "request": self._request}
        return tagged_hash({"shape": shape.task_id, **texts})

    def filler(self, characters: int) -> str:
        """So many characters of the text, which begins anew when it ends."""
        repeats = math.ceil(max(0, characters) / len(self._text))
        return (self._text * repeats)[: max(0, characters)]

    def _filled(self, head: str, tail: str, tokens: int) -> Prompt:
        text, count = self._cut(head, tail, max(1, tokens - self._overhead_tokens))
        own = self._tokens_per_character * len(text) if count is None else count
        return Prompt(text, round(own) + self._overhead_tokens, count is not None)

    def _cut(self, head: str, tail: str, tokens: int) -> tuple[str, int | None]:
        """The text between `head` and `tail`, as much of it as makes `tokens` in all, counted."""
        length = round(tokens / self._tokens_per_character)
        best, best_count = head + tail, 0
        for _ in range(CUT_TRIES):
            text = head + self.filler(length - len(head) - len(tail)) + tail
            count = self._provider.count_tokens(self._model_id, text)
            if count is None:
                return text, None
            gap = tokens - count
            if abs(gap) < abs(tokens - best_count):
                best, best_count = text, count
            if gap == 0:
                break
            step = round(gap / self._tokens_per_character)
            length += step or (1 if gap > 0 else -1)
        return best, best_count

    def _measured_density(self) -> float:
        """Tokens per character of the text; a usual value until the calibration corrects it."""
        sample = self._text[:4000]
        count = self._provider.count_tokens(self._model_id, sample)
        return count / len(sample) if count else USUAL_DENSITY
