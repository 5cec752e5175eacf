"""Result files on disk: the one place where a run result becomes bytes and comes back."""

from __future__ import annotations

import base64
import json
import secrets
import stat
import tempfile
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from bench_loop import config
from bench_loop.errors import ResultError, SetupError
from bench_loop.result.records import RunResult
from bench_loop.result.upgrades import UPGRADES, UpgradeError, Upgrades

LATEST = "latest.json"
"""The newest result, once more, beside the others."""
MAX_FILE_BYTES = 64 * 1024 * 1024
"""A larger file is no result: the longest run writes a few megabytes."""


def new_run_id(now: datetime | None = None) -> str:
    """`YYYYMMDDTHHMMSSZ-` and 10 random base32 characters; unique without any coordination."""
    moment = (now or datetime.now(UTC)).astimezone(UTC)
    tail = base64.b32encode(secrets.token_bytes(7)).decode().lower()[:10]
    return f"{moment:%Y%m%dT%H%M%SZ}-{tail}"


def to_bytes(result: RunResult) -> bytes:
    """The result file's exact bytes: indented UTF-8 JSON with a closing line break."""
    return (result.model_dump_json(indent=1) + "\n").encode()


def from_bytes(data: bytes, name: str, upgrades: Upgrades = UPGRADES) -> RunResult:
    """Read a result file of any version that is known; `name` is used in messages.

    Raises ResultError with the field.
    """
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ResultError(name, None, f"not JSON: {error}") from error
    try:
        current = upgrades.upgraded(document)
    except UpgradeError as error:
        raise ResultError(name, error.field, error.sentence, remedy=error.remedy) from error
    try:
        return RunResult.model_validate_json(data if current is document else json.dumps(current))
    except ValidationError as error:
        first = error.errors()[0]
        raise ResultError(name, field_path(first["loc"]), first["msg"]) from error


def field_path(location: tuple[Any, ...]) -> str:
    """A pydantic error location as a path: `trials[3].tokens.prompt`."""
    path = ""
    for part in location:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else str(part)
    return path


def load(file: Path) -> RunResult:
    """Read a result file. Raises ResultError when it is missing or wrong."""
    return from_bytes(read(file), str(file))


def read(file: Path) -> bytes:
    """The bytes of a result file.

    Raises ResultError when it is missing, too large, or a device or pipe that would never end.
    """
    try:
        if not stat.S_ISREG(file.stat().st_mode):
            raise ResultError(str(file), None, "is no plain file")
        with file.open("rb") as source:
            data = source.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise ResultError(str(file), None, error.strerror or str(error)) from error
    if len(data) > MAX_FILE_BYTES:
        raise ResultError(str(file), None, f"is larger than {MAX_FILE_BYTES:,} bytes")
    return data


def make_ready(folder: Path) -> None:
    """Make the folder and prove that it takes files, so that no run is measured for nothing.

    Raises SetupError when results cannot be written there.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise SetupError(
            f"Results cannot be written to {folder}: {error.strerror}.",
            remedy="Choose another folder with --output, or another data folder with "
            "BENCHLOOP_HOME.",
        ) from error


def save(result: RunResult, folder: Path) -> Path:
    """Write `<run_id>.json` and `latest.json` whole or not at all, and give the first's path.

    Raises ResultError when they cannot be written; `make_ready` finds that out beforehand.
    """
    data = to_bytes(result)
    file = folder / f"{result.run_id}.json"
    replace_file(file, data)
    replace_file(folder / LATEST, data)
    return file


def save_beside(results: Iterable[RunResult], folder: Path) -> list[Path | None]:
    """Write `<run_id>.json` of imports; None for one whose run a file of `folder` holds already.

    `latest.json` stays: it is the newest run of this machine. Raises ResultError like `save`.
    """
    known = {result.fingerprint for result in readable(result_files(folder))}
    saved: list[Path | None] = []
    for result in results:
        is_new = result.fingerprint not in known
        known.add(result.fingerprint)
        saved.append(folder / f"{result.run_id}.json" if is_new else None)
        if is_new:
            replace_file(folder / f"{result.run_id}.json", to_bytes(result))
    return saved


def write(result: RunResult, file: Path) -> None:
    """Write `file` whole or not at all. Raises ResultError when it exists already."""
    if file.exists():
        raise ResultError(str(file), None, "exists already", remedy="Name another file.")
    replace_file(file, to_bytes(result))


def newest_result(name: str) -> Path:
    """The file that a command line means: `latest` is the newest result of the data folder.

    A file that is called `latest` is meant before that.
    """
    file = Path(name)
    return config.results_folder() / LATEST if name == "latest" and not file.exists() else file


def result_files(folder: Path) -> list[Path]:
    """The result files in `folder`, oldest first, without `latest.json`; plain files only."""
    return sorted(file for file in folder.glob("*.json") if file.name != LATEST and file.is_file())


def readable(files: Iterable[Path]) -> Iterator[RunResult]:
    """The results in `files`, one by one; those that are foreign or damaged are left out."""
    for file in files:
        try:
            yield load(file)
        except ResultError:
            continue


def replace_file(file: Path, data: bytes) -> None:
    """Put `data` at `file` in one step, so that no reader ever sees half of it.

    Raises ResultError; what was there before is kept then.
    """
    try:
        config.replace_file(file, data)
    except OSError as error:
        raise ResultError(str(file), None, f"cannot be written: {error.strerror}") from error
