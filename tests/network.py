"""Keeps tests on this machine: a connection to any other address is an error."""

from __future__ import annotations

import ipaddress
import sys

_watching = False


class OutsideNetworkError(AssertionError):
    """A test tried to reach another machine."""


def stay_on_this_machine() -> None:
    """From now on this process can connect to loopback addresses and Unix sockets only.

    An audit hook sees every way to connect (asyncio's and Twisted's too) and can't be removed.
    """
    global _watching
    if not _watching:
        sys.addaudithook(_refuse_other_machines)
        _watching = True


def is_loopback(host: str) -> bool:
    """Whether `host` names this machine without asking a name server."""
    if host in ("", "localhost"):
        return True
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False


def _refuse_other_machines(event: str, arguments: tuple[object, ...]) -> None:
    if event in ("socket.connect", "socket.sendto"):
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) else None
    elif event == "socket.getaddrinfo":
        host = arguments[0]
    else:
        return
    if isinstance(host, bytes):
        host = host.decode()
    if isinstance(host, str) and not is_loopback(host):
        raise OutsideNetworkError(f"{event} to {host}: tests may reach this machine only.")
