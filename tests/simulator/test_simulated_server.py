"""The simulator as a process: it sends when it should, logs what it sent, and ends in time."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from io import BytesIO
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from bench_loop.scoring.rates import Shape
from bench_loop.selftest.measure import Bench
from bench_loop.selftest.simulated import simulator
from bench_loop.simulator.server import _Handler
from bench_loop.simulator.settings import Dialect, Program, Settings
from tests.processes import ROOT

DIALECTS: tuple[Dialect, ...] = ("openai", "llama.cpp", "ollama")


@pytest.mark.parametrize("tps", [50.0, 1000.0])
def test_tokens_leave_at_their_moments(tps: float) -> None:
    with simulator(Settings("openai", {"sim": Program(decode_tps=tps)})) as server:
        Bench(server).ask("sim", "go", Shape(1, 101))
        sent = server.sent(0)
    # Deadlines are absolute: being late once does not add up.
    first_due_s = sent.received_s + sent.prompt_s
    late = [moment - first_due_s - n / tps for n, (moment, _, _) in enumerate(sent.events)]
    assert len(late) == 101
    assert -1e-6 <= min(late) < 0.001


def test_the_prompt_takes_the_time_that_was_set() -> None:
    with simulator(Settings("ollama", {"sim": Program(prefill_tps=100.0)})) as server:
        Bench(server).ask("sim", " ".join("x" * 30), Shape(30, 4))
        assert server.sent(0).prompt_s == pytest.approx(0.3, abs=0.05)
        assert server.sent(0).ttft_s == pytest.approx(0.3, abs=0.1)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_answer_can_be_had_in_one_piece(dialect: Dialect) -> None:
    path = "/api/chat" if dialect == "ollama" else "/v1/chat/completions"
    body = {"model": "sim", "stream": False, "messages": [{"role": "user", "content": "a b c"}]}
    with simulator(Settings(dialect, {"sim": Program(answer_tokens=5)})) as server:
        answer = httpx.post(server.url + path, json=body).json()
    text = "the meter reads naïve 42"
    if dialect == "ollama":
        assert answer["message"]["content"] == text
        assert (answer["prompt_eval_count"], answer["eval_count"]) == (3, 6)
    else:
        assert answer["choices"][0]["message"]["content"] == text
        assert answer["usage"] == {"prompt_tokens": 3, "completion_tokens": 6, "total_tokens": 9}


def test_a_client_that_goes_away_is_logged() -> None:
    body = {"model": "sim", "stream": True, "messages": [{"role": "user", "content": "a"}]}
    with simulator(Settings("openai", {"sim": Program(decode_tps=50.0)})) as server:
        with httpx.stream("POST", f"{server.url}/v1/chat/completions", json=body) as answer:
            next(answer.iter_bytes())
        assert server.sent(0).ended == "client gone"


def test_a_request_is_there_with_its_first_line() -> None:
    body = b'{"model": "sim", "stream": true, "messages": [{"role": "user", "content": "a"}]}'
    head = f"Content-Length: {len(body)}\r\n\r\n".encode()
    with simulator(Settings("openai", {"sim": Program(answer_tokens=2)})) as server:
        address = urlsplit(server.url)
        with socket.create_connection((str(address.hostname), address.port or 0)) as client:
            client.sendall(b"POST /v1/chat/completions HTTP/1.1\r\n")
            time.sleep(0.3)
            client.sendall(head + body)
            while client.recv(4096):
                pass
        assert server.sent(0).ttft_s >= 0.25


class SlowNetwork(BytesIO):
    """Takes 20 ms for each piece, and knows when it was given the last one."""

    given_s = 0.0

    def write(self, data: Any) -> int:
        self.given_s = time.monotonic()
        time.sleep(0.02)
        return super().write(data)


def test_an_event_in_pieces_is_sent_when_its_last_piece_is() -> None:
    handler = _Handler.__new__(_Handler)
    handler.wfile = network = SlowNetwork()
    handler._piece_bytes = 2
    moment_s = handler._send(b"abcdef")
    assert network.getvalue() == b"2\r\nab\r\n2\r\ncd\r\n2\r\nef\r\n"
    assert 0 <= network.given_s - moment_s < 0.02


def test_it_ends_when_its_parent_does() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "bench_loop.simulator", Settings().to_json()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process.stdout:
        assert json.loads(process.stdout.readline())["address"].startswith("http://127.0.0.1:")
        process.stdin.close()
        assert process.wait(10) == 0


def test_it_loads_nothing_but_the_standard_library() -> None:
    script = (
        "import sys; import bench_loop.simulator.server;"
        "print(sorted({n.partition('.')[0] for n in sys.modules} - sys.stdlib_module_names))"
    )
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-P", "-S", "-c", script], capture_output=True, text=True, env=env
    )
    assert done.stdout.strip() == "['__main__', 'bench_loop']", done.stderr
