"""Prompts and budgets, counted by a real model's tokenizer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest

from bench_loop.contracts.chat import ToolCall
from bench_loop.contracts.task import BenchmarkTask, Say
from bench_loop.engine.packs import load_pack
from bench_loop.engine.plan import make_plan
from bench_loop.engine.toolbox import definitions_of, make_toolbox
from tests.components import need_llama_cpp
from tests.packs.test_keys_longcontext import TIERS

QUALITY = ("dataextract", "instructfollow", "loop_schema", "reasonmath")
SMOKE = [task for _, task, _ in make_plan(profile="smoke").quality_trials]
SMOKE_CAP = 192
"""Answer tokens of a trial, those of all its turns together."""
LARGEST_SPEED_PROMPT = 4096
TEMPLATE_TOKENS = 45
"""Room for what a chat template adds: SmolLM2's adds a system prompt."""
TOOL_TEMPLATE_TOKENS = 150
"""Room for the words in which a template tells how to call tools; Qwen2.5's takes about 100."""
TURN_TOKENS = 20
"""Room for what it puts around a call and its answer."""
SMALLEST_WINDOWS = {1800: 2048, 7000: 8192, 14000: 16384, 28000: 32768}

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


def exchanges_of(task: BenchmarkTask) -> list[tuple[str, str]]:
    """The shortest way: what the model writes and what the tool answers, one call a turn."""
    if isinstance(task.reference, str):
        return [(task.reference, "")]
    toolbox = make_toolbox(task)
    found: list[tuple[str, str]] = []
    for step in task.reference.trajectory:
        if isinstance(step, Say):
            found.append((step.say, ""))
            continue
        for name, args in ((name, args) for call in step for name, args in call.items()):
            call = ToolCall(id=None, name=name, arguments=json.dumps(args))
            told = toolbox.call(call, len(found) + 1)[1]
            found.append((json.dumps({"name": name, "arguments": args}), told))
    return found


def answer_tokens(task: BenchmarkTask, count: Count) -> int:
    return sum(count(written) for written, _ in exchanges_of(task))


def prompt_tokens(task: BenchmarkTask, count: Count) -> int:
    """Of all turns together, on a server that keeps nothing of the turn before."""
    prompt = sum(count(message.content) for message in task.messages) + TEMPLATE_TOKENS
    if task.tools:
        prompt += count(json.dumps(definitions_of(task))) + TOOL_TEMPLATE_TOKENS
    total = 0
    for written, told in exchanges_of(task):
        total += prompt
        prompt += count(written) + count(told) + TURN_TOKENS
    return total


@pytest.mark.real
@pytest.mark.parametrize("name", [*QUALITY, "longcontext"])
def test_answer_budgets_are_four_times_the_longest_right_answer(name: str, count: Count) -> None:
    for task in load_pack(name).tasks:
        longest = max(count(text) for text in (task.reference, *task.also_right))
        assert task.limits.answer_tokens >= 256
        assert 4 * longest <= max(256, task.limits.answer_tokens), task.id
        assert task.limits.answer_tokens <= max(256, 4 * longest + 16), task.id


@pytest.mark.real
@pytest.mark.parametrize("task", SMOKE, ids=lambda task: task.id)
def test_a_smoke_prompt_is_short_and_its_answer_fits_the_cap_twice(
    task: BenchmarkTask, count: Count
) -> None:
    assert sum(count(message.content) for message in task.messages) <= 430
    assert 2 * answer_tokens(task, count) <= SMOKE_CAP


@pytest.mark.real
def test_smoke_keeps_its_token_budget(count: Count) -> None:
    prompts = [prompt_tokens(task, count) for task in SMOKE]
    assert sum(prompts) <= 10_000 - 3_072
    assert len(SMOKE) * SMOKE_CAP <= 3_300 - 192


@pytest.mark.real
def test_the_largest_speed_prompt_can_be_cut_from_the_prose(count: Count) -> None:
    assert count(load_pack("speed").texts["prose"]) > LARGEST_SPEED_PROMPT


@pytest.mark.real
@pytest.mark.parametrize("task", load_pack("longcontext").tasks, ids=lambda task: task.id)
def test_a_long_prompt_has_the_tokens_that_its_notes_say_and_fits_its_window(
    task: BenchmarkTask, count: Count
) -> None:
    tokens, tier = count(task.messages[0].content), TIERS[task.id.partition(".")[2]]
    assert f"{tokens:,} tokens by SmolLM2's tokenizer" in " ".join(task.notes.split())
    assert abs(tokens + TEMPLATE_TOKENS - tier) <= 0.04 * tier
    assert tokens + TEMPLATE_TOKENS + task.limits.answer_tokens <= SMALLEST_WINDOWS[tier]
