"""Frozen tasks against fresh instances of the same families: does a model know them by heart?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bench_loop.result.records import Trial
from bench_loop.scoring.intervals import combined, half_width, mean, stratum_variance
from bench_loop.scoring.suites import is_scored

FamilyShares = Mapping[str, Mapping[str, float]]
"""Suite -> family -> share of passes, 0 to 1."""
FamilyOf = Mapping[tuple[str, str], str]
"""Suite and task id -> family; tasks without a family are not in it."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Scores of the same families, frozen and fresh, 0 to 100; the gap is fresh minus frozen."""

    suites: tuple[str, ...]
    family_count: int
    frozen: float
    fresh: float
    low: float
    high: float

    @property
    def difference(self) -> float:
        return self.fresh - self.frozen


def family_shares(trials: Iterable[Trial], family_of: FamilyOf) -> FamilyShares:
    """Of each family the mean over its tasks of (passed trials / scored trials)."""
    passes: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for trial in trials:
        family = family_of.get((trial.suite, trial.task_id))
        if family is not None and is_scored(trial):
            passes[trial.suite, family][trial.task_id].append(float(trial.outcome == "pass"))
    shares: dict[str, dict[str, float]] = defaultdict(dict)
    for (suite, family), tasks in passes.items():
        shares[suite][family] = mean([mean(shared) for shared in tasks.values()])
    return shares


def fresh_gap(frozen: FamilyShares, fresh: FamilyShares) -> Gap | None:
    """Gap = mean over suites of the fresh families' mean, minus that of the same families frozen.

    An unpaired difference: an instance is another task than the frozen one, so that only the
    families are the same. SE^2 = (1 / S^2) x sum over the S suites of both variances of the suite's
    mean, with families as units; a t interval with Satterthwaite's degrees of freedom, clipped to
    -100 to 100. Only families that were scored in both count. Null: there is none.
    """
    pairs: list[tuple[Sequence[float], Sequence[float]]] = []
    suites = []
    for suite in sorted(frozen.keys() & fresh.keys()):
        common = sorted(frozen[suite].keys() & fresh[suite].keys())
        if common:
            suites.append(suite)
            ours = [frozen[suite][family] for family in common]
            pairs.append((ours, [fresh[suite][family] for family in common]))
    if not pairs:
        return None
    before, after = (100 * mean([mean(pair[side]) for pair in pairs]) for side in (0, 1))
    reach = half_width(
        combined(
            stratum_variance(shares).scaled(100 / len(pairs)) for pair in pairs for shares in pair
        )
    )
    difference = after - before
    return Gap(
        suites=tuple(suites),
        family_count=sum(len(ours) for ours, _ in pairs),
        frozen=before,
        fresh=after,
        low=max(-100.0, difference - reach),
        high=min(100.0, difference + reach),
    )
