"""`bench-loop serve`: the local site, in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import FrameType

import click

import bench_loop

FORWARDED = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]


@click.command(
    epilog="""
\b
Examples:
  bench-loop serve
  bench-loop serve --port 9000 --no-open
"""
)
@click.option("--port", type=click.IntRange(1, 65535), help="Port. [8877, else the next free one]")
@click.option("--open/--no-open", "is_open", default=None, help="Open a browser. [on a desktop]")
def command(port: int | None, is_open: bool | None) -> int:
    """Open the local site: your results on a leaderboard, on this machine only.

    It shows the results folder and keeps up with it. End it with Ctrl-C.
    """
    return serve(port, is_open=is_open)


def serve(port: int | None = None, *, is_open: bool | None = None) -> int:
    """Run the local site until it ends or this process is told to end; gives its exit code.

    `is_open` None: a browser is opened when a person at a desktop started it.
    """
    arguments = ["serve"]
    if port is not None:
        arguments += ["--port", str(port)]
    if is_open is not None:
        arguments.append("--open" if is_open else "--no-open")
    process = start_site_process(*arguments)

    def end(signum: int, frame: FrameType | None) -> None:
        process.terminate()

    before = {signum: signal.signal(signum, end) for signum in FORWARDED}
    try:
        return process.wait()
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)


def start_site_process(*arguments: str) -> subprocess.Popen[bytes]:
    """Start `python -m benchloop_site <arguments>`, found beside `bench_loop` and nowhere else.

    It is out of reach of the terminal's Ctrl-C, so that it is told to end just once, and it ends
    when the pipe to it breaks: it never outlives this process, however this one goes.
    """
    root = str(Path(bench_loop.__file__).resolve().parent.parent)
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "benchloop_site", "--lifeline", *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        stdin=subprocess.PIPE,
        start_new_session=True,
    )
