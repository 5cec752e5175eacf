"""Fetches somebody's result from a BenchLoop site: bounded, checked, and never run."""

from __future__ import annotations

import re
import time
from urllib.parse import urlsplit, urlunsplit

import httpx

import bench_loop
from bench_loop.console import clean
from bench_loop.errors import ResultError, UsageError
from bench_loop.http import is_loopback
from bench_loop.result.records import RunResult
from bench_loop.result.store import MAX_FILE_BYTES, from_bytes

LONGEST_S = 300.0
"""The whole download: the largest file over a slow line, with room."""
_TIMEOUT = httpx.Timeout(30.0, connect=10.0)
_RUN_PAGE = re.compile(r"(?P<site>.*)/runs/(?P<run>[a-z2-7]{12})/?")


def fetch_result(url: str) -> RunResult:
    """The result at `url`. Raises as `fetch` does, and ResultError for what is no result."""
    name, data = fetch(url)
    return from_bytes(data, name)


def fetch(url: str) -> tuple[str, bytes]:
    """Name and bytes of `url`, the address of a run's page or of its result file.

    Raises UsageError for an address that is neither https nor on this machine, ResultError when
    there is no whole file.
    """
    address = result_address(url)
    shown = clean(address)
    headers = {
        "Accept": "application/json",
        # Plain, so that the bound on the answer is one on what is unpacked too.
        "Accept-Encoding": "identity",
        "User-Agent": f"bench-loop/{bench_loop.__version__}",
    }
    is_secure = address.startswith("https:")
    try:
        with (
            httpx.Client(timeout=_TIMEOUT, follow_redirects=False, trust_env=is_secure) as client,
            client.stream("GET", address, headers=headers) as response,
        ):
            if response.status_code != 200:
                raise ResultError(shown, None, f"the site answered HTTP {response.status_code}")
            data = _bounded(response, shown)
    except httpx.HTTPError as error:
        reason = clean(str(error)) or type(error).__name__
        raise ResultError(shown, None, f"cannot be fetched: {reason}") from error
    return shown, data


def result_address(url: str) -> str:
    """Where the result file lies, `url` being that or the page of a run. Raises UsageError."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
        httpx.URL(url)
    except (ValueError, httpx.InvalidURL):
        host = None
    if not host or parts.username or parts.password:
        raise UsageError(
            f"{clean(url)} is not the address of a run.",
            remedy="https://bench.example.org/runs/ID/",
        )
    if parts.scheme != "https" and not is_loopback(host):
        raise UsageError(
            "A result over plain http may be changed on its way.",
            remedy="Use the https address of the site.",
        )
    page = _RUN_PAGE.fullmatch(parts.path)
    path = f"{page['site']}/api/v1/runs/{page['run']}/result.json" if page else parts.path
    return urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))


def _bounded(response: httpx.Response, name: str) -> bytes:
    """The body as it came over the wire. Raises ResultError when it is too large or too slow."""
    body = bytearray()
    end = time.monotonic() + LONGEST_S
    for chunk in response.iter_raw():
        body += chunk
        if len(body) > MAX_FILE_BYTES:
            raise ResultError(name, None, f"is larger than {MAX_FILE_BYTES:,} bytes")
        if time.monotonic() > end:
            raise ResultError(name, None, f"did not arrive in {LONGEST_S:.0f} seconds")
    return bytes(body)
