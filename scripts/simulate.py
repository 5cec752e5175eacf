"""Simulates runs of known truth, and writes docs/statistics.md: coverage, width, power, errors.

`python -m scripts.simulate` writes the page anew with the scoring code as it is (minutes). Every
figure is drawn from the seeds below, so that the page is the same on any machine.
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench_loop.scoring.constants import SCORING_VERSION
from bench_loop.scoring.intervals import mean, strata_interval
from bench_loop.scoring.paired import paired_difference
from bench_loop.scoring.sequential import Shares, duel, evidence_needed, evidence_of
from scripts import simulate_harnesses

PAGE = Path(__file__).parent.parent / "docs" / "statistics.md"
SEED = 2026
DRAWS, PAIRS, RACES = 2000, 500, 1000
LAYOUTS = {
    "smoke, 16 tasks in 7": (1, 1, 2, 3, 3, 3, 3),
    "core of today, 3 of 6": (6, 6, 6),
    "quick, 7 of 5": (5,) * 7,
    "core, 87 tasks in 7": (12, 12, 12, 12, 13, 13, 13),
    "harness, 3 of 12, unlike": (6, 12, 18),
}
"""Suites of a profile, by their number of tasks."""
TIES = ((0.5,) * 3, (0.5,) * 4, (0.5,) * 6)
"""Models that are all equal."""
SHARES = (0.02, 0.15, 0.3, 0.9)
DESIGNS = ("alike", "mixed", "apart")


@dataclass(frozen=True, slots=True)
class Coverage:
    """How often the quality interval held the truth, and its mean width in points."""

    share: float
    width: float


@dataclass(frozen=True, slots=True)
class Race:
    """Shares of races in which a model was called clearly the best."""

    right: float
    wrong: float
    tasks: float
    """Mean number of tasks that each pair was given until it was settled, or all."""


def coverage(
    layout: Sequence[int], p: float, trials: int, design: str, draws: int, seed: int = SEED
) -> Coverage:
    """Draw runs whose true quality is known, and look how often the interval holds it.

    `alike`: every task is done with chance p. `mixed`: tasks differ, Beta(2 p, 2 (1 - p)), and are
    themselves a sample. `apart`: the suites differ by up to 1.5 in log odds either way.
    """
    draw = random.Random(f"{seed} {layout} {p} {trials} {design}")  # noqa: S311 - a simulation
    levels = _levels(p, len(layout)) if design == "apart" else [p] * len(layout)
    truth = mean(levels)
    held, widths = 0, []
    for _ in range(draws):
        low, high = strata_interval(
            [
                [_task_mean(draw, level, trials, is_mixed=design == "mixed") for _ in range(tasks)]
                for level, tasks in zip(levels, layout, strict=True)
            ]
        )
        held += low - 1e-12 <= truth <= high + 1e-12
        widths.append(100 * (high - low))
    return Coverage(held / draws, mean(widths))


def called_apart(
    layout: Sequence[int], p: float, gap: float, trials: int, draws: int, seed: int = SEED
) -> tuple[float, float]:
    """Shares of pairs called better and worse, where B's tasks are done with chance p + gap."""
    draw = random.Random(f"{seed} {layout} {p} {gap} {trials}")  # noqa: S311 - a simulation
    words = [
        paired_difference(
            "quality",
            {
                str(suite): [
                    _task_mean(draw, p + gap, trials) - _task_mean(draw, p, trials)
                    for _ in range(tasks)
                ]
                for suite, tasks in enumerate(layout)
            },
        ).verdict
        for _ in range(draws)
    ]
    return words.count("better") / draws, words.count("worse") / draws


def race(chances: Sequence[float], tasks: int, races: int, seed: int = SEED) -> Race:
    """Race models that do a task with these chances, the best first; ties have no best.

    Wrong: a model that is not the best, or is one of equals, is called clearly better than the
    best; right: the best is called clearly better than all others.
    """
    draw = random.Random(f"{seed} {chances} {tasks}")  # noqa: S311 - a simulation
    needed = evidence_needed(len(chances), tasks)
    right = wrong = 0
    lengths = []
    for _ in range(races):
        passed = [[float(draw.random() < chance) for _ in range(tasks)] for chance in chances]
        duels = [
            duel(Shares(*pair) for pair in zip(passed[0], other, strict=True))
            for other in passed[1:]
        ]
        is_first_clear = all(each.evidence >= needed for each in duels)
        is_best_beaten = any(each.rival_evidence >= needed for each in duels)
        right += is_first_clear
        wrong += is_best_beaten or (is_first_clear and chances[0] == chances[1])
        lengths.append(mean([_settled_after(passed[0], other, needed) for other in passed[1:]]))
    return Race(right / races, wrong / races, mean(lengths))


def _settled_after(own: Sequence[float], rival: Sequence[float], needed: float) -> int:
    wins = losses = 0
    for count, (ours, theirs) in enumerate(zip(own, rival, strict=True), start=1):
        wins, losses = wins + (ours > theirs), losses + (ours < theirs)
        if max(evidence_of(wins, losses), evidence_of(losses, wins)) >= needed:
            return count
    return len(own)


