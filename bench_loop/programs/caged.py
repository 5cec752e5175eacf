"""bubblewrap: a program in Linux namespaces of its own, with the gateway as its only network.

It sees the system's programs, its installation, its state and the task's workspace, and nothing
else of the machine. It keeps the user's own id, under another number and without any capability,
since it must read an installation that may be the user's alone.
"""

from __future__ import annotations

import os
import platform
import socket
import sys
from typing import Any

from bench_loop.contracts.place import Folder, PlaceKind
from bench_loop.errors import SandboxError
from bench_loop.programs._running import Running
from bench_loop.programs._service import HttpService
from bench_loop.programs._staged import SOURCE, Host, StagedPlace
from bench_loop.sandboxes import _control_group, bubblewrap
from bench_loop.sandboxes._seccomp import LOCAL_FAMILIES, filter_program
from bench_loop.sandboxes._session import MB, PATH

PROGRAM, STATE, WORK = "/bench/program", "/bench/state", "/bench/work"
RELAY, GATEWAY, TOOLS = "/bench/relay.py", "/bench/gateway.sock", "/bench/bin"
SCRATCH = "/tmp"  # noqa: S108  (inside)
READ_ONLY = ("/dev", "/")
KERNEL = tuple(
    f"/proc/{name}" for name in "acpi bus fs irq mtrr pressure scsi sys sysrq-trigger".split()
)
"""The kernel's settings, which belong to root, who is the same outside as inside. The rest of /proc
is a program's own: shells write to `/proc/self`, and would complain into what the model reads."""

USER = 1000
FAMILIES = (*LOCAL_FAMILIES, getattr(socket, "AF_NETLINK", 16))
"""Runtimes ask the kernel for the network's interfaces, of which there is one."""

REMEDY = (
    "If it may make no namespaces, allow ordinary users to (Ubuntu: sysctl"
    " kernel.apparmor_restrict_unprivileged_userns=0); or choose the place 'direct' and its risk."
)

ETC = {
    "passwd": f"bench:x:{USER}:{USER}:bench:{STATE}/home:/bin/sh\n",
    "group": f"bench:x:{USER}:\n",
    "hosts": "127.0.0.1 localhost bench\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}


class Caged(StagedPlace):
    """Everything inside lies under /bench, wherever it lies outside. Follows Place."""

    kind: PlaceKind = "bubblewrap"

    def __init__(self, host: Host) -> None:
        """Raises SandboxError where bubblewrap is missing."""
        if sys.platform != "linux":
            raise SandboxError(
                "bubblewrap is for Linux only.", remedy="Choose the place 'direct' and its risk."
            )
        self._bwrap = bubblewrap.find_bwrap()
        self._filter = filter_program(platform.machine(), FAMILIES) or b""
        super().__init__(
            host,
            Folder(host.program, PROGRAM),
            Folder(host.root / "state", STATE),
            Folder(host.root / "work", WORK),
        )
        (host.root / "etc").mkdir()
        for name, text in ETC.items():
            (host.root / "etc" / name).write_text(text)
        self._services = 0
        self._root = os.open(host.root, os.O_PATH | os.O_DIRECTORY)

    def close(self) -> None:
        os.close(self._root)

    def _start(self, name: str, request: dict[str, Any], port: int | None) -> Running:
        group = _control_group.make(name, self._host.limits, bubblewrap.OUR_PROCESSES)
        scope = bubblewrap.user_scope(self._host.limits) if group is None else []
        if group is None and not scope:
            beside = bubblewrap.processes_beside(os.getuid())
            request["rlimits"]["NPROC"] = self._host.limits.pids + beside
        request["gateway"] = {"port": self._host.gateway_port, "socket": GATEWAY}
        reader, writer = os.pipe()
        os.write(writer, self._filter)
        os.close(writer)
        listener = self._listener() if port is not None else None
        passed = [reader]
        if listener is not None:
            request["service"] = {"port": port, "listener": listener.fileno()}
            passed.append(listener.fileno())
        try:
            return Running(
                [*scope, *self._words(reader)],
                request,
                marker=name,
                group=group,
                pass_fds=passed,
                env={
                    "PATH": PATH,
                    "LANG": "C.UTF-8",
                    **(bubblewrap.session_bus() if scope else {}),
                },
                relays=1,
                watched=(self.state.here, self.workspace.here),
                disk_mb=self._host.limits.disk_mb,
                remedy=REMEDY,
            )
        finally:
            os.close(reader)
            if listener is not None:
                listener.close()

    def _listener(self) -> socket.socket:
        """A socket outside of what the program sees: inside, only the relay has it.

        So nobody can put another in its place, or a link to a socket of this machine.
        """
        self._services += 1
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(self._service_socket())
        listener.listen(64)
        return listener

    def _service_socket(self) -> str:
        """Its path must be short, however long that of the folder is."""
        return f"/proc/self/fd/{self._root}/service{self._services}"

    def _service(self, running: Running, port: int) -> HttpService:
        return HttpService(running, port, self._service_socket())

    def _folders_of_path(self) -> tuple[str, ...]:
        return (TOOLS,)

    def _scratch(self) -> str:
        return SCRATCH

    def _words(self, filter_descriptor: int) -> list[str]:
        """The command line of bubblewrap, and behind it that of the relay."""
        host, size = self._host, str(self._host.limits.disk_mb * MB)
        prefix = self._interpreter.prefix
        own_paths = [host.program, *host.readable]
        if not prefix.is_relative_to("/usr"):
            own_paths.append(prefix)
        etc = [("--ro-bind", str(host.root / "etc" / name), f"/etc/{name}") for name in ETC]
        return [
            *(str(self._bwrap), "--unshare-all", "--unshare-user", "--disable-userns"),
            *("--uid", str(USER), "--gid", str(USER), "--hostname", "bench"),
            *("--die-with-parent", "--new-session", "--as-pid-1", "--clearenv"),
            *("--cap-drop", "ALL", "--ro-bind", "/usr", "/usr", *bubblewrap.system_folders()),
            *(word for words in etc for word in words),
            *("--proc", "/proc", "--dev", "/dev"),
            *("--size", size, "--tmpfs", "/dev/shm", "--size", size, "--tmpfs", SCRATCH),  # noqa: S108
            *(word for one in own_paths for word in ("--ro-bind", str(one), str(one))),
            *("--ro-bind", str(host.program), PROGRAM, "--ro-bind", str(SOURCE), RELAY),
            *("--ro-bind", str(host.root / "bin"), TOOLS),
            *("--ro-bind", str(host.gateway_socket), GATEWAY),
            *("--bind", str(self.state.here), STATE, "--bind", str(self.workspace.here), WORK),
            *(word for one in KERNEL for word in ("--ro-bind-try", one, one)),
            *(word for one in READ_ONLY for word in ("--remount-ro", one)),
            *("--chdir", WORK),
            *(["--seccomp", str(filter_descriptor)] if self._filter else []),
            *("--", str(self._interpreter.executable), "-I", "-S", RELAY),
        ]
