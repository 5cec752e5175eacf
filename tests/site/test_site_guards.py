"""Who may talk to the site: origins, hosts, headers and the local log-in."""

from __future__ import annotations

import asyncio
import logging
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from django.test import Client

from benchloop_site.local_login import fresh_token, spend_token
from benchloop_site.logs import LineFormatter
from benchloop_site.origin import SameOrigin, is_same_origin


def headers(*pairs: tuple[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode()) for name, value in pairs]


def test_a_page_of_this_site_may_open_a_socket() -> None:
    assert is_same_origin(headers(("host", "127.0.0.1:8877"), ("origin", "http://127.0.0.1:8877")))


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "",
        "http://127.0.0.1:9999",
        "http://127.0.0.1",
        "http://evil.example",
        "http://127.0.0.1:8877.evil.example",
        "http://user@127.0.0.1:8877",
        "file://",
        "http://[::1",
    ],
)
def test_any_other_page_may_not(origin: str) -> None:
    assert not is_same_origin(headers(("host", "127.0.0.1:8877"), ("origin", origin)))


def test_a_socket_without_an_origin_may_not() -> None:
    assert not is_same_origin(headers(("host", "127.0.0.1:8877")))


def test_two_origins_may_not() -> None:
    good = ("origin", "http://127.0.0.1:8877")
    assert not is_same_origin(headers(("host", "127.0.0.1:8877"), good, good))


@pytest.mark.parametrize("address", ["/admin/login/", "/api/v1/leaderboard/", "/nowhere/"])
def test_every_answer_forbids_foreign_and_inline_scripts(db: None, address: str) -> None:
    policy = Client().get(address)["Content-Security-Policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy


def test_no_answer_may_be_read_by_another_origin(db: None) -> None:
    response = Client().get("/api/v1/leaderboard/", headers={"Origin": "http://evil.example"})
    assert not response.has_header("Access-Control-Allow-Origin")


@pytest.mark.parametrize("host", ["evil.example", "192.168.1.2:8877", "127.0.0.1.evil.example"])
def test_another_host_name_is_refused(db: None, host: str) -> None:
    assert Client().get("/admin/login/", headers={"Host": host}).status_code == 400


def test_the_token_lets_its_reader_into_the_admin_once(db: None) -> None:
    token = fresh_token()
    client = Client()
    assert client.get("/enter/", {"token": token}).status_code == 302
    assert client.cookies["sessionid"]["samesite"] == "Strict"
    assert client.get("/admin/").status_code == 200
    assert Client().get("/enter/", {"token": token}).status_code == 403


def test_the_token_is_readable_by_its_owner_alone(benchloop_home: Path) -> None:
    fresh_token()
    assert stat.S_IMODE((benchloop_home / "token").stat().st_mode) == 0o600


@pytest.mark.parametrize("token", ["", "wrong", "ü"])
def test_a_wrong_token_is_refused(db: None, token: str) -> None:
    fresh_token()
    client = Client()
    assert client.get("/enter/", {"token": token}).status_code == 403
    assert client.get("/admin/").status_code == 302


def test_without_a_token_file_nobody_is_let_in(db: None) -> None:
    assert Client().get("/enter/", {"token": ""}).status_code == 403


def test_the_public_role_has_no_token_log_in(db: None, settings: Any) -> None:
    settings.BENCHLOOP_ROLE = "public"
    assert Client().get("/enter/", {"token": fresh_token()}).status_code == 404


def test_of_many_who_show_the_token_at_once_one_is_let_in(benchloop_home: Path) -> None:
    token = fresh_token()
    gate = Barrier(20)

    def spend(_: int) -> bool:
        gate.wait()
        return spend_token(token)

    with ThreadPoolExecutor(20) as threads:
        assert sum(threads.map(spend, range(20))) == 1
    assert not list(benchloop_home.glob(".token*"))


def test_a_session_from_before_the_log_in_is_not_the_one_after_it(db: None) -> None:
    client = Client()
    client.cookies["sessionid"] = "a" * 32
    client.get("/enter/", {"token": fresh_token()})
    assert client.cookies["sessionid"].value != "a" * 32
    assert Client(headers={"Cookie": "sessionid=" + "a" * 32}).get("/admin/").status_code == 302


@pytest.mark.parametrize(
    "target",
    [
        *("//evil.example", "/\\evil.example", "https://evil.example", "///evil.example"),
        *("javascript:alert(1)", "http:///evil.example", "\x08//evil.example", " //evil.example"),
    ],
)
def test_the_choice_of_colours_leads_nowhere_else(db: None, target: str) -> None:
    response = Client().post("/theme/", {"theme": "dark", "next": target})
    assert response["Location"] == "/"


def test_a_log_line_cannot_be_forged() -> None:
    record = logging.LogRecord(
        "x", logging.INFO, "", 0, "name: %s", ("a\x1b[2J\n2026 ERROR forged \ud800",), None
    )
    line = LineFormatter("%(levelname)s %(message)s").format(record)
    assert line == r"INFO name: a\x1b[2J\n2026 ERROR forged \ud800"


def test_a_refused_socket_is_logged_with_its_origin(caplog: pytest.LogCaptureFixture) -> None:
    async def never(*_: object) -> None:
        raise AssertionError("let through")

    async def send(message: dict[str, Any]) -> None:
        assert message["type"] == "websocket.close"

    received = iter(({"type": "websocket.connect"}, {"type": "websocket.disconnect", "code": 1006}))

    async def receive() -> dict[str, Any]:
        return next(received)

    scope = {"type": "websocket", "headers": headers(("host", "a"), ("origin", "http://evil"))}
    asyncio.run(SameOrigin(never)(scope, receive, send))
    assert "http://evil" in caplog.text


def test_a_spent_link_says_where_a_new_one_comes_from(db: None) -> None:
    fresh_token()
    answer = Client().get("/enter/", {"token": "spent"})
    assert "bench-loop serve prints a new one" in answer.content.decode()


def test_who_is_let_in_finds_the_admin_from_every_page(db: None) -> None:
    client = Client()
    assert 'href="/admin/"' not in client.get("/").content.decode()
    client.get("/enter/", {"token": fresh_token()})
    assert 'href="/admin/"' in client.get("/").content.decode()
