"""What a simulated server does: one program for each of its models, as JSON in and out."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Dialect = Literal["openai", "llama.cpp", "ollama"]
"""`openai` gives `usage` and nothing of its own; `llama.cpp` adds its routes and `timings`."""

Cache = Literal["none", "reported", "hidden"]
"""Whether a prompt seen before is answered from memory, and whether the server says so."""

CallForm = Literal["pieces", "whole", "object"]
"""A call's arguments as pieces of JSON text, as one text, or as one object."""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call that the model makes; `arguments` is JSON text and may be empty."""

    name: str
    arguments: str


Act = Literal["read", "write", "run", "call"]
"""What a turn does: by role, with whichever offered tool is for that; `call`: the tool named."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One reply of a scripted model: text, and then perhaps a tool call; text alone is an answer.

    `target` is the path to read or write, the command to run, or the name of the tool; `content`
    is that of the file to write, or the arguments of the tool as JSON text.
    """

    say: str = ""
    act: Act | None = None
    target: str = ""
    content: str = ""


def say(text: str) -> Turn:
    """An answer, with which a harness is done."""
    return Turn(text)


def read(path: str) -> Turn:
    return Turn(act="read", target=path)


def write(path: str, content: str) -> Turn:
    return Turn(act="write", target=path, content=content)


def run(command: str) -> Turn:
    return Turn(act="run", target=command)


def call(name: str, arguments: str = "{}") -> Turn:
    """A call of the tool `name`, offered or not, with these very arguments."""
    return Turn(act="call", target=name, content=arguments)


@dataclass(frozen=True, slots=True)
class Program:
    """How one model behaves. Times are seconds, speeds tokens per second; 0 is no wait at all."""

    prefill_tps: float = 0.0
    decode_tps: float = 0.0
    jitter: float = 0.0
    """Each pause between tokens is longer or shorter by up to this share of it."""
    seed: int = 1
    load_s: float = 0.0
    """Time before the first request and whenever an Ollama is asked for another window."""
    queue_s: float = 0.0
    """Wait before the prompt is looked at; in no timing that the server reports."""
    thinking_tokens: int = 0
    answer_tokens: int | None = None
    """Tokens of the answer after which the model stops by itself; None: never."""
    can_force_length: bool = True
    """Give a request with `ignore_eos` all its tokens, like llama.cpp and vLLM; no Ollama can."""
    tokens_per_chunk: int = 1
    has_mixed_chunks: bool = False
    """Each event holds 1 to `tokens_per_chunk` tokens, by chance."""
    has_role_chunk: bool = True
    window: int = 8192
    cuts_prompt: bool = False
    """Load `window` whatever is asked for, and drop the beginning of a prompt longer than it."""
    cache: Cache = "none"
    stall_after: int = 0
    """Generated tokens before a stall of `stall_s`."""
    stall_s: float = 0.0
    error_after: int | None = None
    """Generated tokens before an error object comes inside the stream; it then ends."""
    break_after: int | None = None
    """Generated tokens before the connection is dropped."""
    reports_usage: bool = True
    reports_timings: bool = True
    has_comments: bool = False
    """A keep-alive comment before every event (server-sent events only)."""
    has_crlf: bool = False
    piece_bytes: int = 0
    """Send every event in network pieces of this many bytes; 0: in one."""
    has_done: bool = True
    """End with `[DONE]` (server-sent events only)."""
    decay_to: float = 1.0
    """Share of the decode speed that is left `decay_s` after the first request, falling evenly."""
    decay_s: float = 0.0
    calls: tuple[Call, ...] = ()
    call_form: CallForm = "pieces"
    script: tuple[Turn, ...] = ()
    """What a scripted model says and does, over and over for each conversation; empty: it is none.

    Its tokens, those of prompts too, are four characters each.
    """
    http_error: int | None = None
    """Answer every chat request with this status; 400 says that the prompt is too long."""


@dataclass(frozen=True, slots=True)
class Settings:
    """One simulated server; `log` is the file that every finished request is written to."""

    dialect: Dialect = "openai"
    models: dict[str, Program] = field(default_factory=lambda: {"sim": Program()})
    log: str | None = None

    def model(self, name: str) -> str | None:
        """The model that `name` means; to an Ollama, a name without a tag is `latest`."""
        return next((found for found in self.models if self.full(found) == self.full(name)), None)

    def full(self, name: str) -> str:
        """The name under which a model is listed."""
        return name if ":" in name or self.dialect != "ollama" else f"{name}:latest"

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Settings:
        """Raises TypeError for a name that no program has."""
        value = json.loads(text)
        models = {name: _program(fields) for name, fields in value.pop("models").items()}
        return cls(models=models, **value)


def _program(fields: dict[str, Any]) -> Program:
    calls = tuple(Call(**one) for one in fields.pop("calls", ()))
    script = tuple(Turn(**turn) for turn in fields.pop("script", ()))
    return Program(calls=calls, script=script, **fields)
