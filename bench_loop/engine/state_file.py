"""What goes on over several runs, as one small JSON file in a folder that one process holds."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Generic, Self, TypeVar

from pydantic import ValidationError

from bench_loop.config import replace_file
from bench_loop.contracts.record import Record
from bench_loop.engine.run_lock import RunLock
from bench_loop.errors import ResultError, SetupError
from bench_loop.result.store import field_path, read

State = TypeVar("State", bound=Record)


class OpenState(Generic[State]):
    """A state that this process alone changes, on disk after each change. A context manager."""

    def __init__(self, file: Path, state: State, held: ExitStack) -> None:
        self.file = file
        self.state = state
        self._held = held

    @classmethod
    def new(cls, file: Path, state: State) -> Self:
        """Begin with `state`. Raises SetupError where nothing can be written."""
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _unwritable(file, error) from error
        # Locked before it can be found: nobody else goes on with it in between.
        held = _locked(file.parent)
        try:
            write_state(file, state)
        except BaseException:
            held.close()
            raise
        return cls(file, state, held)

    @classmethod
    def opened(cls, file: Path, kind: type[State], version: int) -> Self:
        """What is on disk, to go on with.

        Raises UsageError when another process works on it, ResultError when it cannot be read.
        """
        held = _locked(file.parent)
        try:
            return cls(file, read_state(file, kind, version), held)
        except BaseException:
            held.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self._held.close()

    def keep(self, **fields: object) -> None:
        """Have the state with these fields on disk."""
        self.state = self.state.model_copy(update=fields)
        write_state(self.file, self.state)


def _locked(folder: Path) -> ExitStack:
    held = ExitStack()
    held.enter_context(RunLock(folder))
    return held


def write_state(file: Path, state: Record) -> None:
    """Have `state` on disk in place of what was there. Raises SetupError where that cannot be."""
    try:
        replace_file(file, state.model_dump_json(indent=1).encode() + b"\n")
    except OSError as error:
        raise _unwritable(file, error) from error


def _unwritable(file: Path, error: OSError) -> SetupError:
    return SetupError(
        f"{file.name} cannot be written to {file.parent}: {error.strerror}.",
        remedy="Make room on the disk, or set BENCHLOOP_HOME to another folder.",
    )


def read_state(file: Path, kind: type[State], version: int) -> State:
    """What the file holds. Raises ResultError with the field where it is wrong, or of another
    version than `version`."""
    try:
        state = kind.model_validate_json(read(file))
    except ValidationError as error:
        first = error.errors()[0]
        raise ResultError(str(file), field_path(first["loc"]), first["msg"]) from error
    if getattr(state, "version", None) != version:
        raise ResultError(str(file), "version", f"this BenchLoop reads version {version}")
    return state
