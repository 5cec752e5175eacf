"""Plug-ins, found by the names of their files."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench_loop.registry import load


def test_threads_that_load_a_plug_in_at_once_all_get_the_whole_of_it(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("import time\ntime.sleep(0.2)\nREADY = True\n")
    with ThreadPoolExecutor(4) as threads:
        loaded = list(threads.map(lambda _: load("thread test", tmp_path, "slow"), range(4)))
    assert all(plugin.READY for plugin in loaded)
    assert len(set(map(id, loaded))) == 1
