"""A place: where the program of a harness runs, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager as Context
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, Protocol

PlaceKind = Literal["bubblewrap", "direct"]
"""`bubblewrap`: a sandbox whose only network is the gateway. `direct`: this machine itself."""


@dataclass(frozen=True, slots=True)
class Folder:
    """One folder, as BenchLoop and as the harness's program see it."""

    here: Path
    inside: str


@dataclass(frozen=True, slots=True)
class Command:
    """A program to be started in a place: standard input is empty, the environment clean."""

    argv: tuple[str, ...]
    """By the paths that hold inside. The first word `program` stands for the harness's own."""
    wall_s: float
    env: Mapping[str, str] = field(default_factory=dict)
    """Beside HOME, TMPDIR, PATH, LANG and the author's names of git."""


@dataclass(frozen=True, slots=True)
class Ended:
    """What came of a program; every process that it started is dead by now."""

    exit_status: int | None
    """Negative for a signal; None: BenchLoop ended it."""
    stdout: bytes
    stderr: bytes
    wall_s: float
    is_timed_out: bool = False
    started_at: datetime | None = None
    """UTC; None: it never began."""
    leftovers: int = 0
    """Processes that outlived the program and had to be killed."""
    used_up: Literal["memory", "disk"] | None = None
    """`memory`: of all its processes, some were killed for it. `disk`: it was ended for that."""


class Service(Protocol):
    """A program that serves HTTP inside its place until it is ended."""

    def request(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        wall_s: float = 10.0,
    ) -> tuple[int, bytes]:
        """Status and body. Raises HarnessError when the service does not answer in time."""

    def lines(
        self, method: str, path: str, *, body: Any, headers: Mapping[str, str], wall_s: float
    ) -> Context[Iterator[bytes]]:
        """The lines of a streamed answer, as they come; leaving the context hangs up."""

    def stop(self) -> Ended:
        """End it, and all that it started. Twice is no harm."""


class Place(Protocol):
    """Where the program of a harness runs: in a sandbox with the gateway as its only network, or
    by explicit choice directly on this machine."""

    kind: PlaceKind
    program: Folder
    """The installation, read only."""
    state: Folder
    """The harness's own: HOME, configuration, databases, logs. Empty at the start of a trial."""
    workspace: Folder
    """The task's files, a git repository; the program's working folder."""

    def run(self, command: Command) -> Ended:
        """Run to the end or the deadline. Raises SandboxError when it cannot be started."""

    def serve(self, command: Command, port: int) -> Context[Service]:
        """Start a program that will serve on `port` of its loopback; ended when the context is."""
