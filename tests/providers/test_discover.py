"""Which model servers are found, by what they say, and that nothing else is taken for one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing

import pytest

from bench_loop.errors import ProviderError
from bench_loop.providers import discover, openai_compat
from bench_loop.providers.discover import FoundServer, Place
from bench_loop.providers.discover.endpoints import save_endpoint
from tests.fakes import engines
from tests.fakes.engines import FakeEngine, text_page
from tests.fakes.ollama import FakeModel, FakeOllama
from tests.fakes.openai_server import FakeOpenAI, error_reply
from tests.fakes.server import FOREVER, FakeServer, Piece, Reply, endless, json_reply
from tests.llama_cpp import LlamaCpp

PATIENT_S = 20.0
"""A time in which every server of a test answers, however busy the machine is."""


def found_at(*servers: FakeServer, limit_s: float = PATIENT_S) -> tuple[FoundServer, ...]:
    return discover.known_servers(tuple(Place(server.url) for server in servers), limit_s)


@pytest.fixture
def running() -> Iterator[Callable[..., tuple[Place, ...]]]:
    """Starts fake servers, as places to look at."""
    with ExitStack() as stack:

        def start(*servers: FakeServer) -> tuple[Place, ...]:
            return tuple(Place(stack.enter_context(server).url) for server in servers)

        yield start


@pytest.mark.parametrize(
    ("make", "provider", "engine", "version"),
    [
        (FakeOllama, "ollama", "ollama", "0.33.0"),
        (lambda: FakeOllama([]), "ollama", "ollama", "0.33.0"),
        (lambda: FakeOpenAI(engine="llama.cpp"), "openai_compat", "llama.cpp", "b7777-abcdef"),
        (engines.LMStudio, "openai_compat", "lmstudio", None),
        (lambda: engines.LMStudio(is_new=False), "openai_compat", "lmstudio", None),
        (engines.vllm, "openai_compat", "vllm", "0.21.0"),
        (engines.LlamaSwap, "openai_compat", "llama-swap", "180"),
        (engines.jan, "openai_compat", "jan", None),
        (engines.mlx, "openai_compat", "mlx", None),
        (FakeOpenAI, "openai_compat", "unknown", None),
    ],
)
def test_an_engine_is_known_by_its_own_words(
    make: Callable[[], FakeServer], provider: str, engine: str, version: str | None
) -> None:
    with make() as server:
        assert found_at(server) == (FoundServer(server.url, provider, engine, version, "ready"),)


@pytest.mark.parametrize(
    ("make", "engine"),
    [
        (engines.LMStudio, "lmstudio"),
        (engines.LlamaSwap, "llama-swap"),
        (engines.jan, "jan"),
        (engines.mlx, "mlx"),
    ],
)
def test_a_result_names_the_engine_as_discovery_does(
    make: Callable[[], FakeServer], engine: str
) -> None:
    with make() as server:
        assert openai_compat.connect(server.url, None).server().engine == engine


def test_an_engine_is_not_asked_for_what_others_have() -> None:
    with engines.LMStudio() as server:
        found_at(server)
        asked = {request.path for request in server.requests}
    assert asked == {"/v1/models", "/api/v1/models", "/api/v0/models"}


@pytest.mark.real
def test_a_real_llama_cpp_is_found(real_server: LlamaCpp) -> None:
    (found,) = discover.known_servers((Place(real_server.url),), PATIENT_S)
    assert (found.provider, found.engine, found.state) == ("openai_compat", "llama.cpp", "ready")
    assert found.version


IMPOSTORS = {
    "web app": lambda: FakeEngine({}, other=text_page("<h1>Welcome</h1>")),
    "web app with JSON": lambda: FakeEngine({}, other=json_reply({"status": "ok"})),
    "web app that lists other things": lambda: FakeEngine({"/v1/models": {"data": {"a": 1}}}),
    "a version and nothing else": lambda: FakeEngine({"/api/version": {"version": "0.33.0"}}),
    "a file server": FakeServer,
    "broken JSON": lambda: FakeEngine({}, other=Reply(b'{"data": [')),
    "deep JSON": lambda: FakeEngine({}, other=Reply(b"[" * 100_000)),
    "an error of its own": lambda: FakeEngine({}, other=error_reply(503, "Busy", "x")),
    "a login page": lambda: FakeEngine({}, other=text_page("Log in", 302)),
    "something else that wants a password": lambda: FakeOpenAI(api_key="k"),
    "an administration page": lambda: FakeEngine({}, other=text_page("Forbidden", 403)),
    "nothing but a closed door": lambda: FakeEngine({}, other=Reply(status=0)),
}


@pytest.mark.parametrize("kind", IMPOSTORS)
def test_what_only_listens_on_a_port_is_not_taken_for_a_model_server(kind: str) -> None:
    with IMPOSTORS[kind]() as server:
        assert found_at(server) == ()


def _slow() -> dict[str, FakeServer]:
    def bytes_without_end() -> Iterator[Piece]:
        yield Piece(b'{"data": [')
        yield from endless(b" " * 65536)

    return {
        "silent": FakeEngine({}, other=Reply(pause_s=FOREVER)),
        "a byte at a time": FakeEngine({}, other=Reply(endless(b" ", 0.05))),
        "without end": FakeEngine({}, other=Reply(bytes_without_end())),
        "huge": FakeEngine({}, other=Reply(b'{"data": ["' + b"x" * (8 * 2**20) + b'"]}')),
        "silent after its models": FakeEngine(
            {"/v1/models": engines.listing("m", owner="vllm")}, other=Reply(pause_s=FOREVER)
        ),
    }


def test_servers_that_never_answer_cost_one_limit_together(
    running: Callable[..., tuple[Place, ...]],
) -> None:
    places = running(*_slow().values(), *_slow().values())
    started = time.monotonic()
    found = discover.known_servers(places, limit_s=2.0)
    assert time.monotonic() - started < 10.0
    assert [server.engine for server in found] == ["vllm", "vllm"]


def test_a_redirect_is_not_followed() -> None:
    with FakeOpenAI(engine="llama.cpp") as real:
        away = {"Location": f"{real.url}/v1/models"}
        moved = Reply(status=307, headers=away)
        with FakeEngine({}, other=moved) as server:
            assert found_at(server) == ()
        assert real.requests == []


def test_no_key_is_sent_to_what_may_be_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHLOOP_API_KEY", "secret")
    with FakeOpenAI() as server:
        found_at(server)
        assert server.requests
        assert all("Authorization" not in request.headers for request in server.requests)


@pytest.mark.parametrize(("name", "has_key"), [(None, False), ("lab", True)])
def test_only_a_server_that_the_user_named_is_given_the_key(
    name: str | None, has_key: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCHLOOP_API_KEY", "secret")
    with FakeOllama() as server:
        (found,) = discover.known_servers((Place(server.url, name),), PATIENT_S)
        server.requests.clear()
        with closing(discover.connect(found)) as provider:
            provider.models()
        sent = {request.headers.get("Authorization") for request in server.requests}
    assert sent == {"Bearer secret" if has_key else None}


def test_a_named_server_that_wants_a_key_can_be_asked_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with engines.jan(api_key="k") as server:
        (found,) = discover.known_servers((Place(server.url, "lab"),), PATIENT_S)
        assert not discover.is_open(found)
        monkeypatch.setenv("BENCHLOOP_API_KEY", "k")
        assert discover.is_open(found)
        with closing(discover.connect(found)) as provider:
            assert len(provider.models()) == 1


def test_an_engine_that_nobody_knows_is_sent_no_prompt_unasked() -> None:
    with FakeOpenAI() as server:
        (found,) = found_at(server)
        (named,) = discover.known_servers((Place(server.url, "lab"),), PATIENT_S)
    assert (found.engine, found.state) == ("unknown", "ready")
    assert not discover.may_be_taken(found)
    assert discover.may_be_taken(named)


def test_all_questions_to_a_server_share_one_limit() -> None:
    with FakeEngine({}, other=Reply(pause_s=FOREVER)) as server:
        found = FoundServer(server.url, "ollama", "ollama", None, "ready")
        with closing(discover.connect(found, 0.5)) as provider:
            started = time.monotonic()
            for ask in (provider.server, provider.models, provider.server):
                with pytest.raises(ProviderError, match=r"did not answer within 0\.5 s"):
                    ask()
            assert time.monotonic() - started < 20.0


@pytest.mark.parametrize(
    ("make", "engine"),
    [
        (lambda: engines.jan(api_key="k"), "jan"),
        (lambda: FakeOpenAI(api_key="k"), "unknown"),
    ],
)
def test_a_server_that_wants_a_key_is_told_as_locked(
    make: Callable[[], FakeServer], engine: str
) -> None:
    with make() as server:
        (found,) = discover.known_servers((Place(server.url, "lab"),), PATIENT_S)
    assert (found.engine, found.state) == (engine, "locked")


def test_jan_is_known_without_its_key() -> None:
    with engines.jan(api_key="k") as server:
        assert [(one.engine, one.state) for one in found_at(server)] == [("jan", "locked")]


def test_a_server_that_is_still_loading_is_told() -> None:
    with FakeOpenAI(engine="llama.cpp", loading=9) as server:
        (found,) = found_at(server)
    assert (found.engine, found.state) == ("llama.cpp", "loading")


def test_a_server_that_is_still_loading_is_waited_for() -> None:
    said: list[str] = []
    with FakeOpenAI(engine="llama.cpp", loading=1) as server:
        found = discover.find_server(said.append, (Place(server.url),))
    assert found is not None
    assert found.state == "ready"
    assert len(said) == 1
    assert "still loading its model" in said[0]
    assert server.url in said[0]


def test_it_is_not_waited_for_without_end() -> None:
    with FakeOpenAI(engine="llama.cpp", loading=9) as server:
        assert discover.find_server(places=(Place(server.url),), wait_s=0.1) is None


def test_a_ready_server_is_taken_before_one_that_is_loading(
    running: Callable[..., tuple[Place, ...]],
) -> None:
    places = running(FakeOpenAI(engine="llama.cpp", loading=9), FakeOllama())
    found = discover.find_server(places=places)
    assert found is not None
    assert found.endpoint == places[1].url


@pytest.mark.parametrize(
    "models",
    [
        [],
        [FakeModel("nomic-embed-text:latest", capabilities=("embedding",))],
        [FakeModel("big:cloud", remote_host="https://cloud.example.invalid")],
    ],
)
def test_a_server_without_a_chat_model_of_its_own_is_not_taken(models: list[FakeModel]) -> None:
    with FakeOllama(models) as server:
        assert discover.find_server(places=(Place(server.url),)) is None


def test_an_engine_that_nobody_knows_is_shown_and_not_taken_unasked() -> None:
    with FakeOpenAI() as server:
        assert [one.engine for one in found_at(server)] == ["unknown"]
        assert discover.find_server(places=(Place(server.url),)) is None


def test_loaded_models_come_first_then_small_ones() -> None:
    with engines.LMStudio() as server:
        usable = discover.usable_models(openai_compat.connect(server.url, None))
    assert [model.model_id for model in usable] == [engines.LMSTUDIO_CHAT]


def test_the_usual_ports_are_looked_at_and_ollama_where_its_variable_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", ":11500")
    assert [place.url for place in discover.usual_places()] == [
        "http://127.0.0.1:11500",
        "http://127.0.0.1:8080",
        "http://127.0.0.1:1234",
        "http://127.0.0.1:8000",
        "http://127.0.0.1:1337",
    ]


def test_a_saved_endpoint_is_looked_at_too_and_carries_its_name() -> None:
    with FakeOllama() as server:
        save_endpoint("lab", server.url)
        named = [one for one in discover.known_servers(limit_s=PATIENT_S) if one.name]
    assert named == [FoundServer(server.url, "ollama", "ollama", "0.33.0", "ready", "lab")]


@pytest.mark.parametrize(
    ("other", "state"),
    [(Reply(status=0), "silent"), (text_page("Welcome"), "not_a_model_server")],
)
def test_a_saved_endpoint_that_is_no_model_server_says_so(other: Reply, state: str) -> None:
    with FakeEngine({}, other=other) as server:
        save_endpoint("lab", server.url)
        (found,) = [one for one in discover.known_servers(limit_s=PATIENT_S) if one.name]
    assert found.state == state


def test_a_saved_endpoint_is_met_by_its_name_and_with_its_provider() -> None:
    with FakeOllama() as server:
        save_endpoint("lab", server.url, "openai_compat")
        found = discover.meet("lab")
        asked = discover.meet("lab", provider="ollama")
    assert (found.provider, found.endpoint, found.engine) == (
        "openai_compat",
        server.url,
        "ollama",
    )
    assert asked.provider == "ollama"


def test_what_answers_at_an_address_is_met() -> None:
    with FakeOllama() as server:
        assert discover.meet(server.url).provider == "ollama"
    with FakeOpenAI() as server:
        assert discover.meet(f"{server.url}/v1").provider == "openai_compat"
    assert discover.meet(server.url).state == "silent"
