"""What passes to the model server, and what stops at the gateway."""

from __future__ import annotations

import gc
import gzip
import json
import select
import socket
import subprocess
import sys
import time
import tracemalloc
import zlib
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from bench_loop.errors import SetupError
from bench_loop.gateway.http import HttpUpstream
from bench_loop.gateway.limits import Limits
from bench_loop.gateway.passage import NO_JSON
from bench_loop.gateway.pinning import Pins
from bench_loop.gateway.server import (
    MOST_BODIES_BYTES,
    MOST_BODY_BYTES,
    MOST_CONNECTIONS,
    Gateway,
)
from tests.fakes.server import FakeServer, Piece, Reply, json_reply
from tests.gateway.gated import (
    CHAT,
    PINS,
    WAIT_S,
    Harness,
    Scripted,
    events,
    gated,
    question,
    until,
)
from tests.processes import ROOT

YES = Reply(
    [Piece(event) for event in events({"content": "yes"})], content_type="text/event-stream"
)


def test_the_body_is_the_harness_s_own_but_for_the_pins() -> None:
    pins = Pins("tiny", 10, {"temperature": 0.0})
    asked = question("naïve 🙂 \ud83d", unheard_of={"a": [1]})
    with Scripted(YES) as server, gated(server.url, pins) as harness:
        harness.send(json.dumps(asked).encode())
        (sent,) = server.asked(CHAT)
        (record,) = harness.trial.requests()
    counted = {"stream_options": {"include_usage": True}}
    assert sent == asked | counted | {"temperature": 0.0, "max_tokens": 10}
    assert {change.field for change in record.changes} == {
        "temperature",
        "max_tokens",
        "stream_options.include_usage",
    }


def test_a_body_that_needs_no_change_passes_to_the_byte() -> None:
    body = b'{ "model": "tiny", "messages": [],  "max_tokens": 5 }'
    with Scripted(YES) as server, gated(server.url) as harness:
        harness.send(body)
        assert server.requests[0].body == body
        assert harness.trial.requests()[0].changes == ()


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"model=tiny", b"[]", b"\xff\xfe", b'{"seed": NaN}', b'{"x": 1e999}'),
        *(b"[" * 100_000, b'{"x": ' + b"[" * 2000 + b"]" * 2000 + b"}"),
        b'{"seed": ' + b"9" * 5000 + b"}",
        b'{"x": [' + b"[]," * 2_000_000 + b"[]]}",
    ],
    ids=[
        *("nothing", "a form", "a list", "no text", "no number", "endless", "unclosed"),
        *("too deep", "too many digits", "too many parts"),
    ],
)
def test_a_body_into_which_no_pins_can_be_put_stops_here(body: bytes) -> None:
    """Some servers would take it nevertheless, and then with the harness's own settings."""
    with Scripted(YES) as server, gated(server.url) as harness:
        answer = harness.send(body)
        assert (answer.status_code, server.requests) == (400, [])
        assert answer.json()["error"]["code"] == "invalid_json"
        (record,) = harness.trial.requests()
    assert (record.refused, record.error, record.changes) == ("body", NO_JSON, ())


@pytest.mark.parametrize("depth", range(100, 1000, 50))
def test_a_value_however_deep_does_not_break_the_gateway(depth: int) -> None:
    body = b'{"model": ' + b"[" * depth + b"]" * depth + b"}"
    with Scripted(YES) as server, gated(server.url) as harness:
        assert harness.send(body).status_code in (200, 400)
        assert {one.json["model"] for one in server.requests} <= {"tiny"}
        assert len(harness.trial.requests()) == 1


@pytest.mark.parametrize(
    "body",
    [
        b'{"model": "other", "model": "tiny", "max_tokens": 9000, "max_tokens": 64}',
        b'{"model": "tiny", "max_tokens": 64, "Max_Tokens": 9000, "MODEL": "other"}',
        '{"model": "tiny", "max_tokens": 64, "max_to\u212aens": 9000}'.encode(),
    ],
    ids=["twice", "in capitals", "in a letter that Go takes for k"],
)
def test_a_field_reaches_the_server_in_one_spelling_once(body: bytes) -> None:
    with Scripted(YES) as server, gated(server.url) as harness:
        harness.send(body)
        assert server.requests[0].body == b'{"model": "tiny", "max_tokens": 64}'


