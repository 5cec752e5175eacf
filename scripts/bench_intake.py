"""Times the intake of a public site: results of a `core` run, sent by one and by eight at once.

A real server takes them, over HTTP on loopback, into a new database each time: SQLite, and
PostgreSQL where BENCHLOOP_TEST_DATABASE_URL names a server. Every upload is a run of its own, so
each is checked, judged again and stored. Lost are those that were answered with 201 and are not in
the database afterwards. `--quick`: a tenth of the uploads.
"""

from __future__ import annotations

import gzip
import math
import os
import random
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import psycopg
from rich.table import Table

from bench_loop.console import console
from bench_loop.machine.detect import detect
from bench_loop.result import store
from bench_loop.result.fingerprint import fingerprinted
from bench_loop.result.records import RunResult, Trial
from submissions.checks import Upload
from submissions.checks.scores import scores_of

ROOT = Path(__file__).resolve().parent.parent
RESULT = ROOT / "docs" / "reference-runs" / "smollm2-135m-core.json"
UPLOADS = 200
QUICK_UPLOADS = 20
CLIENTS = (1, 8)
START_S = 60.0


@dataclass(frozen=True, slots=True)
class Measured:
    """What came of one round of uploads."""

    clients: int
    uploads: int
    refused: int
    lost: int
    wall_s: float
    waits_s: tuple[float, ...]
    """From the first byte sent to the whole answer; the shortest first."""

    @property
    def is_met(self) -> bool:
        """Whether all were taken and kept."""
        return not self.refused and not self.lost

    def cells(self) -> tuple[str, ...]:
        """As a row of the table."""
        return (
            str(self.clients),
            str(self.uploads),
            f"{60 * self.uploads / self.wall_s:.0f}",
            f"{self._share(0.5):.3f}",
            f"{self._share(0.99):.3f}",
            str(self.lost),
            "lost 0" if self.is_met else f"MISSED: {self.refused} refused, {self.lost} lost",
        )

    def _share(self, share: float) -> float:
        """The wait that this share of the uploads stayed within."""
        return self.waits_s[math.ceil(share * len(self.waits_s)) - 1]


@dataclass(frozen=True, slots=True)
class Site:
    """A running public site, and how it is reached."""

    url: str
    key: str
    environment: Mapping[str, str]

    def stored(self) -> int:
        """Rows in its database."""
        count = "from runs.models import Run; print(Run.objects.count())"
        return int(_manage(self.environment, "shell", "-c", count).split()[-1])


def main(arguments: Sequence[str]) -> int:
    uploads = QUICK_UPLOADS if "--quick" in arguments else UPLOADS
    original = store.load(RESULT)
    bodies = [gzip.compress(store.to_bytes(another(original, n)), 6) for n in range(uploads)]
    size = RESULT.stat().st_size
    out = console()
    out.print(f"{_machine()}; {RESULT.name}: {len(original.trials)} trials, {size:,} bytes")
    table = Table("database", "clients", "uploads", "a minute", "p50 s", "p99 s", "lost", "bar")
    is_met = True
    for name, database in DATABASES.items():
        for clients in CLIENTS:
            with database() as url:
                if url is None:
                    table.add_row(name, *[""] * 6, "set BENCHLOOP_TEST_DATABASE_URL")
                    continue
                with public_site(url) as site:
                    found = measure(site, bodies, clients)
            is_met = is_met and found.is_met
            table.add_row(name, *found.cells())
    out.print(table)
    return 0 if is_met else 1


def another(original: RunResult, number: int) -> RunResult:
    """The run once more, with the times that another hour would have given, and its scores."""
    clock = random.Random(number)  # noqa: S311  (no secret)
    trials = tuple(_timed_again(trial, clock.uniform(0.99, 1.01)) for trial in original.trials)
    runtime_s = (original.total_runtime_s or 0.0) * 1.01
    changes = {"trials": trials, "total_runtime_s": runtime_s, "run_index": number}
    result = original.model_copy(update=changes)
    scores = scores_of(Upload(result, datetime.now(UTC)))
    assert scores is not None
    scored = {"speed": scores.speed, "aggregates": scores.aggregates, "suites": scores.suites}
    return fingerprinted(result.model_copy(update=scored))


