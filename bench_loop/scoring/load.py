"""Speed beyond a single short request: filled windows, several streams, minutes of load.

Trials of these kinds stand in the speed suite under task ids of their own, so that every figure
can be computed again. `requests[0].sent_s` of a stream, and of a request under sustained load, is
the moment of sending on the clock of its whole group.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from bench_loop.contracts.chat import ArrivalGaps
from bench_loop.result.records import (
    ConcurrencyPoint,
    CurvePoint,
    ShapeSpeed,
    Sustained,
    Trial,
)
from bench_loop.scoring.constants import (
    CURVE_OUTPUT_TOKENS,
    CURVE_PROMPT_SHARE,
    SUSTAINED_SHARE,
)
from bench_loop.scoring.rates import Shape, client_rate, engine_rate, ttft_s
from bench_loop.scoring.spreads import spread

CURVE_WINDOWS = (8192, 16384, 32768)
"""Filled windows, in tokens, at which the context curve is taken."""

CURVE_SHAPES = {
    Shape(int(tokens * CURVE_PROMPT_SHARE), CURVE_OUTPUT_TOKENS): tokens for tokens in CURVE_WINDOWS
}
"""Shape of each point of the context curve, and the window that it nearly fills."""

_STREAM = re.compile(r"c([1-9][0-9]{0,2})-(p[0-9]{1,7}x[0-9]{1,7})", re.ASCII)
_SUSTAINED = re.compile(r"s-(p[0-9]{1,7}x[0-9]{1,7})", re.ASCII)


def stream_id(streams: int, shape: Shape) -> str:
    """Task id of each of several streams sent at once, like `c4-p512x128`."""
    return f"c{streams}-{shape.task_id}"


def sustained_id(shape: Shape) -> str:
    """Task id of a request under sustained load, like `s-p128x256`."""
    return f"s-{shape.task_id}"


def streams_of(task_id: str) -> int | None:
    """How many streams were sent together with this one; None: it is no such trial."""
    match = _STREAM.fullmatch(task_id)
    return int(match[1]) if match else None


def is_sustained(task_id: str) -> bool:
    """Whether it is a request under sustained load."""
    return _SUSTAINED.fullmatch(task_id) is not None


def is_speed_id(task_id: str) -> bool:
    """Whether a trial of the speed suite may have this task id."""
    shape = Shape.parse(task_id)
    return shape is not None or streams_of(task_id) is not None or is_sustained(task_id)


def token_gaps(trials: Iterable[Trial]) -> ArrivalGaps | None:
    """Pauses between arrivals: the median over the trials of each percentile; null without any."""
    gaps = [trial.stream.gaps for trial in trials if trial.stream and trial.stream.gaps]
    if not gaps:
        return None
    return ArrivalGaps(
        p50_s=median(one.p50_s for one in gaps),
        p95_s=median(one.p95_s for one in gaps),
        p99_s=median(one.p99_s for one in gaps),
    )


def context_curve(shapes: Iterable[ShapeSpeed]) -> tuple[CurvePoint, ...] | None:
    """Context curve = generation and prompt speed with 8K, 16K and 32K tokens of window filled.

    CURVE_PROMPT_SHARE of the window is prompt, and CURVE_OUTPUT_TOKENS tokens are generated. The
    speeds are taken as in every other shape. Null when no point was measured.
    """
    points = []
    for shape in shapes:
        window = CURVE_SHAPES.get(Shape(shape.prompt_tokens, shape.output_tokens))
        if window is not None:
            points.append(
                CurvePoint(
                    context_tokens=window,
                    generation_tps=shape.generation_tps,
                    prompt_tps=shape.prompt_tps,
                    ttft_s=shape.ttft_s,
                )
            )
    return tuple(points) or None


def concurrency(trials: Iterable[Trial]) -> tuple[ConcurrencyPoint, ...] | None:
    """Several streams at once: tokens of all by the time from the first sent to the last token.

    Beside it each stream's own generation speed, its TTFT, and its wait in the server's queue: TTFT
    less the engine's own time for the prompt. Null when no streams were sent together.
    """
    groups: dict[int, list[Trial]] = defaultdict(list)
    for trial in trials:
        if streams := streams_of(trial.task_id):
            groups[streams].append(trial)
    return tuple(_concurrency_point(n, groups[n]) for n in sorted(groups)) or None


def sustained(trials: Iterable[Trial]) -> Sustained | None:
    """Sustained load = the same request again and again; its end against its beginning.

    Speed at the beginning is that of the requests sent in the first SUSTAINED_SHARE of the time, at
    the end that of the requests which ended in the last: generated tokens by the time they took,
    prompt left out. A ratio below THROTTLING_RATIO is throttling. Null without two requests.
    """
    held = [one for trial in trials if is_sustained(trial.task_id) and (one := _span(trial))]
    if len(held) < 2:
        return None
    end_s = max(one.end_s for one in held)
    edge_s = SUSTAINED_SHARE * end_s
    first = [one for one in held if one.sent_s <= edge_s] or held[:1]
    last = [one for one in held if one.end_s >= end_s - edge_s]
    first_tps, last_tps = _pooled_tps(first), _pooled_tps(last)
    return Sustained(
        duration_s=end_s,
        n=len(held),
        first_tps=first_tps,
        last_tps=last_tps,
        ratio=last_tps / first_tps,
    )


@dataclass(frozen=True, slots=True)
class _Span:
    """One whole request on the clock of its group, and what it generated."""

    sent_s: float
    end_s: float
    tokens: int
    rated_tokens: float
    rated_s: float


def _span(trial: Trial) -> _Span | None:
    """None for a trial that failed, or whose speed or moment of sending is unknown."""
    rate = client_rate(trial) or engine_rate(trial)
    is_whole = trial.outcome is None and trial.finish_reason in ("stop", "length")
    if not is_whole or rate is None or not trial.requests or trial.t_last_s is None:
        return None
    sent_s = trial.requests[-1].sent_s
    return _Span(
        sent_s=sent_s,
        end_s=sent_s + trial.t_last_s,
        tokens=trial.tokens.completion or 0,
        rated_tokens=rate.tps * rate.window_s,
        rated_s=rate.window_s,
    )


def _pooled_tps(spans: Sequence[_Span]) -> float:
    return sum(one.rated_tokens for one in spans) / sum(one.rated_s for one in spans)


def _concurrency_point(streams: int, trials: Sequence[Trial]) -> ConcurrencyPoint:
    spans = [span for trial in trials if (span := _span(trial))]
    whole = [trial for trial in trials if _span(trial)]
    rates = [rate for trial in whole if (rate := client_rate(trial) or engine_rate(trial))]
    return ConcurrencyPoint(
        streams=streams,
        failed=len(trials) - len(whole),
        aggregate_tps=_aggregate_tps(spans),
        stream_tps=spread([rate.tps for rate in rates], rates[0].basis) if rates else None,
        ttft_s=spread([first for trial in whole if (first := ttft_s(trial)) is not None]),
        queue_wait_s=spread([w for trial in whole if (w := _queue_wait_s(trial)) is not None]),
    )


def _aggregate_tps(spans: Sequence[_Span]) -> float | None:
    if not spans:
        return None
    seconds = max(one.end_s for one in spans) - min(one.sent_s for one in spans)
    return sum(one.tokens for one in spans) / seconds if seconds > 0 else None


def _queue_wait_s(trial: Trial) -> float | None:
    first, timings = ttft_s(trial), trial.engine_timings
    if first is None or timings is None or timings.prompt_s is None:
        return None
    return max(0.0, first - timings.prompt_s)
