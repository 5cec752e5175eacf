"""Requests outside of any trial: they find something out about the server, and are not scored."""

from __future__ import annotations

from dataclasses import replace

from bench_loop.contracts.chat import ChatReply, Message
from bench_loop.engine.context import Usable, usable_window
from bench_loop.engine.determinism import DETERMINISM_TOKENS, probe_determinism
from bench_loop.engine.recorder import Recorder, TrialSettings
from bench_loop.engine.speed_plans import Rates, wall_limit_s
from bench_loop.engine.speed_prompts import PromptMaker
from bench_loop.errors import ProviderError
from bench_loop.result.records import Determinism


class Probes:
    """What may be asked beside the trials of one run, with its settings."""

    def __init__(self, recorder: Recorder, settings: TrialSettings) -> None:
        self._recorder = recorder
        self._settings = settings

    def determinism(self) -> Determinism | None:
        """None where the server failed: the trials tell whether it works."""

        def ask(prompt: str, use_cache: bool) -> ChatReply:
            settings = replace(
                self._settings, max_tokens=DETERMINISM_TOKENS, use_prompt_cache=use_cache
            )
            return self._ask(settings, prompt)

        try:
            return probe_determinism(ask)
        except ProviderError:
            return None

    def usable(self, prompts: PromptMaker, window: int, rates: Rates, budget_s: float) -> Usable:
        """How much of the loaded window is usable, within so many expected seconds."""

        def ask(prompt: str, tokens: int) -> ChatReply:
            limit_s = wall_limit_s(rates, window, tokens)
            settings = replace(self._settings, max_tokens=tokens, wall_limit_s=limit_s)
            return self._ask(settings, prompt)

        try:
            return usable_window(prompts, ask, window, rates, budget_s)
        except ProviderError as error:
            return Usable(None, f"the server failed: {error.message}"[:1000])

    def sample(self, prompt: str, tokens: int) -> ChatReply:
        """The reply to a part of a task's prompt. Raises ProviderError."""
        limit_s = wall_limit_s(None, 0, 0)
        return self._ask(replace(self._settings, max_tokens=tokens, wall_limit_s=limit_s), prompt)

    def _ask(self, settings: TrialSettings, prompt: str) -> ChatReply:
        self._recorder.begin(settings)
        return self._recorder.chat((Message(role="user", content=prompt),))
