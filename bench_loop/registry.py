"""Finds plug-ins by file name: the name on the command line is the name of the file."""

from __future__ import annotations

import difflib
import importlib.util
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

from bench_loop.errors import UsageError

_LOADING = threading.RLock()
"""Held while a plug-in is loaded, so that no other thread sees half of it."""


def names(folder: Path) -> list[str]:
    """The plug-ins in `folder`: its public Python files without their ending, sorted."""
    return sorted(file.stem for file in folder.glob("*.py") if not file.stem.startswith("_"))


def pick(kind: str, name: str, known: Iterable[str]) -> str:
    """`name` if it is one of `known`; else UsageError that names the similar ones."""
    choices = sorted(known)
    if name in choices:
        return name
    close = difflib.get_close_matches(name, choices, n=3, cutoff=0.5)
    hint = (
        f"Did you mean {' or '.join(close)}?" if close else f"Choose one of: {', '.join(choices)}."
    )
    raise UsageError(f"There is no {kind} called {name!r}.", remedy=hint)


def load(kind: str, folder: Path, name: str) -> ModuleType:
    """The module in `folder/<name>.py`, loaded by its path (`continue.py` is a legal name).

    Raises UsageError for an unknown name.
    """
    pick(kind, name, names(folder))
    return load_file(f"{kind}.{name}", folder / f"{name}.py")


def load_file(name: str, path: Path) -> ModuleType:
    """The module in `path`, loaded once under `name`, which no other file may have."""
    qualified = f"bench_loop_plugins.{name}"
    with _LOADING:
        return sys.modules.get(qualified) or _executed(qualified, path)


def _executed(qualified: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(qualified, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[qualified] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[qualified]
        raise
    return module
