"""What the speed suite sends, and how many trials of it, to machines of different kinds."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from bench_loop.commands._setup import load_harness, prepare
from bench_loop.contracts.chat import (
    ChatReply,
    ChatRequest,
    EngineTimings,
    StreamFacts,
    TokenCounts,
)
from bench_loop.engine.packs import load_pack
from bench_loop.engine.plan import PlannedSuite, RunPlan, make_plan
from bench_loop.engine.profiles import PROFILES
from bench_loop.engine.run import Run
from bench_loop.engine.speed_plans import Rates, calibrated
from bench_loop.result.records import RunResult
from tests.engine.doubles import ScriptedProvider, reply


def steady(request: ChatRequest, tps: float, *, cached: int | None = 0) -> ChatReply:
    """Exactly `max_tokens` tokens at `tps`, after a prompt read at 10,000 tokens a second."""
    tokens = request.max_tokens
    prompt = sum(len(message.content.split()) for message in request.messages)
    prompt_s, generation_s = prompt / 10_000, (tokens - 1) / tps
    return reply(
        "words",
        finish_reason="length",
        latency_s=prompt_s + generation_s,
        t_first_byte_s=prompt_s,
        t_first_answer_s=prompt_s,
        t_last_s=prompt_s + generation_s,
        tokens=TokenCounts(
            prompt=prompt, cached=cached, completion=tokens, reasoning=0, basis="engine_timings"
        ),
        engine_timings=EngineTimings(
            prompt_tokens=prompt,
            prompt_s=prompt_s,
            generated_tokens=tokens,
            generation_s=generation_s,
        ),
        stream=StreamFacts(events=tokens, distinct_arrivals=tokens),
    )


def speed_only(profile: str) -> RunPlan:
    """The plan of a profile without its quality suites."""
    plan = make_plan(profile=profile)
    pack = load_pack("speed")
    return RunPlan(
        PROFILES[profile], (PlannedSuite(pack, pack.tasks),), 1, plan.sampling, plan.context_window
    )


def run_speed(
    folder: Path, tps: float, profile: str = "quick", *, cached: int | None = 0
) -> RunResult:
    provider = ScriptedProvider(default=lambda request: steady(request, tps, cached=cached))
    setup = prepare(provider, "tiny", load_harness("raw"))
    return Run(speed_only(profile), setup, folder, lambda event: None).go()


def shapes(result: RunResult) -> Counter[str]:
    return Counter(trial.task_id for trial in result.trials)


@pytest.mark.parametrize(
    ("tps", "trials"),
    [
        (50.0, {"p1024x256": 3}),
        # 255 tokens at 800 tok/s last 0.319 s: three windows are 0.956 s, four are 1.275 s.
        (800.0, {"p1024x256": 4}),
        # 255 tokens at 1,900 tok/s last 0.134 s: it takes eight windows to make a second.
        (1900.0, {"p1024x256": 8}),
        # Above 2,000 tok/s 2,048 tokens are asked for: 2,047 of them last 0.682 s.
        (3000.0, {"p1024x256": 3, "p1024x2048": 3}),
        # 2,047 tokens at 9,000 tok/s last 0.227 s: five windows are 1.137 s.
        (9000.0, {"p1024x256": 3, "p1024x2048": 5}),
    ],
)
def test_every_machine_gets_the_trials_that_rate_it(
    tmp_path: Path, tps: float, trials: dict[str, int]
) -> None:
    result = run_speed(tmp_path, tps)
    assert shapes(result) == Counter(trials | {"p4096x64": 1, "p128x64": 1})
    assert result.speed is not None
    assert result.speed.generation_tps is not None
    assert result.speed.generation_tps.median == pytest.approx(tps)
    assert "too_short_to_rate" not in result.speed.findings


def test_smoke_rates_a_slow_machine_with_its_three_short_trials(tmp_path: Path) -> None:
    assert shapes(run_speed(tmp_path, 50.0, "smoke")) == Counter({"p1024x64": 3})


def test_smoke_rates_a_fast_machine_with_one_long_trial_more(tmp_path: Path) -> None:
    # Three windows of 63 tokens at 400 tok/s are 0.47 s.
    result = run_speed(tmp_path, 400.0, "smoke")
    assert shapes(result) == Counter({"p1024x64": 3, "p1024x2048": 1})
    assert result.speed is not None
    assert result.speed.generation_tps is not None
    assert (result.speed.generation_tps.n, result.speed.generation_tps.stdev) == (1, None)


def test_a_server_that_hides_its_cache_reads_two_large_prompts(tmp_path: Path) -> None:
    result = run_speed(tmp_path, 50.0, cached=None)
    assert shapes(result)["p4096x64"] == 2
    assert result.speed is not None
    assert "cache_hidden" not in result.speed.findings


def test_prompts_end_with_the_request_to_write_on(tmp_path: Path) -> None:
    provider = ScriptedProvider(default=lambda request: steady(request, 50.0))
    setup = prepare(provider, "tiny", load_harness("raw"))
    Run(speed_only("quick"), setup, tmp_path, lambda event: None).go()
    timed = [request for request in provider.requests if request.force_length]
    request = load_pack("speed").texts["request"]
    assert all(one.messages[0].content.endswith(request) for one in timed)


def test_a_stream_in_one_piece_is_timed_as_a_whole() -> None:
    # 512 prompt and 64 output tokens in 8 s, all at once: neither can be told apart.
    whole = reply(
        latency_s=8.0,
        t_first_answer_s=8.0,
        t_last_s=8.0,
        tokens=TokenCounts(prompt=512, completion=65, basis="usage"),
        stream=StreamFacts(events=1, distinct_arrivals=1),
    )
    assert calibrated(whole) == Rates(64.0, 8.0)


def test_a_stream_of_tokens_is_timed_in_its_two_parts() -> None:
    # 120 tokens in 0.3 s, then 115 more tokens in 2.3 s.
    assert calibrated(reply()) == Rates(pytest.approx(400.0), pytest.approx(50.0))  # type: ignore[arg-type]
