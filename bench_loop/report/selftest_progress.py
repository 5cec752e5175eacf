"""What a self-test is doing: a live line in a terminal, and a line for each result on a pipe."""

from __future__ import annotations

from rich.console import Console
from rich.status import Status
from rich.text import Text

from bench_loop.console import signs
from bench_loop.report.selftest import result_line
from bench_loop.selftest.cases import Case
from bench_loop.selftest.measure import Result, title


class SelfTestProgress:
    """Watches a self-test of `total` cases and traps while the block runs."""

    def __init__(self, screen: Console, total: int) -> None:
        self._screen = screen
        self._total = total
        self._done = 0
        self._status = Status("Starting", console=screen, spinner="line")

    def __enter__(self) -> SelfTestProgress:
        if self._screen.is_terminal:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._status.stop()

    def phase(self, what: str) -> None:
        """Say what is measured now, outside of any case."""
        self._status.update(f"Measuring {what}")
        if not self._screen.is_terminal:
            self._print(Text(f"Measuring {what}"))

    def begins(self, case: Case) -> None:
        """Show which case is measured now."""
        self._status.update(f"Measuring {title(case)} ({self._done + 1} of {self._total})")

    def ended(self, result: Result) -> None:
        """Count a result, and print it where nothing moves."""
        self._done += 1
        if self._screen.is_terminal:
            return
        place = Text(f"{self._done:{len(str(self._total))}} of {self._total}  ", "basis")
        self._print(place + result_line(result, signs(self._screen)))

    def _print(self, line: Text) -> None:
        self._screen.print(line, soft_wrap=True)
