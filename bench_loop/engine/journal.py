"""The journal of a run: everything that is found, one JSON line each, on disk before the next.

A line is whole when it ends with a line break; a last line without one was cut off by a kill, a
full disk or a power cut, and what it held did not happen. Every line carries a CRC-32 that goes on
from that of the line before, so that any other damage is noticed: a changed bit, and just as well a
line that is missing, doubled or in another's place.
"""

from __future__ import annotations

import json
import os
import stat
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Annotated, Literal, Self

from pydantic import AwareDatetime, Field, ValidationError

from bench_loop.contracts.provider import ModelFacts, ServerFacts
from bench_loop.contracts.record import Count, Many, Positive, Record, Seconds
from bench_loop.contracts.sandbox import SandboxRecord
from bench_loop.engine.plan import RunOptions
from bench_loop.errors import JournalError, SetupError
from bench_loop.result.records import (
    Determinism,
    HarnessSettings,
    Machine,
    MatrixArm,
    PeakMemory,
    Power,
    Profile,
    RunStatus,
    Settings,
    Software,
    SpeedPlan,
    Trial,
)
from bench_loop.result.store import field_path
from bench_loop.scoring.recompute import SuiteKey

JOURNAL = "journal.jsonl"
VERSION = 1
MAX_BYTES = 256 * 1024 * 1024
"""A larger file is no journal: the longest run writes some megabytes."""

_READ_WRITE = os.O_RDWR | getattr(os, "O_BINARY", 0)
"""Binary: Windows would make two bytes of a line break."""
_CRC_BYTES = len(',"crc":"00000000"}')
_CRC_DIGITS = slice(-_CRC_BYTES + len(',"crc":"'), -len('"}'))


class Request(Record):
    """What was asked for, as far as the plan does not say it: enough to ask for it again."""

    provider: str
    endpoint: str = Field(description="Base URL without credentials.")
    model: str = Field(description="The model as the user named it, the path of a file included.")
    thinking: bool | None
    sandbox: str | None = Field(description="Kind of the sandbox; null: there was none.")
    options: RunOptions
    packs: str | None = Field(None, description="Folder of the person's own packs; null: none.")


class Conditions(Record):
    """What a run runs on: read from server and machine before the first trial of a part."""

    model: ModelFacts
    server: ServerFacts
    machine: Machine
    thinking: bool | None
    harness: str
    harness_version: str
    harness_config_hash: str | None = None
    harness_settings: HarnessSettings | None = None
    sandbox: SandboxRecord | None = Field(description="Null: there is none, or none is needed.")
    software: Software


class Planned(Record):
    """The first line: what the run is going to do, and where its result goes."""

    kind: Literal["plan"] = "plan"
    journal_version: int
    run_id: str
    run_index: Count
    profile: Profile
    suites: Many[SuiteKey]
    settings: Settings = Field(description="Without what only the server or the time can say.")
    request: Request
    output: str = Field(description="Folder of the result file.")
    is_cut_short: bool = Field(
        False, description="Part of a recommendation, ended when it tells enough: never resumed."
    )
    matrix: MatrixArm | None = Field(
        None, description="Arm of a matrix, by which alone it goes on; null: it is none."
    )


class PartBegan(Record):
    """A process goes to work on the run: the first, or one that resumes it."""

    kind: Literal["part"] = "part"
    started_at: AwareDatetime = Field(description="Before the model was loaded.")
    conditions: Conditions
    left_out: Many[str] = Field(description="Suites that this part cannot run.")
    boot: str = Field(description="Changes with every start of the machine.")
    block: int | None = Field(None, description="Of the matrix, that this part runs.")


class SpeedChosen(Record):
    """The calibration, and the speed plan that was chosen by it."""

    kind: Literal["speed_plan"] = "speed_plan"
    plan: SpeedPlan
    budget_s: float
    prompt_tps: Positive
    generation_tps: Positive


