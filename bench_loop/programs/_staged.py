"""What all kinds of place have in common: everything but how the relay is started."""

from __future__ import annotations

import contextlib
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench_loop.contracts.place import Command, Ended, Folder, PlaceKind, Service
from bench_loop.contracts.sandbox import SandboxLimits
from bench_loop.programs import leftovers, relay
from bench_loop.programs._running import Running
from bench_loop.programs._service import HttpService
from bench_loop.programs.workspace import AUTHOR, HOME, SCRATCH
from bench_loop.sandboxes import _local
from bench_loop.sandboxes._marker import marker
from bench_loop.sandboxes._session import MB, PATH

PROGRAM = "program"
"""As the first word of a command: the harness's own executable."""

SOURCE = Path(relay.__file__)


@dataclass(frozen=True, slots=True)
class Host:
    """What a place is made of, by the paths of this machine."""

    root: Path
    """A folder of the place's own, there and empty."""
    program: Path
    executable: Path | None
    """In `program`; None: no command uses the word."""
    readable: tuple[Path, ...]
    path: tuple[Path, ...]
    gateway_port: int
    gateway_socket: Path
    limits: SandboxLimits


class StagedPlace(ABC):
    """A place; each of its programs is started by a fresh relay. Follows Place."""

    kind: PlaceKind

    def __init__(self, host: Host, program: Folder, state: Folder, workspace: Folder) -> None:
        self.program, self.state, self.workspace = program, state, workspace
        self._host = host
        self._interpreter = _local.interpreter(os.getuid())
        for folder in (state.here, workspace.here, state.here / HOME, state.here / SCRATCH):
            folder.mkdir(mode=0o700)
        tools = host.root / "bin"
        tools.mkdir()
        for name in ("python", "python3"):
            (tools / name).symlink_to(self._interpreter.executable)

    @abstractmethod
    def _start(self, name: str, request: dict[str, Any], port: int | None) -> Running:
        """Start the relay with `request`; `port` is that of a service which is to be reached.

        `name` is the marker of this program alone.
        """

    @abstractmethod
    def _service(self, running: Running, port: int) -> HttpService:
        """The service that was started last."""

    @abstractmethod
    def _folders_of_path(self) -> tuple[str, ...]: ...

    @abstractmethod
    def _scratch(self) -> str: ...

    def close(self) -> None:  # noqa: B027  (most kinds hold nothing)
        """Let go of what the place itself holds; its folders are somebody else's to remove."""

    def run(self, command: Command) -> Ended:
        """Run to the end or the deadline. Raises SandboxError when it cannot be started."""
        running = self._begin(command, None)
        try:
            return running.wait(command.wall_s)
        finally:
            running.stop()

    @contextlib.contextmanager
    def serve(self, command: Command, port: int) -> Iterator[Service]:
        """Start a program that will serve on `port` of its loopback; ended when the context is."""
        running = self._begin(command, port)
        service = self._service(running, port)
        alarm = threading.Timer(command.wall_s, running.kill, kwargs={"is_timed_out": True})
        alarm.daemon = True
        try:
            alarm.start()
            yield service
        finally:
            alarm.cancel()
            alarm.join()
            service.stop()

    def _begin(self, command: Command, port: int | None) -> Running:
        name = marker(command.wall_s)
        request = {
            "argv": [self._first_word(command.argv[0]), *command.argv[1:]],
            "env": self._environment(command.env, name),
            "folder": self.workspace.inside,
            "rlimits": {"CORE": 0, "FSIZE": self._host.limits.disk_mb * MB},
        }
        return self._start(name, request, port)

    def _first_word(self, word: str) -> str:
        if word != PROGRAM or self._host.executable is None:
            return word
        return f"{self.program.inside}/{self._host.executable.relative_to(self._host.program)}"

    def _environment(self, more: Mapping[str, str], name: str) -> dict[str, str]:
        """Clean, with every folder that programs look for by a variable in the state folder."""
        home = f"{self.state.inside}/{HOME}"
        return {
            "HOME": home,
            "XDG_CONFIG_HOME": f"{home}/.config",
            "XDG_DATA_HOME": f"{home}/.local/share",
            "XDG_STATE_HOME": f"{home}/.local/state",
            "XDG_CACHE_HOME": f"{home}/.cache",
            "TMPDIR": self._scratch(),
            "PATH": ":".join((*map(str, self._host.path), *self._folders_of_path(), PATH)),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "USER": "bench",
            "LOGNAME": "bench",
            "SHELL": "/bin/sh",
            **AUTHOR,
            **more,
            leftovers.VARIABLE: name,
        }