def _levels(p: float, suites: int) -> list[float]:
    centre = math.log(p / (1 - p))
    steps = [3 * place / (suites - 1) - 1.5 for place in range(suites)]
    return [1 / (1 + math.exp(-centre - step)) for step in steps]


def _task_mean(draw: random.Random, p: float, trials: int, *, is_mixed: bool = False) -> float:
    chance = draw.betavariate(2 * p, 2 * (1 - p)) if is_mixed else p
    return mean([float(draw.random() < chance) for _ in range(trials)])


INTRODUCTION = f"""
Simulated with the scoring code itself, version {SCORING_VERSION}, from fixed seeds:
`python -m scripts.simulate` writes this page anew. What each rule says is in
[methodology.md](methodology.md).
"""
INTERVAL = f"""
{DRAWS:,} runs a cell of models whose true quality is known: how often the 95 % interval holds it,
and its mean width in points. In `alike` every task is done with chance p; in `mixed` tasks are hard
and easy (Beta with mean p) and themselves a sample; in `apart` the suites' levels differ by up to
1.5 in log odds either way. The bar is 93 to 100 %.
"""
PAIR = f"""
{PAIRS:,} pairs a cell over the 87 tasks of `core`: how often B is called better or worse than A.
The bars: a true gap of 25 points is called better in 80 % or more, no gap is called anything in 6 %
or less. Tasks are drawn independently, which is the hardest case: models that fail at the same
tasks are told apart with fewer.
"""
RACING = f"""
{RACES:,} races a cell, looked at after every task. Wrong: a model that is not the best, or no
better than it, is called clearly better than the best, or the first of equals than all the others;
the bar is 5 % in all. Right: the best is called clearly
better than every other; else the race ends without a clear winner, and says so. Settled after: the
tasks that a pair took until it was settled, or all.

The question is which model does more tasks of this kind. A task counts once, however often it was
asked: trials of one task steady the share of passes that decides it, and are no evidence about
other tasks. With fewer than 6 tasks no race of two can become clear; then each is asked three
times, and the order that comes out is called a lead at most.
"""


def page() -> str:
    """The whole page, as Markdown with a closing line break."""
    blocks = (
        "# How far the statistics can be trusted",
        INTRODUCTION,
        "## The quality interval",
        INTERVAL,
        _coverage_table(),
        "## Two runs",
        PAIR,
        _pair_table(),
        "## A race of models (`recommend`)",
        RACING,
        _race_table(),
        *simulate_harnesses.section(),
    )
    return "\n\n".join(block.strip() for block in blocks) + "\n"


def _coverage_table() -> str:
    lines = ["| layout | trials | tasks | " + " | ".join(f"p {p:g}" for p in SHARES) + " |"]
    lines.append("| --- | --- | --- |" + " --- |" * len(SHARES))
    for name, layout in LAYOUTS.items():
        for trials in (1, 3):
            for design in DESIGNS:
                if design == "mixed" and trials == 1:
                    continue  # One trial of a drawn chance is one trial of its mean.
                cells = [coverage(layout, p, trials, design, DRAWS) for p in SHARES]
                shown = " | ".join(f"{100 * c.share:.1f} % ({c.width:.0f})" for c in cells)
                lines.append(f"| {name} | {trials} | {design} | {shown} |")
    return "\n".join(lines)


def _pair_table() -> str:
    lines = ["| A | B | trials | better | worse |", "| --- | --- | --- | --- | --- |"]
    core = LAYOUTS["core, 87 tasks in 7"]
    for p, gap in ((0.02, 0.25), (0.3, 0.25), (0.5, 0.25), (0.02, 0), (0.3, 0), (0.9, 0)):
        for trials in (1, 3):
            better, worse = called_apart(core, p, gap, trials, PAIRS)
            shown = f"{100 * better:.1f} % | {100 * worse:.1f} %"
            lines.append(f"| {100 * p:.0f} | {100 * (p + gap):.0f} | {trials} | {shown} |")
    return "\n".join(lines)


def _race_table() -> str:
    lines = ["| models do | tasks | right | wrong | settled after |"]
    lines.append("| --- | --- | --- | --- | --- |")
    for chances in ((0.7, 0.3), (0.6, 0.4), (0.5, 0.5), (0.7, 0.3, 0.3, 0.3), *TIES):
        for tasks in (18, 60):
            found = race(chances, tasks, RACES)
            names = ", ".join(f"{100 * chance:.0f} %" for chance in chances)
            is_tie = chances[0] == chances[1]
            right = "-" if is_tie else f"{100 * found.right:.1f} %"
            shown = f"{right} | {100 * found.wrong:.1f} % | {found.tasks:.0f}"
            lines.append(f"| {names} | {tasks} | {shown} |")
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"wrote {PAGE}\n")