class UsableProbed(Record):
    """What a probe of the window found: tokens, or why there is no figure."""

    kind: Literal["usable"] = "usable"
    tokens: Count | None
    why_not: str | None


class DeterminismProbed(Record):
    """What asking the same things twice found; null: the server failed."""

    kind: Literal["determinism"] = "determinism"
    found: Determinism | None


class SustainedLoad(Record):
    """A sustained load begins, or is done: one measurement, so that one cut off is void."""

    kind: Literal["sustained"] = "sustained"
    is_done: bool


class TrialsDone(Record):
    """Finished trials: one, or those of several streams at once."""

    kind: Literal["trials"] = "trials"
    trials: Many[Trial]
    peak_memory: PeakMemory | None = Field(description="Of this part so far.")


class PartEnded(Record):
    """A part came to its end and knows how the run stands."""

    kind: Literal["end"] = "end"
    status: RunStatus
    status_reason: str | None
    power: Power | None
    peak_memory: PeakMemory | None


class ResultSaved(Record):
    """The result of the run as it stands is a file: nothing is left to do."""

    kind: Literal["saved"] = "saved"


Entry = (
    Planned
    | PartBegan
    | SpeedChosen
    | UsableProbed
    | DeterminismProbed
    | SustainedLoad
    | TrialsDone
    | PartEnded
    | ResultSaved
)


class Line(Record):
    """An entry and when it was written."""

    at: AwareDatetime
    part_s: Seconds = Field(description="Seconds of the part so far, sleep of the machine left out")
    entry: Annotated[Entry, Field(discriminator="kind")]


class Journal:
    """A journal that is being written, by one process. A context manager that closes it."""

    def __init__(self, file: Path, size: int, clock: Callable[[], float] = time.monotonic) -> None:
        """`size` is the length of the whole lines in bytes; what lies behind them is dropped."""
        self.file = file
        self._size = size
        self._clock = clock
        self._began = clock()
        self._descriptor = os.open(file, _READ_WRITE | os.O_CREAT, 0o600)
        self._crc = _last_crc(self._descriptor, size)

    @classmethod
    def create(cls, folder: Path) -> Self:
        """A new journal in `folder`, which is made. Raises SetupError when that cannot be."""
        try:
            folder.mkdir(parents=True)
            journal = cls(folder / JOURNAL, 0)
            for entry_of in (folder, folder.parent):
                sync_folder(entry_of)
        except OSError as error:
            raise SetupError(
                f"The run's journal cannot be written: {folder}: {error.strerror}.",
                remedy="Set BENCHLOOP_HOME to a folder you can write to.",
            ) from error
        return journal

    @classmethod
    def reopened(cls, file: Path, size: int) -> Self:
        """A journal to go on with. Raises JournalError where it cannot be written."""
        try:
            return cls(file, size)
        except OSError as error:
            reason = f"cannot be written: {error.strerror}"
            raise JournalError(str(file), None, reason, remedy=_MAKE_WRITABLE) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        os.close(self._descriptor)

    def start_clock(self, began: float) -> None:
        """The part began at `began` on the journal's clock: the lines to come count from there."""
        self._began = began

    def append(self, entry: Entry) -> None:
        """Have `entry` on disk. Raises JournalError, the journal as it was, when it cannot be."""
        line = Line(at=datetime.now(UTC), part_s=self._clock() - self._began, entry=entry)
        data, crc = _to_bytes(line, self._crc)
        try:
            # An earlier write may have been cut off by a signal: nothing may follow its rest.
            os.ftruncate(self._descriptor, self._size)
            _write_all(self._descriptor, data, self._size)
            os.fsync(self._descriptor)
        except OSError as error:
            self._take_back()
            raise JournalError(
                str(self.file),
                None,
                f"cannot be written: {error.strerror}; what is in it is kept",
                remedy=_make_room(self.file.parent.name),
            ) from error
        self._size += len(data)
        self._crc = crc

    def _take_back(self) -> None:
        """Drop what a failed write left; if that fails too, it is a last line without a break."""
        with suppress(OSError):
            os.ftruncate(self._descriptor, self._size)


