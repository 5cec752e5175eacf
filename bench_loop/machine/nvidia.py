"""NVIDIA's own library, which comes with its driver, and the module that speaks to it."""

from __future__ import annotations

import ctypes
import sys
from types import ModuleType

LINUX_LIBRARY = "libnvidia-ml.so.1"


def nvidia_library() -> ModuleType | None:
    """The module `pynvml`, not yet initialised; None where it or the driver is missing.

    On Linux the driver's library is looked for first: without it the module is only memory.
    """
    if sys.platform.startswith("linux") and not _has_driver():
        return None
    try:
        import pynvml  # type: ignore[import-untyped]
    except ImportError:
        return None
    library: ModuleType = pynvml
    return library


def _has_driver() -> bool:
    try:
        ctypes.CDLL(LINUX_LIBRARY)
    except OSError:
        return False
    return True
