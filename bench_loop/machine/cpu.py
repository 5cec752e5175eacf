"""Processor names: what the many places that name a CPU say, in one short spelling."""

from __future__ import annotations

import re

# Implementer and part numbers of the ARM architecture (MIDR), for kernels that give no name.
_ARM_PARTS = {
    ("0x41", "0xd03"): "Cortex-A53",
    ("0x41", "0xd04"): "Cortex-A35",
    ("0x41", "0xd05"): "Cortex-A55",
    ("0x41", "0xd07"): "Cortex-A57",
    ("0x41", "0xd08"): "Cortex-A72",
    ("0x41", "0xd09"): "Cortex-A73",
    ("0x41", "0xd0a"): "Cortex-A75",
    ("0x41", "0xd0b"): "Cortex-A76",
    ("0x41", "0xd0c"): "Neoverse-N1",
    ("0x41", "0xd0d"): "Cortex-A77",
    ("0x41", "0xd40"): "Neoverse-V1",
    ("0x41", "0xd41"): "Cortex-A78",
    ("0x41", "0xd42"): "Cortex-A78AE",
    ("0x41", "0xd44"): "Cortex-X1",
    ("0x41", "0xd47"): "Cortex-A710",
    ("0x41", "0xd48"): "Cortex-X2",
    ("0x41", "0xd49"): "Neoverse-N2",
    ("0x41", "0xd4d"): "Cortex-A715",
    ("0x41", "0xd4e"): "Cortex-X3",
    ("0x41", "0xd4f"): "Neoverse-V2",
    ("0x41", "0xd4b"): "Cortex-A78C",
    ("0x41", "0xd80"): "Cortex-A520",
    ("0x41", "0xd81"): "Cortex-A720",
    ("0x41", "0xd82"): "Cortex-X4",
    ("0x41", "0xd85"): "Cortex-X925",
    ("0x41", "0xd87"): "Cortex-A725",
    ("0x4e", "0x004"): "NVIDIA Carmel",
    ("0x51", "0x001"): "Qualcomm Oryon",
    ("0x51", "0x802"): "Kryo 385 Gold",
    ("0x51", "0x804"): "Kryo 485 Gold",
    ("0x61", "0x022"): "Apple M1",
    ("0x61", "0x023"): "Apple M1",
    ("0x61", "0x032"): "Apple M2",
    ("0x61", "0x033"): "Apple M2",
    ("0x48", "0xd01"): "Kunpeng 920",
    ("0xc0", "0xac3"): "Ampere-1",
    ("0xc0", "0xac4"): "Ampere-1A",
}


def clean_cpu_name(raw: str) -> str | None:
    """A CPU's name without trade marks, clock, core count and graphics; None when nothing is left.

    `Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz` is `Intel Xeon E5-2680 v4`.
    """
    text = re.sub(r"\((?:r|tm)\)|[®™]", "", raw, flags=re.I)
    text = re.split(r"\s@\s|\bw/|\bwith radeon", text, maxsplit=1, flags=re.I)[0]
    text = re.sub(r"\b(\d+|dual|quad|six|eight)-cores?\b.*$", "", text, flags=re.I)
    text = re.sub(r"\b(cpu|processor)\b", "", text, flags=re.I)
    text = re.sub(r"^\d+th gen ", "", re.sub(r"\s+", " ", text).strip(), flags=re.I)
    return text or None


def cpu_from_cpuinfo(text: str) -> str | None:
    """The processor's name in Linux's `/proc/cpuinfo`, or in the output of `lscpu`.

    64-bit ARM kernels give numbers only: known ones become a name, others are kept as they are. The
    board's `Hardware` line is not used: every Raspberry Pi says BCM2835 there.
    """
    named = re.search(r"^model name\s*:\s*(\S.*)$", text, re.I | re.M)
    if named:
        return clean_cpu_name(named[1])
    numbers = re.findall(
        r"^CPU implementer\s*:\s*(0x\w+)$.*?^CPU part\s*:\s*(0x\w+)$", text, re.M | re.S
    )
    names = dict.fromkeys(
        _ARM_PARTS.get((maker, part), f"ARM {maker}/{part}") for maker, part in numbers
    )
    return " + ".join(names) or None
