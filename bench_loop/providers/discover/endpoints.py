"""The model servers that the user saved under names, in `endpoints.json` of the data folder."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench_loop import config
from bench_loop.errors import SetupError, UsageError
from bench_loop.providers import ollama
from bench_loop.providers._endpoint import parse_endpoint
from bench_loop.registry import pick

FILE = "endpoints.json"
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
"""No dot and no colon, so that a name is never an address; `localhost` is refused beside."""


@dataclass(frozen=True, slots=True)
class SavedEndpoint:
    """An address under a name; `provider` None: told from what answers there."""

    name: str
    url: str
    provider: str | None = None


def saved_endpoints() -> tuple[SavedEndpoint, ...]:
    """All of them by name. Raises SetupError when the file is damaged; it is left as it is."""
    return tuple(
        SavedEndpoint(name, table["url"], table.get("provider"))
        for name, table in sorted(_read().items())
    )


def find_endpoint(text: str) -> SavedEndpoint | None:
    """The endpoint saved under `text`; None where there is none: then it is an address."""
    return next((one for one in saved_endpoints() if one.name == text), None)


def url_of(address: str, provider: str | None) -> str:
    """The base URL of `address`, on the provider's own port where it names none.

    Raises UsageError for what is no address.
    """
    return parse_endpoint(address, ollama.PORT if provider == "ollama" else None).url


def save_endpoint(name: str, address: str, provider: str | None = None) -> SavedEndpoint:
    """Keep `address` under `name`, in place of what was there.

    A user and a password in it are left out, as everywhere. Raises UsageError for a name or an
    address that is none.
    """
    if not _NAME.fullmatch(name) or name == "localhost":
        raise UsageError(
            f"{name!r} cannot be the name of an endpoint.",
            remedy="Use up to 40 lower-case letters, digits, - and _, like gpu-box.",
        )
    endpoint = SavedEndpoint(name, url_of(address, provider), provider)
    table = {"url": endpoint.url} | ({"provider": provider} if provider else {})
    _write(_read() | {name: table})
    return endpoint


def remove_endpoint(name: str) -> None:
    """Forget the endpoint. Raises UsageError where none is saved under `name`."""
    tables = _read()
    if not tables:
        raise UsageError("No endpoint is saved.", remedy="bench-loop endpoints add NAME URL")
    pick("saved endpoint", name, tables)
    del tables[name]
    _write(tables)


def _file() -> Path:
    return config.home() / FILE


def _read() -> dict[str, dict[str, Any]]:
    try:
        value = json.loads(_file().read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (ValueError, RecursionError) as error:
        raise _damaged(str(error)) from error
    if not isinstance(value, dict):
        raise _damaged("it holds no JSON object")
    for name, table in value.items():
        if not isinstance(table, dict) or not isinstance(table.get("url"), str):
            raise _damaged(f"{name} has no url")
        if table.get("provider") not in (None, "ollama", "openai_compat"):
            raise _damaged(f"{name} has a provider that is neither ollama nor openai_compat")
        try:
            parse_endpoint(table["url"])
        except UsageError as error:
            raise _damaged(f"{name}: {error.message}") from error
    return value


def _write(tables: dict[str, dict[str, Any]]) -> None:
    try:
        config.replace_file(_file(), json.dumps(tables, indent=1, sort_keys=True).encode() + b"\n")
    except OSError as error:
        raise config.not_writable(_file(), error) from error


def _damaged(why: str) -> SetupError:
    return SetupError(f"{_file()} is damaged: {why}.", remedy="Mend or delete it.")
