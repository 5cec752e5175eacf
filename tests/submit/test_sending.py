"""Sending a result: what goes over the wire, what is tried again, and what an answer may do."""

from __future__ import annotations

import socket
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from bench_loop.errors import SubmitError, UsageError
from bench_loop.submit.sending import (
    MOST_ANSWER_BYTES,
    TRIES,
    Watch,
    idempotency_key,
    retry_after_s,
    send,
)
from bench_loop.submit.site import shown_url, site_address, site_token
from tests.result.documents import result
from tests.submit.results import result_bytes, trial
from tests.submit.sites import ACCEPTED, Reply, Site, breaking, dripping, reply, running

KEY = "bl_abcdefgh_" + "x" * 43


class Pauses:
    """Waits for nothing and remembers how long it was asked to."""

    def __init__(self) -> None:
        self.asked: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.asked.append(seconds)


def closed_port() -> int:
    """A port of 127.0.0.1 that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        assert isinstance(port, int)
        return port


def test_the_exact_bytes_of_the_file_are_sent() -> None:
    data = b" \n" + result_bytes() + b"\n\n"
    with running(Site()) as site:
        send(data, site.url, KEY)
    assert site.requests[0].body == data


def test_the_key_travels_as_a_bearer_token() -> None:
    with running(Site()) as site:
        send(result_bytes(), site.url, KEY)
    assert site.requests[0].headers["Authorization"] == f"Bearer {KEY}"


def test_without_a_key_none_is_sent() -> None:
    with running(Site()) as site:
        send(result_bytes(), site.url, None)
    assert "Authorization" not in site.requests[0].headers


def test_the_answer_of_the_site_is_given_back() -> None:
    with running(Site()) as site:
        answer = send(result_bytes(), site.url, KEY)
    assert answer.body["id"] == "abcdefgh2345"


def test_a_run_that_the_site_has_is_a_duplicate() -> None:
    with running(Site(reply(200, {"id": "abcdefgh2345", "status": "approved"}))) as site:
        assert send(result_bytes(), site.url, KEY).is_duplicate


def test_a_dry_run_says_so_in_the_address() -> None:
    with running(Site(reply(200, {"findings": []}))) as site:
        send(result_bytes(), site.url, KEY, is_dry_run=True)
    assert site.requests[0].path == "/api/v1/submissions/?dry_run=1"


def test_a_site_below_a_path_keeps_its_path() -> None:
    with running(Site()) as site:
        send(result_bytes(), site.url + "/bench/", KEY)
    assert site.requests[0].path == "/bench/api/v1/submissions/"


def test_all_tries_carry_one_idempotency_key() -> None:
    busy = reply(503, {"code": "busy", "message": "Busy."}, Retry_After="0")
    with running(Site(busy, busy, ACCEPTED)) as site:
        send(result_bytes(), site.url, KEY)
    keys = {request.headers["Idempotency-Key"] for request in site.requests}
    assert len(site.requests) == 3
    assert keys == {result().fingerprint.removeprefix("sha256:")}


def test_the_idempotency_key_does_not_depend_on_how_the_file_is_written() -> None:
    assert idempotency_key(result_bytes()) == idempotency_key(result_bytes() + b" \n")


def test_a_busy_site_is_given_the_time_that_it_asks_for() -> None:
    pauses = Pauses()
    busy = reply(429, {"code": "throttled", "message": "Slow down."}, Retry_After="7")
    with running(Site(busy, ACCEPTED)) as site:
        send(result_bytes(), site.url, KEY, pause=pauses)
    assert pauses.asked == [7.0]


def test_without_a_wish_of_the_site_the_pauses_double() -> None:
    pauses = Pauses()
    with running(Site(Reply(502, b"bad gateway"))) as site, pytest.raises(SubmitError):
        send(result_bytes(), site.url, KEY, pause=pauses)
    assert pauses.asked == [1.0, 2.0, 4.0, 8.0]


def test_a_site_that_wants_an_hour_is_left_alone() -> None:
    busy = reply(429, {"code": "throttled", "message": "Slow down."}, Retry_After="3600")
    with running(Site(busy)) as site, pytest.raises(SubmitError) as caught:
        send(result_bytes(), site.url, KEY, pause=Pauses())
    assert len(site.requests) == 1
    assert caught.value.remedy == "Submit it again in 3600 seconds."


def test_a_site_that_is_down_is_tried_five_times() -> None:
    pauses = Pauses()
    with pytest.raises(SubmitError) as caught:
        send(result_bytes(), f"http://127.0.0.1:{closed_port()}", KEY, pause=pauses)
    assert caught.value.code == "unreachable"
    assert caught.value.exit_code == 6
    assert "refused" in str(caught.value)
    assert "Errno" not in str(caught.value)
    assert len(pauses.asked) == TRIES - 1


def test_a_refusal_is_not_tried_again() -> None:
    refused = reply(422, {"code": "invalid", "message": "Wrong.", "fields": {}})
    with running(Site(refused)) as site, pytest.raises(SubmitError):
        send(result_bytes(), site.url, KEY, pause=Pauses())
    assert len(site.requests) == 1


def test_a_refusal_keeps_code_and_fields() -> None:
    fields = {"trials[3].score": ["The verifier says 0, the file 1."]}
    refused = reply(422, {"code": "invalid", "message": "Wrong.", "fields": fields})
    with running(Site(refused)) as site, pytest.raises(SubmitError) as caught:
        send(result_bytes(), site.url, KEY)
    assert caught.value.code == "invalid"
    assert caught.value.fields == fields


def test_control_characters_of_the_site_do_not_reach_the_terminal() -> None:
    refused = reply(
        400,
        {"code": "\x1b[2J", "message": "a\x1b]0;b\x07", "fields": {"\x1b[1mf": ["\u202eg\r\n"]}},
    )
    with running(Site(refused)) as site, pytest.raises(SubmitError) as caught:
        send(result_bytes(), site.url, KEY)
    error = caught.value
    shown = error.message + error.code + str(list(error.fields.items()))
    assert not set(shown) & set("\x1b\x07\u202e\r\n")


@pytest.mark.parametrize("fields", ["text", 7, ["a"], {"a": "text"}, {"a": None}, None])
def test_odd_fields_of_a_refusal_do_no_harm(fields: object) -> None:
    refused = reply(400, {"code": "invalid", "message": "Wrong.", "fields": fields})
    with running(Site(refused)) as site, pytest.raises(SubmitError, match="Wrong"):
        send(result_bytes(), site.url, KEY)


@pytest.mark.parametrize(
    "strange",
    [
        Reply(200, b"<html>Welcome to the hotel</html>"),
        Reply(201, b"[]"),
        Reply(201, b""),
        Reply(404, b"Not found"),
        Reply(200, b"[" * 100_000),
        Reply(204, b""),
    ],
)
def test_an_answer_of_something_else_is_no_success(strange: Reply) -> None:
    with running(Site(strange)) as site, pytest.raises(SubmitError) as caught:
        send(result_bytes(), site.url, KEY)
    assert caught.value.code == "not_a_site"


@pytest.mark.parametrize("status", [500, 502, 504])
def test_a_site_that_fails_is_not_taken_for_another_kind_of_server(status: int) -> None:
    with running(Site(Reply(status, b"\xff\xfe"))) as site, pytest.raises(SubmitError) as caught:
        send(result_bytes(), site.url, KEY, pause=Pauses())
    assert caught.value.code == "unavailable"


def test_an_endless_answer_is_cut() -> None:
    endless = Reply(201, b'{"id": "' + b"x" * (3 * MOST_ANSWER_BYTES) + b'"}')
    with running(Site(endless)) as site, pytest.raises(SubmitError) as caught:
        send(result_bytes(), site.url, KEY)
    assert caught.value.code == "not_a_site"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed_with_the_key(status: int) -> None:
    with running(Site()) as other:
        moved = Reply(status, b"", {"Location": other.url + "/api/v1/submissions/"})
        with running(Site(moved)) as site, pytest.raises(SubmitError) as caught:
            send(result_bytes(), site.url, KEY)
    assert other.requests == []
    assert caught.value.code == "redirected"


def test_a_key_never_goes_over_plain_http_to_another_machine() -> None:
    with pytest.raises(UsageError, match="plain http"):
        send(result_bytes(), "http://bench.example.org", KEY)


@pytest.mark.parametrize(
    "name", ["http://127.0.0.1.example.org", "http://localhost.example.org", "http://10.0.0.1"]
)
def test_a_name_that_only_looks_like_loopback_is_another_machine(name: str) -> None:
    with pytest.raises(UsageError, match="plain http"):
        send(result_bytes(), name, KEY)


def test_a_proxy_of_the_environment_does_not_see_what_goes_to_loopback(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with running(Site()) as proxy, running(Site()) as site:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("ALL_PROXY", proxy.url)
        monkeypatch.delenv("NO_PROXY", raising=False)
        send(result_bytes(), site.url, KEY)
    assert proxy.requests == []
    assert len(site.requests) == 1


def test_no_site_is_an_error_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BENCHLOOP_SITE", raising=False)
    with pytest.raises(UsageError) as caught:
        site_address(None)
    assert "BENCHLOOP_SITE" in str(caught.value.remedy)


def test_the_environment_names_the_site(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHLOOP_SITE", "https://bench.example.org/")
    assert site_address(None) == "https://bench.example.org"


def test_the_option_goes_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHLOOP_SITE", "https://bench.example.org")
    assert site_address("https://other.example.org") == "https://other.example.org"


@pytest.mark.parametrize(
    "address",
    [
        "bench.example.org",
        "ftp://bench.example.org",
        "https://",
        "https://user:secret@bench.example.org",
        "https://bench.example.org/?a=b",
        "https://bench.example.org:port",
        "https://[::1",
        "file:///etc/passwd",
    ],
)
def test_what_is_no_address_of_a_site_is_refused(address: str) -> None:
    with pytest.raises(UsageError):
        site_address(address)


def test_the_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHLOOP_TOKEN", f"{KEY}\n")
    assert site_token("https://bench.example.org") == KEY


def test_a_key_with_a_line_break_inside_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHLOOP_TOKEN", "bl_a\r\nX-Admin: 1")
    with pytest.raises(UsageError):
        site_token("https://bench.example.org")


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("12", 12.0),
        ("0", 0.0),
        ("Sun, 29 Nov 2026 14:00:30 GMT", 30.0),
        ("Sun, 29 Nov 2026 13:00:00 GMT", 0.0),
        ("soon", None),
        ("-5", None),
        (f"Sun, 29 Nov {'9' * 30} 14:00:30 GMT", None),
        (f"Sun, 29 Nov 2026 14:00:30 +{'9' * 30}", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str | None, seconds: float | None) -> None:
    now = datetime(2026, 11, 29, 14, 0, 0, tzinfo=UTC)
    assert retry_after_s(value, now) == seconds


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("/runs/abc/", "https://bench.example.org/runs/abc/"),
        ("https://bench.example.org/runs/abc/", "https://bench.example.org/runs/abc/"),
        ("http://internal:8000/runs/abc/", "https://bench.example.org/runs/abc/"),
        ("https://evil.example.org/runs/abc/", "https://bench.example.org/runs/abc/"),
        ("javascript:alert(1)", None),
        ("//evil.example.org/", "https://bench.example.org/"),
        ("////evil.example.org/", "https://bench.example.org/evil.example.org/"),
        ("https://[bad", None),
        (7, None),
        (None, None),
    ],
)
def test_only_pages_of_the_site_itself_are_shown(url: object, shown: str | None) -> None:
    assert shown_url("https://bench.example.org", url) == shown


def test_a_page_address_cannot_carry_control_characters() -> None:
    shown = shown_url("https://bench.example.org", "/runs/\x1b[2J\u202e/")
    assert shown is not None
    assert not set(shown) & {"\x1b", "\u202e"}


@pytest.mark.parametrize(
    "begin",
    [b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 200 OK\r\nX-Slow: ", b""],
    ids=["body", "header", "continue"],
)
def test_an_answer_that_never_ends_is_given_up(begin: bytes) -> None:
    drop = b" " if begin else b"HTTP/1.1 100 Continue\r\n\r\n"
    with (
        dripping(begin, drop) as url,
        pytest.raises(SubmitError, match="did not end its answer") as refused,
    ):
        send(result_bytes(), url, None, limit_s=1.0)
    assert refused.value.code == "too_slow"


@pytest.mark.parametrize(
    "address",
    ["https://\u2603\u200d.example", "http://127.0.0.1:1/\x7f", "http://[::1"],
)
def test_an_address_that_no_host_can_have_is_a_wrong_argument(address: str) -> None:
    with pytest.raises(UsageError, match="not the address of a site"):
        site_address(address)


def test_a_host_name_that_is_too_long_is_no_crash() -> None:
    with pytest.raises(SubmitError) as refused:
        send(result_bytes(), f"https://{'a' * 300}.example", None, pause=Pauses())
    assert refused.value.code == "unreachable"


LARGE = result_bytes(trials=[trial("word " * 200_000)])


@pytest.mark.parametrize("cut", ["reading", "silent", "answer"])
def test_a_line_that_breaks_is_tried_again_with_the_same_key(cut: str) -> None:
    with breaking(cut, cut) as site:
        answer = send(LARGE, site.url, KEY, pause=Pauses())
    assert answer.body["id"] == "abcdefgh2345"
    assert site.keys == [idempotency_key(LARGE)] * 3


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504])
def test_what_passes_is_tried_again(status: int) -> None:
    with running(Site(Reply(status, b""), ACCEPTED)) as site:
        assert send(result_bytes(), site.url, KEY, pause=Pauses()).http_status == 201


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 413, 415, 422, 501])
def test_what_does_not_pass_is_not(status: int) -> None:
    with running(Site(Reply(status, b""), ACCEPTED)) as site, pytest.raises(SubmitError):
        send(result_bytes(), site.url, KEY, pause=Pauses())
    assert len(site.requests) == 1


def test_a_date_to_come_back_at_is_kept_to() -> None:
    pauses = Pauses()
    at = format_datetime(datetime.now(UTC) + timedelta(seconds=20), usegmt=True)
    busy = reply(503, {"code": "busy", "message": "Busy."}, Retry_After=at)
    with running(Site(busy, ACCEPTED)) as site:
        send(result_bytes(), site.url, KEY, pause=pauses)
    assert 15 < pauses.asked[0] <= 20


def test_all_tries_together_have_a_limit() -> None:
    pauses = Pauses()
    busy = reply(429, {"code": "throttled", "message": "Slow down."}, Retry_After="60")
    with running(Site(busy)) as site, pytest.raises(SubmitError):
        send(result_bytes(), site.url, KEY, pause=pauses, whole_limit_s=30.0)
    assert pauses.asked == []


def test_it_is_told_how_far_an_upload_is_and_why_it_waits() -> None:
    class Told(Watch):
        def __init__(self) -> None:
            self.counts: list[int] = []
            self.whys: list[str] = []

        def sent(self, count: int, total: int) -> None:
            assert total == len(LARGE)
            self.counts.append(count)

        def waits(self, why: str, wait_s: float, number: int) -> None:
            self.whys.append(why)

    told = Told()
    with running(Site(Reply(503, b""), ACCEPTED)) as site:
        send(LARGE, site.url, KEY, pause=Pauses(), watch=told)
    assert told.whys == ["the site answered HTTP 503"]
    assert told.counts[-1] == len(LARGE)
    assert len(told.counts) > 20


@pytest.mark.parametrize(
    ("answer", "can_wait"),
    [
        (reply(422, {"code": "invalid", "message": "Wrong."}), False),
        (reply(409, {"code": "key_reused", "message": "Wrong."}), False),
        (reply(401, {"code": "not_authenticated", "message": "Who?"}), True),
        (reply(403, {"code": "uploads_off", "message": "No."}), True),
        (reply(429, {"code": "throttled", "message": "Slow."}, Retry_After="3600"), True),
        (Reply(200, b"<html>log in to the hotel</html>"), True),
        (Reply(502, b""), True),
        (Reply(302, b"", {"Location": "/"}), True),
    ],
)
def test_an_error_tells_whether_another_time_may_help(answer: Reply, can_wait: bool) -> None:
    with running(Site(answer)) as site, pytest.raises(SubmitError) as caught:
        send(result_bytes(), site.url, KEY, pause=Pauses())
    assert caught.value.can_wait is can_wait


def configure(home: Path, text: str) -> None:
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.toml").write_text(text, encoding="utf-8")


def test_the_site_may_stand_in_the_config_file(
    benchloop_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BENCHLOOP_SITE", raising=False)
    configure(benchloop_home, '[site]\naddress = "https://bench.example.org/"\n')
    assert site_address(None) == "https://bench.example.org"


def test_a_saved_key_goes_to_the_site_that_it_is_saved_with_alone(
    benchloop_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BENCHLOOP_TOKEN", raising=False)
    text = f'[site]\naddress = "https://bench.example.org"\ntoken = "{KEY}"\n'
    configure(benchloop_home, text)
    assert site_token("https://bench.example.org") == KEY
    assert site_token("https://evil.example.org") is None


def test_a_saved_key_is_not_read_out_for_plain_http(
    benchloop_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BENCHLOOP_TOKEN", raising=False)
    configure(benchloop_home, f'[site]\ntoken = "{KEY}"\n')
    with pytest.raises(UsageError, match="plain http"):
        site_token("http://bench.example.org")
