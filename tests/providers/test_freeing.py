"""Putting a model out of a server's memory, read back, in each server's own way."""

from __future__ import annotations

from contextlib import closing

import pytest

from bench_loop.contracts.provider import Freeing
from bench_loop.providers import _freeing, ollama, openai_compat
from tests.fakes.engines import LLAMA_SWAP_MODELS, LMSTUDIO_CHAT, LlamaSwap, LMStudio
from tests.fakes.ollama import FakeOllama
from tests.fakes.openai_server import FakeOpenAI
from tests.fakes.server import FakeServer, Reply, Request, json_reply


class LlamaRouter(FakeOpenAI):
    """llama.cpp without a model of its own: /models tells the status of each.

    Written after its documentation.
    """

    state = "loaded"

    def answer(self, request: Request) -> Reply:
        if (request.method, request.path) == ("GET", "/models"):
            return json_reply({"data": [{"id": "tiny", "status": {"value": self.state}}]})
        if request.path == "/models/unload":
            self.state = "unloaded" if request.json == {"model": "tiny"} else self.state
            return json_reply({"success": True})
        return super().answer(request)


def freed(server: FakeServer, model_id: str = "tiny") -> bool | None:
    with closing(openai_compat.connect(server.url, None)) as provider:
        assert isinstance(provider, Freeing)
        return provider.free(model_id)


def test_llama_swap_stops_this_model_alone() -> None:
    one, other = LLAMA_SWAP_MODELS
    with LlamaSwap(one, other) as server:
        assert freed(server, one) is True
        assert server.running == (other,)


def test_lm_studio_unloads_every_instance_of_the_model() -> None:
    with LMStudio(instances=(LMSTUDIO_CHAT, f"{LMSTUDIO_CHAT}:2")) as server:
        assert freed(server, LMSTUDIO_CHAT) is True
        assert server.instances == ()


def test_a_llama_cpp_router_unloads_the_model() -> None:
    with LlamaRouter() as server:
        assert freed(server) is True
        assert server.state == "unloaded"


def test_a_model_that_stays_is_not_called_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_freeing.free, "__defaults__", (0.3,))
    model_id = LLAMA_SWAP_MODELS[0]
    with LlamaSwap(model_id, is_stubborn=True) as server:
        assert freed(server, model_id) is False


@pytest.mark.parametrize("engine", ["llama.cpp", "vllm", "unknown"])
def test_a_server_without_such_a_request_is_not_asked(engine: str) -> None:
    with FakeOpenAI(engine=engine) as server:  # type: ignore[arg-type]
        assert freed(server) is None
        assert not server.asked("/models/unload")


def test_ollama_drops_the_model_and_it_is_read_back() -> None:
    with FakeOllama() as server:
        server.loaded = {"tiny:1b": 4096}
        with closing(ollama.connect(server.url, None)) as provider:
            assert isinstance(provider, Freeing)
            assert provider.free("tiny:1b") is True
        assert server.loaded == {}
