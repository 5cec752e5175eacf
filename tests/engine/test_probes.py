"""Determinism and thinking: what is asked, and what is made of the answers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bench_loop.commands._setup import load_harness, prepare
from bench_loop.contracts.chat import ChatReply, ChatRequest
from bench_loop.contracts.provider import ModelFacts
from bench_loop.engine.determinism import first_difference, probe_determinism
from bench_loop.engine.plan import RunOptions, make_plan
from bench_loop.engine.run import Run
from bench_loop.engine.thinking import thinking_mode
from bench_loop.errors import UsageError
from bench_loop.result.records import Determinism
from tests.engine.doubles import ScriptedProvider, reply


def test_answers_that_are_the_same_have_no_difference() -> None:
    found = probe_determinism(lambda prompt, use_cache: reply(prompt))
    assert found == Determinism(prompts=3, identical=3, first_difference=None)


def test_the_earliest_difference_is_kept() -> None:
    answers = iter(["abcdef", "abcdeX", "same", "same", "abc", "abcd"])
    found = probe_determinism(lambda prompt, use_cache: reply(next(answers)))
    assert found == Determinism(prompts=3, identical=1, first_difference=3)


def test_each_prompt_is_sent_cold_and_then_from_the_cache() -> None:
    asked: list[tuple[str, bool]] = []

    def ask(prompt: str, use_cache: bool) -> ChatReply:
        asked.append((prompt, use_cache))
        return reply()

    probe_determinism(ask)
    assert [use_cache for _, use_cache in asked] == [False, True] * 3
    assert [
        first == second for (first, _), (second, _) in zip(asked[::2], asked[1::2], strict=True)
    ] == [True] * 3


@pytest.mark.parametrize(
    ("a", "b", "at"), [("abc", "abc", None), ("abc", "abd", 2), ("ab", "abc", 2), ("", "x", 0)]
)
def test_where_two_texts_part(a: str, b: str, at: int | None) -> None:
    assert first_difference(a, b) == at


@pytest.mark.parametrize(
    ("profile", "options", "is_probed"),
    [
        ("smoke", RunOptions(), False),
        ("smoke", RunOptions(probes_determinism=True), True),
        ("quick", RunOptions(), True),
    ],
)
def test_ranked_profiles_are_probed_and_others_when_asked(
    tmp_path: Path, profile: str, options: RunOptions, is_probed: bool
) -> None:
    provider = ScriptedProvider()
    setup = prepare(provider, "tiny", load_harness("raw"))
    result = Run(make_plan(profile=profile), setup, tmp_path, lambda event: None, options).go()
    assert (result.determinism is not None) == is_probed
    assert sum(request.max_tokens == 96 for request in provider.requests) == 6 * is_probed


CAN_THINK = ModelFacts(model_id="tiny", capabilities=("completion", "thinking"))
CANNOT = ModelFacts(model_id="tiny", capabilities=("completion",))
SAYS_NOTHING = ModelFacts(model_id="tiny")


def provider_that(thinks: Callable[[ChatRequest], bool]) -> ScriptedProvider:
    return ScriptedProvider(
        default=lambda request: reply("42", thinking="17 + 25" if thinks(request) else "")
    )


def obeys(request: ChatRequest) -> bool:
    return request.thinking is True


@pytest.mark.parametrize(
    ("model", "wanted", "mode"),
    [
        (CAN_THINK, None, False),
        (CAN_THINK, True, True),
        (CAN_THINK, False, False),
        (CANNOT, None, None),
        (SAYS_NOTHING, None, None),
        (SAYS_NOTHING, True, True),
        (SAYS_NOTHING, False, False),
    ],
)
def test_a_switch_that_works_is_set(
    model: ModelFacts, wanted: bool | None, mode: bool | None
) -> None:
    assert thinking_mode(provider_that(obeys), model, wanted, 8192) is mode


@pytest.mark.parametrize("wanted", [True, False])
def test_a_model_without_the_switch_is_refused(wanted: bool) -> None:
    with pytest.raises(UsageError, match="no switch for thinking"):
        thinking_mode(provider_that(obeys), CANNOT, wanted, 8192)


def test_a_switch_that_does_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="the switch does nothing"):
        thinking_mode(provider_that(lambda request: False), SAYS_NOTHING, True, 8192)


def test_a_model_that_always_thinks_cannot_be_switched_off() -> None:
    with pytest.raises(UsageError, match="thinks although thinking is off"):
        thinking_mode(provider_that(lambda request: True), CAN_THINK, False, 8192)


def test_thinking_has_its_own_budget_on_top_of_the_answers() -> None:
    plain, thinking = (
        make_plan(suites=["reasonmath", "instructfollow"], is_thinking=on) for on in (False, True)
    )
    gained = {
        (suite.pack.name, thinking.answer_budget(task) - plain.answer_budget(task))
        for suite, task, _ in thinking.quality_trials
    }
    assert gained == {("reasonmath", 8192), ("instructfollow", 4096)}
    assert (plain.thinking_budget, thinking.thinking_budget) == (None, 4096)
