"""The plan of one answer: what is sent, how many tokens each event holds, and when it is due.

Pure: the same request, program and age of the server give the same plan.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, cycle, islice
from typing import Literal

from bench_loop.simulator.script import Reply
from bench_loop.simulator.settings import Call, Program

Kind = Literal["role", "thinking", "text", "call"]

WORDS = tuple("the meter reads naïve 42 volts, über 日本 stays 🙂 quiet; we note it again.".split())
"""What a simulated model says, one word a token, over and over."""

CALL_TOKEN_CHARACTERS = 4

SCRIPT_TOKEN_CHARACTERS = 4

USUAL_MAX_TOKENS = 128
"""Of a request that sets no limit, to a model that would never stop."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request asks for, in neither dialect."""

    model: str
    prompt: str
    max_tokens: int | None
    """None: the request sets no limit."""
    window: int | None = None
    has_tools: bool = False
    ignores_end: bool = False
    """Go on to `max_tokens` where the model would stop by itself."""
    is_cacheable: bool = True
    is_streamed: bool = True
    has_usage: bool = True
    wants_all_timings: bool = False
    reply: Reply | None = None
    """What a scripted model answers; None: it is none."""

    @property
    def limit(self) -> int:
        """Tokens after which the answer is cut."""
        if self.max_tokens is not None:
            return self.max_tokens
        return USUAL_MAX_TOKENS if self.reply is None else sys.maxsize


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt as the server takes it: all its tokens, and those that it remembered."""

    tokens: int
    cached: int = 0

    @property
    def new(self) -> int:
        return self.tokens - self.cached


@dataclass(frozen=True, slots=True)
class CallPiece:
    """A piece of the tool call number `index`; the first one names it."""

    index: int
    name: str | None
    arguments: str


@dataclass(frozen=True, slots=True)
class Step:
    """One event: `due_s` after the prompt was done, with the tokens that it brings."""

    due_s: float
    kind: Kind
    tokens: int
    text: str = ""
    piece: CallPiece | None = None


def take_prompt(program: Program, asked: Asked, remembered: str) -> Prompt:
    """How many tokens of the prompt are taken, and how many of these were remembered.

    At least one token is always processed anew, as in a real engine.
    """
    words = _prompt_tokens(program, asked.prompt)
    if program.cuts_prompt:
        words = words[-program.window :]
    if program.cache == "none" or not asked.is_cacheable:
        return Prompt(len(words))
    known = _prompt_tokens(program, remembered)
    common = next((at for at, (a, b) in enumerate(zip(words, known, strict=False)) if a != b), None)
    if common is None:
        common = min(len(words), len(known))
    return Prompt(len(words), min(common, max(0, len(words) - 1)))


def steps(program: Program, asked: Asked, age_s: float) -> Iterator[Step]:
    """The events of the answer in their order; `age_s` is how long the server has worked."""
    if program.has_role_chunk:
        yield Step(0.0, "role", 0)
    tokens = islice(_tokens(program, asked), asked.limit)
    sizes = _chunk_sizes(program)
    held: list[Step] = []
    size = next(sizes)
    for (kind, text, piece), due_s in zip(tokens, _due_times(program, age_s), strict=False):
        if held and (kind != held[0].kind or kind == "call" or held[-1].kind == "call"):
            yield _joined(held)
            held, size = [], next(sizes)
        held.append(Step(due_s, kind, 1, text, piece))
        if len(held) == size:
            yield _joined(held)
            held, size = [], next(sizes)
    if held:
        yield _joined(held)


def stops(program: Program, asked: Asked) -> bool:
    """Whether the model ends by itself, before the token limit does."""
    if asked.reply is not None:
        return sum(1 for _ in _reply_tokens(program, asked.reply)) < asked.limit
    if program.calls and asked.has_tools:
        return True
    wanted = _answer_tokens(program, asked)
    return wanted is not None and program.thinking_tokens + wanted < asked.limit


def has_calls(program: Program, asked: Asked) -> bool:
    """Whether the answer calls a tool."""
    if asked.reply is not None:
        return asked.reply.call is not None
    return bool(program.calls) and asked.has_tools


def _prompt_tokens(program: Program, text: str) -> list[str]:
    """Words, or pieces of the text where the model is scripted."""
    return _cut(text, SCRIPT_TOKEN_CHARACTERS) if program.script else text.split()


def _chunk_sizes(program: Program) -> Iterator[int]:
    """How many tokens each event may hold."""
    chance = random.Random(program.seed)  # noqa: S311 - a repeatable schedule, no secret
    while True:
        mixed = program.has_mixed_chunks
        yield chance.randint(1, program.tokens_per_chunk) if mixed else program.tokens_per_chunk


def _joined(held: list[Step]) -> Step:
    """The tokens of one event: it leaves when its last token is there."""
    text = "".join(step.text for step in held)
    return Step(held[-1].due_s, held[0].kind, len(held), text, held[0].piece)


_Token = tuple[Kind, str, CallPiece | None]


def _tokens(program: Program, asked: Asked) -> Iterator[_Token]:
    if asked.reply is not None:
        yield from _reply_tokens(program, asked.reply)
        return
    words = cycle(WORDS)
    for at in range(program.thinking_tokens):
        yield "thinking", _spaced(next(words), at), None
    if program.calls and asked.has_tools:
        for index, call in enumerate(program.calls):
            yield from (("call", "", piece) for piece in _pieces(program, index, call))
        return
    wanted = _answer_tokens(program, asked)
    limit = count() if wanted is None else range(wanted)
    for at in limit:
        yield "text", _spaced(next(words), at), None


def _reply_tokens(program: Program, reply: Reply) -> Iterator[_Token]:
    for text in _cut(reply.text, SCRIPT_TOKEN_CHARACTERS):
        yield "text", text, None
    if reply.call is not None:
        yield from (("call", "", piece) for piece in _pieces(program, 0, reply.call))


def _answer_tokens(program: Program, asked: Asked) -> int | None:
    """Tokens after which the answer ends by itself; None: never."""
    is_forced = asked.ignores_end and program.can_force_length
    return None if is_forced else program.answer_tokens


def _spaced(word: str, at: int) -> str:
    return f" {word}" if at else word


def _pieces(program: Program, index: int, call: Call) -> Iterator[CallPiece]:
    if program.call_form != "pieces":
        yield CallPiece(index, call.name, call.arguments)
        return
    yield CallPiece(index, call.name, "")
    for arguments in _cut(call.arguments, CALL_TOKEN_CHARACTERS):
        yield CallPiece(index, None, arguments)


def _cut(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def _due_times(program: Program, age_s: float) -> Iterator[float]:
    """When each token is there, in seconds after the prompt was done; the first at once."""
    chance = random.Random(program.seed)  # noqa: S311 - a repeatable schedule, no secret
    due_s = 0.0
    for made in count(1):
        yield due_s
        if program.decode_tps:
            pause_s = 1 / (program.decode_tps * _speed_left(program, age_s + due_s))
            due_s += pause_s * (1 + program.jitter * chance.uniform(-1, 1))
        if made == program.stall_after:
            due_s += program.stall_s


def _speed_left(program: Program, age_s: float) -> float:
    if not program.decay_s:
        return 1.0
    return 1 - (1 - program.decay_to) * min(1.0, age_s / program.decay_s)
