"""What stands behind the gateway: a model server, a cassette, or one of them with faults put in."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager as AsyncContext
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it goes upstream, its body after all changes."""

    method: str
    path: str
    """From the root, query included: `/v1/chat/completions`."""
    headers: Mapping[str, str]
    """Without those of one connection (Host, Connection, Content-Length, ...) and without a key."""
    body: bytes


class Answer(Protocol):
    """An answer whose body has not been read yet."""

    status: int
    headers: Mapping[str, str]
    """Without those of one connection."""
    fault: str | None
    """The fault that BenchLoop put in on purpose, known when the body is over; None: it is the
    server's own answer."""

    def pieces(self) -> AsyncIterator[bytes]:
        """The body in the pieces that it came in. Raises UpstreamFailedError: it broke off."""


class Upstream(Protocol):
    """Answers requests; several at a time."""

    def send(self, asked: Asked) -> AsyncContext[Answer]:
        """Leaving the context hangs up. Raises UpstreamFailedError where there is no answer."""


class UpstreamFailedError(Exception):
    """No answer, or only the beginning of one; the sentence says what happened."""

    def __init__(self, sentence: str, fault: str | None = None) -> None:
        """`fault` as in Answer."""
        super().__init__(sentence)
        self.fault = fault
