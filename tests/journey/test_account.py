"""A stranger's way to a run of their own on the site, with a real server, mail and browser."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.components import need_bubblewrap
from tests.processes import bench_loop, environment, finish, free_port, serving
from tests.site.make_result import make_bytes

pytestmark = [pytest.mark.real, pytest.mark.browser, pytest.mark.slow]

PASSWORD = "lantern orchid 42"
AXE_RULES = {"runOnly": ["wcag2a", "wcag2aa"]}


@dataclass(frozen=True)
class Site:
    """A running public site that writes its mail into files, and its log."""

    url: str
    mail: Path
    log: Path

    def newest_mail(self) -> str:
        files = sorted(self.mail.iterdir(), key=lambda file: file.stat().st_mtime)
        message = message_from_bytes(files[-1].read_bytes(), policy=policy.default)
        assert isinstance(message, EmailMessage)
        return str(message.get_content())


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The public role on SQLite over plain HTTP, as in a first trial: nothing is configured."""
    home = tmp_path_factory.mktemp("site")
    env = environment(
        home, BENCHLOOP_ROLE="public", SECRET_KEY="only for tests " * 4, ALLOWED_HOSTS="127.0.0.1"
    )
    env.pop("EMAIL_URL", None)
    finish([sys.executable, "manage.py", "migrate", "--verbosity", "0"], env)
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "benchloop_site", "serve", "--port", str(port)]
    with serving(command, env, url, home / "site.log"):
        yield Site(url, home / "mail", home / "site.log")


@pytest.fixture(scope="module", params=[(1280, 800), (360, 740)], ids=["desktop", "phone"])
def page(request: pytest.FixtureRequest, browser: Browser, site: Site) -> Iterator[Page]:
    width, height = request.param
    context = browser.new_context(
        base_url=site.url, viewport={"width": width, "height": height}, has_touch=width < 500
    )
    yield context.new_page()
    context.close()


def looked_at(page: Page) -> None:
    """Nothing goes beyond the edge, and nobody is shut out."""
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), page.url
    found = Axe().run(page, options=AXE_RULES)
    assert found.violations_count == 0, f"{page.url}\n{found.generate_report()}"


def fill(page: Page, button: str, **values: str) -> None:
    for label, value in values.items():
        page.locator("main").get_by_label(label.replace("_", " ")).fill(value)
    page.locator("main").get_by_role("button", name=button).click()


def submit(site: Site, key: str, file: Path, home: Path, *more: str, expect_code: int = 0) -> str:
    return finish(
        bench_loop("submit", file, "--site", site.url, "--yes", "--json", *more),
        environment(home, BENCHLOOP_TOKEN=key),
        expect=expect_code,
    )


def test_from_signing_up_to_a_revoked_key(site: Site, page: Page, tmp_path: Path) -> None:
    need_bubblewrap()
    width = page.viewport_size["width"] if page.viewport_size else 0
    name = f"ada{width}"

    page.goto("/")
    page.locator(".account").get_by_role("link", name="Log in").click()
    looked_at(page)
    page.get_by_role("link", name="Sign up").last.click()
    looked_at(page)
    fill(page, "Sign up", User_name=name, **{"E-mail": f"{name}@x.example"}, Password=PASSWORD)
    expect(page.get_by_role("heading", name="Confirm your e-mail")).to_be_visible()
    looked_at(page)

    link = re.search(r"http://\S+/account/confirm-email/\S+", site.newest_mail())
    assert link
    page.goto(link[0])
    looked_at(page)
    fill(page, "Confirm")
    expect(page.locator("main")).to_contain_text("The address is confirmed.")
    fill(page, "Log in", **{"User name or e-mail": name}, Password=PASSWORD)
    expect(page).to_have_url(f"{site.url}/account/")
    expect(page.locator("main")).to_contain_text("You have sent no run yet")
    looked_at(page)

    page.get_by_role("link", name="Make an API key").click()
    looked_at(page)
    fill(page, "Make the key", Name="laptop")
    looked_at(page)
    fill(page, "Go on", Password=PASSWORD)
    looked_at(page)
    key = page.locator(".secret code").inner_text()

    file = tmp_path / "result.json"
    file.write_bytes(make_bytes(generation_tps=30.0 + width / 100))
    sent = json.loads(submit(site, key, file, tmp_path))
    page.goto("/account/")
    row = page.locator(".records li", has_text=sent["id"])
    expect(row).to_contain_text("pending")
    expect(row).to_contain_text("a moderator looks at it")
    looked_at(page)

    page.locator("main nav").get_by_role("link", name="API keys").click()
    last_used = page.locator(".facts div", has_text="Last used")
    expect(last_used).to_contain_text("UTC")
    page.locator("summary", has_text="Revoke").click()
    looked_at(page)
    page.get_by_role("button", name="Revoke bl_").click()
    expect(page.locator("main")).to_contain_text("it is refused from now on")
    expect(page.locator(".status")).to_have_text("revoked")
    looked_at(page)

    refused = httpx.get(
        f"{site.url}/api/v1/leaderboard/", headers={"Authorization": f"Bearer {key}"}
    )
    assert refused.status_code == 401
    assert f"{site.url}/account/keys/" in refused.json()["message"]
    submit(site, key, file, tmp_path, "--again", expect_code=6)
    assert key not in site.log.read_text()


def test_without_a_server_for_mail_the_log_says_where_it_goes(site: Site) -> None:
    assert f"EMAIL_URL is not set: mail is written to {site.mail}" in site.log.read_text()
