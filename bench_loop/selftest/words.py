"""Prompts of a known length: the simulator's tokens are words."""

from __future__ import annotations


def words(count: int) -> str:
    """A prompt of `count` tokens."""
    return " ".join(f"word{number}" for number in range(count))


def half_known_words(count: int, number: int) -> str:
    """Prompt `number` of a row of prompts: the same to the middle, and new words from there."""
    same = count // 2
    return f"{words(same)} {' '.join(f'new{number}-{at}' for at in range(count - same))}"
