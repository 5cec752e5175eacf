"""Reads what a model expects next at each position of a fixed text."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
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
    lanes = min(model.lanes, len(pieces))
    started = [list(piece[: FIRST_POSITION + PACE_POSITIONS]) for piece in pieces[:lanes]]

    def pace(lane: int) -> float:
        stream = model.foresee(started[lane], FIRST_POSITION, MOST_LIKELY, lane)
        next(stream, None)
        began = time.perf_counter()
        read = sum(1 for _ in stream)
        return (time.perf_counter() - began) / max(1, read)

    with ThreadPoolExecutor(lanes) as threads:
        each_s = max(threads.map(pace, range(lanes)))
    return each_s * positions_in(pieces) / lanes


def read_ahead(
    model: Foresight, pieces: Sequence[Sequence[int]], tell: Tell
) -> list[list[Logprobs]]:
    """The most likely next tokens at each position of each piece. Raises ProviderError.

    The pieces are read by turns in as many lanes as the server has; `tell` is called from them, one
    call at a time.
    """
    lanes = min(model.lanes, len(pieces))
    total, done, lock = positions_in(pieces), 0, threading.Lock()
    found: list[list[Logprobs]] = [[] for _ in pieces]

    def work(lane: int, stopped: threading.Event) -> None:
        nonlocal done
        for index in range(lane, len(pieces), lanes):
            for likely in model.foresee(pieces[index], FIRST_POSITION, MOST_LIKELY, lane):
                if stopped.is_set():
                    return
                found[index].append(likely)
                with lock:
                    done += 1
                    tell(done, total)

    with _all_or_none(lanes) as (threads, stopped):
        for task in [threads.submit(work, lane, stopped) for lane in range(lanes)]:
            task.result()
    return found


@contextmanager
def _all_or_none(lanes: int) -> Iterator[tuple[ThreadPoolExecutor, threading.Event]]:
    """Threads, and the event that ends them all as soon as one of them, or the user, gives up."""
    stopped = threading.Event()
    with ThreadPoolExecutor(lanes) as threads:
        try:
            yield threads, stopped
        finally:
            stopped.set()
