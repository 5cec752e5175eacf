"""The window in truth: markers from the beginning of long prompts, and tasks that were cut."""

from __future__ import annotations

import re

import pytest

from bench_loop.contracts.chat import ChatReply, Message, TokenCounts
from bench_loop.engine.context import (
    SAMPLE_CHARACTERS,
    Usable,
    WindowGuard,
    probe_steps,
    refuse_cut_task,
    usable_window,
)
from bench_loop.engine.packs import load_pack
from bench_loop.engine.speed_plans import Rates
from bench_loop.engine.speed_prompts import PromptMaker
from bench_loop.errors import ContextCutError, EngineRejectedError, ProviderError
from bench_loop.result.records import HarnessTrial, RequestRecord, Trial
from tests.engine.doubles import ScriptedProvider, make_task, reply
from tests.scoring.make_trials import HASH

FAST = Rates(10_000.0, 100.0)


class Reader:
    """A model that sees the last `window` words of a prompt and finds the marker among them."""

    def __init__(self, window: int, *, refuses: bool = False) -> None:
        self._window = window
        self._refuses = refuses
        self.sizes: list[int] = []

    def ask(self, prompt: str, tokens: int) -> ChatReply:
        words = prompt.split()
        self.sizes.append(len(words))
        if self._refuses and len(words) > self._window:
            raise EngineRejectedError("Too long.", reason="context_overflow")
        seen = " ".join(words[-self._window :])
        found = re.search(r"The marker is (\w+)", seen)
        counts = TokenCounts(prompt=min(len(words), self._window), basis="usage")
        return reply(found[1] if found else "I do not know.", tokens=counts)


def probe(reader: Reader, window: int, budget_s: float = 1000.0) -> Usable:
    prompts = PromptMaker(load_pack("speed").texts, ScriptedProvider(), "tiny")
    return usable_window(prompts, reader.ask, window, FAST, budget_s)


def test_a_window_that_is_what_it_says_is_usable_to_its_end() -> None:
    found = probe(Reader(8192), 8192)
    assert found.tokens == pytest.approx(8192 - 64, abs=3)


@pytest.mark.parametrize("refuses", [False, True])
def test_a_window_smaller_than_it_says_is_found_by_halves(refuses: bool) -> None:
    reader = Reader(3000, refuses=refuses)
    assert probe(reader, 8192).tokens == pytest.approx(2032, abs=3)
    assert reader.sizes[1:] == pytest.approx([8128, 4064, 2032], abs=3)


def test_a_model_that_cannot_repeat_a_marker_says_nothing_of_its_window() -> None:
    found = probe(Reader(1), 8192)
    assert found.tokens is None
    assert "even from a short prompt" in str(found.why_not)


def test_a_probe_takes_no_step_beyond_its_time() -> None:
    # At 10,000 tok/s a prompt of 4,064 tokens takes 0.41 s and its answer 0.24 s.
    reader = Reader(8192)
    assert probe(reader, 8192, budget_s=0.95).tokens == pytest.approx(4064, abs=3)
    assert len(reader.sizes) == 2


def test_a_small_window_has_few_steps() -> None:
    assert probe_steps(2048) == [1984, 992, 496]


def trial_with(prompt_tokens: int | None) -> Trial:
    request = RequestRecord(
        sent_s=0.0, latency_s=1.0, status=200, tokens=TokenCounts(prompt=prompt_tokens)
    )
    return Trial(
        suite="reasonmath", task_id="reasonmath.a", prompt_hash=HASH, trial=1, requests=(request,)
    )


def test_a_task_of_which_little_was_read_stops_the_run() -> None:
    task = make_task(messages=(Message(role="user", content="words " * 20_000),))
    with pytest.raises(ContextCutError, match="read only 4,096 tokens"):
        refuse_cut_task(task, trial_with(4096), 8192)


@pytest.mark.parametrize("read_tokens", [20_000, None])
def test_a_task_that_was_read_does_not(read_tokens: int | None) -> None:
    task = make_task(messages=(Message(role="user", content="words " * 20_000),))
    refuse_cut_task(task, trial_with(read_tokens), 8192)


def test_a_program_that_made_the_prompt_shorter_itself_does_not() -> None:
    task = make_task(messages=(Message(role="user", content="words " * 20_000),))
    inside = {"harness": HarnessTrial(way="question", wall_s=1.0)}
    refuse_cut_task(task, trial_with(4096).model_copy(update=inside), 8192)


def test_a_short_task_whose_remembered_tokens_are_not_counted_does_not() -> None:
    task = make_task(messages=(Message(role="user", content="words " * 1000),))
    refuse_cut_task(task, trial_with(3), 8192)


LONG = make_task(messages=(Message(role="user", content="word " * 4000),))


def no_sample(prompt: str, tokens: int) -> ChatReply:
    raise AssertionError("nothing is asked where the server has a tokenizer")


def words(text: str) -> int:
    return len(text.split())


def test_a_prompt_that_the_tokenizer_counts_must_fit_with_its_answer() -> None:
    why = WindowGuard(words, no_sample, 4096).why_not(LONG, 256)
    assert why == (
        "The prompt has 4,000 tokens and the answer may take 256, more than the loaded window of "
        "4,096; nothing was sent."
    )
    assert WindowGuard(words, no_sample, 4256).why_not(LONG, 256) is None
    assert WindowGuard(words, no_sample, 4255).why_not(LONG, 256) is not None


def test_a_short_prompt_is_not_even_counted() -> None:
    def count(text: str) -> int:
        raise AssertionError("a token for every two characters would fit")

    short = make_task(messages=(Message(role="user", content="word " * 100),))
    assert WindowGuard(count, no_sample, 2048).why_not(short, 256) is None
    assert WindowGuard(count, no_sample, None).why_not(LONG, 256) is None


def test_without_a_tokenizer_a_part_of_the_prompt_is_sent_to_learn_its_tokens() -> None:
    sent: list[tuple[int, int]] = []

    def sample(prompt: str, tokens: int) -> ChatReply:
        sent.append((len(prompt), tokens))
        return reply(tokens=TokenCounts(prompt=words(prompt) + 10, basis="usage"))

    guard = WindowGuard(lambda text: None, sample, 4096)
    assert (guard.why_not(LONG, 256) or "").startswith("The prompt has about 4,05")
    assert sent == [(SAMPLE_CHARACTERS, 1)]
    assert WindowGuard(lambda text: None, sample, 8192).why_not(LONG, 256) is None


def test_where_nobody_can_tell_the_prompt_is_sent() -> None:
    def fails(prompt: str, tokens: int) -> ChatReply:
        raise ProviderError("Server busy.")

    def silent(prompt: str, tokens: int) -> ChatReply:
        return reply(tokens=TokenCounts())

    for sample in (fails, silent):
        assert WindowGuard(lambda text: None, sample, 4096).why_not(LONG, 256) is None
