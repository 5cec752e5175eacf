"""The whole self-test as a person runs it, held to wide margins: this machine may be busy.

The narrow bars stand in `make bench`.
"""

from __future__ import annotations

import json
import statistics
import subprocess
from typing import Any

import pytest

from tests.processes import ROOT, bench_loop, environment

pytestmark = [pytest.mark.slow, pytest.mark.real]

SPEED_MARGIN, TYPICAL_SPEED_MARGIN = 0.5, 0.03
FIRST_TOKEN_MARGIN_S, TYPICAL_FIRST_TOKEN_MARGIN_S = 1.0, 0.03


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        bench_loop("selftest", "--quick", "--json"),
        env=environment(tmp_path_factory.mktemp("home")),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
    )


@pytest.fixture(scope="module")
def table(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == (0 if value["passes"] else 1), done.stderr
    return value


def errors(table: dict[str, Any], *names: str) -> list[float]:
    """The size of every error of these figures; a figure that is missing fails."""
    found = [
        (case["name"], case["server"], figure)
        for case in table["cases"]
        for figure in case["figures"]
        if figure["name"] in names
    ]
    missing = [(name, server) for name, server, figure in found if figure["error"] is None]
    assert found
    assert not missing
    return [abs(figure["error"]) for _, _, figure in found]


def test_generation_speeds_are_those_of_the_log(table: dict[str, Any]) -> None:
    sizes = errors(table, "generation")
    assert max(sizes) < SPEED_MARGIN
    assert statistics.median(sizes) < TYPICAL_SPEED_MARGIN


def test_the_engines_own_speed_is_read_exactly(table: dict[str, Any]) -> None:
    assert max(errors(table, "engine")) < 0.001


def test_prompt_speeds_are_those_of_the_log(table: dict[str, Any]) -> None:
    sizes = errors(table, "prompt")
    assert max(sizes) < SPEED_MARGIN
    assert statistics.median(sizes) < TYPICAL_SPEED_MARGIN


def test_first_tokens_are_timed_as_in_the_log(table: dict[str, Any]) -> None:
    sizes = errors(table, "ttft", "ttfa")
    assert max(sizes) < FIRST_TOKEN_MARGIN_S
    assert statistics.median(sizes) < TYPICAL_FIRST_TOKEN_MARGIN_S


def test_every_text_and_count_arrives_as_it_was_sent(table: dict[str, Any]) -> None:
    assert max(errors(table, "content")) == 0


def test_all_speeds_and_servers_are_in_the_table(table: dict[str, Any]) -> None:
    names = {(case["name"], case["server"]) for case in table["cases"]}
    for speed in ("50 tok/s", "200 tok/s", "1000 tok/s"):
        assert {(speed, server) for server in ("openai", "llama.cpp", "ollama")} <= names


def test_every_trap_is_noticed(table: dict[str, Any]) -> None:
    # The control ("nothing") needs a quiet machine: a busy one looks like a cache.
    traps = [trap for trap in table["traps"] if trap["expected"] != "nothing"]
    assert len(traps) >= 15
    assert [(t["name"], t["server"], t["noticed"]) for t in traps if not t["passes"]] == []


def test_a_pipe_hears_of_every_result(
    done: subprocess.CompletedProcess[str], table: dict[str, Any]
) -> None:
    results = table["cases"] + table["traps"]
    lines = [line for line in done.stderr.splitlines() if f" of {len(results)}  " in line]
    assert len(lines) == len(results)
    for result in results:
        assert any(f"{result['name']}, {result['server']}: " in line for line in lines)
