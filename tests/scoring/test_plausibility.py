"""Ceilings on speed, worked by hand."""

from __future__ import annotations

import math

import pytest

from bench_loop.scoring.plausibility import (
    Ceilings,
    WeightsPart,
    fits_cache,
    implausible,
    parallel_generation_ceiling,
    prompt_ceiling,
    split_generation_ceiling,
)
from tests.scoring.make_trials import engine_timings, speed_trial, task_trial

GIB = 2**30


def kinds(tps: float, ceilings: Ceilings) -> list[str]:
    return [one.kind for one in implausible([speed_trial(tps=tps)], ceilings)]


def test_one_gpu_reads_its_weights_once_a_token() -> None:
    # 1008 GB/s / 4.1 GB = 245.9; with the tolerance of 1.15 it is 282.7
    ceiling = parallel_generation_ceiling(4.1e9, [1008])
    assert ceiling == pytest.approx(245.85, abs=0.01)
    assert 1.15 * ceiling == pytest.approx(282.7, abs=0.1)


def test_the_bandwidths_of_parallel_gpus_add_up() -> None:
    # (1792 + 1792) / 4.0 = 896
    assert parallel_generation_ceiling(4.0e9, [1792, 1792]) == pytest.approx(896.0)


def test_layers_on_two_devices_are_read_one_after_another() -> None:
    # 3 GB / 1000 GB/s + 1 GB / 50 GB/s = 3 ms + 20 ms = 23 ms
    parts = [WeightsPart(3e9, 1000), WeightsPart(1e9, 50)]
    assert split_generation_ceiling(parts) == pytest.approx(1000 / 23)


def test_accepted_drafts_come_for_free() -> None:
    # 1000 / 4 = 250 steps a second of 1 + 2.4 tokens
    assert parallel_generation_ceiling(4e9, [1000], accepted_drafts=2.4) == pytest.approx(850.0)


def test_weights_of_no_size_set_no_ceiling() -> None:
    assert parallel_generation_ceiling(0.0, [1000]) == math.inf


def test_a_prompt_token_costs_two_operations_a_parameter() -> None:
    # 330 x 10^12 / (2 x 7 x 10^9) = 23,571
    assert prompt_ceiling(7.0, [330]) == pytest.approx(23571.4, abs=0.1)


def test_weights_that_fit_the_caches_are_told() -> None:
    assert fits_cache(0.25 * GIB)
    assert not fits_cache(0.26 * GIB)
    assert fits_cache(0.5 * GIB, devices=2)


def test_a_speed_is_believed_up_to_the_tolerance() -> None:
    assert kinds(114.9, Ceilings(100.0, None)) == []
    assert kinds(115.1, Ceilings(100.0, None)) == ["generation"]


def test_the_speed_of_a_prompt_is_checked_too() -> None:
    # 4,096 tokens in 1.0 s
    timings = engine_timings(prompt=4096, prompt_s=1.0)
    (found,) = implausible([speed_trial("p4096x64", engine=timings)], Ceilings(None, 1000.0))
    assert (found.index, found.kind, found.tps) == (0, "prompt", 4096.0)


def test_without_ceilings_nothing_is_checked() -> None:
    assert kinds(100_000.0, Ceilings(None, None)) == []


def test_a_trial_of_several_requests_is_left_out() -> None:
    trial = speed_trial(tps=500.0).model_copy(update={"turns": 2})
    assert list(implausible([task_trial(), trial], Ceilings(100.0, None))) == []
