"""What speaks against a model on a server: each rule where it holds and where it does not."""

from __future__ import annotations

from typing import Any

import pytest

from bench_loop.contracts.provider import ModelFacts, ServerFacts
from bench_loop.doctor.finding import Finding
from bench_loop.doctor.known_bad import table, version_key
from bench_loop.doctor.preflight import NO_TEMPLATE, Subject, preflight
from bench_loop.machine.facts import MachineFacts
from bench_loop.result.records import Gpu

GIB = 2**30
CARD = Gpu(model="GeForce RTX 4090", vendor="NVIDIA", memory_gb=24.0)
DESKTOP = MachineFacts(system_memory_gb=64.0, gpus=(CARD,), unified_memory=False)
MAC = MachineFacts(
    system_memory_gb=36.0,
    gpus=(Gpu(model="M3 Pro", vendor="Apple", memory_gb=36.0),),
    unified_memory=True,
)


def server(engine: str = "ollama", **more: Any) -> ServerFacts:
    provider = engine if engine == "ollama" else "openai_compat"
    return ServerFacts(
        **{
            "provider": provider,
            "engine": engine,
            "version": "0.33.0",
            "endpoint": "http://127.0.0.1:1",
            "is_local": True,
            **more,
        }
    )


def model(**more: Any) -> ModelFacts:
    return ModelFacts(**{"model_id": "qwen3:8b", "capabilities": ("completion", "tools"), **more})


def found(
    code: str,
    *,
    on: ServerFacts,
    of: ModelFacts,
    machine: MachineFacts = DESKTOP,
    window: int = 8192,
) -> Finding:
    """The finding with this code; the others are listed when it is missing."""
    findings = preflight(Subject(on, of, machine, window))
    by_code = {finding.code: finding for finding in findings}
    assert code in by_code, sorted(by_code)
    return by_code[code]


@pytest.mark.parametrize(
    ("engine", "version", "name"),
    [
        ("ollama", "0.12.0", "gemma3:12b-it-qat"),
        ("ollama", "0.13.3", "gemma3:4b"),
        ("ollama", "0.13.3", "hf.co/someone/gemma-3-12b-it-GGUF:Q5_K_M"),
        ("llama.cpp", "b7783-abcdef", "GLM-4.7-Flash-Q8_0.gguf"),
    ],
)
def test_an_engine_with_a_known_fault_stops_a_run(engine: str, version: str, name: str) -> None:
    finding = found("engine_known_bad", on=server(engine, version=version), of=model(model_id=name))
    assert finding.severity == "error"
    assert "https://github.com/" in finding.evidence
    assert (finding.remedy or "").startswith(f"Install {engine} ")


@pytest.mark.parametrize(
    ("engine", "version", "name"),
    [
        ("ollama", "0.12.1", "gemma3:12b-it-qat"),
        ("ollama", "0.13.3", "qwen3:8b"),
        ("ollama", "0.13.3", "gemma2:9b"),
        ("llama.cpp", "b7815-abcdef", "GLM-4.7-Flash-Q8_0.gguf"),
        ("llama.cpp", "b7783-abcdef", "GLM-4.6-Q8_0.gguf"),
    ],
)
def test_other_versions_and_models_are_not_concerned(engine: str, version: str, name: str) -> None:
    finding = found("engine_ok", on=server(engine, version=version), of=model(model_id=name))
    assert finding.severity == "ok"


def test_an_older_version_is_named_as_the_last_good_one() -> None:
    finding = found("engine_known_bad", on=server(version="0.13.3"), of=model(model_id="gemma3:4b"))
    assert finding.remedy == "Install ollama 0.13.2, or one that is newer than 0.13.3"


@pytest.mark.parametrize("version", [None, "b0-unknown", "xllamacpp 2026.10", "main"])
def test_a_version_that_tells_nothing_is_a_note(version: str | None) -> None:
    on = server("llama.cpp", version=version)
    assert found("engine_version_unknown", on=on, of=model()).severity == "note"


@pytest.mark.parametrize(
    ("version", "key"),
    [
        ("0.13.3", (0, 13, 3)),
        ("v0.13.3-rc1", (0, 13, 3)),
        ("b7783-abc1234", (7783,)),
        ("b1-7e4c0a9", ()),
        ("180", ()),
        ("", ()),
    ],
)
def test_a_version_is_numbers_to_compare_by(version: str, key: tuple[int, ...]) -> None:
    assert version_key(version) == key


def test_every_known_fault_has_a_source_a_range_and_a_version_outside_of_it() -> None:
    assert table()
    for bad in table():
        assert bad.source.startswith("https://")
        assert () < bad.first <= bad.last
        without = version_key(bad.without)
        assert without
        assert not bad.first <= without <= bad.last


def test_a_chat_model_is_well() -> None:
    assert found("kind_ok", on=server(), of=model()).severity == "ok"


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        (model(is_remote=True), "cloud_forwarded"),
        (model(model_id="gpt-oss:120b-cloud"), "cloud_forwarded"),
        (model(model_id="nomic-embed-text:latest"), "not_a_chat_model"),
        (model(capabilities=("embedding",)), "not_a_chat_model"),
    ],
)
def test_what_is_no_chat_model_of_this_server_stops_a_run(facts: ModelFacts, code: str) -> None:
    assert found(code, on=server(), of=facts).severity == "error"


