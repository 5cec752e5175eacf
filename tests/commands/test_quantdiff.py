"""`bench-loop quantdiff`: a model against itself, and what cannot be compared."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from click.testing import CliRunner, Result

from bench_loop.cli import group
from bench_loop.engine.quantdiff import chunks
from bench_loop.errors import ProviderError, UsageError
from tests.components import need_llama_cpp
from tests.fakes.openai_server import FakeOpenAI
from tests.fakes.server import Reply, Request, json_reply


def run(*arguments: str) -> Result:
    return CliRunner().invoke(group, ["quantdiff", *arguments])


class Foreseeing(FakeOpenAI):
    """A llama.cpp server with tokens of `letters` letters, whose next token is always `token`."""

    def __init__(self, token: int, letters: int = 4) -> None:
        super().__init__(engine="llama.cpp")
        self.token = token
        self.letters = letters

    def answer(self, request: Request) -> Reply:
        match request.path:
            case "/tokenize":
                return json_reply(
                    {"tokens": list(range(len(request.json["content"]) // self.letters))}
                )
            case "/completion":
                likely = [{"id": self.token, "logprob": -0.1}, {"id": 5, "logprob": -3.0}]
                return json_reply({"completion_probabilities": [{"top_logprobs": likely}]})
        return super().answer(request)


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


def test_the_text_says_that_it_is_a_diagnostic_and_a_bound(server: Foreseeing) -> None:
    outcome = run(server.url, server.url, "--tokens", "50")
    assert "top-1 agreement   100.0 %" in outcome.stdout
    assert "at least 0.0000 nats" in outcome.stdout
    assert "A diagnostic, in no score." in outcome.stdout


def test_models_with_different_tokens_are_refused(server: Foreseeing) -> None:
    with Foreseeing(1, letters=50) as other:
        outcome = run(server.url, other.url, "--tokens", "600")
    assert isinstance(outcome.exception, UsageError)
    assert "not one model" in outcome.exception.message


def test_a_server_that_tells_no_probabilities_is_refused() -> None:
    with FakeOpenAI(engine="vllm") as server:
        outcome = run(server.url, server.url)
    assert isinstance(outcome.exception, ProviderError)
    assert "does not tell the probabilities" in outcome.exception.message


def test_positions_are_spread_over_pieces_of_the_text() -> None:
    pieces = chunks(range(2000), 600)
    # 512 - 16 positions in the first piece, 104 in the second.
    assert [len(piece) for piece in pieces] == [512, 120]
    assert chunks(range(30), 600) == [tuple(range(30))]


@pytest.mark.real
def test_a_real_model_agrees_with_itself() -> None:
    weights = str(need_llama_cpp())
    found = json.loads(run(weights, weights, "--tokens", "50", "--json").stdout)
    assert (found["agreement"], found["mean_kl"]) == (1.0, 0.0)
    assert 0.5 < found["compared_share"] <= 1.0
