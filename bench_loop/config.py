"""Where BenchLoop keeps its files, and what the user set in environment and `config.toml`."""

from __future__ import annotations

import os
import secrets
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bench_loop
from bench_loop.errors import SetupError

_BINARY = getattr(os, "O_BINARY", 0)
"""Windows changes line breaks without it."""
SITE_PORT = 8877
"""Port of the local site; the next free one is taken when it is in use."""


def home() -> Path:
    """The user's data folder, made when missing. `BENCHLOOP_HOME` overrides the platform's own."""
    override = os.environ.get("BENCHLOOP_HOME")
    if override:
        folder = Path(override).expanduser()
    else:
        import platformdirs

        folder = Path(platformdirs.user_data_dir("bench-loop", appauthor=False))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise not_writable(folder, error) from error
    return folder


def not_writable(path: Path, error: OSError) -> SetupError:
    return SetupError(
        f"{path} cannot be made: {error.strerror}.",
        remedy="Set BENCHLOOP_HOME to a folder you can write to.",
    )


def results_folder() -> Path:
    """Where runs write `<run_id>.json` and `latest.json` unless `--output` says otherwise."""
    folder = home() / "results"
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise not_writable(folder, error) from error
    return folder


def runs_folder() -> Path:
    """Where each run has a folder with its journal; it is made with the first run."""
    return home() / "runs"


def bundled(name: str) -> Path:
    """The folder `packs`, `harnesses` or `templates` that came with this installation.

    Found beside the `bench_loop` package and never by import path, so that a user's own folder of
    that name is not taken for it.
    """
    return Path(bench_loop.__file__).resolve().parent.parent / name


def settings() -> dict[str, Any]:
    """The parsed `config.toml` of the data folder; empty when there is none.

    Raises SetupError when the file is not TOML.
    """
    file = home() / "config.toml"
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SetupError(
            f"{file} is not valid TOML: {error}", remedy="Mend or delete it."
        ) from error


def replace_file(file: Path, data: bytes, *, mode: int = 0o666) -> None:
    """Put `data` at `file` in one step, so that no reader ever sees half of it.

    `mode` is narrowed by the user's own mask, as always. Raises OSError; what was there before is
    kept then.
    """
    scratch = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, mode)
        with os.fdopen(descriptor, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        scratch.replace(file)
    except OSError:
        scratch.unlink(missing_ok=True)
        raise


def private_text(name: str, make: Callable[[], str]) -> str:
    """The content of the file `name` in the data folder, made once by `make()` with mode 0600.

    Two processes that make it at the same moment both get the content of the first.
    """
    file = home() / name
    if not file.exists():
        scratch = file.with_name(f".{name}.{secrets.token_hex(4)}")
        try:
            descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as error:
            raise not_writable(file, error) from error
        with os.fdopen(descriptor, "w", encoding="utf-8") as out:
            out.write(make() + "\n")
            out.flush()
            os.fsync(out.fileno())  # After a power cut it is whole, or not there.
        try:
            os.link(scratch, file)
        except FileExistsError:
            pass
        finally:
            scratch.unlink()
    return file.read_text(encoding="utf-8").strip()


def machine_id() -> str:
    """A random id of this installation: never a MAC address, never a host name."""
    return private_text("machine_id", lambda: secrets.token_hex(8))


def api_key(provider: str) -> str | None:
    """The key for a model server: `BENCHLOOP_API_KEY`, else `[providers.<provider>] api_key`.

    It is sent to the server and written nowhere.
    """
    key = os.environ.get("BENCHLOOP_API_KEY")
    if key:
        return key
    table = settings().get("providers", {}).get(provider, {})
    value = table.get("api_key") if isinstance(table, dict) else None
    return str(value) if value else None
