"""Types of the part of daphne 4 that BenchLoop uses; daphne itself carries none."""

from typing import Any, BinaryIO

class _Headers:
    def getRawHeaders(self, name: bytes) -> list[bytes] | None: ...  # noqa: N802
    def removeHeader(self, name: bytes) -> None: ...  # noqa: N802

class WebRequest:
    content: BinaryIO
    requestHeaders: _Headers  # noqa: N815
    def gotLength(self, length: int | None) -> None: ...  # noqa: N802
    def handleContentChunk(self, data: bytes) -> None: ...  # noqa: N802
    def handle_reply(self, message: dict[str, Any]) -> None: ...
    def process(self) -> Any: ...

class HTTPFactory:
    def buildProtocol(self, addr: Any) -> Any: ...  # noqa: N802
