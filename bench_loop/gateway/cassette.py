"""A cassette: what passed between gateway and model server, kept to be played without a model.

A file of JSON lines that a person can review. The first names the format and the rules by which
requests are compared (normal.py); each other one is an exchange: the request, normalised and
without what it repeats of the last one with a body, and the answer in the pieces that it came in.
Long texts of a request stand in it by length and digest, which is as strict and quotes nobody.
"""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from bench_loop.errors import FileError, SetupError
from bench_loop.gateway.normal import RULES, Rules, first_difference
from bench_loop.gateway.upstream import Answer, Asked, Upstream, UpstreamFailedError
from bench_loop.providers._text import as_dict, parse_json

FORMAT = 1
HUNG_UP = "the recording ends here: the client had hung up"


class CassetteMismatchError(UpstreamFailedError):
    """The requests are not those of the cassette; the sentence names the first difference."""


class RecordingUpstream:
    """Passes everything on to another upstream, and keeps it in a new file.

    `words` are what differs from run to run and is known: `{"workspace": "/tmp/x/work"}`. They
    are replaced in requests alone: answers are kept as they are.
    """

    def __init__(self, inner: Upstream, file: Path, words: Mapping[str, str] | None = None) -> None:
        """Raises SetupError where there is such a file already."""
        self._inner = inner
        self._file = file
        self._rules = Rules(RULES, words or {})
        self._exchanges: list[dict[str, Any] | None] = []
        self._written = 0
        self._before: Any = None
        head = {"cassette": FORMAT, "words": sorted(words or {}), "rules": dict(RULES)}
        try:
            with file.open("x", encoding="utf-8") as out:
                out.write(_line(head))
        except FileExistsError:
            remedy = "Delete it to record it anew."
            raise SetupError(f"There is a cassette already: {file}.", remedy=remedy) from None

    @asynccontextmanager
    async def send(self, asked: Asked) -> AsyncIterator[Answer]:
        place = len(self._exchanges)
        self._exchanges.append(None)
        exchange: dict[str, Any] = {
            "method": asked.method,
            "path": self._rules.text(asked.path),
            "request": self._rules.body(asked.body),
            "status": None,
            "pieces": [],
            "failed": HUNG_UP,
        }
        try:
            async with self._inner.send(asked) as answer:
                exchange |= {"status": answer.status, "content_type": _content_type(answer.headers)}
                yield _Kept(answer, exchange)
        except UpstreamFailedError as error:
            exchange["failed"] = str(error)
            raise
        finally:
            self._exchanges[place] = exchange
            self._write()

    def _write(self) -> None:
        """Write the exchanges that are over, up to the first that is still going on."""
        with self._file.open("a", encoding="utf-8") as out:
            for exchange in self._exchanges[self._written :]:
                if exchange is None:
                    return
                body = exchange["request"]
                out.write(_line(exchange | _folded(body, self._before)))
                self._before = body if isinstance(body, dict) else self._before
                self._exchanges[self._written] = {}
                self._written += 1


class _Kept:
    """An answer whose pieces are kept as they pass."""

    def __init__(self, answer: Answer, exchange: dict[str, Any]) -> None:
        self.status = answer.status
        self.headers = answer.headers
        self.fault = answer.fault
        self._answer = answer
        self._exchange = exchange

    async def pieces(self) -> AsyncIterator[bytes]:
        async for piece in self._answer.pieces():
            self._exchange["pieces"].append(_written(piece))
            yield piece
        self._exchange["failed"] = None


class CassetteUpstream:
    """Plays a cassette: the requests that were recorded, in their order, and no others.

    After the first request that differs nothing is answered any more. `check()` at the end says
    what was wrong, or was never asked for.
    """

    def __init__(self, file: Path, words: Mapping[str, str] | None = None) -> None:
        """Raises FileError for a file that is no cassette, or that needs other words."""
        self._file = file
        self._rules, self._exchanges = _loaded(file, words or {})
        self._played = 0
        self._mismatch: str | None = None

    @asynccontextmanager
    async def send(self, asked: Asked) -> AsyncIterator[Answer]:
        """Raises CassetteMismatchError where `asked` is not the next request."""
        exchange = self._next(asked)
        if exchange["status"] is None:
            raise UpstreamFailedError(exchange["failed"])
        yield _Played(exchange)

    def check(self) -> None:
        """Raises CassetteMismatchError unless all was asked for as it was recorded."""
        left = len(self._exchanges) - self._played
        if self._mismatch is None and left:
            exchange = self._exchanges[self._played]
            self._mismatch = (
                f"{self._file.name}: {left} of {len(self._exchanges)} requests never came, "
                f"the first of them {exchange['method']} {exchange['path']}"
            )
        if self._mismatch is not None:
            raise CassetteMismatchError(self._mismatch)

    def _next(self, asked: Asked) -> dict[str, Any]:
        if self._mismatch is None:
            self._mismatch = self._difference(asked)
        if self._mismatch is not None:
            raise CassetteMismatchError(self._mismatch)
        self._played += 1
        return self._exchanges[self._played - 1]

    def _difference(self, asked: Asked) -> str | None:
        path, place = self._rules.text(asked.path), f"{self._file.name}: request {self._played + 1}"
        if self._played == len(self._exchanges):
            return f"{place} is {asked.method} {path}, recorded was none"
        exchange = self._exchanges[self._played]
        for name, wanted, got in (
            ("method", exchange["method"], asked.method),
            ("path", exchange["path"], path),
            ("body", exchange["request"], self._rules.body(asked.body)),
        ):
            if found := first_difference(wanted, got, name):
                return f"{place}: {found}"
        return None


