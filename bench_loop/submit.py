"""Sends a result to a BenchLoop site: the exact bytes of the file, once, to the site you named.

What the site answers is as untrusted as any other text from outside: it is bounded, must be JSON,
and is made harmless before it is shown.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from queue import Empty, SimpleQueue
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx

import bench_loop
from bench_loop import config
from bench_loop.console import clean
from bench_loop.errors import SubmitError, UsageError
from bench_loop.http import is_loopback

SUBMISSIONS_PATH = "/api/v1/submissions/"
TRIES = 3
LONGEST_WAIT_S = 60.0
"""A site that asks for a longer pause than this is left alone, and the user told."""

LONGEST_TRY_S = 300.0
"""A whole try, upload and answer: the largest file over a slow line, with room."""

MOST_ANSWER_BYTES = 1024 * 1024
_TRANSIENT = frozenset({429, 502, 503, 504})
_TIMEOUT = httpx.Timeout(60.0, connect=10.0)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a site answered to an accepted upload. 201: stored. 200: it had the run already."""

    http_status: int
    body: dict[str, Any]

    @property
    def is_duplicate(self) -> bool:
        return self.http_status == 200 and "id" in self.body


def site_address(option: str | None) -> str:
    """The site to submit to: `--site`, else `BENCHLOOP_SITE`; without a slash at its end.

    Raises UsageError when neither names one, or it is no http(s) address.
    """
    address = (option or os.environ.get("BENCHLOOP_SITE") or "").strip()
    if not address:
        raise UsageError(
            "There is no site to submit to.",
            remedy="Give --site https://..., or set BENCHLOOP_SITE.",
        )
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


def site_token() -> str | None:
    """The API key for the site: `BENCHLOOP_TOKEN`, else `[site] token` of config.toml."""
    token = os.environ.get("BENCHLOOP_TOKEN", "").strip()
    if not token:
        table = config.settings().get("site", {})
        value = table.get("token") if isinstance(table, dict) else None
        token = str(value).strip() if value else ""
    if not token:
        return None
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise UsageError(
            "The API key holds characters that no key has.",
            remedy="Copy it again into BENCHLOOP_TOKEN or config.toml.",
        )
    return token


def submit_bytes(data: bytes, site: str, token: str | None, dry_run: bool) -> dict[str, Any]:
    """Send the bytes of a result file; the site's answer. Raises SubmitError, UsageError."""
    return send(data, site, token, is_dry_run=dry_run).body


def send(
    data: bytes,
    site: str,
    token: str | None,
    *,
    is_dry_run: bool = False,
    pause: Callable[[float], None] = time.sleep,
    limit_s: float = LONGEST_TRY_S,
) -> Answer:
    """Send the bytes of a result file, again after a transient failure, and give the answer.

    All tries carry the same Idempotency-Key, so that an upload whose answer was lost is stored
    once. `pause` waits for a number of seconds; a try may take `limit_s`. Raises SubmitError when
    the site refuses, is down, too slow or no BenchLoop site; UsageError when the key would travel
    in the clear.
    """
    address = site_address(site)
    is_secure = address.lower().startswith("https:")
    if token and not is_secure and not is_loopback(urlsplit(address).hostname or ""):
        raise UsageError(
            "Your API key would be sent over plain http, where others can read it.",
            remedy="Use the https address of the site.",
        )
    url = address + SUBMISSIONS_PATH + ("?dry_run=1" if is_dry_run else "")
    headers = _headers(data, token)
    # A proxy from the environment would see what a plain request carries.
    with httpx.Client(timeout=_TIMEOUT, follow_redirects=False, trust_env=is_secure) as client:
        for number in range(1, TRIES + 1):
            reply = _try(client, url, data, headers, limit_s)
            wait_s = reply.wait_s(number)
            if wait_s is None:
                return reply.accepted()
            if number == TRIES or wait_s > LONGEST_WAIT_S:
                raise reply.refusal()
            pause(wait_s)
    raise AssertionError("the last try returns or raises")


