"""Reads what a model expects next at each position of a fixed text."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bench_loop.contracts.provider import Foresight
from bench_loop.scoring.divergence import Logprobs

TEXT_FILE = Path(__file__).with_name("quantdiff.txt")
"""Stories, documentation, code, a log and data in turn; another text would be another figure."""
CHUNK_TOKENS = 512
"""The text is read in pieces of this length, so that any window holds one."""
FIRST_POSITION = 16
"""Tokens of a piece before its first position that counts."""
MOST_LIKELY = 200
"""Tokens that are asked for at each position."""
PACE_POSITIONS = 16
"""Positions that are read to tell how long all of them will take; the first is not timed."""

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


def positions_in(pieces: Sequence[Sequence[int]]) -> int:
    """How many positions of these pieces count."""
    return sum(len(piece) - FIRST_POSITION for piece in pieces)


def expected_s(model: Foresight, pieces: Sequence[Sequence[int]]) -> float:
    """About how long `read_ahead` will take, by the time of a few positions. Raises ProviderError.

    On a server that reads a whole piece in one request it takes less.
    """
    positions = model.foresee(
        pieces[0][: FIRST_POSITION + PACE_POSITIONS], FIRST_POSITION, MOST_LIKELY
    )
    next(positions, None)
    began = time.perf_counter()
    read = sum(1 for _ in positions)
    return (time.perf_counter() - began) / max(1, read) * positions_in(pieces)


def read_ahead(
    model: Foresight, pieces: Sequence[Sequence[int]], tell: Tell
) -> list[list[Logprobs]]:
    """The most likely next tokens at each position of each piece. Raises ProviderError.

    One request at a time: an engine that answers several at once rounds otherwise, by what happens
    to be in its batch, and a model would no longer agree with itself.
    """
    total, done = positions_in(pieces), 0
    found: list[list[Logprobs]] = []
    for piece in pieces:
        found.append([])
        for likely in model.foresee(piece, FIRST_POSITION, MOST_LIKELY):
            found[-1].append(likely)
            done += 1
            tell(done, total)
    return found
