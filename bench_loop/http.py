"""Rules about addresses that every client of BenchLoop shares."""

from __future__ import annotations

import ipaddress


def is_loopback(host: str) -> bool:
    """Whether `host`, a name or an address without brackets, can only mean this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_url(text: str) -> bool:
    """Whether `text` is a web address and no file name."""
    return text.startswith(("http://", "https://"))
