"""What detection finds out about this machine."""

from __future__ import annotations

from dataclasses import dataclass

from bench_loop.result.records import Gpu


@dataclass(frozen=True, slots=True)
class MachineFacts:
    """This machine, as detected; None is unknown. Never a host name, MAC address or serial."""

    cpu_model: str | None = None
    physical_cores: int | None = None
    logical_cores: int | None = None
    gpus: tuple[Gpu, ...] = ()
    system_memory_gb: float | None = None
    """GiB that the operating system (or the container's limit) allows."""
    unified_memory: bool | None = None
    """CPU and GPU share one memory; None where there is no GPU."""
    os: str | None = None
    platform: str | None = None
    """Kernel and architecture: Linux 6.12 x86_64."""
    backend: str | None = None
    """What an engine would most likely compute with on this hardware; a guess, not a reading."""
