"""Which pages may open a websocket: those of this very site, and no other on the same host."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from channels.security.websocket import WebsocketDenier


class SameOrigin:
    """Lets a socket through when its Origin has exactly the Host that it was sent to.

    `AllowedHostsOriginValidator` ignores the port, so that any local web server's page could
    listen; and the server below accepts `Origin: null`.
    """

    def __init__(self, application: Any) -> None:
        self.application = application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        admitted = self.application if is_same_origin(scope["headers"]) else WebsocketDenier()
        await admitted(scope, receive, send)


def is_same_origin(headers: list[tuple[bytes, bytes]]) -> bool:
    """Whether there is one Origin, of http or https, whose host and port equal the Host header."""
    origins = [value for name, value in headers if name.lower() == b"origin"]
    hosts = [value for name, value in headers if name.lower() == b"host"]
    if len(origins) != 1 or len(hosts) != 1:
        return False
    try:
        origin = urlsplit(origins[0].decode("ascii"))
        host = hosts[0].decode("ascii")
    except ValueError:
        return False
    return origin.scheme in ("http", "https") and origin.netloc.lower() == host.lower()
