"""Real processes for tests: run one to its end, or keep one while a test lasts."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx

ROOT = Path(__file__).parent.parent
STOP_S = 15.0


def environment(home: Path, **more: str) -> dict[str, str]:
    """The variables of a process whose data folder is `home`: none of BenchLoop's but these."""
    ours = ("ALLOWED_HOSTS", "DATABASE_URL", "DJANGO_SETTINGS_MODULE", "REDIS_URL", "SECRET_KEY")
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ours and not name.startswith("BENCHLOOP_")
    }
    return kept | {"BENCHLOOP_HOME": str(home), "COLUMNS": "120"} | more


def finish(
    command: Sequence[str | Path],
    env: Mapping[str, str],
    *,
    expect: int = 0,
    timeout_s: float = 60,
    cwd: Path = ROOT,
) -> str:
    """What `command` writes to standard output; fails with all it wrote for another exit code."""
    done = subprocess.run(
        command,
        env=dict(env),
        cwd=cwd,
        timeout=timeout_s,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    words = " ".join(map(str, command))
    assert done.returncode == expect, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def bench_loop(*arguments: str | Path) -> list[str | Path]:
    """The command line of `bench-loop` in this environment."""
    return [sys.executable, "-m", "bench_loop", *arguments]


@contextmanager
def serving(
    command: Sequence[str | Path], env: Mapping[str, str], url: str, log: Path, cwd: Path = ROOT
) -> Iterator[None]:
    """Keeps a server running that answers at `url`; its output goes to `log`.

    It has a process group of its own, of which nothing is left at the end.
    """
    with log.open("w") as out:
        process = subprocess.Popen(
            command,
            env=dict(env),
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        _wait_for(url, process, log)
        yield
    finally:
        _stop(process)


def free_port() -> int:
    """A loopback port that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path, timeout_s: float = 60) -> None:
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        try:
            httpx.get(url, timeout=5)
        except httpx.TransportError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError(f"Nothing answered at {url}:\n{log.read_text()}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
