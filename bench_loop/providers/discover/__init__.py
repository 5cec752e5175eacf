"""Finds model servers: those that run on this machine, and those that the user saved.

A folder, since it is no provider itself. The command line, quickstart and the site's runner all
look here. A server counts only by what it says of itself (`_fingerprint.py`).
"""

from __future__ import annotations

import importlib
import math
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import Protocol

from bench_loop import config
from bench_loop.contracts.provider import ModelFacts, Provider
from bench_loop.errors import BenchLoopError
from bench_loop.providers._ability import can_chat
from bench_loop.providers._endpoint import parse_endpoint
from bench_loop.providers._fingerprint import UNKNOWN
from bench_loop.providers.discover._places import Place, usual_places
from bench_loop.providers.discover._probe import LOOK_LIMIT_S, FoundServer, State, look
from bench_loop.providers.discover.endpoints import find_endpoint, saved_endpoints, url_of

__all__ = [
    "ASK_LIMIT_S",
    "FoundServer",
    "Place",
    "State",
    "connect",
    "find_server",
    "is_open",
    "key_for",
    "known_servers",
    "may_be_taken",
    "meet",
    "ready_servers",
    "usable_models",
    "usual_places",
]

ANSWER_LIMIT_S = 30.0
"""Time for a server that is known to be one: it may be busy with somebody else's request."""

ASK_LIMIT_S = 3.0
"""Time for all questions about the models of one server that nobody named."""

LOADING_LIMIT_S = 60.0
LOADING_POLL_S = 1.0
"""How long a server that is still loading its model is waited for, and how often it is asked."""


class Say(Protocol):
    """Takes a sentence for the person who waits."""

    def __call__(self, sentence: str, /) -> object: ...


def known_servers(
    places: tuple[Place, ...] | None = None, limit_s: float = LOOK_LIMIT_S
) -> tuple[FoundServer, ...]:
    """The model servers at `places`, by default the usual ports and the saved endpoints.

    All places are asked at once, for at most `limit_s` seconds. What answers there and is no model
    server is left out; of a saved endpoint its silence is told. Never raises for what a server
    does; SetupError where the file of saved endpoints is damaged.
    """
    return look(all_places() if places is None else places, limit_s)


def all_places() -> tuple[Place, ...]:
    """The usual ports of this machine, then the saved endpoints; each address once."""
    saved = {parse_endpoint(one.url).url: one for one in saved_endpoints()}
    places = {
        place.url: Place(place.url, saved[place.url].name) if place.url in saved else place
        for place in usual_places()
    }
    for url, one in saved.items():
        places.setdefault(url, Place(url, one.name))
    return tuple(places.values())


def find_server(
    say: Say = lambda sentence: None,
    places: tuple[Place, ...] | None = None,
    wait_s: float | None = None,
) -> FoundServer | None:
    """The first server of this machine that is ready and has a chat model of its own.

    Where none is ready and one is still loading its model, `say` is told and it is waited for.
    """
    return next(filter(_has_models, ready_servers(say, places, wait_s)), None)


def ready_servers(
    say: Say = lambda sentence: None,
    places: tuple[Place, ...] | None = None,
    wait_s: float | None = None,
) -> tuple[FoundServer, ...]:
    """The servers of this machine that a run may begin on without being told to, in their order.

    An engine that nobody knows is not taken unasked: it may only forward to a cloud.
    """

    def here() -> tuple[FoundServer, ...]:
        return tuple(one for one in known_servers(places) if one.is_local)

    return tuple(filter(may_be_taken, _when_loaded(here, say, wait_s)))


def meet(
    endpoint: str,
    say: Say = lambda sentence: None,
    wait_s: float | None = None,
    provider: str | None = None,
) -> FoundServer:
    """What answers at `endpoint`, an address or what one was saved under, after waiting for a
    model that is still being loaded.

    Its provider is the one that is asked for or was saved, else `ollama` where the server says
    itself that it is one, else `openai_compat`, which almost every other server speaks. Raises
    UsageError for what is no address.
    """
    saved = find_endpoint(endpoint)
    provider = provider or (saved.provider if saved else None)
    place = Place(url_of(saved.url if saved else endpoint, provider), endpoint)
    (found,) = _when_loaded(lambda: look((place,), ANSWER_LIMIT_S), say, wait_s)
    return replace(found, provider=provider) if provider else found


def _when_loaded(
    look_again: Callable[[], tuple[FoundServer, ...]], say: Say, wait_s: float | None
) -> tuple[FoundServer, ...]:
    """The servers, once one is ready or none is loading any more, or the time is up."""
    wait_s = LOADING_LIMIT_S if wait_s is None else wait_s
    give_up = time.monotonic() + wait_s
    is_told = False
    while True:
        found = look_again()
        loading = [server for server in found if server.state == "loading"]
        is_ready = any(map(is_open, found))
        if is_ready or not loading or time.monotonic() >= give_up:
            return found
        if not is_told:
            say(
                f"{loading[0].engine} at {loading[0].endpoint} is still loading its model: "
                f"waiting up to {wait_s:.0f} s."
            )
            is_told = True
        time.sleep(LOADING_POLL_S)


def connect(server: FoundServer, total_limit_s: float = math.inf) -> Provider:
    """The provider for a server that was found; its questions may take so long together."""
    module = importlib.import_module(f"bench_loop.providers.{server.provider}")
    provider: Provider = module.connect(server.endpoint, key_for(server), total_limit_s)
    return provider


def key_for(server: FoundServer) -> str | None:
    """The user's key, only for a server whose address the user named or saved.

    Anything may listen on a usual port, and say that it is what one would expect there.
    """
    return config.api_key(server.provider) if server.is_named else None


def is_open(server: FoundServer) -> bool:
    """Whether it can be asked for its models: it is ready, or wants a key that there is."""
    return server.state == "ready" or (server.state == "locked" and bool(key_for(server)))


def may_be_taken(server: FoundServer) -> bool:
    """Whether prompts may be sent to it without its being named on the command line.

    An engine that nobody knows may only forward to a cloud.
    """
    return is_open(server) and (server.is_named or server.engine != UNKNOWN)


def usable_models(provider: Provider) -> tuple[ModelFacts, ...]:
    """The models of a server that can chat and are really its own: loaded ones, then smaller ones.

    Raises ProviderError when the server does not answer.
    """
    usable = [model for model in provider.models() if can_chat(model) and not model.is_remote]
    return tuple(
        sorted(usable, key=lambda model: (model.context_loaded is None, model.size_bytes or 0))
    )


def _has_models(server: FoundServer) -> bool:
    """Whether it answers and has a chat model of its own."""
    try:
        with closing(connect(server, ASK_LIMIT_S)) as provider:
            return bool(usable_models(provider))
    except BenchLoopError:
        return False
