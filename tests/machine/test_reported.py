"""Machine strings of the kinds that the case file does not hold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_loop.machine.reported import gib_in, parse_gpus


@pytest.mark.parametrize(
    ("text", "gib"),
    [
        ("24564 MiB", pytest.approx(23.988, abs=0.001)),
        ("15.92 GB", 15.92),
        ("8096M", pytest.approx(7.906, abs=0.001)),
        ("1073741824 bytes", 1.0),
        ("12 of 16 GB", 16.0),
        ("[N/A]", None),
        ("2 rows", None),
        ("0 MB", None),
        ("RTX 680M", pytest.approx(0.664, abs=0.001)),
        ("", None),
        (None, None),
    ],
)
def test_amounts_of_memory(text: str | None, gib: float | None) -> None:
    assert gib_in(text) == gib


@pytest.mark.parametrize(
    ("raw", "sizes"),
    [
        ("NVIDIA GH200 480GB", [None]),
        ("NVIDIA H100 80GB HBM3", [80]),
        ("NVIDIA A100-SXM4-40GB", [40]),
        ("RTX 5060 Ti 16GB", [16]),
        ("GPU 0: NVIDIA L4, 23034 MiB\nGPU 1: NVIDIA L4, 23034 MiB", [24, 24]),
        ("\n\nNVIDIA L4, 23034\n\n", [24]),
    ],
)
def test_a_size_in_a_name_is_told_from_a_reading(raw: str, sizes: list[int | None]) -> None:
    assert [gpu.class_gb for gpu in parse_gpus(raw).gpus] == sizes


@pytest.mark.parametrize(
    "raw",
    ["Intel(R) Core(TM) i9-13900K", "AMD Ryzen Threadripper PRO 7995WX 96-Cores", "Neoverse-N1",
     "AMD Ryzen 9 7950X 16-Core Processor", "Intel(R) Xeon(R) Platinum 8480+", "", "\n"],
)  # fmt: skip
def test_a_processor_is_no_gpu(raw: str) -> None:
    found = parse_gpus(raw, None, 64.0)
    assert (found.gpus, found.gpu, found.total_class_gb) == ((), None, None)


def test_an_integrated_gpu_named_with_its_processor_is_one() -> None:
    found = parse_gpus("AMD Ryzen 7 7840U w/ Radeon 780M", "512 MB", 30.6)
    assert (found.gpu, found.total_class_gb) == ("Radeon 780M", 32)


def test_an_unknown_card_keeps_its_name_and_memory() -> None:
    (gpu,) = parse_gpus("Moore Threads MTT S80", "16 GB", 64.0).gpus
    assert (gpu.name, gpu.class_gb, gpu.is_known) == ("MTT S80", 16, False)


@given(st.text(max_size=60), st.text(max_size=20), st.none() | st.floats(0.1, 10_000))
def test_no_text_makes_it_fail(raw: str, memory: str, system: float | None) -> None:
    parse_gpus(raw, memory, system)


def test_an_absurd_amount_of_memory_does_not_make_it_fail() -> None:
    parse_gpus("RTX 4090", "9" * 500 + " GB")
