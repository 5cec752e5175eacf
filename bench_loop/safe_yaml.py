"""YAML read by the parser in C where PyYAML has one: all packs in a tenth of the time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    Loader = yaml.SafeLoader
else:
    # PyYAML's wheels have it; a build from source may not.
    Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_table(file: Path) -> Any:
    """The content of a table that came with this installation."""
    return yaml.load(file.read_text(encoding="utf-8"), Loader=Loader)  # noqa: S506  (a safe loader)
