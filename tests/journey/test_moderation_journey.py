"""A doubtful run in real browsers: asked about, rejected, appealed, shown, verified."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.processes import environment, finish, free_port, serving
from tests.site.make_result import make_bytes

pytestmark = [pytest.mark.real, pytest.mark.browser]

PASSWORD = "correct horse battery staple"
MODEL = "qwen3:8b"

PREPARE = f"""
import json
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.core.management import call_command
from django.utils import timezone
from bench_loop.result.store import to_bytes
from submissions import checks
from submissions.storing import store
from submissions.keys import create_key
from tests.site.make_result import make_result
User.objects.create_user("moderator", password={PASSWORD!r})
call_command("give_role", "moderator", "moderator", verbosity=0)
moderator = User.objects.get(username="moderator")
for tps in (41, 48, 50, 52, 57):
    result = make_result(generation_tps=tps, latency_s=100 / tps, speed_plan="five")
    found = checks.findings(result, timezone.now())
    other = User.objects.get_or_create(username="other")[0]
    store(result, to_bytes(result), other, found)[0].approve(moderator)
owner = User.objects.create_user("owner")
session = SessionStore()
session[SESSION_KEY] = str(owner.pk)
session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
session[HASH_SESSION_KEY] = owner.get_session_auth_hash()
session.save()
print("PREPARED", json.dumps([create_key(owner)[1], session.session_key]))
"""


@dataclass(frozen=True)
class Site:
    """A running public site, with a key and a session of its owner."""

    url: str
    key: str
    session: str


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    env = environment(
        folder,
        BENCHLOOP_ROLE="public",
        SECRET_KEY="only for tests " * 4,
        ALLOWED_HOSTS="127.0.0.1",
    )
    finish([sys.executable, "manage.py", "migrate", "--verbosity", "0"], env)
    said = finish([sys.executable, "manage.py", "shell", "-c", PREPARE], env)
    key, session = json.loads(said.partition("PREPARED")[2])
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "benchloop_site", "serve", "--port", str(port)]
    with serving(command, env, url, folder / "site.log"):
        yield Site(url, key, session)


@pytest.fixture(scope="module")
def screens(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where screenshots go: BENCHLOOP_TEST_SCREENS=docs/screens renews those of the project."""
    return Path(os.environ.get("BENCHLOOP_TEST_SCREENS") or tmp_path_factory.mktemp("screens"))


def upload(site: Site) -> str:
    """The id of a run that is three times as fast as its device allows."""
    answer = httpx.post(
        f"{site.url}/api/v1/submissions/",
        content=make_bytes(model_id=MODEL, generation_tps=600, speed_plan="five"),
        headers={"Authorization": f"Bearer {site.key}", "Content-Type": "application/json"},
        timeout=30,
    )
    assert answer.status_code == 201, answer.text
    public_id: str = answer.json()["id"]
    return public_id


def decide(page: Page, button: str, template: str, *, words: str = "") -> None:
    page.get_by_label("Reason").select_option(template)
    page.get_by_label("In your words").fill(words)
    page.get_by_role("button", name=button, exact=True).click()
    expect(page.locator(".messagelist .success")).to_contain_text("done")


def test_a_doubtful_run_is_asked_about_rejected_appealed_shown_and_verified(
    site: Site, browser: Browser, screens: Path
) -> None:
    public_id = upload(site)
    run = f"{site.url}/runs/{public_id}/"
    queue = f"{site.url}/admin/submissions/submission/"
    owner = browser.new_context(viewport={"width": 390, "height": 844})
    owner.add_cookies([{"name": "sessionid", "value": site.session, "url": site.url}])
    mine, desk = owner.new_page(), browser.new_page(viewport={"width": 1280, "height": 900})
    desk.emulate_media(color_scheme="dark")
    errors: list[str] = []
    for page in (mine, desk):
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)

    desk.goto(queue)
    desk.get_by_label("User name or e-mail").fill("moderator")
    desk.get_by_label("Password").fill(PASSWORD)
    desk.get_by_role("button", name="Log in").click()
    expect(desk.locator("tr", has_text=public_id)).to_contain_text("needs review")
    desk.screenshot(path=screens / "moderation-queue.png")
    desk.get_by_role("link", name=public_id).click()
    expect(desk.locator(".findings")).to_contain_text("above what this hardware")
    desk.screenshot(path=screens / "moderation-case.png")
    decide(desk, "Request changes", "explain-the-speed")

    mine.goto(run)
    expect(mine.locator("#submission")).to_contain_text("How was it set up")
    mine.get_by_label("Your answer").fill("A draft model; the log is in the notes.")
    mine.get_by_role("button", name="Send the answer").click()
    expect(mine.locator("#history")).to_contain_text("request answered")

    desk.goto(queue)
    desk.get_by_role("link", name=public_id).click()
    expect(desk.locator(".history")).to_contain_text("A draft model")
    decide(desk, "Reject", "impossible-speed")

    mine.goto(run)
    expect(mine.locator("#submission")).to_contain_text("beyond what this hardware can reach")
    mine.screenshot(path=screens / "owner-rejected-phone.png")
    mine.get_by_label("Why the decision is wrong").fill("Eight cards, one stream each.")
    mine.get_by_role("button", name="Appeal").click()
    expect(mine.locator("#history")).to_contain_text("Eight cards")

    desk.goto(queue)
    expect(desk.locator(".tiles .urgent").first).to_contain_text("1 appeal")
    desk.get_by_role("link", name=public_id).click()
    expect(desk.locator(".asked")).to_contain_text("Eight cards")
    decide(desk, "Approve", "appeal-upheld", words="The power log shows eight cards.")

    visitor = browser.new_page(viewport={"width": 1280, "height": 900})
    visitor.goto(site.url)
    expect(visitor.locator(f'a[href="/runs/{public_id}/"]').first).to_be_visible()
    visitor.goto(run)
    decide(desk, "Verify", "evidence-read")
    visitor.reload()
    expect(visitor.locator(".heading .trust")).to_contain_text("verified")
    history = visitor.locator("#history")
    for words in (
        *("submitted", "changes requested", "request answered", "rejected", "appealed"),
        *("approved", "The power log shows eight cards.", "verified, reported to verified"),
    ):
        expect(history).to_contain_text(words)
    history.scroll_into_view_if_needed()
    history.screenshot(path=screens / "run-history.png")
    for name in ("owner", "moderator"):
        expect(visitor.locator("#history time + div b", has_text=name)).to_have_count(0)
    visitor.goto(f"{site.url}/moderation/")
    expect(visitor.locator("main")).to_contain_text("impossible speed")
    assert errors == []


def test_a_reader_finds_a_run_on_a_phone_and_reports_it_without_script(
    site: Site, browser: Browser
) -> None:
    phone = browser.new_context(viewport={"width": 390, "height": 844}, java_script_enabled=False)
    page = phone.new_page()
    page.goto(site.url)
    expect(page.locator(".rail form")).not_to_be_visible()
    stack = page.locator(".board .who a").first
    frame = page.locator(".board").first.bounding_box()
    box = stack.bounding_box()
    assert box is not None
    assert frame is not None
    assert box["x"] - frame["x"] < 80, "names of stacks stand at the left"
    page.emulate_media(media="print")
    expect(stack).to_be_visible()
    page.emulate_media(media="screen")
    stack.click()
    page.get_by_role("link", name="Report").click()
    page.get_by_label("Figures that cannot be").check()
    page.get_by_label("How it shows").fill("The first token comes too early.")
    page.get_by_role("button", name="Send the report").click()
    expect(page.get_by_role("status")).to_contain_text("The moderators have your report")
