"""Which servers are found on their usual ports."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bench_loop.providers import discover
from tests.fakes.ollama import FakeModel, FakeOllama
from tests.fakes.openai_server import FakeOpenAI
from tests.fakes.server import FakeServer

NOWHERE = "http://127.0.0.1:9"
Ports = Callable[..., None]


@pytest.fixture
def ports(monkeypatch: pytest.MonkeyPatch) -> Ports:
    """Says what listens on the two usual ports."""

    def listen(ollama: FakeServer | None = None, llama: FakeServer | None = None) -> None:
        monkeypatch.setenv("OLLAMA_HOST", ollama.url if ollama else NOWHERE)
        monkeypatch.setattr(discover, "DEFAULT_ENDPOINT", llama.url if llama else NOWHERE)

    return listen


def test_nothing_is_found_where_nothing_runs(ports: Ports) -> None:
    ports()
    assert discover.find_server() is None


def test_an_ollama_is_found(ports: Ports) -> None:
    with FakeOllama() as server:
        ports(ollama=server)
        assert discover.find_server() == ("ollama", server.url)


def test_a_llama_cpp_is_found(ports: Ports) -> None:
    with FakeOpenAI(engine="llama.cpp") as server:
        ports(llama=server)
        assert discover.find_server() == ("openai_compat", server.url)


def test_all_of_them_are_known_ollama_first(ports: Ports) -> None:
    with FakeOllama() as ollama, FakeOpenAI(engine="llama.cpp") as llama:
        ports(ollama, llama)
        assert discover.known_servers() == (
            ("ollama", ollama.url),
            ("openai_compat", llama.url),
        )


@pytest.mark.parametrize(
    "models",
    [
        [],
        [FakeModel("nomic-embed-text:latest", capabilities=("embedding",))],
        [FakeModel("big:cloud", remote_host="https://cloud.example.invalid")],
    ],
)
def test_an_ollama_without_a_chat_model_of_its_own_is_left_out(
    ports: Ports, models: list[FakeModel]
) -> None:
    with FakeOllama(models) as server:
        ports(ollama=server)
        assert discover.find_server() is None


@pytest.mark.parametrize("kind", [FakeServer, FakeOpenAI])
def test_another_web_server_on_the_port_is_left_out(ports: Ports, kind: type[FakeServer]) -> None:
    with kind() as server:
        ports(ollama=server, llama=server)
        assert discover.find_server() is None


def test_a_server_that_is_still_loading_is_left_out(ports: Ports) -> None:
    with FakeOpenAI(engine="llama.cpp", loading=9) as server:
        ports(llama=server)
        assert discover.find_server() is None
