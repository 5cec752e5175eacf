"""Which pages may open a websocket: those of this very site, and no other on the same host."""

from __future__ import annotations

import logging
from typing import Any
from urllib.parse import urlsplit

from channels.security.websocket import WebsocketDenier

logger = logging.getLogger("benchloop.sockets")


class SameOrigin:
    """Lets a socket through when its Origin has exactly the Host that it was sent to.

    `AllowedHostsOriginValidator` ignores the port, so that any local web server's page could
    listen; and the server below accepts `Origin: null`.
    """

    def __init__(self, application: Any) -> None:
        self.application = application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if is_same_origin(scope["headers"]):
            await self.application(scope, receive, send)
            return
        logger.warning(
            "A socket was refused: its Origin %r is not this site, asked for as %r.",
            *(_values(scope["headers"], name) for name in (b"origin", b"host")),
        )
        await WebsocketDenier()(scope, receive, send)


def _values(headers: list[tuple[bytes, bytes]], name: bytes) -> bytes:
    return b", ".join(value for key, value in headers if key.lower() == name)[:200]


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