class _Played:
    """An answer from a cassette."""

    def __init__(self, exchange: dict[str, Any]) -> None:
        self.status: int = exchange["status"]
        self.headers: Mapping[str, str] = {"Content-Type": exchange["content_type"]}
        self.fault: str | None = None
        self._exchange = exchange

    async def pieces(self) -> AsyncIterator[bytes]:
        for piece in self._exchange["pieces"]:
            yield _read(piece)
        if self._exchange["failed"] is not None:
            raise UpstreamFailedError(self._exchange["failed"])


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"


def _content_type(headers: Mapping[str, str]) -> str:
    kinds = (value for name, value in headers.items() if name.lower() == "content-type")
    return next(kinds, "application/octet-stream")


def _written(piece: bytes) -> str | dict[str, str]:
    """A piece as text, or in base64 where it is none: it may end within a character."""
    try:
        return piece.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(piece).decode()}


def _read(piece: str | dict[str, str]) -> bytes:
    return piece.encode() if isinstance(piece, str) else base64.b64decode(piece["base64"])


def _folded(body: Any, before: Any) -> dict[str, Any]:
    """A request body without the fields, and without the first messages, of the last object."""
    if not isinstance(body, dict) or not isinstance(before, dict):
        return {"request": body}
    same = [name for name in body if name in before and body[name] == before[name]]
    rest = {name: value for name, value in body.items() if name not in same}
    folded: dict[str, Any] = {"as_before": same, "request": rest}
    messages, known = rest.get("messages"), before.get("messages")
    if isinstance(messages, list) and isinstance(known, list):
        kept = _common(messages, known)
        folded["messages_as_before"] = kept
        rest["messages"] = messages[kept:]
    return folded


def _common(one: Sequence[Any], other: Sequence[Any]) -> int:
    """How many items both begin with."""
    count = 0
    while count < min(len(one), len(other)) and one[count] == other[count]:
        count += 1
    return count


def _unfolded(exchange: dict[str, Any], before: Any) -> Any:
    body, known = exchange.get("request"), as_dict(before)
    if "as_before" not in exchange:
        return body
    whole = {name: known[name] for name in exchange["as_before"]} | as_dict(body)
    if kept := exchange.get("messages_as_before"):
        whole["messages"] = known["messages"][:kept] + whole["messages"]
    return whole


def _lines(file: Path) -> list[str]:
    """Its lines, which texts with line ends of Unicode's own do not break."""
    return [line for line in file.read_text("utf-8").split("\n") if line]


def _loaded(file: Path, words: Mapping[str, str]) -> tuple[Rules, list[dict[str, Any]]]:
    try:
        lines = [as_dict(parse_json(line)) for line in _lines(file)]
        head = lines[0] if lines else {}
        if head.get("cassette") != FORMAT:
            raise ValueError(f"it is no cassette of format {FORMAT}")
        if missing := sorted(set(head["words"]) - set(words)):
            raise ValueError(f"it needs to be told what these words stand for: {missing}")
        return Rules(head["rules"], words), list(_whole(lines[1:]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FileError(str(file), None, f"it cannot be played: {error}") from error


def _whole(lines: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    before: Any = None
    for line in lines:
        names = ("method", "path", "status", "pieces", "failed")
        exchange = {name: line[name] for name in names}
        exchange["content_type"] = line.get("content_type", "application/octet-stream")
        exchange["request"] = _unfolded(line, before)
        before = exchange["request"] if isinstance(exchange["request"], dict) else before
        yield exchange