@pytest.mark.parametrize("path", ["/v1/chat%2Fcompletions", "/v1/./chat/completions", f"/{CHAT}"])
def test_only_the_path_that_was_looked_at_goes_upstream(path: str) -> None:
    with Scripted(YES) as server, gated(server.url) as harness:
        answer = raw_request(harness, f"POST {path} HTTP/1.1")
        assert {one.path for one in server.requests} <= {CHAT}
        assert b"200 OK" in answer or b"404 Not Found" in answer


def test_another_server_in_the_request_line_is_not_asked() -> None:
    with Scripted(YES) as other, Scripted(YES) as server, gated(server.url) as harness:
        raw_request(harness, f"POST {other.url}{CHAT} HTTP/1.1")
        assert (other.requests, [one.path for one in server.requests]) == ([], [CHAT])


def test_a_request_hidden_in_another_is_refused() -> None:
    hidden = f"POST {CHAT} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{{}}"
    head = f"POST {CHAT} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
    with Scripted(YES) as server, gated(server.url) as harness:
        key = f"Authorization: Bearer {harness.trial.key}\r\nContent-Length: 5\r\n\r\n"
        answer = exchange(harness, f"{head}{key}0\r\n\r\n{hidden}".encode())
        assert answer.startswith((b"HTTP/1.0 400", b"HTTP/1.1 400"))
        assert server.requests == []


def test_requests_one_after_another_on_one_connection_are_all_recorded() -> None:
    body = json.dumps(question()).encode()
    with Scripted(YES) as server, gated(server.url) as harness:
        one = _head(harness, f"POST {CHAT} HTTP/1.1", len(body)) + body
        exchange(harness, one * 2 + _head(harness, "GET /v1/models HTTP/1.1", 0, "close"))
        assert len(server.asked(CHAT)) == len(harness.trial.requests()) == 2


def test_connections_have_a_bound_and_there_is_room_again_after_them() -> None:
    """A program may open thousands; each would take a file of this process."""
    with Scripted(YES) as server, gated(server.url) as harness, ExitStack() as stack:
        opened = [stack.enter_context(connected(harness)) for _ in range(MOST_CONNECTIONS + 50)]
        until(lambda: sum(_is_closed(one) for one in opened) == 50)
        stack.close()
        until(lambda: _answers(harness))


