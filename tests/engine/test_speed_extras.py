"""Filled windows, several streams and minutes of load, on a server whose speed is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bench_loop.commands._setup import load_harness, prepare
from bench_loop.contracts.provider import Provider, ServerFacts
from bench_loop.engine.packs import load_pack
from bench_loop.engine.plan import PlannedSuite, RunOptions, RunPlan, make_plan
from bench_loop.engine.run import Run
from bench_loop.errors import ContextCutError, UsageError
from bench_loop.result import store
from bench_loop.result.records import RunResult
from bench_loop.selftest.simulated import Sent, simulator
from bench_loop.simulator.settings import Program, Settings
from submissions import checks, intake

QUICK = Program(prefill_tps=40_000.0, decode_tps=180.0, window=40_960)
"""Fast enough for a test, and slow enough for three short windows to make a second."""


def speed_plan(window: int = 40_960) -> RunPlan:
    """Speed alone, by the plan of smoke: three short requests."""
    smoke = make_plan(profile="smoke", context_window=window)
    pack = load_pack("speed")
    return replace(smoke, suites=(PlannedSuite(pack, pack.tasks),))


def run(
    provider: Provider, folder: Path, options: RunOptions, plan: RunPlan | None = None
) -> RunResult:
    setup = prepare(provider, "sim", load_harness("raw"))
    return Run(plan or speed_plan(), setup, folder, lambda event: None, options).go()


def refusals(result: RunResult) -> list[checks.Finding]:
    read = intake.parse(store.to_bytes(result))
    later = datetime.now(UTC) + timedelta(days=1)
    return [one for one in checks.findings(read, later) if one.severity == "refused"]


@pytest.fixture
def llama() -> Iterator[Provider]:
    with simulator(Settings("llama.cpp", {"sim": QUICK})) as server:
        yield server.connect()


def test_the_context_curve_has_a_point_for_each_window_that_is_loaded(tmp_path: Path) -> None:
    program = replace(QUICK, decode_tps=500.0)
    with simulator(Settings("llama.cpp", {"sim": program})) as server:
        result = run(server.connect(), tmp_path, RunOptions(has_context_curve=True))
    assert result.speed is not None
    assert result.speed.curve is not None
    assert [point.context_tokens for point in result.speed.curve] == [8192, 16384, 32768]
    for point in result.speed.curve:
        assert point.generation_tps is not None
        assert point.generation_tps.median == pytest.approx(500, rel=0.1)
        assert point.prompt_tps is not None
        assert point.prompt_tps.median == pytest.approx(40_000, rel=0.1)
    # 255 tokens at 500 tok/s last 0.51 s: two windows make the second that a speed needs.
    assert Counter(trial.task_id for trial in result.trials)["p7680x256"] == 2
    assert refusals(result) == []


def test_a_loaded_window_of_8k_has_one_point(tmp_path: Path) -> None:
    with simulator(Settings("llama.cpp", {"sim": replace(QUICK, window=8192)})) as server:
        result = run(server.connect(), tmp_path, RunOptions(has_context_curve=True))
    assert result.speed is not None
    assert result.speed.curve is not None
    assert [point.context_tokens for point in result.speed.curve] == [8192]


def test_several_streams_add_up(tmp_path: Path) -> None:
    # The simulator serves everyone at full speed; its OpenAI dialect names no slots.
    program = Program(prefill_tps=10_000.0, decode_tps=100.0)
    with simulator(Settings("openai", {"sim": program})) as server:
        result = run(server.connect(), tmp_path, RunOptions(concurrency=(1, 4)))
    assert result.speed is not None
    assert result.speed.concurrency is not None
    one, four = result.speed.concurrency
    assert (one.streams, four.streams, four.failed) == (1, 4, 0)
    assert one.aggregate_tps is not None
    assert four.aggregate_tps is not None
    # 128 tokens take 0.05 s for the prompt and 1.27 s for the rest.
    assert one.aggregate_tps == pytest.approx(128 / 1.32, rel=0.1)
    assert four.aggregate_tps == pytest.approx(4 * one.aggregate_tps, rel=0.15)
    assert four.stream_tps is not None
    assert (four.stream_tps.n, four.queue_wait_s) == (4, None)
    assert refusals(result) == []


def test_a_wait_in_the_queue_is_seen_beside_the_engines_own_time(tmp_path: Path) -> None:
    class Slots:
        """The server, with two slots more than the simulator names."""

        def __init__(self, inner: Provider) -> None:
            self.name = inner.name
            self._inner = inner

        def __getattr__(self, name: str) -> object:
            return getattr(self._inner, name)

        def server(self) -> ServerFacts:
            return self._inner.server().model_copy(update={"parallel_slots": 2})

    program = Program(prefill_tps=10_000.0, decode_tps=180.0, queue_s=0.3)
    with simulator(Settings("llama.cpp", {"sim": program})) as server:
        slots: Provider = Slots(server.connect())  # type: ignore[assignment]
        result = run(slots, tmp_path, RunOptions(concurrency=(2,)))
    assert result.speed is not None
    assert result.speed.concurrency is not None
    wait = result.speed.concurrency[0].queue_wait_s
    assert wait is not None
    assert wait.median == pytest.approx(0.3, abs=0.1)


def test_more_streams_than_slots_are_refused_before_anything_is_sent(
    llama: Provider, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="4 streams at once need as many slots; the server has 1"):
        run(llama, tmp_path, RunOptions(concurrency=(1, 4)))


def really_held(sent: list[Sent]) -> tuple[float, float]:
    """By the server's own log, its speed in the first and in the last tenth of these requests."""
    began, ended = sent[0].received_s, sent[-1].events[-1][0]
    edge_s = (ended - began) / 10
    first = [one for one in sent if one.received_s <= began + edge_s]
    last = [one for one in sent if one.events[-1][0] >= ended - edge_s]
    return pooled_tps(first), pooled_tps(last)


