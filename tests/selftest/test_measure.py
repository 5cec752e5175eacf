"""How often a case is asked, and what is compared with the log: on real simulators."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from bench_loop.scoring.constants import OVERHEAD_TRIALS
from bench_loop.scoring.rates import Shape
from bench_loop.selftest.bare import SPEEDS, measure_noise
from bench_loop.selftest.cases import TRIALS, Case, cases
from bench_loop.selftest.measure import Bench, Figure, measure_case
from bench_loop.selftest.simulated import simulator
from bench_loop.simulator.settings import Program, Settings


class Scripted(Bench):
    """A bench whose trials measure these speeds, one after another, of a true 100."""

    def __init__(self, *speeds: float) -> None:
        self._speeds: Iterator[float] = iter(speeds)

    def compare(self, model: str, case: Case) -> tuple[list[Figure], list[float]]:
        return [Figure.relative("generation", 100.0, next(self._speeds), 0.01)], [0.001]


def scripted(trials: int, *speeds: float) -> tuple[int, bool]:
    """Trials made, and whether the case passes, of a case that asks for `trials`."""
    case = Case("x", "openai", Program(), Shape(8, 8), trials=trials, has_prompt_speed=False)
    result = measure_case(Scripted(*speeds), "sim", case)
    assert len(result.delays_s) == len(result.trials)
    return len(result.trials), result.passes


def test_one_trial_is_enough_where_it_meets_its_bars() -> None:
    assert scripted(1, 100.5) == (1, True)


def test_one_pause_of_the_machine_is_asked_again_and_a_lasting_fault_stays() -> None:
    assert scripted(1, 105.0, 100.1, 99.9) == (3, True)
    assert scripted(1, 105.0, 100.1, 105.0) == (3, False)


def test_the_whole_test_always_takes_the_median_of_all_trials() -> None:
    assert scripted(TRIALS, 100.1, 100.1, 105.0) == (3, True)
    assert scripted(TRIALS, 105.0, 100.1, 105.0) == (3, False)
    assert {case.trials for case in cases(is_quick=False)} == {TRIALS}
    assert {case.trials for case in cases(is_quick=True)} == {1}


def test_the_overhead_holds_the_wait_for_a_whole_first_event() -> None:
    # Eight tokens at 40 tok/s wait 0.18 s: with that out of L0 the prompt would seem 15 % slower.
    program = Program(decode_tps=40.0, prefill_tps=1000.0, tokens_per_chunk=8)
    case = Case("x", "openai", program, Shape(1024, 16), trials=1)
    with (
        simulator(Settings("openai", {"sim": program})) as server,
        closing(Bench(server)) as bench,
    ):
        result = measure_case(bench, "sim", case)
        asked = server.all_sent()
    assert {answer.completion_tokens for answer in asked[:OVERHEAD_TRIALS]} == {8}
    prompt = next(figure for figure in result.figures if figure.name == "prompt")
    assert prompt.measured == pytest.approx(1000.0, rel=0.1)


def test_a_bare_socket_sees_every_event() -> None:
    noise = measure_noise(rounds=1)
    assert len(noise.delays_s) == sum(shape.output_tokens for shape in SPEEDS.values())
    assert len(noise.ttft_s) == len(noise.generation) == len(SPEEDS)
    assert max(noise.generation) < 0.5
    assert min(noise.delays_s) > -0.01
