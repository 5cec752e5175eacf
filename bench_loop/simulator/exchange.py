"""One request while it is answered: what was asked, and when everything really happened."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from bench_loop.simulator.answer import Asked, Kind, Prompt, Step, stops
from bench_loop.simulator.pace import now
from bench_loop.simulator.settings import Program


@dataclass(slots=True)
class Exchange:
    """Moments are on the monotonic clock; `sent` is (moment, tokens, kind) of each event."""

    program: Program
    asked: Asked
    prompt: Prompt
    received_s: float
    load_s: float = 0.0
    prompt_s: float = 0.0
    text: list[str] = field(default_factory=list)
    sent: list[tuple[float, int, Kind]] = field(default_factory=list)
    generated: int = 0
    done_s: float = 0.0
    last_s: float = 0.0
    ended: str = "client gone"

    def prompt_done(self, began_s: float, moment_s: float) -> None:
        """The prompt, begun at `began_s`, is processed: the first token is there."""
        self.prompt_s = moment_s - began_s
        self.done_s = self.last_s = moment_s

    def add(self, moment_s: float, step: Step) -> None:
        """An event that was sent at `moment_s`."""
        self.sent.append((moment_s, step.tokens, step.kind))
        self.text.append(step.text)
        if step.tokens:
            self.last_s = moment_s
            self.generated += step.tokens

    @property
    def decode_s(self) -> float:
        """From the first token, which may have waited for the rest of its event, to the last."""
        return self.last_s - self.done_s

    @property
    def age_s(self) -> float:
        return now() - self.received_s

    @property
    def has_calls(self) -> bool:
        return bool(self.program.calls) and self.asked.has_tools

    @property
    def completion_tokens(self) -> int:
        """As real engines count: a model that stops has generated an end token too."""
        return self.generated + stops(self.program, self.asked)

    def line(self) -> str:
        """The exchange as one line of the log."""
        fields = {
            "model": self.asked.model,
            "received_s": self.received_s,
            "sent": self.sent,
            "prompt_tokens": self.prompt.tokens,
            "cached_tokens": self.prompt.cached,
            "prompt_s": self.prompt_s,
            "load_s": self.load_s,
            "decode_s": self.decode_s,
            "completion_tokens": self.completion_tokens,
            "text": "".join(self.text),
            "ended": self.ended,
        }
        return json.dumps(fields) + "\n"
