"""A client that only reads a bare socket and the clock: what this machine adds by itself."""

from __future__ import annotations

import json
import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

from bench_loop.scoring.rates import Shape
from bench_loop.selftest.simulated import Simulated, simulator
from bench_loop.selftest.words import words
from bench_loop.simulator.openai import CHAT
from bench_loop.simulator.pace import now
from bench_loop.simulator.settings import Program, Settings

SPEEDS = {200.0: Shape(4096, 128), 1000.0: Shape(4096, 512)}
"""Decode tokens per second, each with the shape that is asked for."""
PREFILL_TPS = 64_000.0

_EVENT_END = b"\n\n"


@dataclass(frozen=True, slots=True)
class Noise:
    """How far a bare socket's figures are off, of single trials: errors of TTFT and tok/s."""

    ttft_s: tuple[float, ...] = ()
    generation: tuple[float, ...] = ()
    delays_s: tuple[float, ...] = ()

    def __add__(self, other: Noise) -> Noise:
        return Noise(
            self.ttft_s + other.ttft_s,
            self.generation + other.generation,
            self.delays_s + other.delays_s,
        )


def measure_noise(rounds: int) -> Noise:
    """Ask each of the servers `rounds` times over a bare socket; compare its clock with the log."""
    programs = {
        str(tps): Program(decode_tps=tps, prefill_tps=PREFILL_TPS, has_role_chunk=False)
        for tps in SPEEDS
    }
    found = Noise()
    with simulator(Settings("openai", programs)) as server:
        asked = 0
        for _ in range(rounds):
            for tps, shape in SPEEDS.items():
                found += _compare(server, asked, str(tps), shape)
                asked += 1
    return found


def _compare(server: Simulated, number: int, model: str, shape: Shape) -> Noise:
    began_s, arrivals = listen(server.url, model, shape)
    sent = server.sent(number)
    moments = [moment for moment, _, _ in sent.events]
    seen = arrivals[: len(moments)]
    tps = (len(seen) - 1) / (seen[-1] - seen[0])
    return Noise(
        ttft_s=(abs(seen[0] - began_s - sent.ttft_s),),
        generation=(abs(tps / sent.generation_tps - 1),),
        delays_s=tuple(after - before for after, before in zip(seen, moments, strict=True)),
    )


def listen(url: str, model: str, shape: Shape, key: str | None = None) -> tuple[float, list[float]]:
    """When the request was sent and each event arrived, on the simulator's clock.

    The server must send no role chunk: then the first events are those of its log. A gateway in
    between wants the `key` of its trial.
    """
    address = urlsplit(url)
    messages = [{"role": "user", "content": words(shape.prompt_tokens)}]
    body = json.dumps(
        {"model": model, "messages": messages, "max_tokens": shape.output_tokens, "stream": True}
    ).encode()
    fields = [f"Host: {address.netloc}", f"Content-Length: {len(body)}", "Connection: close"]
    if key is not None:
        fields.append(f"Authorization: Bearer {key}")
    head = "\r\n".join([f"POST {CHAT} HTTP/1.1", *fields, "", ""])
    arrivals: list[float] = []
    last = b""
    with socket.create_connection((address.hostname or "", address.port or 0)) as connection:
        began_s = now()
        connection.sendall(head.encode() + body)
        while data := connection.recv(65536):
            moment_s = now()
            arrivals += [moment_s] * (last + data).count(_EVENT_END)
            last = data[-1:]
    return began_s, arrivals