@pytest.mark.parametrize(
    ("engine", "command"),
    [
        ("llama.cpp", "llama-server -m tiny.gguf -c 8192"),
        ("lmstudio", "lms load qwen3:8b --context-length 8192"),
        ("vllm", "vllm serve qwen3:8b --max-model-len 8192"),
        ("llama-swap", "Add -c 8192 to the cmd of qwen3:8b in llama-swap's configuration"),
        ("jan", "Load the model with a window of 8192 tokens"),
    ],
)
def test_a_window_that_is_too_small_is_told_with_the_command_for_a_larger_one(
    engine: str, command: str
) -> None:
    facts = model(context_loaded=4096, file_name="tiny.gguf")
    finding = found("window_too_small", on=server(engine), of=facts)
    assert (finding.severity, finding.remedy) == ("warning", command)
    assert finding.evidence == "4,096 tokens are loaded, a run needs 8,192"


def test_an_id_from_a_server_cannot_become_a_command() -> None:
    hostile = "x; rm -rf ~ #"
    findings = preflight(
        Subject(
            server(),
            model(
                model_id=hostile,
                context_declared=2048,
                chat_template_hash=NO_TEMPLATE,
                offloaded_share=0.5,
            ),
            DESKTOP,
            8192,
        )
    )
    remedies = [one.remedy or "" for one in findings if hostile in (one.remedy or "")]
    assert len(remedies) == 3
    assert all(hostile not in remedy.replace(f"'{hostile}'", "") for remedy in remedies)


def test_a_window_that_is_large_enough_is_well() -> None:
    assert found("window_ok", on=server("llama.cpp"), of=model(context_loaded=8192))
    assert found("window_ok", on=server("ollama"), of=model(context_loaded=4096))


def test_a_window_that_nobody_tells_is_a_note() -> None:
    assert found("window_unknown", on=server("jan"), of=model()).severity == "note"


def test_a_model_that_is_made_for_less_than_a_run_asks_is_told() -> None:
    finding = found("window_beyond_model", on=server(), of=model(context_declared=2048))
    assert finding.severity == "warning"
    assert finding.remedy == "bench-loop run --model qwen3:8b --context-window 2048"


@pytest.mark.parametrize(
    ("size", "machine", "code", "severity"),
    [
        (20 * GIB, DESKTOP, "memory_ok", "ok"),
        (40 * GIB, DESKTOP, "memory_spills", "warning"),
        (90 * GIB, DESKTOP, "memory_too_small", "warning"),
        (30 * GIB, MAC, "memory_ok", "ok"),
        (40 * GIB, MAC, "memory_too_small", "warning"),
    ],
)
def test_the_weights_are_set_against_the_memory(
    size: int, machine: MachineFacts, code: str, severity: str
) -> None:
    finding = found(code, on=server(), of=model(size_bytes=size), machine=machine)
    assert finding.severity == severity


def test_a_model_that_is_loaded_fits() -> None:
    facts = model(size_bytes=90 * GIB, context_loaded=8192)
    assert found("memory_ok", on=server(), of=facts).evidence == "the model is loaded"


def test_a_gpu_of_unknown_size_says_nothing_of_what_fits() -> None:
    machine = MachineFacts(
        system_memory_gb=8.0, gpus=(Gpu(model="CMP 170HX", vendor="NVIDIA"),), unified_memory=False
    )
    codes = {
        one.code for one in preflight(Subject(server(), model(size_bytes=20 * GIB), machine, 8192))
    }
    assert not any(code.startswith("memory") for code in codes)


@pytest.mark.parametrize("facts", [model(), model(size_bytes=GIB)])
def test_nothing_is_said_of_memory_that_is_not_known(facts: ModelFacts) -> None:
    elsewhere = server(is_local=False)
    codes = {one.code for one in preflight(Subject(elsewhere, facts, MachineFacts(), 8192))}
    assert not any(code.startswith(("memory", "gpu")) for code in codes)


def test_a_model_without_a_template_is_told() -> None:
    finding = found("template_missing", on=server(), of=model(chat_template_hash=NO_TEMPLATE))
    assert finding.severity == "warning"
    assert "ollama create qwen3:8b" in (finding.remedy or "")


def test_a_model_with_a_template_is_well() -> None:
    with_one = model(chat_template_hash="sha256:" + "a" * 64)
    assert found("template_ok", on=server(), of=with_one).severity == "ok"
    assert found("template_unknown", on=server("vllm"), of=model()).severity == "note"


@pytest.mark.parametrize(
    ("capabilities", "code"),
    [
        (("completion", "tools"), "tools_ok"),
        (("completion",), "tools_missing"),
        (None, "tools_unknown"),
    ],
)
def test_whether_the_model_can_call_tools_is_told(
    capabilities: tuple[str, ...] | None, code: str
) -> None:
    assert found(code, on=server(), of=model(capabilities=capabilities))


@pytest.mark.parametrize(
    ("share", "layers", "code", "severity"),
    [
        (1.0, None, "gpu_ok", "ok"),
        (0.62, None, "gpu_spill", "warning"),
        (None, 0, "gpu_spill", "warning"),
        (None, None, "gpu_unknown", "note"),
    ],
)
def test_layers_that_are_left_to_the_processor_are_told(
    share: float | None, layers: int | None, code: str, severity: str
) -> None:
    on = server(offloaded_layers=layers)
    assert found(code, on=on, of=model(offloaded_share=share)).severity == severity


def test_a_machine_without_a_gpu_has_nothing_to_spill() -> None:
    machine = MachineFacts(system_memory_gb=64.0)
    codes = {one.code for one in preflight(Subject(server(), model(), machine, 8192))}
    assert not any(code.startswith("gpu") for code in codes)
