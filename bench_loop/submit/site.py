"""Which site results are sent to, with which key, and how its pages are named."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx

from bench_loop import config
from bench_loop.console import clean
from bench_loop.errors import UsageError
from bench_loop.http import is_loopback


def site_address(option: str | None) -> str:
    """The site to submit to, without a slash at its end.

    `--site`, else BENCHLOOP_SITE, else `address` under `[site]` in config.toml. Raises UsageError
    when none names one, or it is no http(s) address.
    """
    named = option or os.environ.get("BENCHLOOP_SITE") or _setting("address") or ""
    if not named.strip():
        raise UsageError(
            "There is no site to submit to.",
            remedy="Give --site https://..., or set BENCHLOOP_SITE.",
        )
    return checked_address(named)


def checked_address(text: str) -> str:
    """`text` as the address of a site. Raises UsageError."""
    address = text.strip()
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
        httpx.URL(address)
    except (ValueError, httpx.InvalidURL):  # a host that cannot be written in ASCII is a ValueError
        host = None
    if not host or parts.scheme not in ("http", "https"):
        raise UsageError(
            f"{clean(address)} is not the address of a site.",
            remedy="Write it in full: https://bench.example.org",
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise UsageError(
            "The site's address may hold no user name, password, query or fragment.",
            remedy="Give the key in BENCHLOOP_TOKEN.",
        )
    return address.rstrip("/")


def site_token(address: str) -> str | None:
    """The API key for the site: BENCHLOOP_TOKEN, else `token` under `[site]` in config.toml.

    A key that config.toml keeps together with an address goes to that site alone. Raises
    UsageError for one that no header can carry, or that would travel in the clear.
    """
    token = os.environ.get("BENCHLOOP_TOKEN", "").strip()
    if not token:
        home = _setting("address")
        is_for_it = home is None or checked_address(home) == address
        token = (_setting("token") or "") if is_for_it else ""
    if not token:
        return None
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise UsageError(
            "The API key holds characters that no key has.",
            remedy="Copy it again into BENCHLOOP_TOKEN or config.toml.",
        )
    refuse_plain(address, token)
    return token


def refuse_plain(address: str, token: str | None) -> None:
    """Raises UsageError where others could read the key on its way."""
    if token and not is_secure(address) and not is_loopback(urlsplit(address).hostname or ""):
        raise UsageError(
            "Your API key would be sent over plain http, where others can read it.",
            remedy="Use the https address of the site.",
        )


def is_secure(address: str) -> bool:
    return address.lower().startswith("https:")


def _setting(name: str) -> str | None:
    table: Any = config.settings().get("site", {})
    value = table.get(name) if isinstance(table, dict) else None
    return str(value).strip() or None if value else None


def shown_url(site: str, url: object) -> str | None:
    """The page that the site names, on the site itself and harmless; None: it names none.

    Only the path is taken: an answer cannot lead the reader elsewhere, and a site behind a proxy
    may not know by which address it was reached.
    """
    if not isinstance(url, str):
        return None
    try:
        path = urlsplit(url).path
    except ValueError:
        return None
    if not path.startswith("/"):
        return None
    return clean(urljoin(site, "/" + path.lstrip("/")))[:500]
