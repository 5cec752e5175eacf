"""Where the variance of a block comes from: by hand, and found again in simulated matrices."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import pytest

from bench_loop.scoring.estimates import Estimate
from bench_loop.scoring.variance import Outcomes, Part, Source, VarianceTable, variance_table

DRAWS = 300


def parts(table: VarianceTable) -> dict[Source, Part]:
    return {part.source: part for part in table.parts}


def block(models: int, harnesses: int, tasks: int, chance: object) -> Outcomes:
    """One trial in each cell, `chance(model, harness, task)` its outcome."""
    assert callable(chance)
    return [
        [[[float(chance(m, h, t))] for t in range(tasks)] for h in range(harnesses)]
        for m in range(models)
    ]


# By hand


def test_models_alone_explain_all_where_only_they_differ() -> None:
    found = parts(variance_table(block(3, 3, 12, lambda m, h, t: m > 0)))
    # Means of the models 0, 1, 1: their variance is 1/3.
    assert found["model"].variance == pytest.approx(1 / 3)
    assert found["model"].share.value == pytest.approx(100.0)
    assert (found["model"].share.low, found["model"].share.high) == pytest.approx((100.0, 100.0))
    assert all(part.share.value == 0 for name, part in found.items() if name != "model")
    assert "trial to trial" not in found


def test_components_of_sums_are_the_variances_of_what_is_added() -> None:
    # Harnesses 0, 0, 1 and tasks 0 or 2 by turns: variances 1/3 and 12/11.
    found = parts(variance_table(block(4, 3, 12, lambda m, h, t: (h == 2) + 2 * (t % 2))))
    assert found["harness"].variance == pytest.approx(1 / 3)
    assert found["task"].variance == pytest.approx(12 / 11)
    assert found["harness"].share.value == pytest.approx(100 * 11 / 47)
    assert found["model"].variance == found["rest"].variance == 0


def test_a_model_that_only_one_harness_suits_is_their_meeting() -> None:
    # 1 where model and harness have the same number: the rows and columns have equal means, so
    # that the interaction is all there is: SS = 12 x (3 x 4/9 + 6 x 1/9) = 24 of 4 degrees of
    # freedom, 6 / 12 tasks = 1/2. Model: (0 - 6) / 36, which is negative and so 0.
    found = parts(variance_table(block(3, 3, 12, lambda m, h, t: m == h)))
    assert found["model x harness"].variance == pytest.approx(0.5)
    assert (found["model"].variance, found["harness"].variance) == (0, 0)
    assert found["model x harness"].share.value == pytest.approx(100.0)


def test_trials_that_differ_inside_a_cell_are_apart_from_the_rest() -> None:
    # One of two trials passes in every cell: variance 1/2 inside, nothing between the cells; the
    # rest is 0 - 1/2 x 1/2, negative.
    outcomes = [[[[0.0, 1.0]] * 12] * 3] * 3
    found = parts(variance_table(outcomes))
    assert found["trial to trial"].variance == pytest.approx(0.5)
    assert found["trial to trial"].share.value == pytest.approx(100.0)
    assert found["rest"].variance == 0


def test_where_all_comes_out_the_same_there_is_nothing_to_explain() -> None:
    assert variance_table(block(3, 3, 12, lambda m, h, t: True)) == VarianceTable(False, ())
    assert variance_table(block(2, 2, 2, lambda m, h, t: False)) == VarianceTable(True, ())
    assert variance_table([]) == VarianceTable(True, ())


@pytest.mark.parametrize("size", [(2, 3, 12), (3, 2, 12), (3, 3, 11), (1, 2, 2)])
def test_a_small_block_is_only_described(size: tuple[int, int, int]) -> None:
    table = variance_table(block(*size, lambda m, h, t: (m + h + t) % 2))
    assert table.is_descriptive
    assert all(part.variance is None and part.share.low is None for part in table.parts)
    assert sum(part.share.value for part in table.parts) == pytest.approx(100.0)


def test_plain_sums_of_squares_by_hand() -> None:
    # Two models, two harnesses, two tasks; model 0 passes nothing, model 1 all but (harness 1,
    # task 1). SS: model 2 (3/4)^2 = 9/8 of all 15/8; each other effect 1/8.
    table = variance_table(block(2, 2, 2, lambda m, h, t: m == 1 and not (h == t == 1)))
    found = {name: part.share.value for name, part in parts(table).items()}
    assert found.pop("model") == pytest.approx(60.0)
    assert list(found.values()) == pytest.approx([100 / 15] * 6)


def test_instances_of_a_family_are_one_task() -> None:
    outcomes = block(3, 3, 14, lambda m, h, t: m > 0)
    units = [f"family {task // 7}" for task in range(14)]
    assert variance_table(outcomes, units).is_descriptive
    assert not variance_table(outcomes).is_descriptive


def test_the_order_of_models_and_tasks_changes_nothing() -> None:
    outcomes = simulated(random.Random(8), 4, 3, 12, 3)
    turned = [[list(reversed(arm)) for arm in row] for row in reversed(outcomes)]
    for one, other in zip(
        variance_table(outcomes).parts, variance_table(turned).parts, strict=True
    ):
        assert one.share.value == pytest.approx(other.share.value)
        assert one.share.low == pytest.approx(other.share.low)


# Simulations of known components


def held_share(found: Sequence[Estimate], truth: float) -> float:
    """How often the interval holds the truth."""
    return sum(one.low <= truth <= one.high for one in found if one.low is not None) / len(found)


def mean_width(found: Sequence[Estimate]) -> float:
    return sum((one.high or 0.0) - (one.low or 0.0) for one in found) / len(found)


MODELS = (-0.1, -0.05, 0.05, 0.1)
HARNESSES = (-0.06, 0.0, 0.06)
MEETING = ((0.05, -0.05, 0.0), (-0.05, 0.05, 0.0), (0.05, 0.0, -0.05), (-0.05, 0.0, 0.05))
"""Of models and harnesses."""
TASK, MODEL_TASK, HARNESS_TASK = 0.14, 0.07, 0.07
"""Half-widths of uniform effects, drawn anew for each task, and for it with each model and each
harness."""


def simulated(
    draw: random.Random, models: int, harnesses: int, tasks: int, trials: int
) -> list[list[list[list[float]]]]:
    """Outcomes whose chance is 0.5 and the sum of the effects."""
    found: list[list[list[list[float]]]] = [[[] for _ in range(harnesses)] for _ in range(models)]
    for _ in range(tasks):
        task = draw.uniform(-TASK, TASK)
        suits = [draw.uniform(-HARNESS_TASK, HARNESS_TASK) for _ in range(harnesses)]
        for m in range(models):
            both = task + draw.uniform(-MODEL_TASK, MODEL_TASK)
            for h in range(harnesses):
                chance = 0.5 + MODELS[m] + HARNESSES[h] + MEETING[m][h] + both + suits[h]
                assert 0 <= chance <= 1
                found[m][h].append([float(draw.random() < chance) for _ in range(trials)])
    return found


def true_components(models: int = 4) -> dict[Source, float]:
    """Of these models and harnesses over all tasks of this kind, with numpy's means."""
    chances = np.array(
        [[0.5 + MODELS[m] + HARNESSES[h] + MEETING[m][h] for h in range(3)] for m in range(models)]
    )
    rows, columns = chances.mean(axis=1), chances.mean(axis=0)
    left = chances - rows[:, None] - columns[None, :] + chances.mean()
    meeting = float((left**2).sum() / ((models - 1) * 2))
    # A uniform effect of half-width w has the variance w^2 / 3.
    by_task, by_model, by_harness = (w**2 / 3 for w in (TASK, MODEL_TASK, HARNESS_TASK))
    return {
        "model": float(rows.var(ddof=1)) - meeting / 3,
        "harness": float(columns.var(ddof=1)) - meeting / models,
        "task": by_task,
        "model x harness": meeting,
        "model x task": by_model,
        "harness x task": by_harness,
        "rest": 0.0,
        "trial to trial": float((chances - chances**2).mean()) - by_task - by_model - by_harness,
    }


