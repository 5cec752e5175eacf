"""`bench-loop run`: values that are understood, and models that are refused before any time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from bench_loop.cli import group
from bench_loop.commands.parameters import Duration, SamplingValues, Streams
from bench_loop.contracts.chat import Sampling
from bench_loop.errors import ModelNotFoundError, UsageError
from tests.fakes.ollama import FakeModel, FakeOllama


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90.0), ("15m", 900.0), ("1.5h", 5400.0), ("2 min", 120.0)]
)
def test_a_time_has_a_unit(text: str, seconds: float) -> None:
    assert Duration().convert(text, None, None) == seconds


@pytest.mark.parametrize("text", ["15", "0m", "-5m", "m", "1e9s", "15 months"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="write it like 90s, 15m or 1h"):
        Duration().convert(text, None, None)


def test_numbers_of_streams_are_sorted_and_single() -> None:
    assert Streams().convert("8, 1,2,2", None, None) == (1, 2, 8)


@pytest.mark.parametrize("text", ["0", "1,,2", "100", "two"])
def test_what_is_no_list_of_numbers_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter):
        Streams().convert(text, None, None)


def test_sampling_is_given_by_name() -> None:
    found = SamplingValues().convert("temperature=0.6, top_p=0.95,top_k=20", None, None)
    assert found == Sampling(temperature=0.6, top_p=0.95, top_k=20)


@pytest.mark.parametrize("text", ["heat=1", "temperature=hot", "temperature", "top_p=2"])
def test_what_is_no_sampling_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="the settings are temperature"):
        SamplingValues().convert(text, None, None)


@pytest.fixture
def ollama() -> Iterator[FakeOllama]:
    models = (
        FakeModel(),
        FakeModel("gpt-oss:120b-cloud", remote_host="https://cloud.example.invalid:443"),
        FakeModel("nomic-embed-text:latest", capabilities=("embedding",)),
    )
    with FakeOllama(models) as server:
        yield server


def run(server: FakeOllama, folder: Path, model: str, *more: str) -> Result:
    where = ["--provider", "ollama", "--endpoint", server.url, "--output", str(folder)]
    return CliRunner().invoke(group, ["run", "--model", model, *where, *more])


@pytest.mark.parametrize(
    ("model", "why"),
    [
        ("gpt-oss:120b-cloud", "it only forwards to a cloud"),
        ("nomic-embed-text:latest", "an embedding or ranking model: it cannot chat"),
    ],
)
def test_models_that_cannot_be_benchmarked_here_are_refused_with_the_reason(
    ollama: FakeOllama, tmp_path: Path, model: str, why: str
) -> None:
    outcome = run(ollama, tmp_path, model)
    assert isinstance(outcome.exception, ModelNotFoundError)
    assert why in outcome.exception.message
    assert ollama.asked("/api/chat") == []
    assert list(tmp_path.glob("*.json")) == []


def test_thinking_is_refused_where_the_model_has_no_switch(
    ollama: FakeOllama, tmp_path: Path
) -> None:
    outcome = run(ollama, tmp_path, "tiny:1b", "--thinking", "on")
    assert isinstance(outcome.exception, UsageError)
    assert "no switch for thinking" in outcome.exception.message


def test_other_sampling_is_refused_without_thinking(ollama: FakeOllama, tmp_path: Path) -> None:
    outcome = run(ollama, tmp_path, "tiny:1b", "--sampling", "temperature=1")
    assert isinstance(outcome.exception, UsageError)
    assert ollama.requests == []
