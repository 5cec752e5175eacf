"""Tests of what is special about Hermes, with the real program."""

from __future__ import annotations

import pytest

from bench_loop.config import bundled
from bench_loop.registry import load
from bench_loop.simulator.settings import call, say
from tests.harnesses.conftest import Find
from tests.harnesses.live import DOES_IT, DONE, RIGHT, ask, repair

pytestmark = pytest.mark.real

hermes = load("harness", bundled("harnesses"), "hermes")


def test_its_one_shot_command_does_a_task_too(find_installed: Find) -> None:
    made = hermes.Adapter("oneshot")
    seen = ask(made, find_installed(made), repair(), DOES_IT)
    assert (seen.result.files or {})["calc.py"] == RIGHT.encode()
    assert (seen.result.final_text, seen.result.failure) == (DONE, None)
    assert [one.name for one in seen.result.tool_calls] == ["write_file", "terminal"]
    assert seen.result.metadata["path"] == "oneshot"


@pytest.mark.parametrize("path", hermes.OPTIONS["path"])
def test_arguments_that_are_no_json_end_it_with_a_word_of_its_own(
    find_installed: Find, path: str
) -> None:
    made = hermes.Adapter(path)
    script = (call("read_file", '{"path": "calc'), say(DONE))
    seen = ask(made, find_installed(made), repair(), script)
    assert seen.result.failure == "Response truncated due to output length limit"
    assert seen.result.final_text == ""


def test_its_server_tells_how_long_the_tools_took(find_installed: Find) -> None:
    made = hermes.Adapter("runs")
    seen = ask(made, find_installed(made), repair(), DOES_IT)
    assert seen.result.tools_s is not None
    assert seen.result.wall_s is not None
    assert 0 < seen.result.tools_s < seen.result.wall_s
