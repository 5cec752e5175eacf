"""A place for an installed harness with a gateway of its own, which is its one way out."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench_loop.contracts.place import Place, PlaceKind
from bench_loop.gateway.server import Gateway
from bench_loop.gateway.upstream import Upstream
from bench_loop.programs.installed import Installed
from bench_loop.programs.place import open_place


@contextmanager
def open_gated_place(
    upstream: Upstream, program: Installed, kind: PlaceKind, *, is_ollama: bool = False
) -> Iterator[tuple[Gateway, Place]]:
    """The gateway, whose requests go to `upstream`, and the place; both go with the context.

    Raises SetupError and SandboxError where they cannot be had.
    """
    with tempfile.TemporaryDirectory(prefix="bench-loop-") as folder:
        socket = Path(folder) / "gateway.sock"
        with (
            Gateway(upstream, socket, is_ollama=is_ollama) as gateway,
            open_place(
                kind,
                program=program.folder,
                executable=program.program,
                extra_readable=program.beside,
                path=program.path,
                gateway_port=gateway.port,
                gateway_socket=socket,
            ) as place,
        ):
            yield gateway, place