def _timed_again(trial: Trial, factor: float) -> Trial:
    names = ("latency_s", "t_first_byte_s", "t_first_thinking_s", "t_first_answer_s", "t_last_s")
    times = {name: mark and mark * factor for name in names if (mark := getattr(trial, name))}
    # The first byte is in no score: by it the copies are no copies.
    first_s = trial.t_first_byte_s
    times["t_first_byte_s"] = first_s and first_s * factor**2
    if timings := trial.engine_timings:
        spent = {"prompt_s": timings.prompt_s, "generation_s": timings.generation_s}
        scaled = {name: value and value * factor for name, value in spent.items()}
        return trial.model_copy(
            update={**times, "engine_timings": timings.model_copy(update=scaled)}
        )
    return trial.model_copy(update=times)


def measure(site: Site, bodies: Sequence[bytes], clients: int) -> Measured:
    """Send every body once, `clients` at a time."""
    headers = {
        "Authorization": f"Bearer {site.key}",
        "Content-Type": "application/json",
        "Content-Encoding": "gzip",
    }
    with httpx.Client(base_url=site.url, headers=headers, timeout=600.0) as client:

        def send(body: bytes) -> tuple[float, int]:
            began = time.perf_counter()
            status = client.post("/api/v1/submissions/", content=body).status_code
            return time.perf_counter() - began, status

        send(b"")  # Refused: by it the server has read its packs before the clock runs.
        began = time.perf_counter()
        with ThreadPoolExecutor(clients) as threads:
            answers = list(threads.map(send, bodies))
        wall_s = time.perf_counter() - began
    taken = sum(status == 201 for _, status in answers)
    return Measured(
        clients=clients,
        uploads=len(answers),
        refused=len(answers) - taken,
        lost=taken - site.stored(),
        wall_s=wall_s,
        waits_s=tuple(sorted(wait_s for wait_s, _ in answers)),
    )


@contextmanager
def sqlite() -> Iterator[str | None]:
    """A new SQLite database: the one of a new data folder."""
    yield ""


@contextmanager
def postgresql() -> Iterator[str | None]:
    """URL of a new PostgreSQL database, dropped at the end; None without a server."""
    server = os.environ.get("BENCHLOOP_TEST_DATABASE_URL")
    if not server:
        yield None
        return
    name = f"benchloop_{secrets.token_hex(4)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        try:
            yield urlsplit(server)._replace(path=f"/{name}").geturl()
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


DATABASES = {"SQLite": sqlite, "PostgreSQL": postgresql}


@contextmanager
def public_site(database: str) -> Iterator[Site]:
    """A running public site on a new data folder, which slows nobody down.

    Its worker is left out: code of models is judged after the answer, and not timed here.
    """
    with tempfile.TemporaryDirectory() as home, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        environment = {
            **{name: text for name, text in os.environ.items() if name != "DATABASE_URL"},
            "BENCHLOOP_HOME": home,
            "BENCHLOOP_ROLE": "public",
            "SECRET_KEY": secrets.token_urlsafe(48),
            "ALLOWED_HOSTS": "127.0.0.1",
            **{f"BENCHLOOP_RATE_{name}": "999999999/second" for name in ("UPLOAD", "READ")},
            "DJANGO_SUPERUSER_PASSWORD": secrets.token_urlsafe(16),
            **({"DATABASE_URL": database} if database else {}),
        }
        _manage(environment, "migrate", "--verbosity", "0")
        named = ("--username", "owner", "--email", "owner@example.org")
        _manage(environment, "createsuperuser", "--noinput", *named)
        key = _manage(environment, "create_key", "owner").strip()
        command = ["daphne", "-b", "127.0.0.1", "-p", str(port), "benchloop_site.asgi:application"]
        with (Path(home) / "site.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", *command], cwd=ROOT, env=environment, stderr=log, stdout=log
            )
            try:
                url = f"http://127.0.0.1:{port}"
                _wait_for(url)
                yield Site(url, key, environment)
            finally:
                process.terminate()
                process.wait(30)


def _wait_for(url: str) -> None:
    until = time.monotonic() + START_S
    while time.monotonic() < until:
        try:
            httpx.get(f"{url}/api/v1/leaderboard/", timeout=START_S)
            return
        except httpx.TransportError:
            time.sleep(0.1)
    raise TimeoutError("The site did not start.")


def _manage(environment: Mapping[str, str], *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout


def _machine() -> str:
    facts = detect()
    memory = f"{facts.system_memory_gb:.0f} GiB" if facts.system_memory_gb else "memory unknown"
    return f"{facts.cpu_model}, {os.cpu_count()} cores, {memory}, {facts.os}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
