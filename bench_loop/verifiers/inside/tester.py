"""Runs tests outside the sandbox of the code that they test: that code is a stub that asks.

`import solution` gives a stub; each use of it is a request on standard output, and the answer
comes on standard input from the other sandbox, through the host. No object of the model's ever gets
here: a value is plain, or a Remote, which is equal to itself only.
"""

from __future__ import annotations

import builtins
import json
import sys
import types
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any, BinaryIO

from bench_loop.verifiers.inside.wire import decode, encode
from bench_loop.verifiers.inside.worker import send, take_channel

Ask = Callable[..., Any]


class Remote:
    """An object that lives in the other sandbox."""

    def __init__(self, ask: Ask, number: int, kind: str) -> None:
        self.__dict__.update(_ask=ask, _number=number, _kind=kind)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return self._ask(do="get", on=self._number, name=name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._ask(do="invoke", on=self._number, args=args, kwargs=kwargs)

    def __iter__(self) -> Remote:
        if self._kind == "generator" or self._kind.endswith("iterator"):
            return self
        made: Remote = self._ask(do="get", on=self._number, name="__iter__")()
        return made

    def __next__(self) -> Any:
        return self._ask(do="next", on=self._number)

    def __len__(self) -> int:
        try:
            length = self._ask(do="get", on=self._number, name="__len__")()
        except AttributeError:
            length = None
        if type(length) is not int:
            raise TypeError(f"{self._kind} has no len()")
        return length

    def __repr__(self) -> str:
        return f"<{self._kind} in the sandbox>"


class GoneError(BaseException):
    """The code has ended: no test can expect that."""


class Client:
    """Asks the other sandbox, one thing at a time."""

    def __init__(self, answers: BinaryIO, requests: int) -> None:
        self._answers = answers
        self._requests = requests
        self._number = 0
        self.gone: str | None = None

    def ask(self, **request: Any) -> Any:
        """The value that the request gives; raises what it raised, by its nearest builtin class."""
        self._number += 1
        for name, encoded in (("args", list), ("kwargs", dict)):
            if name in request:
                request[name] = self._encoded(request[name], encoded)
        send(self._requests, {"i": self._number, **request})
        answer = json.loads(self._answers.readline())
        if "gone" in answer:
            self.gone = str(answer["gone"])
            raise GoneError(self.gone)
        if "raised" in answer:
            raise _exception(answer["raised"], answer.get("text", ""))
        return decode(answer["value"], self._found)

    def _encoded(self, values: Any, kind: type) -> Any:
        if kind is list:
            return [encode(value, _reference) for value in values]
        return {name: encode(value, _reference) for name, value in values.items()}

    def _found(self, wire: list[Any]) -> Remote:
        return Remote(self.ask, int(wire[1]) if wire[0] == "ref" else -1, str(wire[-1]))


def _reference(value: Any) -> list[Any]:
    if isinstance(value, Remote):
        return ["ref", value._number, value._kind]
    raise TypeError(f"a {type(value).__name__} cannot be sent into the sandbox")


def _exception(names: list[str], text: str) -> Exception:
    for name in names:
        kind = getattr(builtins, name, None)
        if isinstance(kind, type) and issubclass(kind, Exception):
            try:
                return kind(text)
            except TypeError:
                continue
    return Exception(text)


class _Stub(types.ModuleType):
    """A module whose names are those of the module in the other sandbox."""

    def __init__(self, name: str, ask: Ask) -> None:
        super().__init__(name)
        self.__dict__["_ask"] = ask

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        module = self.__dict__.get("_module")
        if module is None:
            module = self.__dict__["_module"] = self._ask(do="import", name=self.__name__)
        return getattr(module, name)


@contextmanager
def raises(kind: type[BaseException]) -> Any:
    """As `pytest.raises`: the block must raise `kind`."""
    try:
        yield
    except kind:
        return
    raise AssertionError(f"{kind.__name__} was not raised")


def main() -> None:
    """The first line brings the tests; the last line of the output has what came of each."""
    answers, requests = take_channel()
    order = json.loads(answers.readline())
    client = Client(answers, requests)
    for name in order["modules"]:
        sys.modules[name] = _Stub(name, client.ask)
    pytest = types.ModuleType("pytest")
    pytest.raises = raises  # type: ignore[attr-defined]
    sys.modules["pytest"] = pytest
    space: dict[str, Any] = {"__name__": "hidden_tests"}
    exec(compile(order["tests"], "hidden_tests", "exec"), space)  # noqa: S102  (the pack's own)
    outcomes = {name: _outcome(space[name], client) for name in order["ids"]}
    send(requests, {"outcomes": outcomes})


def _outcome(test: Callable[[], None], client: Client) -> str:
    """`passed`, `failed: ...`, or why the code was gone, whatever the test made of that."""
    try:
        test()
    except (Exception, GoneError) as error:
        return client.gone or f"failed: {type(error).__name__}"
    return client.gone or "passed"
