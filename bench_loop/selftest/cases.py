"""What the self-test measures: servers of all speeds and habits, and what must come out."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bench_loop.scoring.rates import Shape
from bench_loop.simulator.settings import Cache, Dialect, Program

DIALECTS: tuple[Dialect, ...] = ("openai", "llama.cpp", "ollama")


TRIALS = 3
"""Trials of a case, whose median counts: one alone may meet a pause of the machine."""

NOTHING = "nothing"
"""What a trap's `code` is where nothing may be noticed: the control of all others."""


@dataclass(frozen=True, slots=True)
class Case:
    """A server whose speed must be measured right; of `trials`, the median error counts."""

    name: str
    dialect: Dialect
    program: Program
    shape: Shape
    trials: int = TRIALS
    is_quick: bool = True
    has_prompt_speed: bool = True
    """False where the server's own waiting hides how fast it reads."""

    @property
    def has_whole_events(self) -> bool:
        """Whether each event is one piece on the network, so that it arrives at one moment."""
        return not self.program.piece_bytes


@dataclass(frozen=True, slots=True)
class Trap:
    """A server whose answers must not be taken for a speed; `code` is what must be noticed."""

    name: str
    dialect: Dialect
    program: Program
    code: str
    trials: int = 1
    wall_limit_s: float = 30.0


# Decode and prefill tokens per second; a prompt and an answer that take a moment at these speeds.
_SPEEDS = (
    (2.0, 1000.0, Shape(1024, 8)),
    (10.0, 2000.0, Shape(1024, 16)),
    (50.0, 4000.0, Shape(2048, 64)),
    (200.0, 8000.0, Shape(4096, 128)),
    (1000.0, 8000.0, Shape(4096, 512)),
)
_SLOW_TPS = 10.0

_USUAL = Program(decode_tps=400.0, prefill_tps=4000.0)
"""So slow to read _SHAPE that the overhead of a busy machine is still small beside it."""
_SHAPE = Shape(2048, 192)
TRAP_SHAPE = Shape(1024, 64)
_TRAPPED = Program(decode_tps=50.0, prefill_tps=2000.0)
"""Slow enough for the windows of a speed: only the trap itself may stand in its way."""

_EVERYWHERE = {
    "jitter 30 %": replace(_USUAL, jitter=0.3),
    "2 tokens a chunk": replace(_USUAL, tokens_per_chunk=2),
    "4 tokens a chunk": replace(_USUAL, tokens_per_chunk=4),
    "8 tokens a chunk": replace(_USUAL, tokens_per_chunk=8),
    "1-8 tokens a chunk": replace(_USUAL, tokens_per_chunk=8, has_mixed_chunks=True),
    "no role chunk": replace(_USUAL, has_role_chunk=False),
    "thinks first": replace(_USUAL, thinking_tokens=48),
    "stops by itself": replace(_USUAL, answer_tokens=100, can_force_length=False),
    "stalls 0.4 s": replace(_USUAL, stall_after=64, stall_s=0.4),
    "loads the model": replace(_USUAL, load_s=0.4),
    "waits in a queue": replace(_USUAL, queue_s=0.3),
    "CRLF line ends": replace(_USUAL, has_crlf=True),
    "3-byte pieces": replace(_USUAL, decode_tps=100.0, piece_bytes=3),
}
_EVENT_STREAMS_ONLY = {
    "keep-alive comments": replace(_USUAL, has_comments=True),
    "no [DONE]": replace(_USUAL, has_done=False),
}
_WAITS = ("waits in a queue",)


def cases(*, is_quick: bool) -> list[Case]:
    """All cases; a quick test leaves out the slow speeds and asks once where that is enough."""
    found = [*_speed_cases(), *_variant_cases()]
    if not is_quick:
        return found
    return [replace(case, trials=1) for case in found if case.is_quick]


def _speed_cases() -> list[Case]:
    return [
        Case(
            f"{decode_tps:g} tok/s",
            dialect,
            Program(decode_tps=decode_tps, prefill_tps=prefill_tps),
            shape,
            is_quick=decode_tps > _SLOW_TPS,
        )
        for decode_tps, prefill_tps, shape in _SPEEDS
        for dialect in DIALECTS
    ]


def _variant_cases() -> list[Case]:
    def case(name: str, dialect: Dialect, program: Program) -> Case:
        return Case(name, dialect, program, _SHAPE, has_prompt_speed=name not in _WAITS)

    everywhere = [
        case(name, dialect, program)
        for name, program in _EVERYWHERE.items()
        for dialect in ("openai", "ollama")
    ]
    streams = [case(name, "openai", program) for name, program in _EVENT_STREAMS_ONLY.items()]
    return everywhere + streams


def traps() -> list[Trap]:
    """All traps: none of them may pass without a word, and a server without one must."""
    return [
        *(Trap("nothing wrong", dialect, _TRAPPED, NOTHING, trials=2) for dialect in DIALECTS),
        *_in_both("error inside a 200 stream", replace(_TRAPPED, error_after=40), "engine_crashed"),
        *_in_both("connection dropped", replace(_TRAPPED, break_after=40), "engine_crashed"),
        *_in_both(
            "stalls for good",
            replace(_TRAPPED, stall_after=40, stall_s=60.0),
            "broken_stream",
            wall_limit_s=1.0,
        ),
        *_in_both(
            "no token counts",
            replace(_TRAPPED, reports_usage=False, reports_timings=False),
            "tokens_unknown",
        ),
        *_in_both("one chunk", replace(_TRAPPED, tokens_per_chunk=999), "too_short_to_rate"),
        *_in_both("prompt cut", replace(_TRAPPED, window=512, cuts_prompt=True), "prompt_cut"),
        Trap("cached prompt", "llama.cpp", _remembers("reported"), "warm", trials=2),
        Trap("cached prompt", "openai", _remembers("reported"), "warm", trials=2),
        Trap("hidden cache", "openai", _remembers("hidden"), "warm", trials=2),
        Trap("hidden cache", "ollama", _remembers("hidden"), "warm", trials=2),
        Trap("loads the model", "ollama", replace(_TRAPPED, load_s=0.6), "loaded_in_trial"),
    ]


def _in_both(name: str, program: Program, code: str, wall_limit_s: float = 30.0) -> list[Trap]:
    return [
        Trap(name, dialect, program, code, wall_limit_s=wall_limit_s)
        for dialect in ("openai", "ollama")
    ]


def _remembers(cache: Cache) -> Program:
    return replace(_TRAPPED, cache=cache)
