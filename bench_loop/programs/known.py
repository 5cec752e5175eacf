"""Every harness that BenchLoop has a file for, and whether its program is on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from types import ModuleType

from bench_loop.config import bundled
from bench_loop.contracts.harness import HarnessAdapter
from bench_loop.programs.installed import Installed, installed
from bench_loop.registry import load, names
from bench_loop.result.pinned import Pinned


@dataclass(frozen=True, slots=True)
class Known:
    """A harness as it is declared, and as it lies on this machine; None: it does not."""

    adapter: HarnessAdapter
    installed: Installed | None = None
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Settings that it takes, each with its values; the first is taken where none is given."""

    @property
    def is_here(self) -> bool:
        """Whether it can be run as it is."""
        return self.adapter.installation is None or self.installed is not None


def all_harnesses() -> list[Known]:
    """All of them, by name."""
    folder = bundled("harnesses")
    return [_known(load("harness", folder, name)) for name in names(folder)]


@cache
def pinned() -> Mapping[str, Pinned]:
    """How this installation runs each harness where nothing else is asked for."""
    return {known.adapter.name: _pinned(known) for known in all_harnesses()}


def _pinned(known: Known) -> Pinned:
    adapter = known.adapter
    defaults = {name: values[0] for name, values in known.options.items()}
    return Pinned(adapter.version, adapter.config_hash, defaults)


def _known(plugin: ModuleType) -> Known:
    adapter: HarnessAdapter = plugin.Adapter()
    how = adapter.installation
    found = installed(adapter.name, how) if how else None
    return Known(adapter, found, getattr(plugin, "OPTIONS", {}))