@dataclass(frozen=True, slots=True)
class _Reply:
    """One HTTP answer, or why there was none (`http_status` 0)."""

    http_status: int
    headers: Mapping[str, str]
    content: bytes
    failure: str = ""

    def wait_s(self, number: int) -> float | None:
        """Seconds until another try is worth it; None: this answer is final."""
        if self.http_status and self.http_status not in _TRANSIENT:
            return None
        asked = retry_after_s(self.headers.get("retry-after"), datetime.now(UTC))
        return asked if asked is not None else float(2 ** (number - 1))

    def accepted(self) -> Answer:
        """The answer to an upload that the site took. Raises SubmitError for every other."""
        if self.http_status in (200, 201, 202):
            body = self._json()
            if body is not None:
                return Answer(self.http_status, body)
        raise self.refusal()

    def refusal(self) -> SubmitError:
        """Why the site did not take the upload, in its own words where it has any."""
        if not self.http_status:
            return SubmitError(
                f"The site cannot be reached: {self.failure}.",
                code="unreachable",
                remedy="Check the address, and whether the site is up; nothing was stored.",
            )
        if 300 <= self.http_status < 400:
            target = clean(self.headers.get("location", "elsewhere"))[:300]
            return SubmitError(
                f"The site redirects to {target}; redirects are not followed with your key.",
                code="redirected",
                remedy="If you trust that address, give it as --site.",
            )
        body = self._json()
        if body is None or not isinstance(body.get("message"), str):
            if self.http_status >= 500:
                return SubmitError(
                    f"The site is not available now: it answered HTTP {self.http_status}.",
                    code="unavailable",
                    remedy="Submit it again later; sending it twice does no harm.",
                )
            return SubmitError(
                f"This is no BenchLoop site: it answered HTTP {self.http_status}.",
                code="not_a_site",
                remedy="Check --site or BENCHLOOP_SITE.",
            )
        return _in_the_sites_words(body, self.headers)

    def _json(self) -> dict[str, Any] | None:
        try:
            body = json.loads(self.content)
        except (ValueError, RecursionError):
            return None
        return body if isinstance(body, dict) else None


def retry_after_s(value: str | None, now: datetime) -> float | None:
    """A Retry-After header, seconds or a date, as seconds from `now`; None: absent or broken."""
    text = (value or "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError):
        return None
    if moment.tzinfo is None:
        return None
    return max(0.0, (moment - now).total_seconds())


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


def _try(
    client: httpx.Client, url: str, data: bytes, headers: Mapping[str, str], limit_s: float
) -> _Reply:
    """One try, given up after `limit_s` seconds in all.

    The client's own limits begin anew with every byte, so that a site which sends one now and then
    would never end. The thread ends with the client, which closes its connection.
    """
    replies: SimpleQueue[_Reply] = SimpleQueue()
    exchange = (replies, client, url, data, headers)
    threading.Thread(target=_exchange, args=exchange, name="submit", daemon=True).start()
    try:
        return replies.get(timeout=limit_s)
    except Empty:
        raise SubmitError(
            f"The site did not end its answer in {limit_s:.0f} seconds.",
            code="too_slow",
            remedy="Submit it again later; sending it twice does no harm.",
        ) from None


def _exchange(
    replies: SimpleQueue[_Reply],
    client: httpx.Client,
    url: str,
    data: bytes,
    headers: Mapping[str, str],
) -> None:
    try:
        with client.stream("POST", url, content=data, headers=headers) as response:
            reply = _Reply(response.status_code, response.headers, _bounded(response))
    except Exception as error:  # whatever it is, the caller waits for a reply
        reply = _Reply(0, {}, b"", clean(str(error)).rstrip(".") or type(error).__name__)
    replies.put(reply)


def _bounded(response: httpx.Response) -> bytes:
    """The body as it came over the wire, cut behind the most that an answer may have."""
    body = bytearray()
    for chunk in response.iter_raw():
        body += chunk
        if len(body) > MOST_ANSWER_BYTES:
            break
    return bytes(body[:MOST_ANSWER_BYTES])


def _headers(data: bytes, token: str | None) -> dict[str, str]:
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json",
        # Plain, so that the bound on the answer is one on what is unpacked too.
        "Accept-Encoding": "identity",
        "User-Agent": f"bench-loop/{bench_loop.__version__}",
        "Idempotency-Key": idempotency_key(data),
    }
    if token:
        headers["Authorization"] = f"Bearer {token}"
    return headers


def idempotency_key(data: bytes) -> str:
    """The same for every try to send the same run: the hex part of its fingerprint."""
    fingerprint = json.loads(data)["fingerprint"]
    return str(fingerprint).removeprefix("sha256:")


def _in_the_sites_words(body: Mapping[str, Any], headers: Mapping[str, str]) -> SubmitError:
    code = clean(str(body.get("code", "refused")))[:100]
    raw = body.get("fields")
    fields = (
        {
            clean(str(field))[:200]: [clean(str(line))[:500] for line in _lines(lines)]
            for field, lines in list(raw.items())[:50]
        }
        if isinstance(raw, dict)
        else {}
    )
    return SubmitError(
        f"The site refused the result ({code}): {clean(body['message'])[:1000]}",
        code=code,
        fields=fields,
        remedy=_remedy(code, headers),
    )


def _lines(value: object) -> list[object]:
    return value[:20] if isinstance(value, list) else [value]


def _remedy(code: str, headers: Mapping[str, str]) -> str | None:
    wait_s = retry_after_s(headers.get("retry-after"), datetime.now(UTC))
    if wait_s:
        return f"Submit it again in {wait_s:.0f} seconds."
    if code in ("not_authenticated", "authentication_failed"):
        return "Put an API key of the site into BENCHLOOP_TOKEN."
    return None
