"""What the tests of all adapters share: the installed programs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bench_loop.contracts.harness import HarnessAdapter
from bench_loop.programs.installed import Installed
from tests.components import need_bubblewrap, need_harness

Find = Callable[[HarnessAdapter], Installed]


@pytest.fixture
def find_installed(benchloop_home: Path) -> Find:
    """Finds the program of an adapter, and what it runs in; without it the test ends."""

    def find(made: HarnessAdapter) -> Installed:
        need_bubblewrap()
        assert made.installation is not None
        return need_harness(made.name, made.installation, benchloop_home)

    return find
