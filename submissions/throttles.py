"""How often one key and one address may do what, counted where all processes see it."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.cache import cache
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from submissions.addresses import address_hash
from submissions.models import ApiKey

if TYPE_CHECKING:
    # REST framework's views import this module, which their settings name.
    from rest_framework.views import APIView


@dataclass(frozen=True)
class Rate:
    """At most `count` requests in any `period_s` seconds."""

    count: int
    period_s: int


def wait_s(name: str, client: str, now: float | None = None) -> float | None:
    """Count one request of `client` at the rate `name`.

    None: it may go on. Else the seconds after which the next may, and this one is not counted.

    The count of the last period is estimated from two counters, of this period of the clock and
    of the one before it, whose share shrinks as this one goes on. Both are changed in one step
    by whoever comes, so that no two processes let through more than the rate together.
    """
    rate = Rate(*settings.API_RATES[name])
    now = time.time() if now is None else now
    period, elapsed = divmod(now, rate.period_s)
    share = elapsed / rate.period_s
    before = cache.get(_counter(name, client, period - 1), 0)
    counter = _counter(name, client, period)
    cache.add(counter, 0, timeout=2 * rate.period_s)
    count = cache.incr(counter)
    if before * (1 - share) + count <= rate.count:
        return None
    cache.decr(counter)
    return _until_free(rate, before, count - 1, share)


def longest_wait_s(name: str, clients: Iterable[str]) -> float | None:
    """Count one request for each of `clients`. None: it may go on, else as `wait_s` gives it."""
    waits = [wait_s(name, client) for client in clients]
    return max((wait for wait in waits if wait is not None), default=None)


def _counter(name: str, client: str, period: float) -> str:
    return f"rate:{name}:{client}:{int(period)}"


def _until_free(rate: Rate, before: int, count: int, share: float) -> float:
    """Seconds until the estimate leaves room for one more request."""
    if count < rate.count:
        free_at = 1 - (rate.count - 1 - count) / max(before, 1)
        return max(0.0, free_at - share) * rate.period_s
    in_next = 1 - (rate.count - 1) / max(count, 1)
    return (1 - share + in_next) * rate.period_s


class RateThrottle(BaseThrottle):
    """The rate that a view names for a request, for its key and for its address apart.

    A view has a `rate_name(request)`; without one it is read. A local site counts nothing: its
    only client is its owner.
    """

    def __init__(self) -> None:
        self._wait: float | None = None

    def allow_request(self, request: Request, view: APIView) -> bool:
        if settings.BENCHLOOP_ROLE != "public":
            return True
        named: Any = getattr(view, "rate_name", None)
        name = "read" if named is None else named(request)
        self._wait = longest_wait_s(name, _clients(request))
        return self._wait is None

    def wait(self) -> float | None:
        return self._wait


def _clients(request: Request) -> list[str]:
    """Whom a request is counted for: always its address, and its key or signed-in user."""
    clients = [address_hash(request)]
    if isinstance(request.auth, ApiKey):
        clients.append(f"key:{request.auth.pk}")
    elif request.user.is_authenticated:
        clients.append(f"user:{request.user.pk}")
    return clients
