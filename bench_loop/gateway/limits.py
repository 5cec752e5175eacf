"""How much of the model one trial may use, and what a harness is told when it is used up. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from bench_loop.contracts.verifier import Limit


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one trial; None: no bound."""

    requests: int | None = None
    tokens: int | None = None
    """Generated tokens of all replies together, thinking included."""
    wall_s: float | None = None
    """Seconds after the trial was opened, from which on nothing more is sent."""


@dataclass(frozen=True, slots=True)
class Used:
    """What a trial has used so far."""

    requests: int
    tokens: int
    wall_s: float


def reached(limits: Limits, used: Used) -> Limit | None:
    """The limit that forbids one more request; None: it may be sent."""
    if limits.wall_s is not None and used.wall_s >= limits.wall_s:
        return "wall"
    if limits.tokens is not None and used.tokens >= limits.tokens:
        return "tokens"
    if limits.requests is not None and used.requests >= limits.requests:
        return "turns"
    return None


def tokens_left(limits: Limits, used: Used) -> int | None:
    """Tokens that the next reply may have by the trial's limit; None: no bound."""
    return None if limits.tokens is None else max(0, limits.tokens - used.tokens)


def sentence(limit: Limit, limits: Limits) -> str:
    """The refusal for a person.

    It does not speak of windows or lengths: harnesses would take that for a prompt too long, make
    it shorter and ask again.
    """
    what = {
        "turns": f"{limits.requests} requests",
        "tokens": f"{limits.tokens} generated",
        "wall": f"{limits.wall_s:g} seconds" if limits.wall_s is not None else "",
    }[limit]
    return f"This task has used up what the benchmark allows ({what}); the model answers no more."
