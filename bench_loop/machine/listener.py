"""Who answers at a port of this machine: a model server, or a tunnel to hardware elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

import psutil

from bench_loop.machine.facts import MachineFacts
from bench_loop.machine.forwarders import is_forwarder
from bench_loop.machine.record import UNKNOWN


@dataclass(frozen=True, slots=True)
class Listener:
    """The program that listens at a port; `is_forwarder`: it only hands on what it gets."""

    program: str
    is_forwarder: bool


def listener_at(endpoint: str) -> Listener | None:
    """Who listens at the port of an endpoint on a loopback address; None: it has no port.

    The program is UNKNOWN where the system does not tell, as of most processes of other users.
    """
    parts = urlsplit(endpoint)
    if parts.scheme not in ("http", "https"):
        return None
    port = parts.port or (443 if parts.scheme == "https" else 80)
    programs = list(dict.fromkeys(_programs_at(port)))
    # Where several share the port, the one that hands on is the doubt that counts.
    forwarders = [name for name in programs if is_forwarder(name)]
    name = next(iter(forwarders or programs), UNKNOWN)
    return Listener(name, bool(forwarders))


def runs_here(listener: Listener | None, *, is_local: bool) -> bool:
    """Whether the server at a port is on this machine, by its address and by who listens there."""
    return is_local and not (listener and listener.is_forwarder)


def machine_behind(endpoint: str, here: MachineFacts, *, is_local: bool) -> MachineFacts:
    """The machine that a server runs on: this one, or an unknown one at the end of its address.

    `is_local`: the address is a loopback one, behind which may stand a tunnel to another machine.
    """
    listener = listener_at(endpoint) if is_local else None
    return here if runs_here(listener, is_local=is_local) else MachineFacts()


def pids_at(port: int) -> Iterator[int | None]:
    """Processes that listen at a port of this machine; None: one that this user may not know."""
    return (pid for at_port, pid in _listening() if at_port == port)


def _programs_at(port: int) -> Iterator[str]:
    for pid in pids_at(port):
        try:
            yield psutil.Process(pid).name() if pid else UNKNOWN
        except psutil.Error:
            yield UNKNOWN


def _listening() -> Iterator[tuple[int, int | None]]:
    """Ports that are listened at, with the process where this user may know it."""
    try:
        for found in psutil.net_connections(kind="tcp"):
            if found.status == psutil.CONN_LISTEN and found.laddr:
                yield found.laddr.port, found.pid
    except (psutil.Error, OSError):
        # macOS tells only the sockets of one's own processes, and those one by one.
        for process in psutil.process_iter():
            yield from ((port, process.pid) for port in _ports_of(process))


def _ports_of(process: psutil.Process) -> list[int]:
    try:
        sockets = process.net_connections(kind="tcp")
    except (psutil.Error, OSError):
        return []
    return [
        found.laddr.port for found in sockets if found.status == psutil.CONN_LISTEN and found.laddr
    ]
