"""The bare model behind the gateway: in a comparison it is asked the way a harness asks it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from bench_loop.contracts.chat import ChatReply, Message
from bench_loop.contracts.provider import Provider
from bench_loop.engine.gated import GatedRecorder
from bench_loop.engine.recorder import Recorder
from bench_loop.providers import openai_compat


class GatedRaw:
    """What `raw` asks the model with, trial after trial: by the API that the harnesses use."""

    def __init__(self, gated: GatedRecorder, direct: Recorder) -> None:
        """`direct` is the way to the same server without the gateway, for control requests."""
        self._gated = gated
        self._direct = direct
        self._key = ""
        self._provider: Provider | None = None
        self._recorder: Recorder | None = None

    def chat(self, messages: Sequence[Message], tools: Sequence[dict[str, Any]] = ()) -> ChatReply:
        """As Recorder.chat; tries and limits are those of the trial that is open."""
        access = self._gated.access()
        if self._recorder is None or access.key != self._key:
            self.close()
            self._key = access.key
            self._provider = openai_compat.connect(access.base_url, access.key)
            self._recorder = Recorder(self._provider, control=self._direct)
            # The gateway says whether the model thinks, in words that its server knows.
            self._recorder.begin(replace(self._gated.settings, thinking=None))
        return self._recorder.chat(messages, tools)

    def close(self) -> None:
        """Give the connection back."""
        if self._provider is not None:
            self._provider.close()
            self._provider = None