def pooled_tps(sent: list[Sent]) -> float:
    """Tokens after the first event of each, by the time in which they were sent."""
    tokens = sum(sum(tokens for _, tokens, _ in one.events[1:]) for one in sent)
    return tokens / sum(one.events[-1][0] - one.events[0][0] for one in sent)


@pytest.mark.slow
def test_a_machine_that_slows_down_is_found_throttling(tmp_path: Path) -> None:
    # The speed falls evenly to a tenth within 40 s of the first request: whenever in them the load
    # begins, its 8 s lose more than a tenth.
    program = Program(prefill_tps=40_000.0, decode_tps=300.0, decay_to=0.1, decay_s=40.0)
    with simulator(Settings("llama.cpp", {"sim": program})) as server:
        result = run(server.connect(), tmp_path, RunOptions(sustained_s=8.0))
        held = [trial for trial in result.trials if trial.task_id.startswith("s-")]
        requests = len(result.trials) + 2  # one that loads the model, and the calibration
        server.sent(requests - 1)
        first_tps, last_tps = really_held(server.all_sent()[requests - len(held) :])
    assert last_tps < 0.9 * first_tps
    assert result.speed is not None
    load = result.speed.sustained
    assert load is not None
    assert load.n == len(held)
    assert load.first_tps == pytest.approx(first_tps, rel=0.1)
    assert load.last_tps == pytest.approx(last_tps, rel=0.1)
    assert load.ratio == pytest.approx(load.last_tps / load.first_tps)
    assert "throttling" in result.speed.findings
    assert all(trial.output is None for trial in held)
    assert refusals(result) == []


def test_a_steady_machine_is_not_throttling(llama: Provider, tmp_path: Path) -> None:
    result = run(llama, tmp_path, RunOptions(sustained_s=4.0))
    assert result.speed is not None
    assert result.speed.sustained is not None
    assert result.speed.sustained.ratio == pytest.approx(1.0, abs=0.09)
    assert "throttling" not in result.speed.findings


def test_the_pauses_between_tokens_are_kept_as_percentiles(llama: Provider, tmp_path: Path) -> None:
    result = run(llama, tmp_path, RunOptions())
    assert result.speed is not None
    assert result.speed.token_gap_s is not None
    assert result.speed.token_gap_s.p50_s == pytest.approx(1 / 180, abs=0.0005)
    assert result.speed.token_gap_s.p95_s <= result.speed.token_gap_s.p99_s


@pytest.mark.parametrize("window", [300, 700])
def test_an_ollama_that_cuts_prompts_stops_the_run_with_the_remedy(
    tmp_path: Path, window: int
) -> None:
    program = replace(QUICK, window=window, cuts_prompt=True)
    with (
        simulator(Settings("ollama", {"sim:latest": program})) as server,
        pytest.raises(ContextCutError, match=f"read only {window} tokens") as stopped,
    ):
        run(server.connect(), tmp_path, RunOptions(), speed_plan(8192))
    assert "num_ctx" in str(stopped.value.remedy)


def test_what_was_finished_before_a_cut_is_kept_as_an_aborted_run(tmp_path: Path) -> None:
    program = replace(QUICK, window=2000, cuts_prompt=True)
    with simulator(Settings("openai", {"sim": program})) as server:
        setup = prepare(server.connect(), "sim", load_harness("raw"))
        pack = load_pack("speed")
        quick = replace(make_plan(profile="quick"), suites=(PlannedSuite(pack, pack.tasks),))
        with pytest.raises(ContextCutError):
            Run(quick, setup, tmp_path, lambda event: None).go()
    kept = store.load(tmp_path / "latest.json")
    assert kept.status == "aborted"
    assert kept.status_reason is not None
    assert "cuts prompts" in kept.status_reason


def test_options_that_need_the_speed_suite_say_so(llama: Provider, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="rest on the speed suite"):
        run(llama, tmp_path, RunOptions(budget_s=60), make_plan(suites=["reasonmath"]))
