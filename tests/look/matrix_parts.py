"""Pieces of a matrix made by hand, for tests of how each state of it is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bench_loop.scoring.against_raw import AgainstRaw
from bench_loop.scoring.estimates import Estimate
from bench_loop.scoring.harness_costs import Added, AddedTime, ArmFigures, HarnessCosts
from bench_loop.scoring.matrix import (
    Cell,
    Configuration,
    CostRow,
    Matrix,
    MatrixHarness,
    MatrixModel,
    MatrixVariance,
    Recovery,
)
from bench_loop.scoring.paired import Difference, Verdict

MODEL = MatrixModel("qwen3:8b", "qwen3", "Q4_K_M", "sha256:" + "a1" * 32, thinking=False)
RAW = MatrixHarness("raw", "2", None, "standard")
SUITE = "loop_code_fix"
NONE = AddedTime(cold=None, warm=None)


def harness(
    name: str = "aider", version: str = "0.86.2", configuration: Configuration | None = "standard"
) -> MatrixHarness:
    return MatrixHarness(name, version, "sha256:" + "b2" * 32, configuration)


def score(value: float = 50.0, low: float | None = 30.0, high: float | None = 70.0) -> Cell:
    return Cell(
        "measured",
        run_id="r",
        score=Estimate(value, low, high, 12),
        task_count=12,
        planned_count=12,
        trial_count=36,
    )


def difference(
    value: float = 10.0,
    low: float = 2.0,
    high: float = 18.0,
    verdict: Verdict = "better",
    tasks: int = 12,
) -> Difference:
    return Difference(
        name=SUITE,
        difference=value,
        low=low,
        high=high,
        p_value=0.01,
        verdict=verdict,
        task_count=tasks,
        discordant_count=min(tasks, 6),
        more_tasks=None,
    )


def costs(
    seconds: Estimate | None = None, ratio: Estimate | None = None, *reasons: str
) -> HarnessCosts:
    warm = Added(seconds, None) if seconds else None
    return HarnessCosts(
        pair_count=12,
        unpaired_count=0,
        time_reasons=reasons,
        both_pass=AddedTime(cold=None, warm=warm),
        both_judged=NONE,
        first_prompt=None,
        prompt=Added(Estimate(900.0, None, None, 12), ratio) if ratio else None,
    )


def pair(
    found: Difference | None = None,
    *,
    reasons: Sequence[str] = (),
    left_out: Mapping[str, str] | None = None,
    of_costs: HarnessCosts | None = None,
    is_one_matrix: bool = True,
) -> AgainstRaw:
    return AgainstRaw(
        raw_run_id="r",
        run_id="h",
        is_one_matrix=is_one_matrix,
        reasons=tuple(reasons),
        left_out=left_out or {},
        quality=found,
        suites={SUITE: found} if found else {},
        costs=of_costs,
    )


def arm(**changes: object) -> ArmFigures:
    empty = dict.fromkeys(
        (
            *("wall_s", "first_prompt_tokens", "prompt_tokens", "requests", "malformed"),
            *("useless", "completion", "truncated", "harness_errors", "pass_cubed", "reliability"),
        )
    )
    counts = {
        "task_count": 12,
        "trial_count": 36,
        "infrastructure_count": 0,
        "not_applicable_count": 0,
        "unrecorded_count": 0,
        "call_count": 0,
    }
    return ArmFigures(**{**empty, **counts, **changes})  # type: ignore[arg-type]


def cost_row(of: MatrixHarness, recovery: Recovery | None = None, **changes: object) -> CostRow:
    names = (
        *("quality", "wall_s", "wall_ratio", "wall_judged_s", "wall_judged_ratio", "cold_s"),
        *("first_prompt_tokens", "first_prompt_added", "first_prompt_ratio", "prompt_tokens"),
        *("prompt_added", "prompt_ratio", "requests", "malformed", "useless", "completion"),
        *("pass_cubed", "reliability"),
    )
    known = {**dict.fromkeys(names), "model_count": 1, "recovery": recovery, **changes}
    return CostRow(harness=of, **known)  # type: ignore[arg-type]


def matrix(
    cells: Mapping[tuple[MatrixModel, MatrixHarness, str], Cell],
    against_raw: Mapping[tuple[MatrixModel, MatrixHarness], AgainstRaw] | None = None,
    *,
    rows: Sequence[CostRow] | None = None,
    arms: Mapping[tuple[MatrixModel, MatrixHarness], ArmFigures] | None = None,
    variance: MatrixVariance | None = None,
    left_out: Sequence[str] = (),
) -> Matrix:
    """Models, harnesses and suites are those of the cells."""
    models = tuple(dict.fromkeys(model for model, _, _ in cells))
    harnesses = tuple(dict.fromkeys(one for _, one, _ in cells))
    ran = {(model, one): arm() for (model, one, _), cell in cells.items() if cell.run_id}
    return Matrix(
        models=models,
        harnesses=harnesses,
        suites=tuple(dict.fromkeys(suite for _, _, suite in cells)),
        cells=cells,
        arms=ran if arms is None else arms,
        against_raw=against_raw or {},
        costs=tuple(cost_row(one) for one in harnesses) if rows is None else tuple(rows),
        variance=variance,
        left_out=tuple(left_out),
    )


def one_pair(
    found: AgainstRaw | None = None,
    cell: Cell | None = None,
    of: MatrixHarness | None = None,
    raw: Cell | None = None,
) -> Matrix:
    """One model in raw and in one harness, on one suite."""
    program = of or harness()
    return matrix(
        {
            (MODEL, RAW, SUITE): raw or score(),
            (MODEL, program, SUITE): cell or score(),
        },
        {(MODEL, program): found} if found else None,
    )
