"""The whole way with real parts: a model, a run, an upload, a moderator, the leaderboard."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from bench_loop.engine.packs import load_pack, pack_names
from bench_loop.result import store
from bench_loop.result.records import RunResult
from tests.components import need_bubblewrap, need_redis
from tests.databases import postgresql_database
from tests.llama_cpp import LlamaCpp
from tests.processes import ROOT, bench_loop, environment, finish, free_port, serving

pytestmark = [pytest.mark.real, pytest.mark.browser, pytest.mark.slow]

PASSWORD = "correct horse battery staple"
NAME = "smollm2-135m"
"""The model's one name on the board, under whatever file name it was served."""


@dataclass(frozen=True)
class Site:
    """A running public site, with a key of `owner` and a moderator who can log in."""

    url: str
    key: str


@pytest.fixture(scope="module")
def result_file(real_server: LlamaCpp, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The result of a real run, made by the command line against a real llama.cpp server."""
    need_bubblewrap()
    folder = tmp_path_factory.mktemp("run")
    finish(
        bench_loop(
            *("run", "--model", real_server.model_id, "--provider", "openai_compat"),
            *("--endpoint", real_server.url, "--profile", "smoke"),
            *("--machine", "test bench", "--output", folder / "results"),
        ),
        environment(folder / "home"),
        timeout_s=900,
    )
    return folder / "results" / store.LATEST


@pytest.fixture(scope="module")
def result(result_file: Path) -> RunResult:
    return store.load(result_file)


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def site(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    """The site in the public role: once on SQLite alone, once on PostgreSQL and Redis."""
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "sqlite":
        with public_site(folder) as running:
            yield running
    else:
        with (
            postgresql_database() as database,
            public_site(folder, DATABASE_URL=database, REDIS_URL=need_redis()) as running,
        ):
            yield running


@contextmanager
def public_site(folder: Path, **services: str) -> Iterator[Site]:
    """A new site with a moderator and an owner, whose data folder is `folder`."""
    env = environment(
        folder,
        BENCHLOOP_ROLE="public",
        SECRET_KEY="only for tests " * 4,
        ALLOWED_HOSTS="127.0.0.1",
        DJANGO_SUPERUSER_PASSWORD=PASSWORD,
        **services,
    )

    def manage(*arguments: str) -> str:
        return finish([sys.executable, "manage.py", *arguments], env).strip()

    manage("migrate", "--verbosity", "0")
    for name in ("owner", "moderator"):
        manage("createsuperuser", "--noinput", "--username", name, "--email", f"{name}@x.example")
    key = manage("create_key", "owner")
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "benchloop_site", "serve", "--port", str(port)]
    with serving(command, env, url, folder / "site.log"):
        yield Site(url, key)


def submit(site: Site, file: Path, home: Path, *options: str) -> dict[str, str]:
    """What `bench-loop submit --json` says."""
    said = finish(
        bench_loop("submit", file, "--site", site.url, "--yes", "--json", *options),
        environment(home, BENCHLOOP_TOKEN=site.key),
    )
    answer: dict[str, str] = json.loads(said)
    return answer


def test_the_run_is_complete(result: RunResult) -> None:
    assert result.status == "complete"
    assert result.profile == "smoke"
    assert {suite.suite for suite in result.suites} >= {
        "speed",
        "reasonmath",
        "loop_schema",
        "instructfollow",
    }


def test_the_speed_headline_is_measured(result: RunResult) -> None:
    speed = result.speed
    assert speed is not None
    for spread in (speed.generation_tps, speed.ttft_s, speed.ttfa_s):
        assert spread is not None
        assert spread.median > 0
        assert spread.n >= 3


def test_the_machine_and_the_software_are_known(result: RunResult) -> None:
    assert result.machine.cpu_model
    assert result.machine.machine_label == "test bench"
    assert result.machine.is_local
    assert result.subject.provider_version
    assert result.software.python
    assert result.software.packages["httpx"]


def test_every_trial_has_its_evidence(result: RunResult) -> None:
    for trial in result.trials:
        assert trial.finish_reason is not None, trial.task_id
        assert trial.tokens.prompt, trial.task_id
        assert trial.tokens.completion, trial.task_id
        marks = (trial.t_first_byte_s, trial.t_first_answer_s, trial.t_last_s, trial.latency_s)
        assert None not in marks, trial.task_id
        assert list(marks) == sorted(mark for mark in marks if mark is not None), trial.task_id


def test_every_quality_trial_is_judged_on_its_whole_output(result: RunResult) -> None:
    judged = [trial for trial in result.trials if trial.suite != "speed"]
    wanted = {task for name in pack_names() for task in load_pack(name).profiles.get("smoke", ())}
    assert {trial.task_id for trial in judged} == wanted
    for trial in judged:
        assert trial.outcome in ("pass", "partial", "fail", "truncated")
        assert trial.output is not None
        assert (trial.reason is None) == (trial.outcome == "pass")


def test_a_run_reaches_the_leaderboard_through_a_moderator(
    site: Site, result: RunResult, result_file: Path, tmp_path: Path, page: Page
) -> None:
    first = submit(site, result_file, tmp_path)
    assert first["status"] == "pending"
    assert submit(site, result_file, tmp_path)["id"] == first["id"]
    assert submit(site, result_file, tmp_path, "--again")["id"] == first["id"]

    page.goto(f"{site.url}/")
    expect(page.locator("main")).not_to_contain_text(NAME)

    page.goto(f"{site.url}/admin/submissions/submission/")
    page.get_by_label("User name or e-mail").fill("moderator")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.locator("tr", has_text=first["id"]).locator("input.action-select").check()
    page.get_by_label("Action:").select_option("approve")
    page.get_by_role("button", name="Go").click()
    page.get_by_label("Reason").select_option("nothing-against-it")
    page.get_by_role("button", name="Approve").click()
    expect(page.locator(".messagelist")).to_be_visible()

    page.goto(f"{site.url}/")
    page.get_by_role("link", name=NAME).first.click()
    expect(page).to_have_url(f"{site.url}/runs/{first['id']}/")
    main = page.locator("main")
    for suite in result.suites:
        expect(main).to_contain_text(suite.suite)
    for trial in result.trials:
        if trial.reason:
            expect(main).to_contain_text(trial.reason)
    kept = page.request.get(f"{site.url}/api/v1/runs/{first['id']}/result.json")
    assert kept.body() == result_file.read_bytes()


def test_the_local_site_shows_a_run_without_any_upload(
    result: RunResult, result_file: Path, tmp_path: Path, page: Page
) -> None:
    results = tmp_path / "home" / "results"
    results.mkdir(parents=True)
    (results / f"{result.run_id}.json").write_bytes(result_file.read_bytes())
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = bench_loop("serve", "--port", str(port))
    with serving(command, environment(tmp_path / "home"), url, tmp_path / "log", cwd=ROOT):
        page.goto(url)
        expect(page.locator("main")).to_contain_text(NAME)
