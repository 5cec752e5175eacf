"""What a check found: one type for the doctor, for `run` before it starts, and for the site."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Severity = Literal["ok", "note", "warning", "error"]
"""`note`: could not be told, or worth knowing. `warning`: figures would be worse than they could
be. `error`: a run would fail, or measure something else than it says."""

Area = Literal["server", "model", "machine", "setup"]

SEVERITIES: tuple[Severity, ...] = ("ok", "note", "warning", "error")
"""From the least to the most serious."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    code: str
    """Stable, for scripts: `window_too_small`, or `window_ok` where all is well."""
    area: Area
    severity: Severity
    title: str
    """What was looked at, in at most fifteen characters."""
    evidence: str
    """What was seen, as a sentence without its full stop."""
    remedy: str | None = None
    """The exact command that mends it, or a sentence where no command does."""
    subject: str | None = None
    """The server or the model that was looked at; None: this machine."""


def worst(findings: Iterable[Finding]) -> Severity:
    """The most serious severity; `ok` without any finding."""
    return max((one.severity for one in findings), key=SEVERITIES.index, default="ok")


def of_severity(findings: Iterable[Finding], severity: Severity) -> tuple[Finding, ...]:
    return tuple(one for one in findings if one.severity == severity)
