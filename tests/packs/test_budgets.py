"""Prompts and budgets, counted by a real model's tokenizer."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from bench_loop.engine.packs import Pack, load_pack
from tests.components import need_llama_cpp

QUALITY = ("dataextract", "instructfollow", "loop_schema", "reasonmath")
WITH_SMOKE = ("instructfollow", "loop_schema", "reasonmath")
SMOKE_CAP = 192
LARGEST_SPEED_PROMPT = 4096

Count = Callable[[str], int]


@pytest.fixture(scope="module")
def count() -> Iterator[Count]:
    """Tokens of a text by SmolLM2's own tokenizer, asked of a real llama.cpp server."""
    weights = need_llama_cpp()
    from bench_loop.providers import embedded

    provider = embedded.start(str(weights), context_window=2048, threads=1)

    def tokens(text: str) -> int:
        number = provider.count_tokens(provider.models()[0].model_id, text)
        assert number is not None
        return number

    yield tokens
    provider.close()


@pytest.mark.real
@pytest.mark.parametrize("name", QUALITY)
def test_answer_budgets_are_four_times_the_longest_right_answer(name: str, count: Count) -> None:
    for task in load_pack(name).tasks:
        longest = max(count(text) for text in (task.reference, *task.also_right))
        assert task.limits.answer_tokens >= 256
        assert 4 * longest <= max(256, task.limits.answer_tokens), task.id
        assert task.limits.answer_tokens <= max(256, 4 * longest + 16), task.id


@pytest.mark.real
@pytest.mark.parametrize("name", WITH_SMOKE)
def test_smoke_prompts_are_short_and_their_answers_fit_the_cap(name: str, count: Count) -> None:
    pack = load_pack(name)
    smoke = [task for task in pack.tasks if task.id in pack.profiles["smoke"]]
    assert [task.id for task in smoke if count(task.messages[0].content) > 430] == []
    assert [task.id for task in smoke if 2 * count(task.reference) > SMOKE_CAP] == []


@pytest.mark.real
def test_smoke_keeps_its_token_budget(count: Count) -> None:
    packs: list[Pack] = [load_pack(name) for name in WITH_SMOKE]
    prompts = [
        count(task.messages[0].content)
        for pack in packs
        for task in pack.tasks
        if task.id in pack.profiles["smoke"]
    ]
    assert len(prompts) == 15
    assert sum(prompts) <= 10_000 - 3_072
    assert len(prompts) * SMOKE_CAP <= 3_300 - 192


@pytest.mark.real
def test_the_largest_speed_prompt_can_be_cut_from_the_prose(count: Count) -> None:
    assert count(load_pack("speed").texts["prose"]) > LARGEST_SPEED_PROMPT
