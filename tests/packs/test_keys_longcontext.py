"""The key of each official longcontext task, found by reading its text, and the text's length."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.packs import load_pack
from bench_loop.verifiers.judging import judge
from tests.components import need_llama_cpp
from tests.packs.longcontext_reader import solve

PACK = load_pack("longcontext")
TIERS = {
    "largest-rise": 1800,
    "depot-object": 1800,
    "soaking-times": 7000,
    "heavy-deliveries": 7000,
    "changed-meter": 14000,
    "drying-rule": 14000,
    "soaking-time-as-of": 28000,
    "depot-shelf": 28000,
}
TEMPLATE_TOKENS = 45
"""Room for what a chat template adds: SmolLM2's adds a system prompt."""
SMALLEST_WINDOWS = {1800: 2048, 7000: 8192, 14000: 16384, 28000: 32768}

Count = Callable[[str], int]


def tier(task: BenchmarkTask) -> int:
    return TIERS[task.id.partition(".")[2]]


@pytest.fixture(scope="module")
def count() -> Iterator[Count]:
    """Tokens of a text by the reference tokenizer, SmolLM2's, asked of a real llama.cpp server."""
    weights = need_llama_cpp()
    from bench_loop.providers import embedded

    provider = embedded.start(str(weights), context_window=512, threads=1)

    def tokens(text: str) -> int:
        number = provider.count_tokens(provider.models()[0].model_id, text)
        assert number is not None
        return number

    yield tokens
    provider.close()


@pytest.mark.parametrize("task", PACK.tasks, ids=lambda task: task.id)
def test_the_key_is_what_a_reader_of_the_text_finds(task: BenchmarkTask) -> None:
    answer = "; ".join(solve(task.messages[0].content).parts)
    assert task.reference.endswith(f"ANSWER: {answer}")
    assert judge(PACK.output(f"ANSWER: {answer}"), task).outcome == "pass"


def test_there_are_two_tasks_of_each_length_and_of_each_family() -> None:
    assert Counter(map(tier, PACK.tasks)) == dict.fromkeys(SMALLEST_WINDOWS, 2)
    assert set(Counter(task.family for task in PACK.tasks).values()) == {2}
    assert PACK.profiles == {"full": tuple(task.id for task in PACK.tasks)}


@pytest.mark.real
@pytest.mark.parametrize("task", PACK.tasks, ids=lambda task: task.id)
def test_the_prompt_has_the_tokens_that_its_notes_say(task: BenchmarkTask, count: Count) -> None:
    tokens = count(task.messages[0].content)
    assert f"{tokens:,} tokens by SmolLM2's tokenizer" in " ".join(task.notes.split())
    assert abs(tokens + TEMPLATE_TOKENS - tier(task)) <= 0.04 * tier(task)
    room = SMALLEST_WINDOWS[tier(task)] - TEMPLATE_TOKENS
    assert tokens + task.limits.answer_tokens <= room


@pytest.mark.real
@pytest.mark.parametrize("task", PACK.tasks, ids=lambda task: task.id)
def test_the_answer_budget_is_four_times_the_longest_right_answer(
    task: BenchmarkTask, count: Count
) -> None:
    assert isinstance(task.reference, str)
    right = [task.reference, *(text for text in task.also_right if isinstance(text, str))]
    longest = max(map(count, right))
    assert 4 * longest <= task.limits.answer_tokens <= max(256, 4 * longest + 16)
