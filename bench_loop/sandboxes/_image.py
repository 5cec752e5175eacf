"""The image for containers, made from the running Python without a registry.

It holds the interpreter, its standard library, and the shared libraries that these need: about
66 MB. Where the running Python is none for Linux, an image that the user has named is taken.
"""

from __future__ import annotations

import hashlib
import io
import os
import platform
import re
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from bench_loop.errors import SandboxError

if TYPE_CHECKING:
    from docker import DockerClient

REPOSITORY = "localhost/bench-loop-sandbox"
"""With a host, since Podman would take a name without one for an image of a registry."""

USERS_OWN = f"{REPOSITORY}:latest"
REMEDY = f"Get one once: docker pull python:3.13-slim && docker tag python:3.13-slim {USERS_OWN}"
RECIPE = 1
"""Counts up when what is put into the image changes."""

LEFT_OUT = {"__pycache__", "idlelib", "site-packages", "test", "tests", "tkinter", "turtledemo"}
OPEN_FOLDERS = ("tmp", "work")
PASSWD = b"root:x:0:0::/:/bin/false\nsandbox:x:10001:10001::/tmp:/bin/false\n"


def image_id(client: DockerClient) -> str:
    """Id of the image for this engine, made on first use.

    Raises SandboxError, with the remedy, where it can't be made: nothing is ever pulled.
    """
    from docker.errors import ImageNotFound

    tag = _tag() if _is_own_python_fit(client) else "latest"
    try:
        return str(client.images.get(f"{REPOSITORY}:{tag}").id)
    except ImageNotFound:
        if tag == "latest":
            raise SandboxError(f"The image {USERS_OWN} is missing.", remedy=REMEDY) from None
    with tempfile.TemporaryDirectory(prefix="bench-loop-image-") as folder:
        file = Path(folder, "image.tar")
        write_image(file)
        client.api.import_image(str(file), repository=f"{REPOSITORY}:{tag}")
    return str(client.images.get(f"{REPOSITORY}:{tag}").id)


def _is_own_python_fit(client: DockerClient) -> bool:
    """Whether the engine runs programs of this very machine."""
    info = client.info()
    is_same = info.get("OSType", "linux") == "linux" and sys.platform == "linux"
    return is_same and info.get("Architecture", platform.machine()) in (
        platform.machine(),
        {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine()),
    )


def _tag() -> str:
    """Changes with the recipe and with the Python that goes in."""
    words = f"{RECIPE} {sys.version} {sys.base_prefix} {platform.machine()}"
    return hashlib.sha256(words.encode()).hexdigest()[:12]


def write_image(file: Path) -> None:
    """Write the file system as a tar archive: `import_image` takes it."""
    with tarfile.open(file, "w", dereference=True) as archive:
        for name in OPEN_FOLDERS:
            folder = tarfile.TarInfo(name)
            folder.type, folder.mode = tarfile.DIRTYPE, 0o1777
            archive.addfile(folder)
        passwd = tarfile.TarInfo("etc/passwd")
        passwd.size = len(PASSWD)
        archive.addfile(passwd, io.BytesIO(PASSWD))
        _link(archive, "usr/local/bin/python3", str(_interpreter()))
        for path in sorted({*_python_files(), *_libraries()}):
            archive.add(path, arcname=str(path), recursive=False, filter=_readable)


def _interpreter() -> Path:
    return Path(sys.base_prefix, "bin", f"python3.{sys.version_info.minor}").resolve()


def _link(archive: tarfile.TarFile, name: str, target: str) -> None:
    link = tarfile.TarInfo(name)
    link.type, link.linkname = tarfile.SYMTYPE, target
    archive.addfile(link)


def _readable(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Everything belongs to root and can be read by all."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mode = 0o755 if entry.mode & 0o100 or entry.isdir() else 0o644
    return entry


def _python_files() -> Iterator[Path]:
    """The interpreter and its standard library, without tests and graphical parts."""
    yield _interpreter()
    library = Path(sysconfig.get_path("stdlib", vars={"base": sys.base_prefix}))
    for folder, below, files in os.walk(library):
        below[:] = [name for name in below if name not in LEFT_OUT and "config-" not in name]
        for name in files:
            if not name.endswith((".a", ".pyc")):
                yield Path(folder, name)


def _libraries() -> Iterator[Path]:
    """Shared libraries that the interpreter and its extension modules load, by their own paths."""
    binaries = [_interpreter(), *_extension_modules()]
    listing = subprocess.run(["ldd", *binaries], capture_output=True, text=True).stdout
    for path in sorted(set(re.findall(r"(/\S+) \(0x[0-9a-f]+\)", listing))):
        yield Path(path)


def _extension_modules() -> list[Path]:
    folder = sysconfig.get_config_var("DESTSHARED")
    return sorted(Path(folder).glob("*.so")) if folder else []