def test_every_component_is_found_again_among_others_of_its_size() -> None:
    # Amounts in place of passes, so that no component is small: models -0.3, 0, 0.3 and harnesses
    # likewise, without a meeting of their own; the others normal with these variances.
    truth: dict[Source, float] = {
        "model": 0.09,
        "harness": 0.09,
        "task": 2.0,
        "model x harness": 0.0,
        "model x task": 1.5,
        "harness x task": 0.8,
        "rest": 0.5,
        "trial to trial": 1.2,
    }
    means: dict[Source, float] = defaultdict(float)
    draw = random.Random(2)
    for _ in range(DRAWS):
        for source, part in parts(variance_table(_amounts(draw, truth))).items():
            means[source] += (part.variance or 0.0) / DRAWS
    assert 0 <= means.pop("model x harness") < 0.03
    for source, found in means.items():
        assert found == pytest.approx(truth[source], rel=0.05, abs=0.02), source


def _amounts(draw: random.Random, variances: dict[Source, float]) -> Outcomes:
    def normal(source: Source) -> float:
        return draw.gauss(0, variances[source] ** 0.5)

    found: list[list[list[list[float]]]] = [[[] for _ in range(3)] for _ in range(3)]
    for _ in range(24):
        task, suits = normal("task"), [normal("harness x task") for _ in range(3)]
        for m in range(3):
            both = task + normal("model x task")
            for h in range(3):
                centre = 0.3 * (m - 1) + 0.3 * (h - 1) + both + suits[h] + normal("rest")
                found[m][h].append([centre + normal("trial to trial") for _ in range(2)])
    return found


