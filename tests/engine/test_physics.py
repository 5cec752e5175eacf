"""From the names in a record to what its hardware allows."""

from __future__ import annotations

from typing import Any

import pytest

from bench_loop.engine.physics import ceilings_of, implausible_speeds
from bench_loop.result.records import Gpu
from tests.look import samples

RTX_5090 = Gpu(model="RTX 5090", vendor="NVIDIA", memory_gb=31.8)


def ceiling(gpus: tuple[Gpu, ...] | None = None, **subject: Any) -> float | None:
    """Ceiling on generation speed; by default of 8.2 B parameters in 4 bits on one RTX 4090."""
    machine = samples.machine() if gpus is None else samples.machine(gpus=gpus)
    run = samples.result().model_copy(
        update={"machine": machine, "subject": samples.subject(**subject)}
    )
    return ceilings_of(run).generation_tps


def test_a_7b_model_in_4_bits_is_bound_by_the_memory_of_an_rtx_4090() -> None:
    # 6.7 x 10^9 x 4.9 bits / 8 = 4.10 GB; 1008 / 4.10 = 245.6
    assert ceiling(parameters_b=6.7, bits_per_weight=4.9) == pytest.approx(245.6, abs=0.1)


def test_a_width_that_was_not_read_is_the_nominal_one() -> None:
    # 8.2 x 10^9 x 4 bits / 8 = 4.1 GB
    assert ceiling() == pytest.approx(1008 / 4.1)


def test_of_a_mixture_of_experts_the_active_weights_are_read() -> None:
    # 3.3 x 10^9 x 4 bits / 8 = 1.65 GB
    assert ceiling(parameters_b=30.5, active_parameters_b=3.3) == pytest.approx(1008 / 1.65)


def test_two_gpus_are_read_at_once() -> None:
    # E003: 801.6 tok/s on two RTX 5090 were refused by a table of one GPU.
    # 3584 GB/s / (8.2 x 10^9 x 4 bits / 8) = 874
    found = ceiling((RTX_5090, RTX_5090))
    assert found == pytest.approx(3584 / 4.1)
    assert found > 801.6


def test_the_part_on_the_processor_is_taken_as_free() -> None:
    # half of 4.1 GB at 1008 GB/s
    assert ceiling(offloaded_share=0.5) == pytest.approx(1008 / 2.05)


@pytest.mark.parametrize(
    ("gpus", "subject"),
    [
        ((), {}),
        ((Gpu(model="RTX 6090", vendor="NVIDIA"),), {}),
        ((RTX_5090, Gpu(model="RTX 6090", vendor="NVIDIA")), {}),
        (None, {"parameters_b": None}),
        (None, {"quantization": None}),
        (None, {"offloaded_share": 0.0}),
        (None, {"speculative": "draft"}),
        (None, {"parameters_b": 0.4}),
    ],
    ids=["no GPU", "unknown", "one unknown", "size", "width", "CPU", "drafts", "in the cache"],
)
def test_what_is_not_known_is_not_checked(
    gpus: tuple[Gpu, ...] | None, subject: dict[str, Any]
) -> None:
    assert ceiling(gpus, **subject) is None


def test_an_apple_chip_is_known_by_its_memory() -> None:
    assert ceiling((Gpu(model="M4 Max", vendor="Apple"),)) == pytest.approx(546 / 4.1)


def test_a_run_within_its_ceilings_is_not_doubted() -> None:
    assert implausible_speeds(samples.result()) == ()
