"""A simulated server as a child process, and what its log says really happened."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import bench_loop
from bench_loop.contracts.provider import Provider
from bench_loop.errors import SetupError
from bench_loop.providers import ollama, openai_compat
from bench_loop.simulator.settings import Settings

STOP_LIMIT_S = 5.0
LOG_LIMIT_S = 5.0


@dataclass(frozen=True, slots=True)
class Sent:
    """One answer as the server sent it, with its moments on the monotonic clock."""

    received_s: float
    events: tuple[tuple[float, int, str], ...]
    """Moment, tokens and kind of every event that brought a token."""
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    prompt_s: float
    decode_s: float
    text: str
    ended: str

    @property
    def generation_tps(self) -> float:
        """Tokens after the first event, over the time from the first event to the last."""
        tokens = sum(tokens for _, tokens, _ in self.events[1:])
        return tokens / (self.events[-1][0] - self.events[0][0])

    @property
    def engine_tps(self) -> float:
        """Tokens after the first, over the time that the engine needed for them."""
        return (self.completion_tokens - 1) / self.decode_s

    @property
    def prompt_tps(self) -> float:
        return (self.prompt_tokens - self.cached_tokens) / self.prompt_s

    @property
    def ttft_s(self) -> float:
        return self.events[0][0] - self.received_s

    @property
    def ttfa_s(self) -> float:
        first = next(moment for moment, _, kind in self.events if kind != "thinking")
        return first - self.received_s


class Simulated:
    """A running simulator: its address and its log."""

    def __init__(self, settings: Settings, url: str, log: Path) -> None:
        self.url = url
        self._settings = settings
        self._log = log

    def connect(self) -> Provider:
        """A provider that speaks its dialect, like the one of a user."""
        if self._settings.dialect == "ollama":
            return ollama.connect(self.url, None)
        return openai_compat.connect(self.url, None)

    def sent(self, number: int) -> Sent:
        """The answer to chat request `number`, from 0; it is written just after its last byte."""
        give_up = time.monotonic() + LOG_LIMIT_S
        while len(self._lines()) <= number and time.monotonic() < give_up:
            time.sleep(0.005)
        return _sent(self._lines()[number])

    def all_sent(self) -> list[Sent]:
        """Every answer whose log is written, in the order in which they ended."""
        return [_sent(line) for line in self._lines()]

    def _lines(self) -> list[str]:
        """Those of the log that are of chats that were answered."""
        lines = self._log.read_text(encoding="utf-8").split("\n")[:-1]
        return [line for line in lines if '"sent": [' in line]


@contextmanager
def simulator(settings: Settings) -> Iterator[Simulated]:
    """Run a simulator until the block ends. Raises SetupError when it does not start."""
    with tempfile.TemporaryDirectory(prefix="bench-loop-") as folder:
        log = Path(folder) / "sent.jsonl"
        log.touch()
        settings = replace(settings, log=str(log))
        process = _start(settings)
        assert process.stdout is not None
        assert process.stdin is not None
        try:
            line = process.stdout.readline()
            if not line:
                raise SetupError("The simulated model server did not start.")
            yield Simulated(settings, json.loads(line)["address"], log)
        finally:
            process.stdin.close()
            process.stdout.close()
            try:
                process.wait(STOP_LIMIT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _start(settings: Settings) -> subprocess.Popen[bytes]:
    """The process, which ends when its standard input does."""
    root = str(Path(bench_loop.__file__).resolve().parent.parent)
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "bench_loop.simulator", settings.to_json()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": root},
    )


def _sent(line: str) -> Sent:
    entry = json.loads(line)
    return Sent(
        received_s=entry["received_s"],
        events=tuple((moment, tokens, kind) for moment, tokens, kind in entry["sent"] if tokens),
        prompt_tokens=entry["prompt_tokens"],
        cached_tokens=entry["cached_tokens"],
        completion_tokens=entry["completion_tokens"],
        prompt_s=entry["prompt_s"],
        decode_s=entry["decode_s"],
        text=entry["text"],
        ended=entry["ended"],
    )