def _is_closed(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


def _answers(harness: Harness) -> bool:
    with suppress(httpx.TransportError):
        return harness.ask().status_code == 200
    return False


def test_a_header_of_the_server_s_own_is_not_sent_twice() -> None:
    with (
        Scripted(YES) as server,
        Gateway(HttpUpstream(server.url, {"X-Server-Key": "ours"})) as gateway,
    ):
        harness = Harness(gateway, gateway.open(PINS, Limits()))
        headers = harness.headers | {"x-server-key": "theirs"}
        httpx.post(harness.url(CHAT), json=question(), headers=headers)
        names = [name.lower() for name in server.requests[0].headers]
        assert names.count("x-server-key") == 1
        assert "ours" in server.requests[0].headers.values()


def test_bodies_under_way_have_a_bound_together() -> None:
    """One of them is refused, whichever passes the bound, and there is room again afterwards."""
    held_back = MOST_BODIES_BYTES // 2 - 1
    with Scripted(YES) as server, gated(server.url) as harness, ExitStack() as stack:
        halves = [stack.enter_context(connected(harness)) for _ in range(3)]
        for half, size in zip(halves, (held_back, held_back, 3), strict=True):
            half.sendall(_head(harness, f"POST {CHAT} HTTP/1.1", MOST_BODY_BYTES) + b" " * size)
        answered, _, _ = select.select(halves, [], [], WAIT_S)
        assert [half.recv(12) for half in answered] == [b"HTTP/1.1 413"]
        stack.close()
        until(lambda: harness.ask().status_code == 200)
        assert server.asked(CHAT) != []


def test_bodies_are_not_kept_when_they_are_over() -> None:
    text = "word " * 400_000
    with Scripted(YES) as server, gated(server.url, limits=Limits(requests=8)) as harness:
        tracemalloc.start()
        kept = []
        for number in range(16):
            harness.ask(messages=[{"role": "user", "content": f"{number} {text}"}])
            server.requests.clear()
            gc.collect()
            kept.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
    assert kept[-1] - kept[3] < 4 * len(text)


def raw_request(harness: Harness, line: str) -> bytes:
    body = json.dumps(question()).encode()
    return exchange(harness, _head(harness, line, len(body), "close") + body)


def _head(harness: Harness, line: str, size: int, connection: str = "keep-alive") -> bytes:
    key = harness.trial.key
    return (
        f"{line}\r\nHost: x\r\nAuthorization: Bearer {key}\r\nConnection: {connection}\r\n"
        f"Content-Length: {size}\r\n\r\n"
    ).encode()


def exchange(harness: Harness, data: bytes) -> bytes:
    """What the gateway says to these bytes until it hangs up."""
    with connected(harness) as connection:
        connection.sendall(data)
        pieces = []
        with suppress(ConnectionError):
            while piece := connection.recv(65536):
                pieces.append(piece)
    return b"".join(pieces)


def connected(harness: Harness) -> socket.socket:
    return socket.create_connection(("127.0.0.1", harness.gateway.port), timeout=10)


def test_a_body_that_is_too_large_stops_here() -> None:
    with Scripted(YES) as server, gated(server.url) as harness:
        answer = harness.send(b" " * (MOST_BODY_BYTES + 1))
        assert (answer.status_code, server.requests) == (413, [])
        (record,) = harness.trial.requests()
    assert (record.refused, record.status, record.error) == ("body", None, None)


def test_a_large_body_passes() -> None:
    text = "word " * 500_000
    with Scripted(YES) as server, gated(server.url) as harness:
        harness.ask(messages=[{"role": "user", "content": text}])
        assert server.asked(CHAT)[0]["messages"][0]["content"] == text
        assert "Transfer-Encoding" not in server.requests[0].headers


def test_a_packed_body_is_unpacked() -> None:
    with Scripted(YES) as server, gated(server.url) as harness:
        headers = harness.headers | {"Content-Encoding": "gzip"}
        packed = gzip.compress(json.dumps(question()).encode())
        httpx.post(harness.url(CHAT), content=packed, headers=headers)
        assert server.asked(CHAT)[0]["messages"] == question()["messages"]
        assert "Content-Encoding" not in server.requests[0].headers


def test_a_small_body_that_unpacks_without_end_holds_nothing_up() -> None:
    packer = zlib.compressobj(wbits=31)
    bomb = b"".join(packer.compress(bytes(2**24)) for _ in range(64)) + packer.flush()
    with Scripted(YES) as server, gated(server.url) as harness:
        headers = harness.headers | {"Content-Encoding": "gzip"}
        started = time.monotonic()
        answer = httpx.post(harness.url(CHAT), content=bomb, headers=headers)
        assert answer.status_code in (400, 413)
        assert harness.ask().status_code == 200
        assert time.monotonic() - started < 4
        assert len(server.requests) == 1


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
def test_a_body_that_is_packed_otherwise_than_it_says_stops_here(encoding: str) -> None:
    with Scripted(YES) as server, gated(server.url) as harness:
        headers = harness.headers | {"Content-Encoding": encoding}
        answer = httpx.post(harness.url(CHAT), content=b"\x00\x01", headers=headers)
        assert (answer.status_code, server.requests) == (400, [])


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer x"}, {"Authorization": "x"}])
@pytest.mark.parametrize("path", [CHAT, "/v1/responses"])
def test_a_request_without_the_key_of_a_trial_stops_here(
    headers: dict[str, str], path: str
) -> None:
    with Scripted(YES) as server, gated(server.url) as harness:
        answer = httpx.post(harness.url(path), json=question(), headers=headers)
        assert (answer.status_code, server.requests) == (401, [])
        assert answer.json()["error"]["code"] == "invalid_api_key"
        assert harness.gateway.stranger_count == 1
        assert harness.trial.requests() == ()


def test_the_key_of_a_closed_trial_is_unknown() -> None:
    with Scripted(YES) as server, gated(server.url) as harness:
        harness.trial.close()
        assert (harness.ask().status_code, server.requests) == (401, [])


def test_every_trial_has_a_key_of_its_own() -> None:
    with Scripted(YES) as server, gated(server.url) as harness:
        keys = {harness.gateway.open(PINS, Limits()).key for _ in range(10)}
        assert len(keys | {harness.trial.key}) == 11


def test_the_server_gets_its_own_key_and_not_the_trial_s() -> None:
    with (
        Scripted(YES) as server,
        Gateway(HttpUpstream(server.url, {"Authorization": "Bearer real"})) as gateway,
    ):
        harness = Harness(gateway, gateway.open(PINS, Limits()))
        harness.ask()
        (request,) = server.requests
    assert request.headers["Authorization"] == "Bearer real"
    assert harness.trial.key not in str(request.headers)


def test_headers_of_one_connection_stay_on_it_and_all_others_pass() -> None:
    with Scripted(YES) as server, gated(server.url) as harness:
        own = {"User-Agent": "aider", "X-Own": "1", "TE": "trailers", "Accept-Encoding": "gzip"}
        httpx.post(harness.url(CHAT), json=question(), headers=harness.headers | own)
        (request,) = server.requests
    headers = {name.lower(): value for name, value in request.headers.items()}
    assert (headers["user-agent"], headers["x-own"]) == ("aider", "1")
    assert (headers["connection"], headers["accept-encoding"]) == ("close", "identity")
    assert headers["host"] == server.url.removeprefix("http://")
    assert "te" not in headers


def test_a_header_that_is_no_plain_text_stays_here() -> None:
    with Scripted(YES) as server, gated(server.url) as harness:
        own = [(b"X-Own", b"\xff"), *((k.encode(), v.encode()) for k, v in harness.headers.items())]
        answer = httpx.post(harness.url(CHAT), json=question(), headers=own)
        assert answer.status_code == 200
        assert "X-Own" not in server.requests[0].headers


@pytest.mark.parametrize("suffix", ["", "/", "/v1"])
def test_a_server_may_be_named_with_or_without_its_version(suffix: str) -> None:
    with Scripted(YES) as server, gated(server.url + suffix) as harness:
        harness.ask()
        assert [request.path for request in server.requests] == [CHAT]


class Models(FakeServer):
    """A server that says which models it has."""

    def answer(self, request: Any) -> Reply:
        return json_reply({"data": [{"id": "tiny"}]})


def test_the_list_of_models_passes_and_is_no_request_for_a_reply() -> None:
    with Models() as server, gated(server.url, limits=Limits(requests=0)) as harness:
        assert harness.get("/v1/models").json() == {"data": [{"id": "tiny"}]}
        assert harness.trial.requests() == ()
        (probe,) = harness.trial.probes()
    assert (probe.method, probe.path, probe.status) == ("GET", "/v1/models", 200)


PROBES = ["/api/tags", "/api/v1/models", "/props", "/v1/props", "/version", "/", "/v1/embeddings"]


@pytest.mark.parametrize("path", PROBES)
def test_whatever_else_a_harness_looks_for_is_not_there(path: str) -> None:
    with Models() as server, gated(server.url) as harness:
        assert harness.get(path).status_code == 404
        assert harness.send(b"{}", path).status_code == 404
        assert server.requests == []
        assert [(probe.path, probe.status) for probe in harness.trial.probes()] == [(path, 404)] * 2


def test_an_ollama_shows_what_it_is() -> None:
    with Models() as server, Gateway(HttpUpstream(server.url), is_ollama=True) as gateway:
        harness = Harness(gateway, gateway.open(PINS, Limits()))
        assert harness.get("/api/tags").status_code == 200
        assert harness.send(b'{"model": "tiny"}', "/api/show").status_code == 200
        assert harness.send(b"{}", "/api/chat").status_code == 404
        assert [request.path for request in server.requests] == ["/api/tags", "/api/show"]


def test_a_folder_that_is_not_there_is_told_with_a_remedy(tmp_path: Path) -> None:
    with (
        pytest.raises(SetupError, match=r"cannot listen.*gateway\.sock") as caught,
        Gateway(HttpUpstream("127.0.0.1:1"), tmp_path / "none" / "gateway.sock"),
    ):
        pass
    assert caught.value.remedy


def test_the_web_server_is_loaded_only_when_a_gateway_is_started() -> None:
    script = "import sys, bench_loop.gateway.server; sys.exit('aiohttp' in sys.modules)"
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True)
