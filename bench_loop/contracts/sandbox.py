"""A sandbox: where code that a model wrote is run. One file in `bench_loop/sandboxes/` each.

Nothing that comes out of one is trusted: outputs and files are bytes, capped, and never unpickled,
evaluated or extracted. What must stay secret (an answer key, a provider's key) never goes in.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager as Context
from dataclasses import dataclass, field
from typing import Annotated, Literal, Protocol

from pydantic import Field

from bench_loop.contracts.record import Count, Record

SandboxKind = Literal["docker", "bubblewrap", "subprocess"]
Limit = Literal["wall", "output", "memory", "files"]
"""`wall`: the time limit. `files`: more, or larger, files in the work folder than are read back."""

FILES_MAX = 1000
"""Files that are read back from a work folder; their sizes together are at most `disk_mb`."""

Text = Annotated[str, Field(max_length=1000)]


class SandboxLimits(Record):
    """What one program with all that it starts may use. Megabytes and kilobytes are of 1024."""

    memory_mb: int = Field(256, ge=32, le=1_048_576, description="Memory of all processes.")
    pids: int = Field(64, ge=2, le=65_536, description="Processes and threads at a time.")
    cpus: float = Field(1.0, gt=0, le=1024, description="Processors' worth of time.")
    wall_s: float = Field(10.0, gt=0, le=86_400, description="Time on BenchLoop's clock.")
    disk_mb: int = Field(64, ge=1, le=1_048_576, description="Size of the work folder.")
    output_kb: int = Field(1024, ge=1, le=1_048_576, description="Standard output and error.")


@dataclass(frozen=True, slots=True)
class Program:
    """What is run: a command line in a work folder that holds `files`, with a clean environment.

    A first word `python` stands for the sandbox's own interpreter. `files` are bytes by relative
    path with `/`. With `wants_files` the work folder's regular files are read back at the end.
    """

    argv: tuple[str, ...]
    files: Mapping[str, bytes] = field(default_factory=dict)
    stdin: bytes = b""
    env: Mapping[str, str] = field(default_factory=dict)
    wants_files: bool = False


@dataclass(frozen=True, slots=True)
class SandboxRun:
    """What came of one program; every process that it started is dead by now.

    `exit_status` is negative for a signal, and None when the program was killed from outside.
    `limit` is the limit that ended it or was hit. `skipped` names what lay in the work folder and
    is no regular file (links, FIFOs, sockets) or has no plain name; no link is ever followed.
    `is_read_back`: `files` were read to the end, so that what is not among them is not there.
    """

    exit_status: int | None
    stdout: bytes
    stderr: bytes
    wall_s: float
    limit: Limit | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)
    skipped: tuple[str, ...] = ()
    is_read_back: bool = False

    @property
    def is_timed_out(self) -> bool:
        return self.limit == "wall"

    @property
    def is_out_of_memory(self) -> bool:
        return self.limit == "memory"


class Talk(Protocol):
    """A running program that is asked and answers, line by line. For the thread that began it."""

    def ask(self, line: bytes, wall_s: float) -> bytes | None:
        """Send `line` (without its end) and give the next line of standard output.

        None when there is none within `wall_s` seconds, or the program ended or hit a limit: it is
        dead then, and so is the talk.
        """

    def end(self) -> SandboxRun:
        """Kill what still runs and say what came of it. `stdout` is what no `ask` has taken."""


class Sandbox(Protocol):
    """One way to run programs apart from everything else: a fresh sandbox for each program.

    Raises SandboxError when the sandbox itself fails; what the program does is never an error.
    """

    kind: SandboxKind
    limits: SandboxLimits

    def run(self, program: Program, *, wall_s: float | None = None) -> SandboxRun:
        """Run to the end. `wall_s` replaces the limit on time for this one."""

    def talk(self, program: Program, *, wall_s: float | None = None) -> Context[Talk]:
        """Start and talk; `wall_s` is for all of it, `program.stdin` goes unused."""

    def record(self) -> SandboxRecord:
        """What the run result says of this sandbox."""

    def close(self) -> None:
        """Leave nothing behind: no container, process, control group or folder."""


class LimitsVerified(Record):
    """Which limits the self-test saw hold, with the real settings, before the first program."""

    memory_total: bool = Field(description="Several processes together can't exceed the memory.")
    pids: bool = Field(description="No more processes can be started than allowed.")
    disk: bool = Field(description="The work folder takes no more than its size.")
    network: bool = Field(description="No interface but a loopback of its own; the host is away.")
    fs_read: bool = Field(description="A marker file in the user's home can't be read.")
    fs_write: bool = Field(description="Nothing outside work folder and /tmp can be written.")


class SandboxHost(Record):
    """The computer that the sandbox ran on."""

    os: Text
    kernel: Text
    cgroup: Literal["v1", "v2", "hybrid", "none"]


class SandboxRecord(Record):
    """The sandbox in which model-written code was run."""

    kind: SandboxKind
    engine: Literal["docker", "podman"] | None = Field(None, description="Null: no engine.")
    engine_version: Text | None = Field(None, description="Of the engine, or of bubblewrap.")
    runtime: Text | None = Field(None, description="The engine's: runc, crun, runsc, ...")
    rootless: bool = Field(description="Nothing of the sandbox runs as root on the host.")
    image: Text | None = Field(None, description="Id of the image, never a tag.")
    host: SandboxHost
    network: Literal["none", "host"]
    limits: SandboxLimits
    limits_verified: LimitsVerified
    landlock_abi: Count | None = Field(None, description="Null: Landlock was not used.")
    seccomp: Literal["default", "custom", "none"] = Field(
        description="System call filter: the engine's, BenchLoop's own, none."
    )
    user: Count = Field(description="User id of the program, as the host knows it.")
    opted_in: bool = Field(description="The user allowed an unsafe sandbox.")
