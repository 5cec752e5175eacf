"""Putting a model out of the memory of an OpenAI-compatible server, and reading back that it is.

The standard has no such request; three servers have one of their own, and each is known by its
list of what is loaded: llama-swap (`/running`), LM Studio (`/api/v1/models` with
`loaded_instances`), and llama.cpp as a router (`/models` with a `status`). LM Studio loads a model
that is asked for with its own defaults, so this is for the end of a run and never for its middle.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from bench_loop.providers._text import as_dict, as_dicts, as_text
from bench_loop.providers._transport import Transport

LIMIT_S = 30.0
POLL_S = 0.25

GONE_STATES = frozenset({"stopped", "shutdown", "unloaded", "not-loaded"})
"""States in which a listed model is in no memory."""


@dataclass(frozen=True, slots=True)
class _Dialect:
    """How one server tells what it has loaded, and how it is asked to drop it."""

    listing: str
    loaded: Callable[[dict[str, Any], str], list[str] | None]
    """From the listing, the names under which the model is loaded; None: another server's."""
    drop: Callable[[str], tuple[str, dict[str, str] | None]]
    """Path and body that drop one of these names."""


def free(http: Transport, model_id: str, limit_s: float = LIMIT_S) -> bool | None:
    """Have `model_id` dropped; True: it is gone, False: it still is there after `limit_s` seconds.

    None: the server has no way to be asked. Raises ProviderError when it does not answer.
    """
    for dialect in DIALECTS:
        names = _loaded(http, dialect, model_id)
        if names is None:
            continue
        for name in names:
            path, body = dialect.drop(name)
            http.ask("POST", path, body)
        return _is_gone(http, dialect, model_id, limit_s)
    return None


def _loaded(http: Transport, dialect: _Dialect, model_id: str) -> list[str] | None:
    answer = http.ask("GET", dialect.listing)
    return dialect.loaded(as_dict(answer.json()), model_id) if answer.status == 200 else None


def _is_gone(http: Transport, dialect: _Dialect, model_id: str, limit_s: float) -> bool:
    give_up = time.monotonic() + limit_s
    while _loaded(http, dialect, model_id):
        if time.monotonic() > give_up:
            return False
        time.sleep(POLL_S)
    return True


def _in_llama_swap(listing: dict[str, Any], model_id: str) -> list[str] | None:
    if not isinstance(listing.get("running"), list):
        return None
    running = [one for one in as_dicts(listing["running"]) if one.get("model") == model_id]
    return [model_id for one in running if one.get("state") not in GONE_STATES]


def _in_lmstudio(listing: dict[str, Any], model_id: str) -> list[str] | None:
    models = as_dicts(listing.get("models"))
    if not any("loaded_instances" in model for model in models):
        return None
    instances = [
        name
        for model in models
        for instance in as_dicts(model.get("loaded_instances"))
        if (name := as_text(instance.get("id"))) and model_id in (model.get("key"), name)
    ]
    return list(dict.fromkeys(instances))


def _in_llama_router(listing: dict[str, Any], model_id: str) -> list[str] | None:
    models = as_dicts(listing.get("data"))
    states = {as_text(one.get("id")): as_dict(one.get("status")).get("value") for one in models}
    if not any(isinstance(state, str) for state in states.values()):
        return None
    return [model_id] if states.get(model_id) not in (None, *GONE_STATES) else []


DIALECTS = (
    _Dialect(
        "/running",
        _in_llama_swap,
        lambda name: (f"/api/models/unload/{quote(name, safe='')}", None),
    ),
    _Dialect(
        "/api/v1/models",
        _in_lmstudio,
        lambda name: ("/api/v1/models/unload", {"instance_id": name}),
    ),
    _Dialect("/models", _in_llama_router, lambda name: ("/models/unload", {"model": name})),
)
