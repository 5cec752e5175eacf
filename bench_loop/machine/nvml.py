"""NVIDIA's management library, by its Python binding."""

from __future__ import annotations

from bench_loop.machine.nvidia import nvidia_library


def boards() -> tuple[tuple[str, float | None], ...]:
    """Name and GiB of every board; empty where the library, its driver or a device is missing.

    The memory is None where the driver has no number of its own: unified memory.
    """
    nvml = nvidia_library()
    if nvml is None:
        return ()
    try:
        nvml.nvmlInit()
    except nvml.NVMLError:
        return ()
    found = []
    try:
        for index in range(nvml.nvmlDeviceGetCount()):
            handle = nvml.nvmlDeviceGetHandleByIndex(index)
            name = nvml.nvmlDeviceGetName(handle)
            try:
                memory = nvml.nvmlDeviceGetMemoryInfo(handle).total / 2**30
            except nvml.NVMLError:
                memory = None
            found.append((name.decode() if isinstance(name, bytes) else str(name), memory))
    except nvml.NVMLError:
        return ()
    finally:
        nvml.nvmlShutdown()
    return tuple(found)
