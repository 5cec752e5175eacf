"""Calls what a model wrote and hands the values out; it holds no expected value and no verdict.

One request a line on standard input, one answer a line on standard output. Both are moved away
before the model's code is imported, which finds nothing there and whose prints go nowhere. An
answer carries the number of its request and either a `value` or the names of what was `raised`.
"""

from __future__ import annotations

import builtins
import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any, BinaryIO

from bench_loop.verifiers.inside.wire import NotPlainError, decode, encode


class Worker:
    """Answers requests; objects that are no plain values are kept here and named by number."""

    def __init__(self) -> None:
        self._kept: list[Any] = []

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to one request: `call`; `import`, `get`, `invoke`, `next` on what is kept."""
        number = request["i"]
        try:
            return {"i": number, **getattr(self, f"do_{request['do']}")(request)}
        except NotPlainError:
            return {"i": number, "value": ["object", "too large"]}
        except Exception as error:
            return {"i": number, "raised": _builtin_names(error), "text": str(error)[:300]}

    def do_call(self, request: dict[str, Any]) -> dict[str, Any]:
        """The value of one call of a function, and its arguments as they are afterwards."""
        module, _, name = request["path"].rpartition(".")
        function = getattr(importlib.import_module(module), name)
        args = [decode(arg) for arg in request["args"]]
        kwargs = {key: decode(arg) for key, arg in request["kwargs"].items()}
        value = encode(function(*args, **kwargs))
        return {"value": value, "args": [encode(arg) for arg in args]}

    def do_import(self, request: dict[str, Any]) -> dict[str, Any]:
        return {"value": self._keep(importlib.import_module(request["name"]))}

    def do_get(self, request: dict[str, Any]) -> dict[str, Any]:
        return {"value": encode(getattr(self._kept[request["on"]], request["name"]), self._keep)}

    def do_invoke(self, request: dict[str, Any]) -> dict[str, Any]:
        args = [decode(arg, self._find) for arg in request["args"]]
        kwargs = {key: decode(arg, self._find) for key, arg in request["kwargs"].items()}
        return {"value": encode(self._kept[request["on"]](*args, **kwargs), self._keep)}

    def do_next(self, request: dict[str, Any]) -> dict[str, Any]:
        return {"value": encode(next(self._kept[request["on"]]), self._keep)}

    def _keep(self, value: Any) -> list[Any]:
        self._kept.append(value)
        return ["ref", len(self._kept) - 1, type(value).__name__]

    def _find(self, wire: list[Any]) -> Any:
        return self._kept[wire[1]]


def _builtin_names(error: Exception) -> list[str]:
    """The classes of `error` that Python itself has, the nearest first."""
    return [
        kind.__name__
        for kind in type(error).__mro__
        if getattr(builtins, kind.__name__, None) is kind
    ]


def take_channel() -> tuple[BinaryIO, int]:
    """Standard input and output for ourselves; /dev/null stands in their place from now on.

    The first request only asks whether we are there.
    """
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    requests.readline()
    send(answers, {"ready": True})
    return requests, answers


def send(answers: int, message: dict[str, Any]) -> None:
    """One line; written whole, however long it is."""
    line = json.dumps(message).encode() + b"\n"
    while line:
        line = line[os.write(answers, line) :]


def main(root: str) -> None:
    """Serve until the requests end; `root` is the folder of the model's code."""
    requests, answers = take_channel()
    sys.path.insert(0, str(Path(root).resolve()))
    worker = Worker()
    for line in requests:
        send(answers, worker.answer(json.loads(line)))
