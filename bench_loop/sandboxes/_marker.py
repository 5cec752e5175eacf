"""Names by which what a sandbox leaves behind is found again: they say when it is overdue."""

from __future__ import annotations

import re
import secrets
import time

PREFIX = "bench-loop-sandbox"
NAME = re.compile(rf"{PREFIX}-(\d+)-[0-9a-f]+")
MARGIN_S = 300


def marker(wall_s: float) -> str:
    """A fresh name for something that is needed for `wall_s` seconds."""
    return f"{PREFIX}-{int(time.time() + wall_s + MARGIN_S)}-{secrets.token_hex(8)}"


def is_overdue(name: str) -> bool:
    """Whether `name` is such a name, and its owner should long have removed what bears it."""
    found = NAME.fullmatch(name)
    return found is not None and int(found[1]) < time.time()
