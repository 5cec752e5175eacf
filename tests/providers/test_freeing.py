"""Putting a model out of a server's memory, read back, in each server's own way.

The answers are written after the public documentation of llama-swap, LM Studio and llama.cpp.
"""

from __future__ import annotations

from contextlib import closing

import pytest

from bench_loop.contracts.provider import Freeing
from bench_loop.providers import _freeing, ollama, openai_compat
from tests.fakes.ollama import FakeOllama
from tests.fakes.openai_server import FakeOpenAI
from tests.fakes.server import Reply, Request, json_reply


class LlamaSwap(FakeOpenAI):
    """Tells what runs at /running, and stops one model by its path."""

    running = ("tiny", "other")
    is_stubborn = False

    def answer(self, request: Request) -> Reply:
        if request.path == "/running":
            rows = [{"model": name, "state": "ready"} for name in self.running]
            return json_reply({"running": rows})
        if request.method == "POST" and request.path.startswith("/api/models/unload/"):
            name = request.path.rpartition("/")[2]
            if not self.is_stubborn:
                self.running = tuple(one for one in self.running if one != name)
            return Reply(b"OK", content_type="text/plain")
        return super().answer(request)


class LmStudio(FakeOpenAI):
    """Lists loaded instances at /api/v1/models, and unloads one by its instance id."""

    instances = ("tiny", "tiny:2")

    def answer(self, request: Request) -> Reply:
        if request.path == "/api/v1/models":
            loaded = [{"id": one, "config": {"context_length": 8192}} for one in self.instances]
            models = [{"type": "llm", "key": "tiny", "loaded_instances": loaded}]
            return json_reply({"models": models})
        if request.path == "/api/v1/models/unload":
            gone = request.json["instance_id"]
            self.instances = tuple(one for one in self.instances if one != gone)
            return json_reply({"instance_id": gone})
        return super().answer(request)


class LlamaRouter(FakeOpenAI):
    """llama.cpp without a model of its own: /models tells the status of each."""

    state = "loaded"

    def answer(self, request: Request) -> Reply:
        if (request.method, request.path) == ("GET", "/models"):
            return json_reply({"data": [{"id": "tiny", "status": {"value": self.state}}]})
        if request.path == "/models/unload":
            self.state = "unloaded" if request.json == {"model": "tiny"} else self.state
            return json_reply({"success": True})
        return super().answer(request)


def freed(server: FakeOpenAI) -> bool | None:
    with closing(openai_compat.connect(server.url, None)) as provider:
        assert isinstance(provider, Freeing)
        return provider.free("tiny")


def test_llama_swap_stops_this_model_alone() -> None:
    with LlamaSwap() as server:
        assert freed(server) is True
        assert server.running == ("other",)


def test_lm_studio_unloads_every_instance_of_the_model() -> None:
    with LmStudio() as server:
        assert freed(server) is True
        assert server.instances == ()


def test_a_llama_cpp_router_unloads_the_model() -> None:
    with LlamaRouter() as server:
        assert freed(server) is True
        assert server.state == "unloaded"


def test_a_model_that_stays_is_not_called_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_freeing.free, "__defaults__", (0.3,))
    with LlamaSwap() as server:
        server.is_stubborn = True
        assert freed(server) is False


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
