"""The device table: canonical names and memory classes."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from bench_loop.machine import devices
from bench_loop.machine.devices import find_device, gpu_class_gb, system_class_gb


@pytest.mark.parametrize(
    ("raw", "name", "vendor"),
    [
        ("NVIDIA GeForce RTX 4090", "RTX 4090", "NVIDIA"),
        ("GeForce RTX 4090", "RTX 4090", "NVIDIA"),
        ("rtx 4090", "RTX 4090", "NVIDIA"),
        ("4090", "RTX 4090", "NVIDIA"),
        ("NVIDIA GeForce RTX 4070 Ti SUPER", "RTX 4070 Ti SUPER", "NVIDIA"),
        ("NVIDIA GeForce RTX 4060 Laptop GPU", "RTX 4060 Laptop", "NVIDIA"),
        ("NVIDIA A100-SXM4-80GB", "A100 SXM", "NVIDIA"),
        ("NVIDIA A100 80GB PCIe", "A100 PCIe", "NVIDIA"),
        ("NVIDIA H200", "H200", "NVIDIA"),
        ("NVIDIA H200 NVL", "H200 NVL", "NVIDIA"),
        ("NVIDIA L4", "L4", "NVIDIA"),
        ("Quadro RTX 6000", "Quadro RTX 6000", "NVIDIA"),
        ("Radeon RX 7900 GRE", "RX 7900 GRE", "AMD"),
        ("7900 XTX", "RX 7900 XTX", "AMD"),
        ("AMD Instinct MI300X", "Instinct MI300X", "AMD"),
        ("AMD Radeon 780M Graphics", "Radeon 780M", "AMD"),
        ("Intel(R) Arc(TM) B580 Graphics", "Arc B580", "Intel"),
        ("Intel(R) Arc(TM) 140V GPU (16GB)", "Arc 140V", "Intel"),
        ("Apple M4 Max", "M4 Max", "Apple"),
        ("Apple M9 Ultra", "M9 Ultra", "Apple"),
    ],
)
def test_a_device_has_one_name(raw: str, name: str, vendor: str) -> None:
    device = find_device(raw)
    assert (device.name, device.vendor) == (name, vendor)


@pytest.mark.parametrize(
    ("raw", "name", "vendor"),
    [
        ("NVIDIA GeForce RTX 6090", "RTX 6090", "NVIDIA"),
        ("NVIDIA GeForce RTX 5070 SUPER", "RTX 5070 SUPER", "NVIDIA"),
        ("NVIDIA GeForce RTX 2070 with Max-Q Design", "RTX 2070 Max-Q", "NVIDIA"),
        ("AMD Radeon RX 9990 XTX", "RX 9990 XTX", "AMD"),
        ("Intel(R) Arc(TM) C990 Graphics", "Arc C990", "Intel"),
        ("Moore Threads MTT S80", "MTT S80", "Moore Threads"),
    ],
)
def test_an_unknown_device_keeps_its_name_and_is_marked(
    raw: str, name: str, vendor: str | None
) -> None:
    device = find_device(raw)
    assert (device.name, device.vendor, device.is_known) == (name, vendor, False)


@pytest.mark.parametrize(
    "raw",
    ["Apple M1", "NVIDIA GB10", "Orin (nvgpu)", "AMD Radeon(TM) Graphics", "Radeon 8060S",
     "Intel(R) UHD Graphics 630", "Intel(R) Iris(R) Xe Graphics", "AMD Radeon 610M"],
)  # fmt: skip
def test_what_shares_the_systems_memory_is_unified(raw: str) -> None:
    assert find_device(raw).is_unified


def test_every_device_of_the_table_is_found_by_its_own_name() -> None:
    table = Path(devices.__file__).with_name("devices.yaml").read_text(encoding="utf-8")
    for line in yaml.safe_load(table)["devices"]:
        device = find_device(f"{line['vendor']} {line['name']}")
        assert (device.name, device.is_known) == (line["name"], True)


@pytest.mark.parametrize("raw", ["", " ", ",", "\0", "()", "GPU 0:", "|||", "A" * 100_000])
def test_strange_text_does_no_harm(raw: str) -> None:
    assert not find_device(raw).is_known


@pytest.mark.parametrize(
    ("raw", "measured_gib", "class_gb"),
    [
        ("RTX 4090", 23.99, 24),
        ("RTX 4090", 47.0, 48),
        ("RTX 4090", 3.999, 24),
        ("RTX 4090", None, 24),
        ("RTX 3060", 11.76, 12),
        ("RTX 3060", 8.0, 8),
        ("RTX 3060", None, None),
        ("L40S", 44.99, 48),
        ("H100 NVL", 93.58, 94),
        ("Frobnicator 1", 15.9, 16),
        ("Frobnicator 1", 62.0, 64),
        ("Frobnicator 1", 500.0, 500),
        ("Frobnicator 1", None, None),
    ],
)
def test_the_class_is_the_size_that_the_board_is_sold_with(
    raw: str, measured_gib: float | None, class_gb: int | None
) -> None:
    assert gpu_class_gb(find_device(raw), measured_gib) == class_gb


@pytest.mark.parametrize(
    ("shown_gib", "installed_gb"),
    [(23.54, 24), (62.5, 64), (377.4, 384), (7.1, 8), (36.0, 36), (121.63, 128), (0.45, 1),
     (503.0, 512), (1007.0, 1024), (9000.0, 9000)],
)  # fmt: skip
def test_installed_memory_is_a_usual_size(shown_gib: float, installed_gb: int) -> None:
    assert system_class_gb(shown_gib) == installed_gb


@pytest.mark.parametrize(
    ("raw", "bandwidth_gbs"),
    [
        ("NVIDIA GeForce RTX 4090", 1008),
        ("NVIDIA GeForce RTX 5090", 1792),
        ("NVIDIA GeForce RTX 3090", 936),
        ("NVIDIA H200", 4800),
        ("AMD Radeon RX 7900 XTX", 960),
        ("Apple M2 Ultra", 800),
        ("Apple M9 Ultra", None),
        ("AMD Radeon 780M Graphics", None),
        ("NVIDIA GeForce RTX 6090", None),
    ],
)
def test_the_memory_of_a_device_has_its_published_speed(
    raw: str, bandwidth_gbs: float | None
) -> None:
    assert find_device(raw).bandwidth_gbs == bandwidth_gbs


def test_dense_compute_is_not_the_doubled_rate_of_sparse_matrices() -> None:
    # 3,352 "AI TOPS" of the RTX 5090 count sparse matrices.
    assert find_device("RTX 5090").dense_tflops == 1676
