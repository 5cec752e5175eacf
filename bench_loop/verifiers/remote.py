"""Talks to code in a sandbox: calls go in and values come out, or tests are run in another one.

Nothing that comes out is believed to be more than text: answers are capped, read as JSON, and must
carry the number, or the word, of what was asked.
"""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from bench_loop.contracts.sandbox import Program, Sandbox, Talk
from bench_loop.errors import SandboxError
from bench_loop.verifiers.inside.wire import encode

OURS, THEIRS = "harness", "code"
"""Folders of the sandbox: what we put in, and what is judged."""

LONGEST_ANSWER = 1_000_000
"""Bytes of one answer."""
START_S = 20.0
"""Seconds for a sandbox and an interpreter to start, before any code of the model's is there."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What one call gave: a value as `wire.encode` writes it, or what was raised, or the end.

    `gone`: `crashed` (the process ended or broke the protocol), `time_limit`, `memory_limit`.
    """

    value: Any = None
    raised: tuple[str, ...] | None = None
    text: str = ""
    args: Any = None
    gone: str | None = None


class Peer:
    """A worker in a sandbox that answers one request after another, until it is gone.

    Raises SandboxError when it does not even start: that says nothing of the code.
    """

    def __init__(self, talk: Talk, wall_s: float) -> None:
        self._talk = talk
        self._wall_s = START_S
        self.gone: str | None = None
        if self.ask({"do": "ready"}) != {"ready": True}:
            raise SandboxError("An interpreter in the sandbox did not start.")
        self._wall_s = wall_s

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any] | None:
        """The JSON object that answers `request`; None, and `gone` says why, from then on."""
        if self.gone is not None:
            return None
        limit = self._wall_s
        asked = time.monotonic()
        line = self._talk.ask(json.dumps(request).encode(), limit)
        if line is None:
            is_late = time.monotonic() - asked >= limit
            run = self._talk.end()
            is_late = is_late or run.is_timed_out
            self.gone = "memory_limit" if run.is_out_of_memory else "crashed"
            self.gone = "time_limit" if is_late else self.gone
            return None
        answer = _object(line)
        if answer is None:
            self.gone = "crashed"
        return answer

    def break_off(self) -> None:
        """Believe nothing more: an answer was not to what was asked."""
        self.gone = "crashed"


def _object(line: bytes) -> dict[str, Any] | None:
    """`line` as a JSON object; None: it is none, or too long."""
    if len(line) > LONGEST_ANSWER:
        return None
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


