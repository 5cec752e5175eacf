"""Sends bytes to a BenchLoop site: exactly these, stored once however often they are sent.

What the site answers is as untrusted as any other text from outside: it is bounded, must be JSON,
and is made harmless before it is shown.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from queue import Empty, SimpleQueue
from typing import Any

import httpx

import bench_loop
from bench_loop.console import clean
from bench_loop.errors import SubmitError
from bench_loop.submit.site import checked_address, is_secure, refuse_plain

SUBMISSIONS_PATH = "/api/v1/submissions/"
TRIES = 5
LONGEST_WAIT_S = 120.0
"""A site that asks for a longer pause than this is left alone, and the user told."""

LONGEST_TRY_S = 300.0
"""A whole try, upload and answer: the largest file over a slow line, with room."""

LONGEST_S = 900.0
"""All tries and the pauses between them."""

MOST_ANSWER_BYTES = 1024 * 1024
CHUNK = 64 * 1024
_TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})
_OF_THE_KEY = frozenset({401, 403})
_TIMEOUT = httpx.Timeout(60.0, connect=10.0)
_ERROR_NUMBER = re.compile(r"^\[Errno -?\d+\] ")


class Watch:
    """Hears how far an upload is. It is called from another thread."""

    def sent(self, count: int, total: int) -> None:
        """So many bytes of a try are on their way."""

    def waits(self, why: str, wait_s: float, number: int) -> None:
        """Try `number` of TRIES failed; the next one comes after a pause."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a site answered to an accepted upload. 201: stored. 200: it had the run already."""

    http_status: int
    body: dict[str, Any]

    @property
    def is_duplicate(self) -> bool:
        return self.http_status == 200 and "id" in self.body


def send(
    data: bytes,
    site: str,
    token: str | None,
    *,
    is_dry_run: bool = False,
    watch: Watch | None = None,
    pause: Callable[[float], None] = time.sleep,
    limit_s: float = LONGEST_TRY_S,
    whole_limit_s: float = LONGEST_S,
) -> Answer:
    """Send the bytes of a result file, again after a transient failure, and give the answer.

    All tries carry the same Idempotency-Key, so that an upload whose answer was lost is stored
    once. `pause` waits for a number of seconds; a try may take `limit_s`, all together
    `whole_limit_s`. Raises SubmitError when the site refuses, is down, too slow or no BenchLoop
    site; UsageError when the key would travel in the clear.
    """
    address = checked_address(site)
    refuse_plain(address, token)
    url = address + SUBMISSIONS_PATH + ("?dry_run=1" if is_dry_run else "")
    headers = _headers(data, token)
    watch = watch or Watch()
    end = time.monotonic() + whole_limit_s
    # A proxy from the environment would see what a plain request carries.
    with httpx.Client(
        timeout=_TIMEOUT, follow_redirects=False, trust_env=is_secure(address)
    ) as client:
        for number in range(1, TRIES + 1):
            left_s = max(end - time.monotonic(), 1.0)
            reply = _try(_Upload(client, url, data, headers, watch), min(limit_s, left_s))
            wait_s = reply.wait_s(number)
            if wait_s is None:
                return reply.accepted()
            is_too_long = wait_s > LONGEST_WAIT_S or time.monotonic() + wait_s > end
            if number == TRIES or is_too_long:
                raise reply.refusal()
            watch.waits(reply.said, wait_s, number)
            pause(wait_s)
    raise AssertionError("the last try returns or raises")


@dataclass(frozen=True, slots=True)
class _Upload:
    """One try, as it goes over the wire."""

    client: httpx.Client
    url: str
    data: bytes
    headers: Mapping[str, str]
    watch: Watch

    def chunks(self) -> Iterator[bytes]:
        total = len(self.data)
        for start in range(0, total, CHUNK):
            yield self.data[start : start + CHUNK]
            self.watch.sent(min(start + CHUNK, total), total)


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

    @property
    def said(self) -> str:
        """What came instead of an answer, in a few words."""
        if self.http_status:
            return f"the site answered HTTP {self.http_status}"
        return f"no answer: {self.failure}"

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
                can_wait=True,
                remedy="Check the address, and whether the site is up.",
            )
        if 300 <= self.http_status < 400:
            target = clean(self.headers.get("location", "elsewhere"))[:300]
            return SubmitError(
                f"The site redirects to {target}; redirects are not followed with your key.",
                code="redirected",
                can_wait=True,
                remedy="If you trust that address, give it as --site.",
            )
        body = self._json()
        if body is None or not isinstance(body.get("message"), str):
            if self.http_status >= 500:
                return SubmitError(
                    f"The site is not available now: it answered HTTP {self.http_status}.",
                    code="unavailable",
                    can_wait=True,
                    remedy="Submit it again later; sending it twice does no harm.",
                )
            return SubmitError(
                f"This is no BenchLoop site: it answered HTTP {self.http_status}.",
                code="not_a_site",
                can_wait=True,
                remedy="Check --site or BENCHLOOP_SITE.",
            )
        return _in_the_sites_words(body, self.headers, can_wait=self._is_not_about_the_run)

    @property
    def _is_not_about_the_run(self) -> bool:
        """Whether the same bytes may be taken at another time, or with another key."""
        return self.http_status >= 500 or self.http_status in _TRANSIENT | _OF_THE_KEY

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
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    if moment.tzinfo is None:
        return None
    return max(0.0, (moment - now).total_seconds())


def _try(upload: _Upload, limit_s: float) -> _Reply:
    """One try, given up after `limit_s` seconds in all.

    The client's own limits begin anew with every byte, so that a site which sends one now and then
    would never end. The thread ends with the client, which closes its connection.
    """
    replies: SimpleQueue[_Reply] = SimpleQueue()
    threading.Thread(target=_exchange, args=(replies, upload), name="submit", daemon=True).start()
    try:
        return replies.get(timeout=limit_s)
    except Empty:
        raise SubmitError(
            f"The site did not end its answer in {limit_s:.0f} seconds.",
            code="too_slow",
            can_wait=True,
            remedy="Submit it again later; sending it twice does no harm.",
        ) from None


def _exchange(replies: SimpleQueue[_Reply], upload: _Upload) -> None:
    try:
        with upload.client.stream(
            "POST", upload.url, content=upload.chunks(), headers=upload.headers
        ) as response:
            reply = _Reply(response.status_code, response.headers, _bounded(response))
    except Exception as error:  # whatever it is, the caller waits for a reply
        said = _ERROR_NUMBER.sub("", clean(str(error))).rstrip(".")
        reply = _Reply(0, {}, b"", said or type(error).__name__)
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
        "Content-Length": str(len(data)),
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


def _in_the_sites_words(
    body: Mapping[str, Any], headers: Mapping[str, str], *, can_wait: bool
) -> SubmitError:
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
        can_wait=can_wait,
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
