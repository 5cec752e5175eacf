"""Requests whose bodies have a bound before anything of the site looks at them.

The server below Django gathers every body whole, and reads forms into memory at some twenty times
their size, whoever sends them. What is beyond the bound is dropped as it comes.
"""

from __future__ import annotations

import json
from typing import Any

from daphne.http_protocol import HTTPFactory, WebRequest

from benchloop_site.api_errors import body
from submissions.intake import MAX_BYTES

MOST_BYTES = MAX_BYTES + 64 * 1024
"""Of a body that calls itself JSON, packed or not: the largest result, with room for what the site
itself refuses with better words."""

MOST_OTHER_BYTES = 256 * 1024
"""Of any other: a hundred rows of the admin with a reason are far less."""


class BoundedRequest(WebRequest):
    """Answers 413 where the body was larger; it keeps nothing of it."""

    def gotLength(self, length: int | None) -> None:  # noqa: N802 - named by the base
        super().gotLength(length)
        kinds = self.requestHeaders.getRawHeaders(b"content-type") or [b""]
        is_json = kinds[0].strip().lower().startswith(b"application/json")
        self._most = self._left = MOST_BYTES if is_json else MOST_OTHER_BYTES

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802 - named by the base
        was_open = self._left >= 0
        self._left -= len(data)
        if self._left >= 0:
            super().handleContentChunk(data)
        elif was_open:
            self.content.seek(0)
            self.content.truncate()
            # An empty form is none, and would be refused with other words.
            self.requestHeaders.removeHeader(b"content-type")

    def process(self) -> Any:
        return self._refuse() if self._left < 0 else super().process()

    def _refuse(self) -> None:
        told = body("too_large", f"The body of this request may have {self._most:,} bytes.")
        headers = [(b"Content-Type", b"application/json"), (b"X-Content-Type-Options", b"nosniff")]
        self.handle_reply({"type": "http.response.start", "status": 413, "headers": headers})
        self.handle_reply({"type": "http.response.body", "body": json.dumps(told).encode()})


class BoundedFactory(HTTPFactory):
    def buildProtocol(self, addr: Any) -> Any:  # noqa: N802 - named by the base
        protocol = super().buildProtocol(addr)
        protocol.requestFactory = BoundedRequest
        return protocol
