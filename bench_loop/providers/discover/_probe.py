"""Looks at several addresses at once, within a time that no server can stretch.

At each address the list of models is asked for first, then, in the time that is left, what tells
engines apart. Redirects are not followed, answers are read up to a limit, and no key is sent:
anything may listen on a usual port.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, Literal

import httpx

from bench_loop.providers._endpoint import parse_endpoint
from bench_loop.providers._fingerprint import (
    LISTING,
    NOTHING,
    OPENAPI,
    PROPS,
    UNKNOWN,
    Identity,
    Said,
    identify,
    is_jan,
    is_loading,
    questions,
)
from bench_loop.providers.discover._places import Place

LOOK_LIMIT_S = 1.8
LISTING_SHARE = 0.7
"""Part of the time for the first answer: on a busy machine that is the one to wait for."""

MOST_BYTES = 4 * 2**20
"""Bytes of an answer that are read: the longest chat templates and lists of models are shorter."""

State = Literal["ready", "loading", "locked", "silent", "not_a_model_server"]
"""`locked`: it wants a key. The last two are told of saved endpoints only."""


@dataclass(frozen=True, slots=True)
class FoundServer:
    """A model server that was found, or a saved endpoint where none answers as one."""

    endpoint: str
    provider: str
    """Name of the provider that speaks to it."""
    engine: str
    version: str | None
    state: State
    name: str | None = None
    """What the user saved it under, or named it by; None: it was found on a usual port."""

    @property
    def is_named(self) -> bool:
        return self.name is not None

    @property
    def is_local(self) -> bool:
        """Whether the address is a loopback one."""
        return parse_endpoint(self.endpoint).is_local


def look(places: Iterable[Place], limit_s: float) -> tuple[FoundServer, ...]:
    """What is found at `places`, in their order; see `discover.known_servers`."""

    async def all_at_once() -> tuple[FoundServer, ...]:
        found = await asyncio.gather(*(_look_at(place, limit_s) for place in places))
        return tuple(server for server in found if server is not None)

    # A thread of its own: the caller's may run an event loop already.
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=_run, args=(loop,), daemon=True)
    thread.start()
    try:
        return asyncio.run_coroutine_threadsafe(all_at_once(), loop).result()
    finally:  # Ctrl-C comes here too, and waits for no server.
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


def _run(loop: asyncio.AbstractEventLoop) -> None:
    """Run the loop until it is stopped, and then end what it has not done.

    Unlike `asyncio.run` it does not wait until a name server has answered for a saved address.
    """
    loop.run_forever()
    loop.run_until_complete(_end(asyncio.all_tasks(loop)))
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()


async def _end(unfinished: Collection[asyncio.Task[Any]]) -> None:
    for task in unfinished:
        task.cancel()
    await asyncio.gather(*unfinished, return_exceptions=True)


async def _look_at(place: Place, limit_s: float) -> FoundServer | None:
    async with httpx.AsyncClient(
        base_url=place.url,
        headers={"Connection": "close", "Accept-Encoding": "identity"},
        timeout=limit_s,
        trust_env=False,
        verify=place.url.startswith("https:"),
    ) as client:
        give_up = time.monotonic() + limit_s
        listing = await _hear(client, LISTING, limit_s * LISTING_SHARE)
        told = await _tell(client, listing, give_up - time.monotonic())
    identity, state = told or (UNNAMED, _no_model_server(listing))
    # Most programs that want a password are no model servers: only an address that the user
    # saved is told of then.
    if place.name is None and (told is None or (state == "locked" and identity == UNNAMED)):
        return None
    provider = "ollama" if identity.engine == "ollama" else "openai_compat"
    return FoundServer(place.url, provider, identity.engine, identity.version, state, place.name)


UNNAMED = Identity(UNKNOWN)


def _no_model_server(listing: Said) -> State:
    return "silent" if listing.status == 0 else "not_a_model_server"


async def _tell(
    client: httpx.AsyncClient, listing: Said, limit_s: float
) -> tuple[Identity, State] | None:
    """Which engine listed its models like that, and in which state it is; None: no model server."""
    if is_loading(listing):
        return Identity("llama.cpp"), "loading"
    if listing.status in (401, 403):
        jan = is_jan(await _hear(client, OPENAPI, limit_s))
        return (Identity("jan") if jan else UNNAMED), "locked"
    models = listing.json()
    # Ollama without a model lists null.
    if "data" not in models or not isinstance(models["data"], list | None):
        return None
    paths = questions(models)
    answers = await asyncio.gather(*(_hear(client, path, limit_s) for path in paths))
    said = dict(zip(paths, answers, strict=True))
    identity = identify(models, said)
    is_locked = said.get(PROPS, NOTHING).status in (401, 403)
    return identity, "locked" if is_locked else "ready"


async def _hear(client: httpx.AsyncClient, path: str, limit_s: float) -> Said:
    """The answer at `path`; NOTHING where there is none, none in time, or one without end."""
    try:
        async with asyncio.timeout(limit_s), client.stream("GET", path) as response:
            body = bytearray()
            async for data in response.aiter_raw():
                body += data
                if len(body) > MOST_BYTES:
                    return NOTHING
            return Said(response.status_code, bytes(body), response.headers.get("server", ""))
    except (httpx.HTTPError, httpx.InvalidURL, OSError, TimeoutError):
        return NOTHING
