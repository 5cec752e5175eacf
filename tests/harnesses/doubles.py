"""Places without programs: what they answer was written down before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench_loop.contracts.harness import ModelAccess
from bench_loop.contracts.place import Command, Ended, Folder, PlaceKind, Service
from bench_loop.errors import HarnessError

ACCESS = ModelAccess(
    base_url="http://127.0.0.1:4001/v1",
    key="key-of-this-trial",
    model_id="some-model",
    context_window=131_072,
    answer_tokens=2048,
    wall_s=60.0,
)

STOPPED = Ended(exit_status=None, stdout=b"", stderr=b"", wall_s=3.0)


class RecordedService:
    """Answers each request with what stands for its path, and remembers what it was asked."""

    def __init__(
        self,
        answers: Mapping[str, Sequence[tuple[int, bytes]]] | None = None,
        lines: Sequence[bytes] = (),
        *,
        breaks: bool = False,
    ) -> None:
        """The last answer of a path is given for ever; `breaks`: the lines end with an error."""
        self.asked: list[tuple[str, str, Any]] = []
        self._answers = {path: list(told) for path, told in (answers or {}).items()}
        self._lines = lines
        self._breaks = breaks

    def request(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        wall_s: float = 10.0,
    ) -> tuple[int, bytes]:
        self.asked.append((method, path, body))
        if path not in self._answers:
            raise HarnessError(f"The service did not answer {path}.")
        answers = self._answers[path]
        return answers.pop(0) if len(answers) > 1 else answers[0]

    @contextmanager
    def lines(
        self, method: str, path: str, *, body: Any, headers: Mapping[str, str], wall_s: float
    ) -> Iterator[Iterator[bytes]]:
        self.asked.append((method, path, body))
        yield self._said()

    def _said(self) -> Iterator[bytes]:
        yield from self._lines
        if self._breaks:
            raise HarnessError("The service broke off.")

    def stop(self) -> Ended:
        return STOPPED


class RecordedPlace:
    """A place in which every program ends, or serves, as it was written down. Follows Place."""

    kind: PlaceKind = "direct"

    def __init__(
        self, folder: Path, ended: Ended = STOPPED, service: Service | None = None
    ) -> None:
        self.program, self.state, self.workspace = (
            Folder(_made(folder / name), f"/bench/{name}") for name in ("program", "state", "work")
        )
        self.commands: list[Command] = []
        self._ended = ended
        self._service = service

    def run(self, command: Command) -> Ended:
        self.commands.append(command)
        return self._ended

    @contextmanager
    def serve(self, command: Command, port: int) -> Iterator[Service]:
        self.commands.append(command)
        assert self._service is not None
        yield self._service


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder
