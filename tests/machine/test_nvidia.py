"""NVIDIA's library is loaded only where its driver is."""

from __future__ import annotations

import ctypes
import subprocess
import sys

import pytest

from bench_loop.machine.nvidia import LINUX_LIBRARY
from tests.processes import ROOT

LOADED = (
    "import sys; from bench_loop.machine.nvidia import nvidia_library;"
    "print(nvidia_library() is not None, 'pynvml' in sys.modules)"
)


def has_driver() -> bool:
    try:
        ctypes.CDLL(LINUX_LIBRARY)
    except OSError:
        return False
    return True


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks for a Linux library")
def test_the_module_is_loaded_where_the_driver_is_and_nowhere_else() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [str(has_driver())] * 2
