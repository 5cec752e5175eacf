"""Tests of the check whether a server is enough for a harness."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from bench_loop.commands._setup import load_harness
from bench_loop.contracts.harness import Needs
from bench_loop.engine.harness_needs import (
    Served,
    refuse_other_window,
    refuse_unmet,
    takes_tools,
    unmet,
)
from bench_loop.errors import EngineRejectedError, ProviderError, SetupError

BOTH = Needs(context_window=16384, tool_calls=True)


def test_a_server_that_gives_all_is_enough() -> None:
    assert not unmet("claw", BOTH, Served(window=16384, takes_tools=True))


def test_what_is_not_known_is_not_held_against_it() -> None:
    assert not unmet("claw", BOTH, Served(window=None, takes_tools=None))


def test_a_small_window_is_named_with_both_figures() -> None:
    (found,) = unmet("claw", BOTH, Served(window=8192, takes_tools=True))
    assert found.need == "context_window"
    assert "16,384" in found.evidence
    assert "8,192" in found.evidence


def test_a_model_that_is_made_for_less_is_told_to_be_changed() -> None:
    (found,) = unmet("claw", BOTH, Served(window=8192, takes_tools=True, declared=8192))
    assert found.remedy == "Take a model made for 16,384 tokens or more: this one is for 8,192"


def test_a_model_that_is_made_for_enough_is_told_to_be_loaded_so() -> None:
    (found,) = unmet("claw", BOTH, Served(window=8192, takes_tools=True, declared=32768))
    assert "--context-window 16384" in found.remedy


def test_a_server_without_tools_is_named_with_a_remedy() -> None:
    (found,) = unmet("claw", BOTH, Served(window=None, takes_tools=False))
    assert (found.need, "--jinja" in found.remedy) == ("tool_calls", True)


def test_a_harness_without_tools_does_not_ask_for_them() -> None:
    assert not unmet("aider", Needs(), Served(window=512, takes_tools=False))


def test_the_refusal_names_every_need_and_the_override() -> None:
    found = unmet("claw", BOTH, Served(window=8192, takes_tools=False))
    with pytest.raises(SetupError) as caught:
        refuse_unmet(load_harness("raw"), found)
    assert "8,192" in caught.value.message
    assert "tool calls" in caught.value.message
    assert "--force" in (caught.value.remedy or "")


@dataclass
class Refusing:
    """A server that fails every request with this error."""

    error: ProviderError

    def chat(self, request: object, watch: object = None) -> None:
        raise self.error


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (EngineRejectedError("no tools", reason="engine_rejected_output", status=400), False),
        (EngineRejectedError("template", reason="engine_crashed", status=500), False),
        (ProviderError("gone"), None),
    ],
)
def test_only_a_refusal_tells_that_tools_are_not_taken(
    error: ProviderError, expected: bool | None
) -> None:
    assert takes_tools(Refusing(error), "m", 8192) is expected  # type: ignore[arg-type]


def test_a_server_that_gives_the_window_of_the_run_is_taken() -> None:
    refuse_other_window(served=8192, wanted=8192)


def test_a_server_that_gives_another_window_is_refused_with_both_ways_out() -> None:
    with pytest.raises(SetupError) as caught:
        refuse_other_window(served=4096, wanted=8192)
    assert "OLLAMA_CONTEXT_LENGTH=8192" in (caught.value.remedy or "")
    assert "--context-window 4096" in (caught.value.remedy or "")