@pytest.fixture(scope="module")
def tables() -> list[VarianceTable]:
    draw = random.Random(1)
    return [variance_table(simulated(draw, 4, 3, 24, 3)) for _ in range(DRAWS)]


def test_components_are_found_again_on_average(tables: list[VarianceTable]) -> None:
    truth = true_components()
    means: dict[Source, float] = defaultdict(float)
    for table in tables:
        for source, part in parts(table).items():
            assert part.variance is not None
            means[source] += part.variance / DRAWS
    for source in ("model", "task", "trial to trial"):
        assert means[source] == pytest.approx(truth[source], rel=0.08), source
    for source in ("harness", "model x harness"):
        assert means[source] == pytest.approx(truth[source], rel=0.12), source
    # Where nothing is, or little, an estimate that is never negative is a little above.
    for source in ("model x task", "harness x task", "rest"):
        assert 0 <= means[source] - truth[source] < 0.006, source


def test_shares_are_inside_their_intervals_as_often_as_they_say(
    tables: list[VarianceTable],
) -> None:
    truth = true_components()
    total = sum(truth.values())
    for source, component in truth.items():
        share = 100 * component / total
        found = [parts(table)[source].share for table in tables]
        held = held_share(found, share)
        # 95 % less three standard errors of 300 draws; a part of nothing is held more often.
        assert 0.912 <= held <= (1.0 if component == 0 else 0.99), (source, held)


def test_the_intervals_are_not_bought_by_width(tables: list[VarianceTable]) -> None:
    def width(source: Source) -> float:
        return mean_width([parts(table)[source].share for table in tables])

    assert width("model") < 16
    assert width("harness") < 6
    assert width("trial to trial") < 24


def test_the_smallest_block_is_honest_too() -> None:
    truth = true_components(models=3)
    truth["rest"] += truth.pop("trial to trial")
    draw = random.Random(3)
    found = [parts(variance_table(simulated(draw, 3, 3, 12, 1))) for _ in range(DRAWS)]
    for source, component in truth.items():
        share = 100 * component / sum(truth.values())
        assert held_share([one[source].share for one in found], share) >= 0.912, source
    # Nobody learns much from so little: the interval of the rest is half of the scale.
    assert mean_width([one["rest"].share for one in found]) > 40
