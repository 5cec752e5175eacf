"""Tests of what is special about OpenClaw, with the real program."""

from __future__ import annotations

import json
import os

import pytest

from bench_loop.config import bundled
from bench_loop.registry import load
from bench_loop.simulator.settings import call, read, run, say, write
from tests.harnesses.conftest import Find
from tests.harnesses.live import DOES_IT, DONE, RIGHT, ask, processes_with, repair

pytestmark = [pytest.mark.real, pytest.mark.slow]

openclaw = load("harness", bundled("harnesses"), "openclaw")

WALL_S = 180.0
"""It takes 13 s to start and a gigabyte, and three times that long on a busy machine."""


def test_its_exec_command_does_a_task_on_files_too(find_installed: Find) -> None:
    made = openclaw.Adapter("exec")
    seen = ask(made, find_installed(made), repair(), (read("calc.py"), *DOES_IT), wall_s=WALL_S)
    assert (seen.result.files or {})["calc.py"] == RIGHT.encode()
    assert (seen.result.final_text, seen.result.failure) == (DONE, None)
    assert [one.name for one in seen.result.tool_calls] == ["read", "write", "exec"]
    assert (seen.result.metadata["path"], seen.result.metadata["ok"]) == ("exec", True)
    assert 0 < (seen.result.tools_s or 0) < (seen.result.wall_s or 0)


def test_long_messages_are_in_the_transcript_too(find_installed: Find) -> None:
    made = openclaw.Adapter("gateway")
    long = "".join(f"# Line {number} of a long file.\n" for number in range(200))
    script = (write("long.py", long), read("long.py"), say(DONE))
    seen = ask(made, find_installed(made), repair(), script, wall_s=WALL_S)
    assert long in json.loads(seen.result.tool_calls[0].arguments)["content"]
    assert "# Line 199 of a long file." in seen.result.transcript[4].content
    assert [message.role for message in seen.result.transcript] == [
        *("user", "assistant", "tool", "assistant", "tool", "assistant")
    ]


def test_why_its_gateway_failed_is_read_from_what_it_keeps(find_installed: Find) -> None:
    made = openclaw.Adapter("gateway")
    script = (call("read", '{"path": "calc'), say(DONE))
    seen = ask(made, find_installed(made), repair(), script, wall_s=WALL_S)
    assert "incomplete or malformed tool call" in (seen.result.failure or "")
    assert seen.result.final_text == ""


def test_a_command_that_it_went_on_without_is_dead_when_it_has_ended(find_installed: Find) -> None:
    made = openclaw.Adapter("gateway")
    command = f"sleep 8{os.getpid()}"
    script = (run(command), say(DONE))
    seen = ask(made, find_installed(made), repair(), script, place="direct", wall_s=WALL_S)
    assert (seen.result.final_text, seen.result.limit) == (DONE, None)
    assert processes_with(command) == []
