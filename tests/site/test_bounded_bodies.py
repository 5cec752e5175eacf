"""Bodies that nobody asked for cost the running site neither memory nor disk."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.site.site_process import Site, free_port, running_site

FORM = "application/x-www-form-urlencoded"
MEGABYTES = 40
PIECE = b"a=1&" * (256 * 1024)
"""A megabyte of fields of a form."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("home")
    with running_site(
        home, "--port", str(free_port()), BENCHLOOP_ROLE="public", SECRET_KEY="k" * 50
    ) as site:
        yield site


class Peak:
    """Sends megabytes one by one, and sees how large the site's processes become meanwhile."""

    def __init__(self, site: Site) -> None:
        self._processes = site.descendants()
        self.before = self.bytes = self._now()

    def pieces(self, count: int) -> Iterator[bytes]:
        for _ in range(count):
            yield PIECE
            self.look()

    def look(self) -> None:
        self.bytes = max(self.bytes, self._now())

    def _now(self) -> int:
        return sum(int(process.memory_info().rss) for process in self._processes)


@pytest.mark.parametrize("content_type", [FORM, "multipart/form-data; boundary=x", "text/plain"])
@pytest.mark.parametrize("is_length_told", [True, False])
def test_a_huge_form_is_dropped_as_it_comes(
    site: Site, content_type: str, is_length_told: bool
) -> None:
    peak = Peak(site)
    length = {"Content-Length": str(MEGABYTES * len(PIECE))} if is_length_told else {}
    answer = httpx.post(
        f"{site.url}/theme/",
        content=peak.pieces(MEGABYTES),
        headers={"Content-Type": content_type, **length},
        timeout=60,
    )
    peak.look()
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    assert peak.bytes - peak.before < 20 * len(PIECE)


def test_a_result_beyond_the_largest_is_dropped_too(site: Site) -> None:
    answer = httpx.post(
        f"{site.url}/api/v1/submissions/",
        content=Peak(site).pieces(17),
        headers={"Content-Type": "application/json"},
        timeout=60,
    )
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


def test_after_it_the_connection_answers_as_before(site: Site) -> None:
    with httpx.Client(base_url=site.url, timeout=60) as client:
        form = {"Content-Type": FORM}
        assert client.post("/theme/", content=PIECE, headers=form).status_code == 413
        assert client.get("/api/v1/leaderboard/").status_code == 200
        assert client.post("/theme/", data={"theme": "dark"}).status_code == 302
