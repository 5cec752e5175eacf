"""A real model server behind the gateway."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from bench_loop.gateway.upstream import Answer, Asked, UpstreamFailedError
from bench_loop.providers._endpoint import parse_endpoint

if TYPE_CHECKING:  # loaded when something is sent, and not before
    import aiohttp

CONNECT_LIMIT_S = 10.0
SILENCE_LIMIT_S = 900.0
"""Longest wait for the next byte: a long prompt on a slow machine takes minutes."""

OF_ONE_CONNECTION = frozenset(
    "connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer"
    " transfer-encoding upgrade content-length host expect".split()
)
"""Headers that say how bytes travel, not what they are."""


class HttpUpstream:
    """Forwards to one model server, over a connection of its own for each request."""

    def __init__(
        self,
        base_url: str,
        headers: Mapping[str, str] | None = None,
        silence_limit_s: float = SILENCE_LIMIT_S,
    ) -> None:
        """`base_url` with or without `/v1`; `headers` hold the server's key, where it wants one.

        Raises UsageError for what is no address.
        """
        self._endpoint = parse_endpoint(base_url)
        self._silence_limit_s = silence_limit_s
        self._headers = {
            **(headers or {}),
            "Connection": "close",
            "Accept-Encoding": "identity",  # what is packed could not be read here
        }

    @asynccontextmanager
    async def send(self, asked: Asked) -> AsyncIterator[Answer]:
        """The answer to `asked`. Raises UpstreamFailedError where there is none."""
        import aiohttp

        async with self._session() as session:
            try:
                response = await session.request(
                    asked.method,
                    self._endpoint.url + asked.path,
                    headers=self._headers_for(asked),
                    data=_once(asked.body) if asked.body else None,
                    allow_redirects=False,
                )
            except (aiohttp.ClientError, TimeoutError) as error:
                raise _failed(error) from error
            try:
                yield _HttpAnswer(response)
            finally:
                response.close()

    def _headers_for(self, asked: Asked) -> dict[str, str]:
        """The server's own headers take the place of a harness's, however it spells them."""
        ours = {**self._headers, "Content-Length": str(len(asked.body))}
        names = {name.lower() for name in ours}
        theirs = {name: value for name, value in asked.headers.items() if name.lower() not in names}
        return theirs | ours

    def _session(self) -> aiohttp.ClientSession:
        """A session for one request: none outlives the event loop that it was made in."""
        import aiohttp

        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(force_close=True),
            timeout=aiohttp.ClientTimeout(
                total=None, connect=CONNECT_LIMIT_S, sock_read=self._silence_limit_s
            ),
            auto_decompress=False,
            trust_env=not self._endpoint.is_local,
            skip_auto_headers=("User-Agent", "Accept", "Content-Type"),
        )


class _HttpAnswer:
    fault: str | None = None

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response
        self.status = response.status
        self.headers: Mapping[str, str] = {
            name: value
            for name, value in response.headers.items()
            if name.lower() not in OF_ONE_CONNECTION
        }

    async def pieces(self) -> AsyncIterator[bytes]:
        import aiohttp

        try:
            while piece := await self._response.content.readany():
                yield piece
        except (aiohttp.ClientError, TimeoutError) as error:
            raise _failed(error) from error


async def _once(body: bytes) -> AsyncIterator[bytes]:
    """The body as the client takes it without a warning that it is large."""
    yield body


def _failed(error: Exception) -> UpstreamFailedError:
    import aiohttp

    if isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError):
        return UpstreamFailedError("the model server could not be reached")
    if isinstance(error, TimeoutError):
        return UpstreamFailedError("the model server fell silent")
    return UpstreamFailedError("the model server closed the connection too early")
