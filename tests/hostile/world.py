"""What lies around a sandbox while a hostile program runs in it, and what became of it."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

FOLDERS = ("/etc", "/usr/local", "/var/tmp", "/")
STARTUP = "# a shell's start-up file\n"


@dataclass
class World:
    """Secrets, files and listeners that belong to the user of the harness."""

    folder: Path
    marker: str
    secret: str
    listeners: dict[str, socket.socket] = field(default_factory=dict)

    def words(self) -> dict[str, Any]:
        """What the attacker may know: where everything is, but no secret."""
        tcp = [self.listeners[name].getsockname()[:2] for name in ("loopback", "host")]
        return {
            "marker": self.marker,
            "key": str(self.folder / "key"),
            "startup": str(self.folder / "bashrc"),
            "owned": str(self.folder / "owned"),
            "folders": [*FOLDERS, str(self.folder)],
            "tcp": tcp,
            "udp": self.listeners["udp"].getsockname(),
            "abstract": self.marker,
            "unix": str(self.folder / "socket"),
        }

    def hits(self) -> list[str]:
        """Listeners that somebody has reached."""
        return [name for name, listener in self.listeners.items() if _was_reached(listener)]

    def damage(self) -> list[str]:
        """Files that were changed or made outside."""
        found = [] if (self.folder / "bashrc").read_text() == STARTUP else ["bashrc"]
        made = [Path(folder, self.marker) for folder in (*FOLDERS, str(self.folder))]
        return found + [str(path) for path in [*made, self.folder / "owned"] if path.exists()]

    def leftovers(self) -> int:
        """Processes of the program that still live; they are killed now."""
        time.sleep(0.2)
        found = 0
        for file in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                if self.marker.encode() in file.read_bytes():
                    os.kill(int(file.parent.name), signal.SIGKILL)
                    found += 1
        return found


@contextlib.contextmanager
def world(user: int) -> Iterator[World]:
    """A world whose files belong to `user`."""
    marker = f"hostile-{secrets.token_hex(8)}"
    folder = Path(tempfile.mkdtemp(prefix="benchloop-hostile-"))
    here = World(folder, marker, f"BENCHLOOP-SECRET-{secrets.token_hex(8)}")
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, folder)
        stack.callback(here.leftovers)
        stack.callback(_remove_damage, here)
        folder.chmod(0o755)
        (folder / "key").write_text(here.secret)
        (folder / "key").chmod(0o600)
        (folder / "bashrc").write_text(STARTUP)
        for path in (folder, *folder.iterdir()):
            os.chown(path, user, user if user != os.getuid() else -1)
        for name, listener in _listeners(folder, marker).items():
            here.listeners[name] = stack.enter_context(listener)
            listener.setblocking(False)
        yield here


def _listeners(folder: Path, marker: str) -> dict[str, socket.socket]:
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("127.0.0.1", 0))
    abstract, by_path = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
    abstract.bind("\0" + marker)
    by_path.bind(str(folder / "socket"))
    (folder / "socket").chmod(0o777)
    for listener in (abstract, by_path):
        listener.listen()
    return {
        "loopback": socket.create_server(("127.0.0.1", 0)),
        "host": socket.create_server((_own_address(), 0)),
        "udp": udp,
        "abstract": abstract,
        "unix": by_path,
    }


def _own_address() -> str:
    """An address that other machines would use; loopback where there is none."""
    for addresses in psutil.net_if_addrs().values():
        for address in addresses:
            if address.family == socket.AF_INET and not address.address.startswith("127."):
                return address.address
    return "127.0.0.1"


def _was_reached(listener: socket.socket) -> bool:
    try:
        if listener.type == socket.SOCK_DGRAM:
            listener.recv(100)
        else:
            listener.accept()[0].close()
    except BlockingIOError:
        return False
    return True


def _remove_damage(here: World) -> None:
    for folder in FOLDERS:
        with contextlib.suppress(OSError):
            Path(folder, here.marker).unlink()
