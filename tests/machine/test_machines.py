"""Whole machines, from what their files and tools say to what detection finds. All synthetic."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from bench_loop.machine.detect import detect
from bench_loop.machine.probe import Host
from bench_loop.machine.record import machine_record
from bench_loop.machine.windows import CPU_KEY, DISPLAY_KEY

TABLE = Path(__file__).parents[1] / "fixtures" / "own" / "machines.yaml"
MACHINES: dict[str, dict[str, Any]] = yaml.safe_load(TABLE.read_text(encoding="utf-8"))


def host_of(machine: Mapping[str, Any], root: Path) -> Host:
    """A host that answers as the table says; its files lie below `root`."""
    for path, text in files_of(machine).items():
        file = root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n", encoding="utf-8")
    physical, logical = machine.get("cores", (None, None))
    registry = registry_of(machine)
    return Host(
        system=machine["system"],
        root=root,
        run=tools_of(machine),
        boards=lambda: [tuple(board) for board in machine.get("boards", ())],
        registry_values=lambda key: registry.get(key, {}),
        registry_subkeys=lambda key: [name for name in registry if name.startswith(f"{key}\\")],
        physical_cores=physical,
        logical_cores=logical,
        memory_gb=machine.get("ram_gib"),
        version=machine.get("version", ""),
    )


def files_of(machine: Mapping[str, Any]) -> dict[str, str]:
    files = dict(machine.get("files", {}))
    if machine["system"] != "linux":
        return files
    if "os" in machine:
        files["/etc/os-release"] = f'PRETTY_NAME="{machine["os"]}"'
    if "osrelease" in machine:
        files["/proc/sys/kernel/osrelease"] = machine["osrelease"]
    if "ram_kb" in machine:
        files["/proc/meminfo"] = f"MemTotal:       {machine['ram_kb']} kB\nMemFree:  1 kB"
    if "model" in machine:
        files["/proc/device-tree/model"] = f"{machine['model']}\0"
    if "cpu" in machine:
        files["/proc/cpuinfo"] = f"processor\t: 0\nmodel name\t: {machine['cpu']}\n"
    if "arm" in machine:
        files["/proc/cpuinfo"] = "\n\n".join(
            f"processor\t: {at}\nCPU implementer\t: {number(maker)}\nCPU part\t: {number(part)}"
            for at, (maker, part) in enumerate(machine["arm"])
        )
    for row in machine.get("pci", ()):
        slot, vendor, device, revision, *memory = row.split()
        folder = f"/sys/bus/pci/devices/{slot}"
        files[f"{folder}/class"] = "0x030000"
        files |= {
            f"{folder}/vendor": f"0x{vendor}",
            f"{folder}/device": f"0x{device}",
            f"{folder}/revision": f"0x{revision}",
        }
        if memory:
            files[f"{folder}/mem_info_vram_total"] = memory[0]
    return files


def number(value: int | str) -> str:
    return value if isinstance(value, str) else hex(value)


def tools_of(machine: Mapping[str, Any]) -> Callable[[Sequence[str]], str | None]:
    tools = dict(machine.get("tools", {}))
    if machine["system"] == "darwin":
        tools |= {
            "machdep.cpu.brand_string": machine["cpu"],
            "hw.memsize": str(int(machine["ram_gib"] * 2**30)),
            "sw_vers": machine["macos"],
        }

    def run(command: Sequence[str]) -> str | None:
        if command[0] == "powershell":
            return next((text for name, text in tools.items() if name in command[-1]), None)
        return tools.get(command[-1] if command[0] == "sysctl" else command[0])

    return run


def registry_of(machine: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    if machine["system"] != "win32":
        return {}
    processor = {"ProcessorNameString": machine["cpu"]} if "cpu" in machine else {}
    adapters = enumerate(machine.get("registry", ()))
    return {CPU_KEY: processor} | {f"{DISPLAY_KEY}\\{at:04}": adapter for at, adapter in adapters}


def test_there_are_enough_machines() -> None:
    assert len(MACHINES) >= 40


@pytest.mark.parametrize("name", MACHINES)
def test_a_machine_is_found_to_be_what_it_is(name: str, tmp_path: Path) -> None:
    machine = MACHINES[name]
    finds = machine["finds"]
    facts = detect(host_of(machine, tmp_path))
    record = machine_record(facts, is_local=True)
    found = {
        "cpu": facts.cpu_model,
        "gpus": [gpu.model for gpu in facts.gpus],
        "gib": [gpu.memory_gb for gpu in facts.gpus],
        "class": record.device_class,
        "os": facts.os,
        "unified": facts.unified_memory,
        "backend": facts.backend,
        "cores": [facts.physical_cores, facts.logical_cores],
    }
    assert {key: found[key] for key in finds} == finds


def test_the_tools_of_one_maker_do_not_hide_the_cards_of_another(tmp_path: Path) -> None:
    facts = detect(host_of(MACHINES["nvidia-and-radeon"], tmp_path))
    assert [gpu.vendor for gpu in facts.gpus] == ["NVIDIA", "AMD"]