class Worker:
    """Calls functions of the files in one sandbox."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._number = 0

    def call(self, path: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Answer:
        """Call `path`, like `billing.schedule.due_dates`, with plain values."""
        request = {
            "do": "call",
            "path": path,
            "args": [encode(arg) for arg in args],
            "kwargs": {name: encode(arg) for name, arg in kwargs.items()},
        }
        return self.ask(request)

    def ask(self, request: Mapping[str, Any]) -> Answer:
        """The answer to `request`, which must carry its number."""
        self._number += 1
        answer = self._peer.ask({**request, "i": self._number})
        if answer is None:
            return Answer(gone=self._peer.gone)
        raised, text = answer.get("raised"), answer.get("text", "")
        is_raised = isinstance(raised, list) and all(isinstance(name, str) for name in raised)
        is_numbered = type(answer.get("i")) is int and answer["i"] == self._number
        if not is_numbered or not isinstance(text, str) or not (is_raised or "value" in answer):
            self._peer.break_off()
            return Answer(gone="crashed")
        if is_raised and isinstance(raised, list):
            return Answer(raised=tuple(raised), text=text)
        return Answer(value=answer["value"], args=answer.get("args"))


@contextmanager
def worker(
    sandbox: Sandbox, files: Mapping[str, bytes], wall_s: float, calls: int
) -> Iterator[Worker]:
    """A fresh sandbox with `files`, for about `calls` calls of at most `wall_s` seconds each."""
    program = _program("worker", files)
    with sandbox.talk(program, wall_s=_total(wall_s, calls)) as talk:
        yield Worker(Peer(talk, wall_s))


def _total(wall_s: float, calls: int) -> float:
    return min(START_S + wall_s * (calls + 1), 3600.0)


def _program(module: str, files: Mapping[str, bytes]) -> Program:
    start = (
        f"import sys; sys.path.insert(0, {OURS!r}); "
        f"from bench_loop.verifiers.inside.{module} import main; "
        f"main({'' if module == 'tester' else repr(THEIRS)})"
    )
    theirs = {f"{THEIRS}/{path}": content for path, content in files.items()}
    return Program(("python", "-I", "-S", "-c", start), {**theirs, **_our_files()})


@cache
def _our_files() -> Mapping[str, bytes]:
    """The package `inside`, with empty packages around it."""
    inside = Path(__file__).with_name("inside")
    base = f"{OURS}/bench_loop"
    empty = {f"{base}/__init__.py": b"", f"{base}/verifiers/__init__.py": b""}
    ours = {f"{base}/verifiers/inside/{f.name}": f.read_bytes() for f in inside.glob("*.py")}
    return {**empty, **ours}


@dataclass(frozen=True, slots=True)
class TestRun:
    """What came of tests: id to `passed`, `failed: ...` or why there was no outcome."""

    __test__ = False

    outcomes: Mapping[str, str]
    is_tampered: bool = False


def run_outside(
    sandbox: Sandbox,
    files: Mapping[str, bytes],
    tests: str,
    ids: Sequence[str],
    modules: Sequence[str],
    wall_s: float,
) -> TestRun:
    """Run `tests` in one sandbox against `files` in another; only values pass between them."""
    total = _total(wall_s, 10 * len(ids))
    with (
        worker(sandbox, files, wall_s, 10 * len(ids)) as there,
        sandbox.talk(_program("tester", {}), wall_s=total) as talk,
    ):
        tester = Peer(talk, total)
        message = tester.ask({"tests": tests, "ids": list(ids), "modules": list(modules)})
        while message is not None and "outcomes" not in message:
            answer = there.ask({name: part for name, part in message.items() if name != "i"})
            message = tester.ask(_relayed(answer))
    outcomes = message["outcomes"] if message is not None else {}
    return TestRun({name: outcomes.get(name, tester.gone or "not run") for name in ids})


def _relayed(answer: Answer) -> dict[str, Any]:
    if answer.gone is not None:
        return {"gone": answer.gone}
    if answer.raised is not None:
        return {"raised": list(answer.raised), "text": answer.text}
    return {"value": answer.value}


def run_beside(
    sandbox: Sandbox,
    files: Mapping[str, bytes],
    tests: str,
    ids: Sequence[str],
    canaries: Sequence[str],
    modules: Sequence[str],
    wall_s: float,
) -> TestRun:
    """Run `tests` in one process with `files`; `canaries` are tests of it that must fail.

    Each test is asked for once, under a name made up for this run. A canary that passes, and an
    answer without its word, mean that the tests were tampered with.
    """
    names = {name: f"test_{secrets.token_hex(8)}" for name in (*ids, *canaries)}
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b")
    tests = pattern.sub(lambda found: names[found[0]], tests)
    order = sorted(names, key=lambda name: names[name])
    with sandbox.talk(
        _program("beside", files), wall_s=_total(wall_s, len(names) + len(modules))
    ) as talk:
        peer = Peer(talk, wall_s)
        for step in (*({"module": module} for module in modules), {"tests": tests}):
            outcome = _step(peer, step)
            if outcome != "passed":
                return TestRun(dict.fromkeys(ids, outcome or "tampered"), outcome is None)
        outcomes = {name: _step(peer, {"run": names[name]}) for name in order}
    is_tampered = None in outcomes.values() or any(outcomes[one] == "passed" for one in canaries)
    return TestRun({name: outcomes[name] or "tampered" for name in ids}, is_tampered)


def _step(peer: Peer, request: Mapping[str, Any]) -> str | None:
    """The outcome of one request; None: the answer is not to it."""
    word = secrets.token_hex(8)
    answer = peer.ask({**request, "word": word})
    if answer is None:
        return peer.gone or "crashed"
    outcome = answer.get("outcome")
    if answer.get("word") != word or not isinstance(outcome, str):
        return None
    return outcome
