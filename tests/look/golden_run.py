"""The run behind the golden files: names and outputs that no format may take for its own marks."""

from __future__ import annotations

from bench_loop.result.records import RunResult
from tests.look import samples

HOSTILE_NAME = "ev`il|<b>@team</b>\nhttps://x.example #1"


def golden_run() -> RunResult:
    """Three suites, every kind of outcome, a formula as an answer, signs that XML lacks."""
    plain = [
        samples.quality_trial(
            "reasonmath", number, outcome, latency_s=6.92, capability_tags=("arithmetic",)
        )
        for number, outcome in enumerate(("pass", "fail", "truncated", "partial"))
    ]
    odd = [
        samples.quality_trial("loop_schema", 1, "harness_error"),
        samples.quality_trial("loop_schema", 2, "infrastructure_error"),
        samples.quality_trial("loop_schema", 3, "not_applicable"),
        samples.quality_trial(
            "loop_schema",
            4,
            "fail",
            answer="=cmd|'/C calc'!A0",
            output="]]><x>\x00\x1b[31m\ufffe & \u202e tail",
            message="The answer `=1+1` | is @nobody's <b>choice</b>.",
        ),
    ]
    own = [samples.quality_trial(HOSTILE_NAME, 1), samples.quality_trial(HOSTILE_NAME, 2, "fail")]
    return samples.result(trials=[*plain, *odd, *own], about=samples.subject(model_id=HOSTILE_NAME))
