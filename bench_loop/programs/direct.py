"""direct: a program on this machine itself, with the user's own rights. Only by explicit choice.

Its folders, variables and process session are its own, so nothing of the user's is read or written
by accident; nothing stops a command that means to.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from typing import Any

from bench_loop.contracts.place import Folder, PlaceKind
from bench_loop.errors import SandboxError
from bench_loop.programs._running import Running
from bench_loop.programs._service import HttpService
from bench_loop.programs._staged import SOURCE, Host, StagedPlace
from bench_loop.programs.workspace import SCRATCH
from bench_loop.sandboxes import _control_group
from bench_loop.sandboxes._session import PATH


class Direct(StagedPlace):
    """Every folder is seen inside as it is here. Follows Place."""

    kind: PlaceKind = "direct"

    def __init__(self, host: Host) -> None:
        state, workspace = host.root / "state", host.root / "work"
        super().__init__(
            host,
            Folder(host.program, str(host.program)),
            Folder(state, str(state)),
            Folder(workspace, str(workspace)),
        )

    def _start(self, name: str, request: Mapping[str, Any], port: int | None) -> Running:
        if port is not None:
            _require_free(port)
        return Running(
            [str(self._interpreter.executable), "-I", "-S", str(SOURCE)],
            request,
            marker=name,
            group=_control_group.make(name, self._host.limits, our_processes=1),
            env={"PATH": PATH, "LANG": "C.UTF-8"},
            relays=0,
            watched=(self.state.here, self.workspace.here),
            disk_mb=self._host.limits.disk_mb,
        )

    def _service(self, running: Running, port: int) -> HttpService:
        return HttpService(running, port)

    def _folders_of_path(self) -> tuple[str, ...]:
        return (str(self._host.root / "bin"),)

    def _scratch(self) -> str:
        return f"{self.state.inside}/{SCRATCH}"


def _require_free(port: int) -> None:
    """Raises SandboxError where something listens already: its answers would be taken for ours."""
    with socket.socket() as probe:
        if os.name == "posix":
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise SandboxError(
                f"Port {port} of this machine is not free: {error.strerror}.",
                remedy="Try again, or end what listens there.",
            ) from error
