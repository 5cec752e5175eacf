"""Parsers of what operating systems and tools print; the recordings are synthetic."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench_loop.machine import linux, macos, registry, windows
from bench_loop.machine.cpu import clean_cpu_name, cpu_from_cpuinfo
from bench_loop.machine.detect import backend_guess, detect
from bench_loop.machine.gpus import (
    computing,
    gpus_from_lspci,
    gpus_from_nvidia_smi,
    gpus_from_rocm_smi,
    gpus_from_system_profiler,
)
from bench_loop.machine.probe import read_text, run_tool
from bench_loop.result.records import Gpu


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz", "Intel Xeon E5-2680 v4"),
        ("Intel(R) Xeon(R) Processor", "Intel Xeon"),
        ("AMD EPYC 9654 96-Core Processor", "AMD EPYC 9654"),
        ("AMD Ryzen 9 7950X 16-Core Processor", "AMD Ryzen 9 7950X"),
        ("AMD RYZEN AI MAX+ 395 w/ Radeon 8060S", "AMD RYZEN AI MAX+ 395"),
        ("AMD Ryzen 7 PRO 7840U with Radeon 780M Graphics", "AMD Ryzen 7 PRO 7840U"),
        ("12th Gen Intel(R) Core(TM) i7-12700K", "Intel Core i7-12700K"),
        ("Intel(R) Core(TM) Ultra 7 155H", "Intel Core Ultra 7 155H"),
        ("Apple M3 Pro", "Apple M3 Pro"),
        ("AMD FX(tm)-8350 Eight-Core Processor", "AMD FX-8350"),
        ("", None),
        ("  ", None),
    ],
)
def test_a_processor_has_a_short_name(raw: str, name: str | None) -> None:
    assert clean_cpu_name(raw) == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("processor\t: 0\nmodel name\t: AMD EPYC 7B13\n\nprocessor\t: 1\n", "AMD EPYC 7B13"),
        ("Architecture:  aarch64\nModel name:  Apple M2", "Apple M2"),
        (
            "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd08\nHardware\t: BCM2835",
            "Cortex-A72",
        ),
        (
            "CPU implementer\t: 0x41\nCPU part\t: 0xd87\n\nCPU implementer\t: 0x41\n"
            "CPU part\t: 0xd85\n\nCPU implementer\t: 0x41\nCPU part\t: 0xd85\n",
            "Cortex-A725 + Cortex-X925",
        ),
        ("CPU implementer\t: 0x70\nCPU architecture: 8\nCPU part\t: 0x662", "ARM 0x70/0x662"),
        ("", None),
        ("nothing of use", None),
    ],
)
def test_the_processor_in_cpuinfo(text: str, name: str | None) -> None:
    assert cpu_from_cpuinfo(text) == name


@pytest.mark.parametrize(
    ("text", "gib"),
    [
        ("MemTotal:       24684224 kB\nMemFree:  1 kB\n", 23.54),
        ("MemTotal:       0 kB\n", None),
        ("", None),
    ],
)
def test_memory_in_meminfo(text: str, gib: float | None) -> None:
    assert linux.memory_from_meminfo(text) == gib


@pytest.mark.parametrize(
    ("text", "gib"), [("8589934592", 8.0), ("max", None), ("", None), ("0", None)]
)
def test_the_limit_of_a_container(text: str, gib: float | None) -> None:
    assert linux.memory_limit(text) == gib


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('NAME="Ubuntu"\nPRETTY_NAME="Ubuntu 24.04.1 LTS"\n', "Ubuntu 24.04.1 LTS"),
        ("PRETTY_NAME=Alpine\n", "Alpine"),
        ("NAME=x\n", None),
    ],
)
def test_the_distribution_in_os_release(text: str, name: str | None) -> None:
    assert linux.os_from_release(text) == name


def test_wsl_is_neither_linux_nor_windows() -> None:
    kernel = "6.6.87.2-microsoft-standard-WSL2"
    assert linux.with_wsl("Ubuntu 24.04.1 LTS", kernel) == "Ubuntu 24.04.1 LTS (WSL2)"


@pytest.mark.parametrize(
    ("text", "module"),
    [
        ("NVIDIA Jetson Orin Nano Engineering Reference Developer Kit Super", "Jetson Orin Nano"),
        ("NVIDIA Jetson AGX Orin Developer Kit", "Jetson AGX Orin"),
        ("Raspberry Pi 5 Model B Rev 1.0", None),
        ("", None),
    ],
)
def test_a_jetson_in_the_device_tree(text: str, module: str | None) -> None:
    assert linux.jetson_from_device_tree(text) == module


def test_rows_of_nvidia_smi() -> None:
    text = "NVIDIA GeForce RTX 4090, 24564\nNVIDIA GeForce RTX 4080, 16376\n"
    assert gpus_from_nvidia_smi(text) == (
        Gpu(model="RTX 4090", vendor="NVIDIA", memory_gb=23.99),
        Gpu(model="RTX 4080", vendor="NVIDIA", memory_gb=15.99),
    )


def test_memory_that_is_no_number_does_not_drop_the_gpu() -> None:
    assert gpus_from_nvidia_smi("NVIDIA GB10, [N/A]\n", 121.63) == (
        Gpu(model="GB10 (DGX Spark)", vendor="NVIDIA", memory_gb=121.63),
    )


@pytest.mark.parametrize(
    "text", ["", "\n\n", "No devices were found\n", "Failed to initialize NVML: Unknown Error"]
)
def test_messages_of_nvidia_smi_are_no_gpus(text: str) -> None:
    assert gpus_from_nvidia_smi(text) == ()


def test_cards_of_rocm_smi() -> None:
    text = json.dumps(
        {
            "card0": {"Card Series": "Radeon RX 7900 XTX", "VRAM Total Memory (B)": "25753026560"},
            "card1": {"Card Series": "N/A", "GFX Version": "gfx1100"},
            "system": {"Driver version": "6.10"},
        }
    )
    assert gpus_from_rocm_smi(text) == (
        Gpu(model="RX 7900 XTX", vendor="AMD", memory_gb=23.98),
        Gpu(model="gfx1100 (unresolved)", vendor="AMD"),
    )


def test_the_memory_of_an_integrated_gpu_is_the_systems() -> None:
    text = json.dumps(
        {"card0": {"Card Series": "AMD Radeon Graphics", "VRAM Total Memory (B)": "536870912"}}
    )
    assert gpus_from_rocm_smi(text, 30.6)[0].memory_gb == 30.6


@pytest.mark.parametrize("text", ["", "[]", "{", "null", '{"card0": 7}', "[" * 10_000])
def test_broken_json_of_a_tool_is_no_gpu(text: str) -> None:
    assert gpus_from_rocm_smi(text) == ()
    assert gpus_from_system_profiler(text) == ()


def test_the_display_list_of_an_apple_chip() -> None:
    text = json.dumps({"SPDisplaysDataType": [{"_name": "kHW", "sppci_model": "Apple M3 Pro"}]})
    assert gpus_from_system_profiler(text, 36.0) == (
        Gpu(model="M3 Pro", vendor="Apple", memory_gb=36.0),
    )


def test_the_display_list_of_an_intel_mac() -> None:
    text = json.dumps(
        {
            "SPDisplaysDataType": [
                {"sppci_model": "Intel UHD Graphics 630", "_spdisplays_vram": "1536 MB"},
                {"sppci_model": "AMD Radeon Pro 5500M", "spdisplays_vram": "8 GB"},
            ]
        }
    )
    gpus = gpus_from_system_profiler(text, 32.0)
    assert [(gpu.model, gpu.memory_gb) for gpu in computing(gpus)] == [("Pro 5500M", 8.0)]


def test_display_controllers_of_lspci() -> None:
    text = (
        '01:00.0 "VGA compatible controller" "NVIDIA Corporation" "AD102 [GeForce RTX 4090]" -ra1\n'
        '00:1f.3 "Audio device" "Intel Corporation" "Alder Lake" -r11\n'
        '02:00.0 "VGA compatible controller" "Advanced Micro Devices, Inc. [AMD/ATI]" '
        '"Navi 31 [Radeon RX 7900 XT/7900 XTX/7900 GRE/7900M]" -rc8\n'
        '03:00.0 "VGA compatible controller" "Red Hat, Inc." "Virtio 1.0 GPU" -r01\n'
    )
    assert [gpu.model for gpu in gpus_from_lspci(text)] == ["RTX 4090", "Navi 31 (unresolved)"]


def test_adapters_of_the_windows_registry() -> None:
    adapters = (
        {
            "DriverDesc": "AMD Radeon RX 9070 XT",
            "HardwareInformation.qwMemorySize": (17_095_983_104).to_bytes(8, "little"),
        },
        {"DriverDesc": "Microsoft Basic Display Adapter"},
        {"DriverDesc": "NVIDIA GeForce RTX 4090", "HardwareInformation.qwMemorySize": 25757220864},
        {},
    )
    assert [(gpu.model, gpu.memory_gb) for gpu in windows.gpus_from_registry(adapters)] == [
        ("RX 9070 XT", 15.92),
        ("RTX 4090", 23.99),
    ]


@pytest.mark.parametrize(
    ("version", "name"),
    [
        ("10.0.26100", "Windows 11 (10.0.26100)"),
        ("10.0.19045", "Windows 10 (10.0.19045)"),
        ("", "Windows"),
    ],
)
def test_windows_11_is_told_by_its_build(version: str, name: str) -> None:
    assert windows.windows_name(version) == name


def test_there_is_no_registry_elsewhere() -> None:
    assert registry.values(windows.CPU_KEY) == {}
    assert registry.subkeys(windows.DISPLAY_KEY) == []


@pytest.mark.parametrize(("text", "gib"), [("38654705664\n", 36.0), ("", None), ("unknown", None)])
def test_memory_of_sysctl(text: str, gib: float | None) -> None:
    assert macos.memory_from_sysctl(text) == gib


def test_an_integrated_gpu_beside_a_discrete_one_does_not_compute() -> None:
    discrete = Gpu(model="RTX 4090", vendor="NVIDIA", memory_gb=23.99)
    integrated = Gpu(model="UHD Graphics 770", vendor="Intel", memory_gb=64.0)
    assert computing([integrated, discrete]) == (discrete,)
    assert computing([integrated]) == (integrated,)


@pytest.mark.parametrize(
    ("vendor", "backend"),
    [("NVIDIA", "cuda"), ("AMD", "rocm"), ("Apple", "metal"), ("Intel", "vulkan"), (None, "cpu")],
)
def test_the_backend_is_guessed_by_the_maker(vendor: str | None, backend: str) -> None:
    assert backend_guess([Gpu(model="thing", vendor=vendor)], "darwin") == backend


def test_without_a_gpu_the_backend_is_the_processor() -> None:
    assert backend_guess([], "linux") == "cpu"


def test_a_file_that_is_not_there_is_nothing(tmp_path: Path) -> None:
    assert read_text(tmp_path / "none") is None
    assert read_text(tmp_path) is None


def test_the_nul_at_the_end_of_a_device_tree_is_dropped(tmp_path: Path) -> None:
    (tmp_path / "model").write_bytes(b"Raspberry Pi 5\0")
    assert read_text(tmp_path / "model") == "Raspberry Pi 5"


def test_a_tool_that_is_missing_or_fails_is_nothing() -> None:
    assert run_tool(["bench-loop-has-no-such-tool"]) is None
    assert run_tool(["false"]) is None


def test_a_tool_that_works_is_its_output() -> None:
    assert run_tool(["echo", "24564"]) == "24564\n"


def test_this_machine_is_detected() -> None:
    facts = detect()
    assert facts.cpu_model
    assert facts.system_memory_gb is not None
    assert facts.system_memory_gb > 0.2
    assert facts.logical_cores
    assert facts.os
    assert facts.platform
