"""The examples of docs/api.md, run against a real site."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from benchloop_site.settings import RATES
from tests.api.seeded_site import UNHURRIED, SeededSite, seeded_site
from tests.components import need_curl
from tests.site.make_result import make_bytes

PAGE = Path(__file__).parents[2] / "docs" / "api.md"
EXAMPLE = re.compile(r"```sh\n(.*?)```\n\n```json\n(.*?)```", re.DOTALL)
SAID_ALIKE = ("code", "message", "fields", "status", "kind", "role", "findings", "labels")
"""Fields whose value in an answer is the one on the page; ids and times are of their moment."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SeededSite]:
    need_curl()
    with seeded_site(tmp_path_factory.mktemp("home"), **UNHURRIED) as site:
        yield site


def assert_alike(shown: Any, said: Any, name: str = "") -> None:
    """The same fields and kinds of values all the way down, and the same values of some fields."""
    if name in SAID_ALIKE:
        assert said == shown
    assert type(said) is type(shown)
    if isinstance(shown, dict):
        assert list(said) == list(shown)
        for field in shown:
            assert_alike(shown[field], said[field], field)
    if isinstance(shown, list):
        for one, other in zip(shown, said, strict=True):
            assert_alike(one, other)


@pytest.mark.real
@pytest.mark.slow
def test_the_examples_answer_what_the_page_says(site: SeededSite, tmp_path: Path) -> None:
    (tmp_path / "result.json").write_bytes(make_bytes(model_id="new:8b"))
    environment = {
        **os.environ,
        "SITE": site.url,
        "BENCHLOOP_TOKEN": site.key,
        "PUBLISHED": site.approved,
    }
    examples = EXAMPLE.findall(PAGE.read_text())
    assert len(examples) == PAGE.read_text().count("```sh") > 5
    for command, shown in examples:
        ended = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        said = json.loads(ended.stdout)
        assert_alike(json.loads(shown), said)
        if isinstance(said, dict) and "id" in said:
            environment["ID"] = said["id"]


def test_the_page_names_every_rate_with_its_default() -> None:
    text = PAGE.read_text()
    for name, rate in RATES.items():
        count, period = rate.split("/")
        article = "an" if period == "hour" else "a"
        assert f"| {count} {article} {period} | `{name}` |" in text


@pytest.mark.real
def test_the_page_names_every_parameter_of_the_lists(site: SeededSite) -> None:
    paths = httpx.get(f"{site.url}/api/schema/").json()["paths"]
    text = PAGE.read_text()
    for address in ("/api/v1/submissions/", "/api/v1/audit/"):
        assert address in text
        for parameter in paths[address]["get"]["parameters"]:
            assert parameter["name"] in text
