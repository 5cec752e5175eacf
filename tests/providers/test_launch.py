"""How a server was started: by its process on this machine, and nothing but its settings."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bench_loop.contracts.provider import ServerFacts
from bench_loop.providers import _launch, ollama, openai_compat
from tests.fakes.ollama import FakeOllama
from tests.fakes.openai_server import FakeOpenAI

PROGRAM = """\
import socket, subprocess, sys
own = socket.create_server(("127.0.0.1", 0))
child = subprocess.Popen([sys.executable, *sys.argv[sys.argv.index("THEN") + 1:]]) \\
    if "THEN" in sys.argv else None
print(own.getsockname()[1], flush=True)
sys.stdin.read()
if child:
    child.kill()
"""


@contextmanager
def process(
    folder: Path, name: str, *arguments: str, environment: dict[str, str] | None = None
) -> Iterator[int]:
    """A real process of that name with these arguments; the port that it listens on."""
    program = folder / name
    program.write_text(PROGRAM)
    with subprocess.Popen(
        [sys.executable, str(program), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment or {},
    ) as server:
        assert server.stdout is not None
        yield int(server.stdout.readline())
        server.communicate()


def facts(**known: object) -> ServerFacts:
    plain = {"provider": "p", "engine": "llama.cpp", "endpoint": "http://h", "is_local": True}
    return ServerFacts.model_validate(plain | known)


def test_a_foreign_llama_server_is_read_by_its_command_line(tmp_path: Path) -> None:
    options = "-m /home/alice/secret.gguf --api-key sk-1 -ngl 33 -fa on -ctk q8_0 -ctv q8_0 -np 4"
    with process(tmp_path, "llama-server", *options.split(), "-t", "6") as port:
        found = _launch.completed(facts(speculative="none"), port)
    assert (found.offloaded_layers, found.flash_attention, found.kv_cache_type) == (
        33,
        True,
        "q8_0",
    )
    assert (found.parallel_slots, found.threads, found.untold) == (4, 6, None)
    assert "alice" not in repr(found)
    assert "sk-1" not in repr(found)


def test_what_the_server_says_itself_goes_before(tmp_path: Path) -> None:
    with process(tmp_path, "llama-server", "-np", "4") as port:
        assert _launch.completed(facts(parallel_slots=2), port).parallel_slots == 2


def test_what_the_command_line_leaves_to_the_engine_stays_unknown(tmp_path: Path) -> None:
    with process(tmp_path, "llama-server", "-ngl", "auto", "--flash-attn", "auto") as port:
        found = _launch.completed(facts(parallel_slots=1, speculative="none"), port)
    assert (found.offloaded_layers, found.flash_attention) == (None, None)
    assert found.untold == (
        "Not told: flash attention, KV cache type, layers on the GPU. "
        "Its command line does not say."
    )


def test_an_ollama_is_read_by_its_environment_and_the_engine_that_it_started(
    tmp_path: Path,
) -> None:
    (tmp_path / "llama-server").write_text("import time; time.sleep(60)")
    engine = (str(tmp_path / "llama-server"), "--n-gpu-layers", "29", "--parallel", "1")
    variables = {"OLLAMA_KV_CACHE_TYPE": "q4_0", "OLLAMA_FLASH_ATTENTION": "1", "SECRET": "x"}
    with process(tmp_path, "ollama", "serve", "THEN", *engine, environment=variables) as port:
        found = _launch.completed(facts(engine="ollama"), port)
    assert (found.kv_cache_type, found.flash_attention) == ("q4_0", True)
    assert (found.offloaded_layers, found.parallel_slots) == (29, 1)
    assert found.untold is not None
    assert found.untold.startswith("Not told: speculative decoding.")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("--flash-attn --no-warmup", {"flash": ""}),
        ("-fa", {"flash": ""}),
        ("--cache-type-k=q4_0", {"kv_k": "q4_0"}),
        ("-md /home/bob/draft.gguf", {"draft": "draft"}),
        ("--spec-type ngram-mod", {"speculative": "ngram-mod"}),
        ("-t /etc/passwd", {}),
        ("--threads -np 2", {"slots": "2"}),
        ("-m model.gguf --host 0.0.0.0", {}),
    ],
)
def test_only_known_settings_are_taken(arguments: str, expected: dict[str, str]) -> None:
    assert _launch.settings_of(["llama-server", *arguments.split()], {}) == expected


def test_an_option_goes_before_an_environment_variable() -> None:
    variables = {"LLAMA_ARG_N_PARALLEL": "2", "LLAMA_ARG_FLASH_ATTN": "off"}
    found = _launch.launch_facts(_launch.settings_of(["llama-server", "-np", "8"], variables))
    assert (found["parallel_slots"], found["flash_attention"]) == (8, False)


def test_caches_of_two_types_are_both_named() -> None:
    assert _launch.launch_facts({"kv_k": "q8_0"})["kv_cache_type"] == "K q8_0, V f16"


@pytest.mark.parametrize("name", ["nginx", "python-app"])
def test_another_program_on_the_port_tells_nothing(tmp_path: Path, name: str) -> None:
    with process(tmp_path, name, "-np", "4") as port:
        found = _launch.completed(facts(), port)
    assert found.parallel_slots is None
    assert found.untold is not None
    assert "no server whose options are known" in found.untold


def test_a_server_elsewhere_is_not_looked_for() -> None:
    found = _launch.completed(facts(is_local=False), 8080)
    assert found.untold is not None
    assert found.untold.endswith("It runs on another machine.")


def test_providers_give_the_reason_for_what_they_do_not_know() -> None:
    with FakeOpenAI(engine="llama.cpp") as llama, FakeOllama() as native:
        found = openai_compat.connect(llama.url, None).server()
        other = ollama.connect(native.url, None).server()
    assert found.untold is not None
    assert found.untold.startswith("Not told: flash attention, KV cache type, layers on the GPU.")
    assert other.untold is not None
    assert other.untold.startswith("Not told: parallel slots, flash attention")


def test_vllm_names_the_type_of_its_cache() -> None:
    with FakeOpenAI(engine="vllm") as server:
        assert openai_compat.connect(server.url, None).server().kv_cache_type == "fp8"
