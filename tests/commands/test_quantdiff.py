"""`bench-loop quantdiff`: a model against itself, and what cannot be compared."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from gguf import GGMLQuantizationType

from bench_loop.cli import group
from bench_loop.commands.quantdiff import text, text_sha256
from bench_loop.engine.quantdiff import chunks, positions_in
from bench_loop.errors import ProviderError, UsageError
from tests.components import need_llama_cpp
from tests.fakes.openai_server import Engine, FakeOpenAI
from tests.fakes.server import Reply, Request, json_reply
from tests.requantized import requantized


def run(*arguments: str) -> Result:
    return CliRunner().invoke(group, ["quantdiff", *arguments])


class Foreseeing(FakeOpenAI):
    """A llama.cpp or vLLM server with tokens of `letters` letters, whose next is always `token`.

    After `breaks_after` requests for probabilities it gives none.
    """

    def __init__(
        self,
        token: int,
        letters: int = 4,
        engine: Engine = "llama.cpp",
        slots: int = 1,
        pause_s: float = 0.0,
        breaks_after: int | None = None,
    ) -> None:
        super().__init__(engine=engine, slots=slots)
        self.token = token
        self.letters = letters
        self.pause_s = pause_s
        self.breaks_after = breaks_after

    def answer(self, request: Request) -> Reply:
        match request.path:
            case "/tokenize":
                asked = request.json.get("content") or request.json["prompt"]
                return json_reply({"tokens": list(range(len(asked) // self.letters))})
            case "/completion" if self._is_broken():
                return json_reply({"content": ""})
            case "/completion":
                likely = [{"id": self.token, "logprob": -0.1}, {"id": 5, "logprob": -3.0}]
                probabilities = {"completion_probabilities": [{"top_logprobs": likely}]}
                return replace(json_reply(probabilities), pause_s=self.pause_s)
            case "/v1/completions":
                return json_reply(self._read(request.json["prompt"]))
        return super().answer(request)

    def _is_broken(self) -> bool:
        asked = len(self.asked("/completion"))
        return self.breaks_after is not None and asked > self.breaks_after

    def _read(self, prompt: list[int]) -> dict[str, Any]:
        """vLLM's answer, by its documented shape: the prompt's own token is listed at any rank."""
        places: list[dict[str, Any] | None] = [None]
        for own in prompt[1:]:
            places.append(
                {
                    str(own + 1000): {"logprob": -9.0, "rank": 4711, "decoded_token": "x"},
                    str(self.token): {"logprob": -0.1, "rank": 1, "decoded_token": "y"},
                    "5": {"logprob": -3.0, "rank": 2, "decoded_token": "z"},
                }
            )
        return {"choices": [{"text": "y", "prompt_logprobs": places}]}


@pytest.fixture
def server() -> Iterator[Foreseeing]:
    with Foreseeing(1) as one:
        yield one


def test_figures_of_two_servers_are_printed_as_json(server: Foreseeing) -> None:
    with Foreseeing(2) as other:
        outcome = run(server.url, other.url, "--tokens", "60", "--json")
    found = json.loads(outcome.stdout)
    assert (found["positions"], found["agreement"]) == (60, 0.0)
    assert found["mean_kl"] > 1
    assert found["text_sha256"] == text_sha256()
    assert found["mean_kl_interval"] is None


def test_the_text_says_that_it_is_a_diagnostic_and_a_bound(server: Foreseeing) -> None:
    outcome = run(server.url, server.url, "--tokens", "50")
    assert "positions         50 in 1 piece of text" in outcome.stdout
    assert "top-1 agreement   100.00 % (92.87 to 100.00)" in outcome.stdout
    assert "at least 0.0000 nats (no interval of one piece)" in outcome.stdout
    assert "A diagnostic, in no score." in outcome.stdout


def test_the_cost_is_said_before_the_work_begins() -> None:
    with Foreseeing(1, pause_s=0.05, breaks_after=20) as slow:
        outcome = run(slow.url, slow.url)
    lines = outcome.stderr.splitlines()
    # 20,000 requests of at least 0.05 s are 17 minutes and more.
    assert re.fullmatch(
        rf"{slow.url}: 20,000 positions, about \d+ min at its pace of now.", lines[0]
    )
    assert lines[1].startswith("--tokens 2000 takes a tenth")
    assert isinstance(outcome.exception, ProviderError)  # it breaks down when the work begins


def test_a_server_of_several_slots_is_asked_one_thing_at_a_time_in_one_of_them() -> None:
    """Several at once share a batch, and its size changes how the engine rounds."""
    with Foreseeing(1, slots=3) as server:
        assert run(server.url, server.url, "--tokens", "50", "--json").exit_code == 0
        bodies = server.asked("/completion")
    assert {body["id_slot"] for body in bodies} == {0}
    # Each model: 16 positions for the pace, then 50, each a token longer than the one before.
    lengths = [*range(16, 32), *range(16, 66)]
    assert [len(body["prompt"]) for body in bodies] == lengths * 2


def test_vllm_reads_a_piece_in_one_request() -> None:
    with Foreseeing(1, engine="vllm") as a, Foreseeing(2, engine="vllm") as b:
        found = json.loads(run(a.url, b.url, "--tokens", "600", "--json").stdout)
        asked = a.asked("/v1/completions")
    assert (found["positions"], found["agreement"]) == (600, 0.0)
    assert [len(body["prompt"]) for body in asked[1:]] == [512, 120]
    assert {body["prompt_logprobs"] for body in asked} == {20}
    low, high = found["mean_kl_interval"]
    assert low <= found["mean_kl"] <= high


def test_both_kinds_of_server_say_the_same_of_the_same_model() -> None:
    with Foreseeing(1) as a, Foreseeing(1, engine="vllm") as b:
        found = json.loads(run(a.url, b.url, "--tokens", "60", "--json").stdout)
    assert (found["agreement"], found["mean_kl"]) == (1.0, 0.0)


def test_models_with_different_tokens_are_refused(server: Foreseeing) -> None:
    with Foreseeing(1, letters=50) as other:
        outcome = run(server.url, other.url)
        assert server.asked("/completion") == []
    assert isinstance(outcome.exception, UsageError)
    assert "not one model" in outcome.exception.message


def test_a_server_that_tells_no_probabilities_is_refused() -> None:
    with FakeOpenAI(engine="unknown") as server:
        outcome = run(server.url, server.url)
    assert isinstance(outcome.exception, ProviderError)
    assert "does not tell the probabilities" in outcome.exception.message


def test_positions_are_spread_over_pieces_of_the_text() -> None:
    pieces = chunks(range(2000), 600)
    assert positions_in(pieces) == 600
    # 512 - 16 positions in the first piece, 104 in the second.
    assert [len(piece) for piece in pieces] == [512, 120]
    assert chunks(range(30), 600) == [tuple(range(30))]


def test_the_text_has_20_000_positions_even_for_large_vocabularies() -> None:
    # Qwen's 151,000 tokens cut it into 23,619, SmolLM2's 49,000 into 25,256.
    assert len(text().split()) > 9000
    assert len(text()) > 85_000


@pytest.mark.real
def test_a_real_model_agrees_with_itself() -> None:
    weights = str(need_llama_cpp())
    found = json.loads(run(weights, weights, "--tokens", "100", "--json").stdout)
    assert (found["positions"], found["agreement"]) == (100, 1.0)
    assert found["mean_kl"] < 1e-4
    assert 0.5 < found["compared_share"] <= 1.0


@pytest.mark.real
@pytest.mark.slow
def test_fewer_bits_are_further_off(tmp_path: Path) -> None:
    """Q4_1 as it came against its own values in 8 bits, and in the 4 bits of another grid."""
    weights = need_llama_cpp()
    near = requantized(weights, tmp_path / "q8.gguf", GGMLQuantizationType.Q8_0)
    far = requantized(weights, tmp_path / "q4.gguf", GGMLQuantizationType.Q4_0)
    found = [
        json.loads(run(str(weights), str(other), "--tokens", "300", "--json").stdout)
        for other in (near, far)
    ]
    assert found[0]["mean_kl"] < found[1]["mean_kl"] / 2
    assert found[0]["agreement"] > found[1]["agreement"]
