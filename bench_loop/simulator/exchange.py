"""One request while it is answered: what was asked, and when everything really happened."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from bench_loop.simulator.answer import Asked, CallPiece, Kind, Prompt, Step, stops
from bench_loop.simulator.pace import now
from bench_loop.simulator.settings import Call, Program


@dataclass(slots=True)
class Exchange:
    """Moments are on the monotonic clock; `sent` is (moment, tokens, kind) of each event.

    `number` counts the chats of the server from 0.
    """

    program: Program
    asked: Asked
    prompt: Prompt
    received_s: float
    load_s: float = 0.0
    number: int = 0
    prompt_s: float = 0.0
    text: list[str] = field(default_factory=list)
    sent: list[tuple[float, int, Kind]] = field(default_factory=list)
    pieces: list[CallPiece] = field(default_factory=list)
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
        if step.piece is not None:
            self.pieces.append(step.piece)
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
    def calls(self) -> tuple[Call, ...]:
        """The tool calls that were sent, put together again."""
        names, arguments = dict[int, str](), dict[int, str]()
        for piece in self.pieces:
            names[piece.index] = names.get(piece.index) or piece.name or ""
            arguments[piece.index] = arguments.get(piece.index, "") + piece.arguments
        return tuple(Call(name, arguments[index]) for index, name in names.items())

    @property
    def completion_tokens(self) -> int:
        """As real engines count: a model that stops has generated an end token too."""
        return self.generated + stops(self.program, self.asked)

    def call_id(self, index: int) -> str:
        """The id of a tool call; in a script, whose conversations go on, no two are the same."""
        return f"call_{self.number}_{index}" if self.program.script else f"call_{index}"

    def entry(self) -> dict[str, Any]:
        """What the log says of the exchange."""
        reply = self.asked.reply
        return {
            "sent": self.sent,
            "prompt_tokens": self.prompt.tokens,
            "cached_tokens": self.prompt.cached,
            "prompt_s": self.prompt_s,
            "load_s": self.load_s,
            "decode_s": self.decode_s,
            "completion_tokens": self.completion_tokens,
            "text": "".join(self.text),
            "calls": [(call.name, call.arguments) for call in self.calls],
            "turn": reply.turn if reply is not None else None,
            "ended": self.ended,
        }
