"""Times what the gateway adds: to each event of a stream, and to the first byte of an answer.

The same requests go to the same simulated server directly and through the gateway, in turn, and
what is added is the difference of the medians. The client is a process of its own, as a harness is:
it reads a bare socket and the clock.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from bench_loop.gateway.http import HttpUpstream
from bench_loop.gateway.limits import Limits
from bench_loop.gateway.pinning import Pins
from bench_loop.gateway.server import Gateway
from bench_loop.scoring.rates import Shape
from bench_loop.selftest.bare import listen
from bench_loop.selftest.simulated import Simulated, simulator
from bench_loop.simulator.settings import Program, Settings

EVENT_BAR_S = 0.001
FIRST_BYTE_BAR_S = 0.005

SPEEDS = {50: 100, 200: 400, 1000: 2000}
"""Events of each stream, by tokens per second."""
ROUNDS = 3
REQUESTS = 40
PROMPT_WORDS = 8000
"""As long as the first prompt of a harness with tools."""

PINS = {"temperature": 0.0, "top_p": 1.0, "seed": 1001, "top_k": 0, "min_p": 0.0}


@dataclass(frozen=True, slots=True)
class Way:
    """To the model: directly, or through the gateway with the key of a trial."""

    url: str
    key: str | None = None


def main() -> int:
    models = {str(tps): Program(decode_tps=tps, has_role_chunk=False) for tps in SPEEDS}
    models["at once"] = Program(has_role_chunk=False)
    is_met = True
    with simulator(Settings("openai", models)) as server:
        for tps, events in SPEEDS.items():
            is_met = _report_events(server, tps, events) and is_met
        is_met = _report_first_byte(server) and is_met
    return 0 if is_met else 1


def _report_events(server: Simulated, tps: int, events: int) -> bool:
    shape = Shape(8, events)
    direct: list[float] = []
    through: list[float] = []
    for _ in range(ROUNDS):
        for delays, is_gated in ((direct, False), (through, True)):
            (arrivals,) = _ask(server, str(tps), shape, 1, is_gated=is_gated)
            delays += _delays(server, arrivals[1:])
    return _report(f"an event at {tps} tok/s", EVENT_BAR_S, direct, through)


def _report_first_byte(server: Simulated) -> bool:
    shape = Shape(PROMPT_WORDS, 1)
    direct: list[float] = []
    through: list[float] = []
    for _ in range(ROUNDS):
        for times, is_gated in ((direct, False), (through, True)):
            heard = _ask(server, "at once", shape, REQUESTS, is_gated=is_gated)
            times += [arrivals[1] - arrivals[0] for arrivals in heard]
    return _report(f"the first byte, {PROMPT_WORDS} words", FIRST_BYTE_BAR_S, direct, through)


def _report(what: str, bar_s: float, direct: Sequence[float], through: Sequence[float]) -> bool:
    """Print what the gateway adds; whether it is within the bar."""
    before, after = statistics.median(direct), statistics.median(through)
    added_s = after - before
    print(
        f"gateway, {what}: adds {1000 * added_s:.3f} ms (median of {len(through)},"
        f" {1000 * before:.3f} without and {1000 * after:.3f} with),"
        f" p99 {1000 * (_p99(through) - _p99(direct)):.3f} ms, bar {1000 * bar_s:g} ms"
        f"{'' if added_s <= bar_s else ', NOT MET'}"
    )
    return added_s <= bar_s


def _p99(values: Sequence[float]) -> float:
    return sorted(values)[int(0.99 * (len(values) - 1))]


def _delays(server: Simulated, arrivals: Sequence[float]) -> list[float]:
    """From the moment that the server sent each event to its arrival."""
    (sent,) = [one for one in server.all_sent() if one.events[0][0] <= arrivals[0]][-1:]
    moments = [moment for moment, _, _ in sent.events]
    return [seen - moment for seen, moment in zip(arrivals, moments, strict=False)]


def _ask(
    server: Simulated, model: str, shape: Shape, times: int, *, is_gated: bool
) -> list[list[float]]:
    """Of each request: the moment it was sent, and those at which its events arrived."""
    if not is_gated:
        return _listen(Way(server.url), model, shape, times)
    with Gateway(HttpUpstream(server.url)) as gateway:
        trial = gateway.open(Pins(model, shape.output_tokens, PINS), Limits())
        way = Way(f"http://127.0.0.1:{gateway.port}", trial.key)
        heard = _listen(way, model, shape, times)
        assert len(trial.replies()) == times
        return heard


def _listen(way: Way, model: str, shape: Shape, times: int) -> list[list[float]]:
    """The same, from a process of its own."""
    asked = [way.url, way.key, model, shape.prompt_tokens, shape.output_tokens, times]
    done = subprocess.run(
        [sys.executable, __file__, json.dumps(asked)], check=True, stdout=subprocess.PIPE
    )
    heard: list[list[float]] = json.loads(done.stdout)
    return heard


def _client(asked: str) -> None:
    url, key, model, prompt_tokens, output_tokens, times = json.loads(asked)
    heard = []
    for _ in range(times):
        began_s, arrivals = listen(url, model, Shape(prompt_tokens, output_tokens), key)
        heard.append([began_s, *arrivals])
    print(json.dumps(heard))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        _client(sys.argv[1])
    else:
        sys.exit(main())
