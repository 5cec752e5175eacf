"""Simulated matrices for tests of what is shown: seeded rates and costs, by the real rules."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from bench_loop.contracts.chat import CallRecord, TokenCounts
from bench_loop.contracts.verifier import Outcome
from bench_loop.programs.known import all_harnesses
from bench_loop.result.records import (
    HarnessSettings,
    MatrixArm,
    RequestRecord,
    RunHeader,
    RunResult,
    Trial,
)
from bench_loop.scoring.matrix import Configuration, Matrix, Recovery, Refusal, matrix_of
from tests.look import samples

MATRIX_ID = "matrix-20261129T140200Z-abcdefghij"


@dataclass(frozen=True, slots=True)
class Harness:
    """What a harness does to a model: `gain` by suite, in shares; None: it cannot do it."""

    name: str
    version: str
    gain: dict[str, float | None]
    wall_s: float = 0.0
    first_prompt: int = 900
    requests: int = 1
    malformed: float = 0.0
    error: float = 0.0
    configuration: Configuration = "standard"


@dataclass(frozen=True, slots=True)
class Model:
    """How often a model passes a task in raw, by suite."""

    name: str
    quantization: str
    rate: dict[str, float]
    number: int = 1


SUITES = ("loop_harness", "agent", "loop_code_fix")
HARNESSES = (
    Harness("raw", "2", {}, requests=3),
    Harness(
        "aider",
        "0.86.2",
        {"loop_harness": None, "agent": None, "loop_code_fix": 0.22},
        wall_s=4.1,
        first_prompt=2120,
        requests=2,
        malformed=0.0,
    ),
    Harness(
        "openclaw",
        "2026.9.6",
        {"loop_harness": -0.28, "agent": -0.05, "loop_code_fix": 0.02},
        wall_s=13.4,
        first_prompt=9160,
        requests=8,
        malformed=0.11,
        error=0.02,
    ),
    Harness(
        "hermes",
        "0.19.0",
        {"loop_harness": 0.0, "agent": 0.04, "loop_code_fix": 0.05},
        wall_s=6.2,
        first_prompt=5200,
        requests=7,
        malformed=0.05,
        configuration="custom",
    ),
    Harness(
        "opencode",
        "1.18.33",
        {"loop_harness": 0.1, "agent": 0.02, "loop_code_fix": 0.2},
        wall_s=3.2,
        first_prompt=7407,
        requests=8,
        malformed=0.02,
    ),
)
MODELS = tuple(
    Model(name, quantization, dict(zip(SUITES, rates, strict=True)), number)
    for number, (name, quantization, rates) in enumerate(
        (
            ("qwen3.5:27b", "Q4_K_M", (0.78, 0.62, 0.55)),
            ("mistral-small3.2:24b", "Q4_K_M", (0.66, 0.50, 0.42)),
            ("gpt-oss:20b", "MXFP4", (0.64, 0.44, 0.36)),
            ("qwen3:14b", "Q4_K_M", (0.52, 0.34, 0.28)),
            ("qwen3:8b", "Q8_0", (0.36, 0.22, 0.12)),
        ),
        start=1,
    )
)


def arm(
    model: Model,
    harness: Harness,
    place: int,
    *,
    suites: Sequence[str] = SUITES,
    tasks: int = 12,
    trials: int = 3,
    number: int = 1,
    **changes: object,
) -> RunResult:
    """One run of a model in a harness, with seeded outcomes."""
    dice = random.Random(f"{model.name}{harness.name}")
    made = [
        trial for suite in suites for trial in _suite(model, harness, suite, tasks, trials, dice)
    ]
    is_raw = harness.name == "raw"
    about = samples.subject(
        model_id=model.name,
        quantization=model.quantization,
        weights_digest=f"sha256:{model.number:064x}",
        harness=harness.name,
        harness_version=harness.version,
        harness_config_hash=_config_hash(harness),
    )
    run = samples.result(
        trials=made,
        speed=[],
        profile="harness",
        number=number,
        about=about,
        matrix=MatrixArm(matrix_id=MATRIX_ID, arm=place, arms=tuple(one.name for one in HARNESSES)),
        **changes,
    )
    program = HarnessSettings(place="bubblewrap", limit_rule="ten times the raw arm's")
    settings = run.settings.model_copy(
        update={"trials": trials, "harness": None if is_raw else program}
    )
    return run.model_copy(update={"settings": settings})


def _config_hash(harness: Harness) -> str | None:
    """That of the pinned configuration for a standard one."""
    pinned = {one.adapter.name: one.adapter.config_hash for one in all_harnesses()}
    return pinned[harness.name] if harness.configuration == "standard" else samples.HASH


def _suite(
    model: Model, harness: Harness, suite: str, tasks: int, trials: int, dice: random.Random
) -> list[Trial]:
    gain = harness.gain.get(suite, 0.0)
    hardness = random.Random(f"{model.name}{suite}")
    made = []
    for task in range(tasks):
        lean = hardness.uniform(-0.3, 0.3)
        for number in range(1, trials + 1):
            share = model.rate[suite] + (gain or 0.0) + lean
            outcome: Outcome = "pass" if dice.random() < share else "fail"
            if dice.random() < harness.error:
                outcome = "harness_error"
            if gain is None:
                outcome = "not_applicable"
            made.append(_trial(harness, suite, task, number, outcome, dice))
    return made


def _trial(
    harness: Harness, suite: str, task: int, number: int, outcome: Outcome, dice: random.Random
) -> Trial:
    cold = 5.5 if task == 0 else 0.0
    requests = tuple(_request(harness, turn, dice) for turn in range(harness.requests))
    return samples.quality_trial(
        suite,
        task,
        outcome,
        trial=number,
        is_cold=task == 0,
        latency_s=max(1.0, 9.0 + task / 3 + dice.gauss(0, 0.9) + harness.wall_s + cold),
        requests=requests if outcome != "not_applicable" else None,
    )


def _request(harness: Harness, turn: int, dice: random.Random) -> RequestRecord:
    is_malformed = dice.random() < harness.malformed
    call = CallRecord(
        turn=turn, name="read_file", arguments=f'{{"n": {turn}}}', is_well_formed=not is_malformed
    )
    return RequestRecord(
        sent_s=float(turn),
        latency_s=0.8,
        status=200,
        finish_reason="tool_calls",
        tools_offered=4,
        tokens=TokenCounts(
            prompt=harness.first_prompt + 140 * turn + dice.randint(0, 90), completion=40
        ),
        tool_calls=(call,),
    )


def configuration_of(header: RunHeader) -> Configuration:
    by_name = {harness.name: harness.configuration for harness in HARNESSES}
    return by_name[header.subject.harness]


RECOVERIES = {
    ("aider", "0.86.2"): Recovery({"http_500": True, "stall": True, "unknown_tool": None}),
    ("openclaw", "2026.9.6"): Recovery({"http_500": True, "stall": False, "unknown_tool": True}),
    ("hermes", "0.19.0"): Recovery({"http_500": True}),
}


def large() -> Matrix:
    """5 models x 5 harnesses x 3 suites: not applicable, window too small, not run, custom."""
    runs = [
        arm(model, harness, place, number=10 * row + place)
        for row, model in enumerate(MODELS)
        for place, harness in enumerate(HARNESSES, start=1)
        if (model.name, harness.name) not in {("qwen3:8b", "hermes"), ("gpt-oss:20b", "openclaw")}
    ]
    small = Refusal(
        "qwen3:8b",
        f"sha256:{5:064x}",
        "hermes",
        "context_window",
        "hermes needs a window of 65,536 tokens; the server has 8,192 loaded.",
    )
    return matrix_of(
        runs, configuration_of=configuration_of, refusals=[small], recoveries=RECOVERIES
    )


def smallest() -> Matrix:
    """1 model x 2 arms x 1 suite of three tasks."""
    runs = [
        arm(MODELS[3], harness, place, suites=("loop_code_fix",), tasks=3, number=place)
        for place, harness in enumerate((HARNESSES[0], HARNESSES[1]), start=1)
    ]
    return matrix_of(runs, configuration_of=configuration_of, recoveries=RECOVERIES)
