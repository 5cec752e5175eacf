"""What a check finds: data for the owner and the moderator to read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

Severity = Literal["refused", "needs_review", "note"]
"""`refused`: the upload contradicts itself or cannot be checked. `needs_review`: it may be honest,
and a person should look. `note`: worth knowing."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a check found, for the owner and the moderator to read."""

    severity: Severity
    code: str
    field: str
    sentence: str
    numbers: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        """As JSON and databases can hold it: a rate without end has no number there."""
        numbers = {
            name: None if isinstance(value, float) and not math.isfinite(value) else value
            for name, value in self.numbers.items()
        }
        return asdict(self) | {"numbers": numbers}


def refused(code: str, where: str, sentence: str, **numbers: Any) -> Finding:
    return Finding("refused", code, where, sentence, numbers)


def note(code: str, where: str, sentence: str, **numbers: Any) -> Finding:
    return Finding("note", code, where, sentence, numbers)


def needs_review(code: str, where: str, sentence: str, **numbers: Any) -> Finding:
    return Finding("needs_review", code, where, sentence, numbers)
