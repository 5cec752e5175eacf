"""What a user installs: the wheel, alone in a fresh environment, away from this source tree."""

from __future__ import annotations

import json
import os
import re
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from bench_loop.result.schema import result_schema
from tests.components import SMOLLM2_FILE, need_bubblewrap, need_llama_cpp
from tests.processes import ROOT, environment, finish, free_port, serving

pytestmark = [pytest.mark.real, pytest.mark.slow]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from this source tree."""
    folder = tmp_path_factory.mktemp("wheel")
    command = (sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT)
    finish(command, dict(os.environ), timeout_s=300)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def scripts(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of a fresh environment into which the wheel was installed."""
    folder = tmp_path_factory.mktemp("installed")
    pins = re.findall(r"^[\w.-]+==\S+", (ROOT / "requirements/ci.txt").read_text(), re.MULTILINE)
    constraints = folder / "constraints.txt"
    constraints.write_text("\n".join(pins))
    finish((sys.executable, "-m", "venv", folder / "venv"), dict(os.environ))
    install = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    finish(
        (
            *(folder / "venv/bin/python", *install),
            *("--constraint", constraints, f"{wheel}[local-model]"),
        ),
        dict(os.environ),
        timeout_s=900,
    )
    return folder / "venv" / "bin"


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's folder, with the weights of the small model in the data folder already."""
    folder = tmp_path_factory.mktemp("user")
    models = folder / "data" / "models"
    models.mkdir(parents=True)
    (models / SMOLLM2_FILE).symlink_to(need_llama_cpp())
    return folder


@pytest.fixture(scope="module")
def quickstart(scripts: Path, user: Path) -> str:
    """What `bench-loop quickstart` printed; its result is in the user's data folder."""
    need_bubblewrap()
    env = environment(user / "data", BENCHLOOP_NO_SERVE="1")
    return finish((scripts / "bench-loop", "quickstart"), env, timeout_s=900, cwd=user)


def call(scripts: Path, user: Path, *arguments: str | Path) -> str:
    return finish((scripts / "bench-loop", *arguments), environment(user / "data"), cwd=user)


def test_the_wheel_has_every_part_and_no_test(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    folders = {name.partition("/")[0] for name in names}
    assert folders >= {"bench_loop", "benchloop_site", "harnesses", "packs", "templates"}
    assert not {"tests", "scripts", "typings", "docs"} & folders
    for pattern in (
        r"packs/reasonmath/pack\.yaml",
        r"harnesses/raw\.py",
        r"harnesses/faults\.json",
        r"templates/.*\.html",
        r"benchloop_site/static/.*\.css",
        r"runs/migrations/0001_\w+\.py",
        r"leaderboard/migrations/0001_\w+\.py",
        r"submissions/migrations/0001_\w+\.py",
    ):
        assert any(re.fullmatch(pattern, name) for name in names), pattern


def test_help_lists_the_commands(scripts: Path, user: Path) -> None:
    assert "quickstart" in call(scripts, user, "--help")


def test_the_schema_is_the_one_of_this_source(scripts: Path, user: Path) -> None:
    assert json.loads(call(scripts, user, "schema")) == result_schema()


def test_the_packs_are_found(scripts: Path, user: Path) -> None:
    assert "reasonmath" in call(scripts, user, "suites")


def test_quickstart_measures_a_model(quickstart: str, user: Path) -> None:
    latest = json.loads((user / "data/results/latest.json").read_bytes())
    assert latest["status"] == "complete"
    assert latest["subject"]["provider"] == "embedded"
    assert latest["subject"]["model_family"] in quickstart.lower()


def test_the_dashboard_is_one_file(quickstart: str, scripts: Path, user: Path) -> None:
    page = user / "page.html"
    call(scripts, user, "dashboard", "--input", user / "data/results", "--output", page)
    html = page.read_text()
    assert "smollm2" in html.lower()
    assert not re.findall(r"<(?:link|script)[^>]+(?:href|src)=", html)


@pytest.fixture(scope="module")
def site(quickstart: str, scripts: Path, user: Path) -> Iterator[str]:
    """The address of the local site of the installed wheel."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = (scripts / "bench-loop", "serve", "--port", str(port))
    with serving(command, environment(user / "data"), url, user / "site.log", cwd=user):
        yield url


def test_the_site_shows_the_run(site: str) -> None:
    answer = httpx.get(site)
    assert answer.status_code == 200
    assert "smollm2" in answer.text.lower()


def test_the_site_serves_its_style_sheet(site: str) -> None:
    (href, *_) = re.findall(r'href="(/static/[^"]+\.css)"', httpx.get(site).text)
    answer = httpx.get(site + href)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/css")
