"""Records packed for a page that unpacks them itself: JSON, deflated, in base64.

Nothing in base64 can close an element or open one, so no text of a model can reach the page's
markup; the page's script writes every string as text.
"""

from __future__ import annotations

import base64
import json
import zlib
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from bench_loop.report.packed_run import RunDetail
from bench_loop.result.records import RunResult

CHUNK = 20
"""Runs in one pack: one is unpacked when a run of it is opened. Runs answer the same tasks, so
answers that lie together pack better than those of one run alone."""

_LEVEL = 6
PAGE_BYTES = 5_300_000
"""What all packs of a page may come to in base64; fonts, style and script add about 0.2 MB."""
PASSED_SHARE = 4
"""A trial that passed keeps a quarter of that: who opens one wants to see why another did not."""
_CUTS = (200_000, 32_000, 16_000, 8_000, 4_000, 2_000, 1_400, 1_000, 700, 500, 350, 250)
"""Characters that a text may keep: the first is taken with which the page is small enough."""


def pack(record: object) -> str:
    """`record` as deflated JSON in base64."""
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"), check_circular=False)
    return base64.b64encode(zlib.compress(text.encode(), _LEVEL)).decode()


def packed_details(details: Iterable[RunDetail], cut: int) -> list[str]:
    """Packs of `CHUNK` runs each, in the order of the runs; long texts lose their middle.

    A pack is `{"runs": [...], "texts": {task: [[run, trial, passages], ...]}}`: the texts of one
    task lie beside each other. Compressing leaves the interpreter free, so it runs beside.
    """
    with ThreadPoolExecutor(max_workers=1) as beside:
        return list(beside.map(pack, _chunks(details, cut)))


def text_cut(results: Sequence[RunResult], detail: Callable[[RunResult], RunDetail]) -> int:
    """The longest text that a page of all `results` can keep whole, in characters.

    By the packed size of some of them, evenly spread.
    """
    step = max(len(results) // CHUNK, 1)
    sample = [detail(result) for result in results[::step]]

    def fits(place: int) -> bool:
        size = sum(map(len, packed_details(sample, _CUTS[place])))
        return size * step <= PAGE_BYTES

    found = bisect_left(range(len(_CUTS)), True, key=fits)
    return _CUTS[min(found, len(_CUTS) - 1)]


def _chunks(details: Iterable[RunDetail], cut: int) -> Iterator[object]:
    runs: list[RunDetail] = []
    for detail in details:
        runs.append(detail)
        if len(runs) == CHUNK:
            yield _chunk(runs, cut)
            runs = []
    if runs:
        yield _chunk(runs, cut)


def _chunk(runs: Sequence[RunDetail], cut: int) -> object:
    texts: dict[str, list[object]] = {}
    for place, run in enumerate(runs):
        for number, said in enumerate(run.texts):
            longest = cut // PASSED_SHARE if said.is_pass else cut
            kept = [[who, _kept(text, longest), *mark] for who, text, *mark in said.passages]
            if kept:
                texts.setdefault(said.task, []).append([place, number, kept])
    return {"runs": [run.record for run in runs], "texts": texts}


def _kept(text: str, cut: int) -> str:
    """`text`, or its beginning and its end, where an answer tends to stand."""
    if len(text) <= cut:
        return text
    head, tail = cut * 2 // 3, cut // 3
    left = len(text) - head - tail
    return f"{text[:head]}\n[… {left:,} characters are in the result file …]\n{text[-tail:]}"
