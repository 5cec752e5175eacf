"""What an answer says, read while its bytes pass by: never more than a reader, it changes nothing.

The same readers as of the providers, so that a reply is the same thing with and without gateway.
"""

from __future__ import annotations

from collections.abc import Mapping

from bench_loop.contracts.chat import ChatReply
from bench_loop.contracts.provider import Watch
from bench_loop.errors import EngineRejectedError, ProviderError
from bench_loop.gateway import responses
from bench_loop.gateway.pinning import Api
from bench_loop.providers import _faults, _openai_chat
from bench_loop.providers._stream import ParseLine, StreamReader
from bench_loop.providers._transport import MAX_STREAM_BYTES

MOST_BYTES = 16 * 2**20
"""Of an answer in one piece that are kept to be read; what is beyond passes by unread."""

SERVER = _faults.Server("The model server", "", "Start the model server.")

_PARSE: dict[Api, ParseLine] = {"chat": _openai_chat.parse_line, "responses": responses.parse_line}


class Reading:
    """One answer. Times are seconds after the request was sent."""

    def __init__(self, api: Api, most_tokens: int, watch: Watch | None = None) -> None:
        self.status: int | None = None
        self.first_byte_s: float | None = None
        self.is_streamed = False
        self._headers: Mapping[str, str] = {}
        self._reader = StreamReader(_PARSE[api], most_tokens, watch)
        self._whole = bytearray()
        self._size = 0
        self._fault: ProviderError | None = None
        self.is_done = False
        """The server said that nothing more comes, whatever becomes of the connection."""

    def begin(self, status: int, headers: Mapping[str, str], at_s: float) -> None:
        """The head of the answer came."""
        self.status = status
        self._headers = {name.lower(): value for name, value in headers.items()}
        self.first_byte_s = at_s
        kind = self._headers.get("content-type", "").lower()
        self.is_streamed = status == 200 and "json" not in kind

    def take(self, piece: bytes, at_s: float) -> None:
        """A piece of the body came, and went on to the harness."""
        if not self.is_streamed:
            self._whole += piece[: MOST_BYTES - len(self._whole)]
        elif self._fault is None:
            self._size += len(piece)
            self._feed(piece, at_s)

    @property
    def fault(self) -> ProviderError | None:
        """What the server said in its stream that is no answer, as far as it was read."""
        return self._fault

    @property
    def is_complete(self) -> bool:
        """Whether the server has said all that there is to the reply."""
        return self._fault is None and self._reader.is_complete

    def end(self, end_s: float) -> ChatReply:
        """The reply of an answer that came whole. Raises ProviderError where it is none."""
        if self.status != 200:
            raise _faults.refused(SERVER, self.status or 0, self._headers, bytes(self._whole))
        if not self.is_streamed:
            # JSON has no line breaks of its own, and the reader takes it as one line.
            self._feed(bytes(self._whole).replace(b"\n", b" ").replace(b"\r", b" "), end_s)
        if self._fault is not None:
            raise self._fault
        return self._reader.reply(end_s, self.first_byte_s, is_cut=False)

    def cut(self, end_s: float) -> ChatReply | None:
        """What came of an answer that the harness, or BenchLoop, did not wait for."""
        if self._fault is not None or self.status != 200:
            return None
        try:
            return self._reader.reply(end_s, self.first_byte_s, is_cut=True)
        except ProviderError:
            return None

    def _feed(self, data: bytes, at_s: float) -> None:
        try:
            if self._size > MAX_STREAM_BYTES:
                raise _faults.broken_stream("it has no end")
            self.is_done = self._reader.feed(data, at_s)
        except ProviderError as error:
            self._fault = error


def no_answer(why: str) -> ProviderError:
    """The fault of a server that could not be reached or that fell silent."""
    return ProviderError(f"No answer: {why}.", remedy=SERVER.remedy, is_transient=True)


def cut_answer(why: str) -> ProviderError:
    """The fault of a server that stopped in the middle of its answer."""
    return EngineRejectedError(f"The answer was cut: {why}.", reason="engine_crashed")
