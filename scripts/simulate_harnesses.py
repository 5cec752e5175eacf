"""Simulates harnesses against raw, of known truth, for docs/statistics.md."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

from bench_loop.scoring.against_raw import SURE, surely_apart
from bench_loop.scoring.estimates import mean_estimate
from bench_loop.scoring.intervals import mean
from bench_loop.scoring.paired import Difference, TaskShares, paired_difference

SEED = 2026
DRAWS, MATRICES, TIMES = 500, 200, 4000
TRIALS = 3
P = 0.5
"""Mean chance of a task in raw; tasks are drawn from Beta(2 p, 2 (1 - p))."""
LAYOUTS = {"one suite of 12": (12,), "three suites of 12": (12, 12, 12)}
CHANGES = (-0.4, -0.2, -0.1, 0.0)
SIZES = ((1, 3), (5, 4))
"""Models, and harnesses beside raw."""
SPREADS = (0.3, 0.7, 1.0)
"""Standard deviations of the logarithms of seconds."""

INTRODUCTION = f"""
Tasks are hard and easy, done by raw in {100 * P:.0f} % on average, each tried {TRIALS} times. A
harness takes from every task the same share of its chance. Held: how often the 95 % interval of the
change holds the true one, of {DRAWS:,} draws, and its mean width in points. Called: how often the
true direction is the verdict; without a change, how often either is. A change of 20 points on one
suite mostly goes unseen: `too close to call` does not mean that there is none.
"""
TOGETHER = f"""
{MATRICES:,} matrices in which no harness changes anything, on three suites of 12: in how many of
them at least one pair is called better or worse, each pair by itself, and as the answer at the top
of a matrix says it, after Holm's adjustment over all of its pairs.
"""
SECONDS = f"""
How often the 95 % interval of the seconds added holds their true mean over tasks, of {TIMES:,}
draws of 12 tasks, by how unlike the tasks are: the standard deviation of the logarithms of their
seconds. The more of the time a few tasks take, the more an interval promises too much.
"""


@dataclass(frozen=True, slots=True)
class Found:
    """How often the interval held the true change, its width in points, and the verdict."""

    held: float
    width: float
    called: float


def change_found(layout: Sequence[int], change: float, draws: int, seed: int = SEED) -> Found:
    """A harness whose true change is `change` (0 or less), looked for again."""
    draw = random.Random(f"{seed} {layout} {change}")  # noqa: S311 - a simulation
    found = [_pair(_chances(draw, layout), 1 + change / P, draw) for _ in range(draws)]
    held = sum(one.low - 1e-9 <= 100 * change <= one.high + 1e-9 for one in found)
    called = sum(one.verdict in SURE and one.difference * change >= 0 for one in found)
    return Found(held / draws, mean([one.high - one.low for one in found]), called / draws)


def falsely_called(
    models: int, harnesses: int, matrices: int, seed: int = SEED
) -> tuple[float, float]:
    """Share of matrices without any change in which a pair is called better or worse: each pair by
    itself, and among all."""
    draw = random.Random(f"{seed} {models} {harnesses}")  # noqa: S311 - a simulation
    alone = together = 0
    for _ in range(matrices):
        pairs: dict[tuple[int, int], Difference] = {}
        for model in range(models):
            chances = _chances(draw, LAYOUTS["three suites of 12"])
            raw = _shares(chances, draw)
            for harness in range(harnesses):
                pairs[model, harness] = _difference(raw, _shares(chances, draw))
        alone += any(one.verdict in SURE for one in pairs.values())
        together += bool(surely_apart(pairs))
    return alone / matrices, together / matrices


def seconds_held(spread: float, draws: int, tasks: int = 12, seed: int = SEED) -> float:
    """How often the interval of the seconds added holds the true mean."""
    draw = random.Random(f"{seed} {spread} {tasks}")  # noqa: S311 - a simulation
    truth, held = math.exp(spread * spread / 2), 0
    for _ in range(draws):
        found = mean_estimate([math.exp(draw.gauss(0, spread)) for _ in range(tasks)])
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        held += found.low <= truth <= found.high
    return held / draws


def section() -> tuple[str, ...]:
    """The part of the page, block by block."""
    return (
        "## A harness against raw",
        INTRODUCTION,
        _change_table(),
        TOGETHER,
        _together_table(),
        SECONDS,
        _seconds_table(),
    )


def _change_table() -> str:
    lines = ["| tasks | true change | held (width) | called |", "| --- | --- | --- | --- |"]
    for name, layout in LAYOUTS.items():
        for change in CHANGES:
            found = change_found(layout, change, DRAWS)
            shown = f"{_percent(found.held)} ({found.width:.0f}) | {_percent(found.called)}"
            lines.append(f"| {name} | {100 * change:.0f} points | {shown} |")
    return "\n".join(lines)


def _together_table() -> str:
    lines = ["| models | harnesses | pairs | each alone | among all |"]
    lines.append("| --- | --- | --- | --- | --- |")
    for models, harnesses in SIZES:
        alone, together = falsely_called(models, harnesses, MATRICES)
        shown = f"{_percent(alone)} | {_percent(together)}"
        lines.append(f"| {models} | {harnesses} | {models * harnesses} | {shown} |")
    return "\n".join(lines)


def _seconds_table() -> str:
    lines = ["| spread of tasks | held |", "| --- | --- |"]
    lines += [f"| {spread:g} | {_percent(seconds_held(spread, TIMES))} |" for spread in SPREADS]
    return "\n".join(lines)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _chances(draw: random.Random, layout: Sequence[int]) -> list[list[float]]:
    return [[draw.betavariate(2 * P, 2 * (1 - P)) for _ in range(tasks)] for tasks in layout]


def _shares(chances: Sequence[Sequence[float]], draw: random.Random) -> list[list[float]]:
    """Of each task the share of its trials that pass."""
    return [
        [mean([float(draw.random() < chance) for _ in range(TRIALS)]) for chance in suite]
        for suite in chances
    ]


def _pair(chances: Sequence[Sequence[float]], factor: float, draw: random.Random) -> Difference:
    changed = [[factor * chance for chance in suite] for suite in chances]
    return _difference(_shares(chances, draw), _shares(changed, draw))


def _difference(raw: Sequence[Sequence[float]], other: Sequence[Sequence[float]]) -> Difference:
    by_suite: TaskShares = {
        str(number): [after - before for before, after in zip(ours, theirs, strict=True)]
        for number, (ours, theirs) in enumerate(zip(raw, other, strict=True))
    }
    return paired_difference("quality", by_suite)
