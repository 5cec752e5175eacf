"""Reads what a model expects next at each position of a fixed text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bench_loop.contracts.provider import Foresight
from bench_loop.scoring.divergence import Logprobs

CHUNK_TOKENS = 512
"""The text is read in pieces of this length, so that any window holds one."""
FIRST_POSITION = 16
"""Tokens of a piece before its first position that counts."""
MOST_LIKELY = 200
"""Tokens that are asked for at each position."""

Tell = Callable[[int, int], None]
"""Told how many positions of how many are read."""


def chunks(tokens: Sequence[int], positions: int) -> list[tuple[int, ...]]:
    """Pieces of the text that hold `positions` positions, or all that it has."""
    found, left = [], positions
    for start in range(0, len(tokens), CHUNK_TOKENS):
        piece = tuple(tokens[start : start + min(CHUNK_TOKENS, FIRST_POSITION + left)])
        if left <= 0 or len(piece) <= FIRST_POSITION:
            break
        found.append(piece)
        left -= len(piece) - FIRST_POSITION
    return found


def read_ahead(model: Foresight, pieces: Sequence[Sequence[int]], tell: Tell) -> list[Logprobs]:
    """The most likely next tokens at each position. Raises ProviderError."""
    total = sum(len(piece) - FIRST_POSITION for piece in pieces)
    found: list[Logprobs] = []
    for piece in pieces:
        for end in range(FIRST_POSITION, len(piece)):
            found.append(model.next_tokens(piece[:end], MOST_LIKELY))
            tell(len(found), total)
    return found
