"""How often a stack was measured, and how far its runs lie apart, beside the run that is shown."""

from __future__ import annotations

from dataclasses import dataclass

from bench_loop.report.figures import EN_DASH


@dataclass(frozen=True, slots=True)
class Repeats:
    """The runs among which the shown one is the median.

    `low` and `high`: lowest and highest overall score of them; None: none has one. `uncounted`
    runs are published and not ranked.
    """

    runs: int
    owners: int
    low: float | None
    high: float | None
    uncounted: int = 0
    withdrawn: int = 0

    @property
    def owners_text(self) -> str:
        return _counted(self.owners, "owner")

    @property
    def counts(self) -> str:
        """`14 runs, 11 owners`."""
        return f"{_counted(self.runs, 'run')}, {self.owners_text}"

    @property
    def range(self) -> str:
        """`61–68`, or `61` for less than a point; empty with a single run, or without scores."""
        if self.runs < 2 or self.low is None or self.high is None:
            return ""
        low, high = f"{self.low:.0f}", f"{self.high:.0f}"
        return low if low == high else f"{low}{EN_DASH}{high}"

    @property
    def withdrawn_text(self) -> str:
        return f"{self.withdrawn:,} withdrawn" if self.withdrawn else ""

    @property
    def sentence(self) -> str:
        """All of it in words."""
        parts = [f"{self.counts}."]
        if self.range:
            parts.append(f"Overall scores from {self.low:.1f} to {self.high:.1f}.")
        if self.uncounted:
            are = "run is" if self.uncounted == 1 else "runs are"
            parts.append(f"{self.uncounted:,} more {are} not ranked and not counted.")
        if self.withdrawn:
            parts.append(f"{self.withdrawn_text}.")
        return " ".join(parts)


def _counted(count: int, thing: str) -> str:
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"
