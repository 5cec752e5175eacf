"""A real public site with its worker: code is judged in the background, whoever is killed."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from bench_loop.result.store import to_bytes
from tests.site.make_result import make_result
from tests.site.site_process import ROOT, Site, free_port, running_site, still_running, wait_for

ROLE = {"BENCHLOOP_ROLE": "public", "SECRET_KEY": "x" * 60, "BENCHLOOP_CODE_SANDBOX": "bubblewrap"}
PATIENCE_S = 120.0


class PublicSite:
    """A site, a key for it, and its database beside it."""

    def __init__(self, site: Site, home: Path) -> None:
        self.site = site
        self.home = home
        self._manage("shell", "--no-imports", "-c", MAKE_USER)
        self.key = self._manage("create_key", "ann")

    def upload(self, latency_s: float) -> str:
        response = httpx.post(
            self.site.url + "/api/v1/submissions/",
            content=to_bytes(make_result(suites=["coding"], latency_s=latency_s)),
            headers={**self._headers, "Content-Type": "application/json"},
            timeout=PATIENCE_S,
        )
        assert response.status_code == 201, response.text
        public_id: str = response.json()["id"]
        return public_id

    def level(self, public_id: str) -> str:
        address = f"{self.site.url}/api/v1/submissions/{public_id}/"
        level: str = httpx.get(address, headers=self._headers, timeout=PATIENCE_S).json()["level"]
        return level

    def row(self, column: str) -> Any:
        """A column of the first run's row in the queue."""
        return self._sql(f"SELECT {column} FROM submissions_grade ORDER BY id LIMIT 1")[0][0]

    def let_leases_run_out(self) -> None:
        self._sql("UPDATE submissions_grade SET due_at = '2020-01-01' WHERE lease != ''")

    def worker(self) -> psutil.Process | None:
        alive = (one for one in self.site.descendants() if one.status() != psutil.STATUS_ZOMBIE)
        return next((one for one in alive if "worker" in one.cmdline()), None)

    @property
    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}

    def _manage(self, *arguments: str) -> str:
        command = [sys.executable, "-m", "benchloop_site", "manage", *arguments]
        environment = {**os.environ, "BENCHLOOP_HOME": str(self.home), **ROLE}
        done = subprocess.run(
            command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def _sql(self, statement: str) -> list[Any]:
        with closing(sqlite3.connect(self.home / "site.sqlite3", timeout=20)) as database:
            rows = database.execute(statement).fetchall()
            database.commit()
            return rows


MAKE_USER = "from django.contrib.auth.models import User; User.objects.create_user('ann')"


@pytest.fixture
def public(tmp_path: Path) -> Iterator[PublicSite]:
    make_result(suites=["coding"])  # Where there is no sandbox, the test is skipped here.
    with running_site(tmp_path, "--port", str(free_port()), **ROLE) as site:
        yield PublicSite(site, tmp_path)


def test_a_worker_killed_while_it_judges_costs_nothing(public: PublicSite) -> None:
    first = public.upload(latency_s=2.0)
    assert public.level(first) == "reported"
    wait_for(lambda: public.row("lease") and public.row("picked"), PATIENCE_S)
    worker = public.worker()
    assert worker is not None
    started = worker.children(recursive=True)
    os.kill(worker.pid, signal.SIGKILL)
    assert still_running([worker, *started], wait_s=15) == []
    assert (public.row("state"), public.level(first)) == ("waiting", "reported")
    public.let_leases_run_out()
    second = public.upload(latency_s=2.1)
    wait_for(lambda: public.level(first) == public.level(second) == "consistent", PATIENCE_S)
    assert public.row("attempts") == 2