def read_lines(file: Path) -> tuple[list[Line], int]:
    """The whole lines of a journal, and how many bytes they take.

    Raises JournalError, naming the line, for a line that is damaged or of another version.
    """
    try:
        data = _read(file)
    except OSError as error:
        reason = f"cannot be read: {error.strerror or error}"
        raise JournalError(str(file), None, reason, remedy=_MAKE_READABLE) from error
    size = data.rfind(b"\n") + 1
    return list(_parsed(data[:size], str(file))), size


def _read(file: Path) -> bytes:
    """The bytes of a plain file of bearable size. Raises JournalError for another, and OSError."""
    if not stat.S_ISREG(file.stat().st_mode):
        raise JournalError(str(file), None, "is no plain file", remedy=_DAMAGED)
    with file.open("rb") as source:
        data = source.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        reason = f"is larger than {MAX_BYTES:,} bytes: no run writes so much"
        raise JournalError(str(file), None, reason, remedy=_DAMAGED)
    return data


def _parsed(data: bytes, name: str) -> Iterator[Line]:
    crc = 0
    for number, text in enumerate(data.split(b"\n")[:-1], start=1):
        where = f"line {number}"
        body = text[:-_CRC_BYTES] + b"}"
        if number == 1:
            _refuse_other_version(text, name)
        crc = zlib.crc32(body, crc)
        if text[-_CRC_BYTES:] != _crc_field(crc):
            raise JournalError(name, where, "is damaged", remedy=_DAMAGED)
        try:
            yield Line.model_validate_json(body)
        except ValidationError as error:
            first = error.errors()[0]
            reason = f"{field_path(first['loc'])}: {first['msg']}"
            raise JournalError(name, where, reason, remedy=_OTHER_VERSION) from error


def _refuse_other_version(first_line: bytes, name: str) -> None:
    """Before anything else is asked of a journal: another version may check its lines otherwise."""
    try:
        version = json.loads(first_line)["entry"]["journal_version"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return  # no plan, or damaged: told as such
    if type(version) is int and version != VERSION:
        reason = f"is of version {version}, this BenchLoop reads version {VERSION}"
        raise JournalError(name, "line 1", reason, remedy=_OTHER_VERSION)


_DAMAGED = "Restore the file from a backup, or delete the run and start it again."
_MAKE_READABLE = "Give yourself the right to read it, or delete the run."
_MAKE_WRITABLE = "Give yourself the right to write it and its folder, then resume again."
_OTHER_VERSION = "It was written by another version of BenchLoop: resume it with that one."


def _make_room(run_id: str) -> str:
    return f"Make room on the disk, then: bench-loop run --resume {run_id}"


def _to_bytes(line: Line, before: int) -> tuple[bytes, int]:
    """The line as it is on disk behind one with the CRC `before`, and its own CRC."""
    body = line.model_dump_json().encode()
    crc = zlib.crc32(body, before)
    return body[:-1] + _crc_field(crc) + b"\n", crc


def _crc_field(crc: int) -> bytes:
    return b',"crc":"%08x"}' % crc


def _last_crc(descriptor: int, size: int) -> int:
    """The CRC of the last whole line; that of a journal without lines is 0."""
    if size == 0:
        return 0
    os.lseek(descriptor, size - _CRC_BYTES - 1, os.SEEK_SET)
    return int(os.read(descriptor, _CRC_BYTES)[_CRC_DIGITS], 16)


def _write_all(descriptor: int, data: bytes, at: int) -> None:
    os.lseek(descriptor, at, os.SEEK_SET)
    while data:
        data = data[os.write(descriptor, data) :]


def sync_folder(folder: Path) -> None:
    """Have the names in `folder` on disk; Windows does that by itself."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
