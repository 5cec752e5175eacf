"""`bench-loop serve` as people run it: a real process with its worker."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from bench_loop.result import store
from tests.site.make_result import make_bytes, make_result
from tests.site.site_process import ROOT, Site, free_port, running_site, still_running, wait_for

LEADERBOARD = "/api/v1/leaderboard/"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with one result in it from before the start."""
    home = tmp_path_factory.mktemp("home")
    store.save(make_result(model_id="before:1b"), home / "results")
    return home


@pytest.fixture(scope="module")
def site(home: Path) -> Iterator[Site]:
    with running_site(home, "--port", str(free_port())) as site:
        site.read_enter_link()
        yield site


def models(site: Site) -> set[str]:
    entries = httpx.get(site.url + LEADERBOARD).json()["results"]
    return {entry["model_id"] for entry in entries}


def test_results_from_before_the_start_are_shown(site: Site) -> None:
    assert "before:1b" in models(site)


def test_a_new_result_file_becomes_an_event_and_a_row(site: Site, home: Path) -> None:
    live = site.socket("/ws/events/")
    try:
        store.save(make_result(model_id="after:1b"), home / "results")
        event = live.message()
    finally:
        live.close()
    assert (event["kind"], event["data"]["model_id"]) == ("published", "after:1b")
    assert "after:1b" in models(site)


def test_a_socket_resumes_after_the_last_event_that_it_saw(site: Site) -> None:
    from_start = site.socket("/ws/events/?after=0")
    first = from_start.message()
    from_start.close()
    assert first["data"]["model_id"] == "before:1b"
    assert first["seq"] == 1
    resumed = site.socket(f"/ws/events/?after={first['id'] - 1}")
    assert resumed.message() == first
    resumed.close()


@pytest.mark.parametrize("origin", ["null", "http://127.0.0.1:1", "http://evil.example"])
def test_a_socket_of_another_page_is_refused(site: Site, origin: str) -> None:
    refused = site.socket("/ws/events/?after=0", origin=origin)
    assert refused.status == 403
    refused.close()


@pytest.mark.parametrize("query", ["?after=x", "?after=-1", "?after=1&after=2"])
def test_a_socket_with_a_broken_address_is_refused(site: Site, query: str) -> None:
    refused = site.socket(f"/ws/events/{query}")
    assert refused.status == 403
    refused.close()


def test_a_watcher_that_announces_a_huge_message_is_cut_off(site: Site) -> None:
    live = site.socket("/ws/events/")
    live.connection.sendall(b"\x81\xff" + (2**31).to_bytes(8) + bytes(4))
    assert live.is_closed()


def test_the_printed_link_logs_in_once(site: Site) -> None:
    assert site.enter is not None
    with httpx.Client(follow_redirects=False) as browser:
        assert browser.get(site.enter).status_code == 302
        assert browser.get(site.url + "/admin/").status_code == 200
    assert httpx.get(site.enter).status_code == 403
    assert httpx.get(site.url + "/admin/").status_code == 302


def test_the_admin_has_its_styles(site: Site) -> None:
    assert httpx.get(site.url + "/static/admin/css/base.css").status_code == 200


def test_a_local_site_takes_no_upload(site: Site) -> None:
    response = httpx.post(site.url + "/api/v1/submissions/", content=b"{}")
    assert response.json()["code"] == "uploads_off"


def refused_start(home: Path, port: str) -> str:
    """What `serve` says when it cannot start, which must be a sentence and exit code 3."""
    ended = subprocess.run(
        [sys.executable, "-m", "bench_loop", "serve", "--no-open", "--port", port],
        cwd=ROOT,
        env={**os.environ, "BENCHLOOP_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.returncode == 3
    assert "Traceback" not in ended.stderr
    return ended.stderr


def test_a_port_in_use_is_an_error_with_a_remedy(site: Site, tmp_path: Path) -> None:
    assert "--port" in refused_start(tmp_path, site.url.rsplit(":", 1)[1])


@pytest.mark.parametrize("process", [["serve"], ["worker"], ["manage", "migrate"]])
def test_a_setting_that_is_missing_is_an_error_with_a_remedy(
    process: list[str], tmp_path: Path
) -> None:
    environment = {**os.environ, "BENCHLOOP_HOME": str(tmp_path), "BENCHLOOP_ROLE": "public"}
    environment.pop("SECRET_KEY", None)
    ended = subprocess.run(
        [sys.executable, "-m", "benchloop_site", *process],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.returncode == 3
    assert ended.stderr.startswith("Error: The public role needs SECRET_KEY: 50 random characters.")
    assert "Try:" in ended.stderr


def test_a_worker_that_dies_is_replaced(site: Site) -> None:
    def workers() -> set[int]:
        return {
            child.pid
            for child in site.descendants()
            if child.status() != psutil.STATUS_ZOMBIE and "worker" in child.cmdline()
        }

    [pid] = workers()
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: workers() and pid not in workers())


def test_a_data_folder_that_cannot_be_used_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("no folder")
    assert "BENCHLOOP_HOME" in refused_start(tmp_path, str(free_port()))


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_no_process_is_left_behind(tmp_path: Path, signum: signal.Signals) -> None:
    with running_site(tmp_path, "--port", str(free_port())) as site:
        started = site.descendants()
        assert len(started) == 2
        live = site.socket("/ws/events/")
        site.process.send_signal(signum)
        status = site.process.wait(20)
        live.close()
        assert still_running(started, wait_s=15) == []
        assert status == (-signal.SIGKILL if signum == signal.SIGKILL else 0)


def test_the_next_free_port_is_taken_when_none_is_asked_for() -> None:
    from bench_loop import config
    from benchloop_site.server import listen

    with socket.socket() as holder:
        try:
            holder.bind(("127.0.0.1", config.SITE_PORT))
            holder.listen()
        except OSError:
            pass  # somebody else holds it, which does as well
        with listen(None) as listener:
            assert listener.getsockname()[1] > config.SITE_PORT


def test_the_public_role_takes_uploads_on_sqlite_over_plain_http(tmp_path: Path) -> None:
    role = {"BENCHLOOP_ROLE": "public", "SECRET_KEY": "x" * 60}
    environment = {**os.environ, "BENCHLOOP_HOME": str(tmp_path), **role}

    def manage(*arguments: str) -> str:
        command = [sys.executable, "-m", "benchloop_site", "manage", *arguments]
        return subprocess.run(
            command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True
        ).stdout.strip()

    with running_site(tmp_path, "--port", str(free_port()), **role) as site:
        shell = "from django.contrib.auth.models import User; User.objects.create_user('ann')"
        manage("shell", "--no-imports", "-c", shell)
        key = manage("create_key", "ann")
        response = httpx.post(
            site.url + "/api/v1/submissions/",
            content=make_bytes(),
            headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
            timeout=60,  # The first upload reads every pack, on a machine that may be busy.
        )
        assert response.status_code == 201, response.text
        assert response.json()["url"].startswith(site.url)
        assert httpx.get(site.url + "/enter/?token=x").status_code == 404
