"""Addresses of model servers: what a person types, made into one base URL."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx

from bench_loop.errors import UsageError
from bench_loop.http import is_loopback

_LOOPBACK_OF = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - nothing is bound


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The base URL of a model server: no credentials, no trailing slash, no `/v1`."""

    url: str
    is_local: bool
    """Whether the host is a loopback address."""

    @property
    def port(self) -> int:
        """The port, also where the address leaves it to the scheme."""
        return urlsplit(self.url).port or (443 if self.is_encrypted else 80)

    @property
    def is_encrypted(self) -> bool:
        return self.url.startswith("https://")


def parse_endpoint(text: str, default_port: int | None = None) -> Endpoint:
    """The endpoint that `text` names: `host`, `host:port`, or a URL with or without `/v1`.

    Without a scheme it is http; `default_port` counts only then. An address that means "every
    interface" (`0.0.0.0`, `::`) becomes the loopback address. Raises UsageError for anything that
    is no address.
    """
    has_scheme = "://" in text
    url = text.strip() if has_scheme else f"http://{text.strip()}"
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
        httpx.URL(url)
    except (ValueError, httpx.InvalidURL):
        raise _not_an_address(text) from None
    if not has_scheme and host is None and port is not None:
        host = "127.0.0.1"
    has_blank = any(letter.isspace() for letter in url)
    if (
        has_blank
        or parts.scheme not in ("http", "https")
        or not host
        or parts.query
        or parts.fragment
    ):
        raise _not_an_address(text)
    if port is None and not has_scheme:
        port = default_port
    host = _LOOPBACK_OF.get(host, host)
    shown_host = f"[{host}]" if ":" in host else host
    path = parts.path.rstrip("/").removesuffix("/v1")
    shown_port = f":{port}" if port is not None else ""
    return Endpoint(f"{parts.scheme}://{shown_host}{shown_port}{path}", is_loopback(host))


def _not_an_address(text: str) -> UsageError:
    return UsageError(
        f"{text!r} is no address of a model server.",
        remedy="Give it as a URL, such as http://127.0.0.1:8080.",
    )
