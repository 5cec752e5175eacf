"""Every operation of the API answers as its OpenAPI document says, whatever it is sent."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.api.seeded_site import UNHURRIED, SeededSite, seeded_site

CONFIGURATION = Path(__file__).parent / "schemathesis.toml"
CLI = Path(sys.executable).parent / "schemathesis"
LONGEST_S = 240


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SeededSite]:
    """A site where nobody has to wait."""
    with seeded_site(tmp_path_factory.mktemp("home"), **UNHURRIED) as site:
        yield site


def try_all(site: SeededSite, folder: Path, *arguments: str) -> str:
    """What schemathesis says after trying every operation with all its checks; it must be good."""
    ids = f"\n[dictionaries]\nids = {{ values = {json.dumps(site.ids)} }}\n"
    (folder / "schemathesis.toml").write_text(CONFIGURATION.read_text() + ids)
    command = [CLI, "run", f"{site.url}/api/schema/", "--checks=all", "--workers=2", *arguments]
    ended = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=LONGEST_S, check=False
    )
    assert ended.returncode == 0, ended.stdout[-20_000:] + ended.stderr[-2_000:]
    return ended.stdout


def operations(site: SeededSite) -> int:
    paths = httpx.get(f"{site.url}/api/schema/").json()["paths"]
    return sum(len(methods) for methods in paths.values())


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.parametrize(("who", "examples"), [("stranger", 8), ("owner", 25)])
def test_the_api_keeps_to_its_document(
    site: SeededSite, tmp_path: Path, who: str, examples: int
) -> None:
    key = ["-H", f"Authorization: Bearer {site.key}"] if who == "owner" else []
    said = try_all(site, tmp_path, f"--max-examples={examples}", *key)
    tested = re.search(r"Tested: (\d+)", said)
    assert tested
    assert int(tested[1]) == operations(site) > 0
    for address in ("submissions", "audit", "leaderboard"):
        assert httpx.get(f"{site.url}/api/v1/{address}/").status_code == 200
