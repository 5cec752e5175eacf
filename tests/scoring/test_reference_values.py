"""Our statistics against those of scipy and statsmodels, whose values are in a file.

The interval of strata was solved there by root finding from its definition, and the sign flips were
counted over all sign patterns.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench_loop.scoring.bands import holm
from bench_loop.scoring.constants import SIGN_FLIPS
from bench_loop.scoring.intervals import incomplete_beta, strata_interval, t_quantile, wilson
from bench_loop.scoring.paired import mcnemar_p, sign_flip_p

FILE = Path(__file__).parent.parent / "fixtures" / "statistics.json"
VALUES: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("x", "n", "low", "high"), VALUES["wilson"])
def test_wilson(x: float, n: float, low: float, high: float) -> None:
    assert wilson(x, n) == (pytest.approx(low, abs=1e-12), pytest.approx(high, abs=1e-12))


@pytest.mark.parametrize(("probability", "df", "expected"), VALUES["t_quantile"])
def test_t_quantile(probability: float, df: float, expected: float) -> None:
    assert t_quantile(probability, df) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("a", "b", "x", "expected"), VALUES["incomplete_beta"])
def test_incomplete_beta(a: float, b: float, x: float, expected: float) -> None:
    assert incomplete_beta(a, b, x) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(("only_a", "only_b", "expected"), VALUES["mcnemar"])
def test_mcnemar(only_a: int, only_b: int, expected: float) -> None:
    assert mcnemar_p(only_a, only_b) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("p_values", "expected"), VALUES["holm"])
def test_holm(p_values: list[float], expected: list[float]) -> None:
    assert holm(p_values) == pytest.approx(expected)


@pytest.mark.parametrize(("differences", "expected"), VALUES["sign_flip"])
def test_sign_flips(differences: list[float], expected: float) -> None:
    # Four standard errors of the drawn share.
    error = 4 * (expected * (1 - expected) / SIGN_FLIPS) ** 0.5 + 1 / SIGN_FLIPS
    assert sign_flip_p({"a": differences}) == pytest.approx(expected, abs=error)


@pytest.mark.parametrize(("strata", "low", "high"), VALUES["strata"])
def test_the_interval_of_strata(strata: list[list[float]], low: float, high: float) -> None:
    found = strata_interval(strata)
    assert found == (pytest.approx(low, abs=1e-8), pytest.approx(high, abs=1e-8))
