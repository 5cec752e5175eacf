"""Where two results of the same computation differ: field paths and figures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

DECIMALS = 6
"""To which figures are compared."""


def differences(claimed: Any, computed: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    """The leaves at which two JSON values differ: (path, claimed, computed)."""
    if isinstance(claimed, dict) and isinstance(computed, dict):
        for name in {**claimed, **computed}:
            yield from differences(claimed.get(name), computed.get(name), f"{path}.{name}")
    elif isinstance(claimed, list) and isinstance(computed, list) and len(claimed) == len(computed):
        for index, (ours, theirs) in enumerate(zip(claimed, computed, strict=True)):
            yield from differences(ours, theirs, f"{path}[{index}]")
    elif not is_same(claimed, computed):
        yield path, _leaf(claimed), _leaf(computed)


def is_same(claimed: Any, computed: Any) -> bool:
    """Numbers are equal when they agree after rounding to DECIMALS."""
    numbers = (int, float)
    if isinstance(claimed, numbers) and isinstance(computed, numbers):
        return round(claimed, DECIMALS) == round(computed, DECIMALS)
    return bool(claimed == computed)


def figure(value: Any) -> str:
    """A leaf as a sentence says it."""
    if isinstance(value, float):
        return f"{value:.6f}".rstrip("0").rstrip(".")
    return "nothing" if value is None else str(value)[:60]


def _leaf(value: Any) -> Any:
    """A differing value, small enough to be shown."""
    return f"{len(value)} values" if isinstance(value, dict | list) else value
