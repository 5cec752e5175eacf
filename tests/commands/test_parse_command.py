"""`bench-loop parse`: JSON lines in, their meaning out; every column of the case files holds."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bench_loop.cli import group
from tests.yardstick import idle_s

FIXTURES = Path(__file__).parents[1] / "fixtures"
CASES = FIXTURES / "cases"


def run_parse(
    arguments: Sequence[str], lines: Iterable[object]
) -> tuple[int, list[dict[str, Any]]]:
    """Exit code and answers of the command; a line that is bytes goes in as it is."""
    data = b"\n".join(
        line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines
    )
    done = CliRunner().invoke(group, ["parse", *arguments], input=data, standalone_mode=False)
    assert done.exception is None
    assert done.stderr == ""
    return done.return_value, [json.loads(line) for line in done.stdout.splitlines()]


def table(name: str) -> list[dict[str, str]]:
    with (CASES / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def model_line(row: dict[str, str]) -> dict[str, object]:
    return {"raw": row["raw"], "provider": row["provider"], "metadata": row["provider_meta"]}


def model_is_right(row: dict[str, str], found: dict[str, Any]) -> dict[str, bool]:
    """Every column that has an answer; of a fine-tune the base's family is right too."""
    families = {row["family"], "mistral"} if row["id"] == "M102" else {row["family"]}
    total, active = found["parameters_b"], found["active_parameters_b"]
    low, _, high = row["accept_total_b"].partition("-")
    published = float(row["params_active_b"] or "nan")
    return {
        "family": (found["model_family"] or "unknown") in families,
        "family_line": (found["model_line"] or "unknown") == row["family_line"],
        "total": float(low) <= total <= float(high) + 1e-9 if low else total is None,
        "active": abs(active - published) <= 0.2 * published
        if row["params_active_b"]
        else active is None,
        "quantization": (found["quantization"] or "") == row["quantization"],
        "quant_bits": str(found["quant_bits"] or "") == row["quant_bits"],
        "chat_ok": (found["refuse_reason"] is None) == (row["chat_ok"] == "yes"),
        "size_basis": (found["size_basis"] or "unknown") == row["size_basis"],
    }


def test_every_column_of_the_model_cases_is_right() -> None:
    rows = table("model_names.csv")
    code, found = run_parse(["model"], map(model_line, rows))
    assert (code, len(found)) == (0, len(rows))
    for row, name in zip(rows, found, strict=True):
        wrong = [column for column, holds in model_is_right(row, name).items() if not holds]
        assert wrong == [], row["raw"]


def gpu_line(row: dict[str, str]) -> dict[str, object]:
    return {
        "raw": row["raw"],
        "reported_by": row["reported_by"],
        "memory": row["reported_memory"],
        "system_ram_gb": float(row["system_ram_gb"]) if row["system_ram_gb"] else None,
    }


def gpu_is_right(row: dict[str, str], found: dict[str, Any]) -> dict[str, bool]:
    return {
        "vendor": (found["vendor"] or "none") == row["vendor"],
        "gpu_canonical": (found["gpu"] or "") == row["gpu_canonical"],
        "gpu_count": found["gpu_count"] == int(row["gpu_count"]),
        "vram_class_gb": str(found["gpu_memory_class_gb"] or "") == row["vram_class_gb"],
        "vram_total_class_gb": (found["gpu_memory_total_class_gb"] or 0)
        == int(row["vram_total_class_gb"]),
        "unified_memory": bool(found["unified_memory"]) == (row["unified_memory"] == "yes"),
    }


def test_every_column_of_the_hardware_cases_is_right() -> None:
    rows = table("hardware.csv")
    code, found = run_parse(["gpu"], map(gpu_line, rows))
    assert (code, len(found)) == (0, len(rows))
    for row, gpu in zip(rows, found, strict=True):
        wrong = [column for column, holds in gpu_is_right(row, gpu).items() if not holds]
        assert wrong == [], row["raw"]


def test_the_processor_of_a_machine_without_gpu_is_named() -> None:
    raws = ["AMD EPYC 9654 96-Core Processor", "CPU implementer\t: 0x70\nCPU part\t: 0x662"]
    _, found = run_parse(["gpu"], ({"raw": raw, "system_ram_gb": 64} for raw in raws))
    assert [gpu["cpu_model"] for gpu in found] == ["AMD EPYC 9654", "ARM 0x70/0x662"]
    assert found[0]["device_class"] == "cpu-epyc-9654-64gb"


def test_wsl_is_told() -> None:
    _, (gpu,) = run_parse(["gpu"], [{"raw": "RTX 4090; OS Linux 6.6.87.2-microsoft-standard-WSL2"}])
    assert (gpu["gpu"], gpu["os"]) == ("RTX 4090", "WSL2")


def stream_cases() -> dict[str, dict[str, Any]]:
    lines = (FIXTURES / "provider_cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = map(json.loads, lines)
    return {case["id"]: case for case in cases if case["kind"] in ("stream", "ttft", "tool_stream")}


def stream_is_right(answer: dict[str, Any], found: dict[str, Any]) -> bool:
    calls = [
        {"name": call["name"], "arguments": json.loads(call["arguments"])}
        for call in found["tool_calls"]
    ]
    ttft, ttfa = found["ttft_s"], found["ttfa_s"]
    values = {
        "text": found["text"],
        "thinking": found["thinking"],
        "state": found["state"],
        "completion_tokens": found["tokens"]["completion"],
        "finish_reason": found["finish_reason"],
        "reason": found["reason"],
        "pass": found["state"] == "complete",
        "ttft_ms": None if ttft is None else round(ttft * 1000),
        "time_to_first_content_ms": None if ttfa is None else round(ttfa * 1000),
        "calls": calls,
    }
    return {name: values[name] for name in answer} == answer


@pytest.mark.parametrize("dialect", ["openai", "ollama"])
def test_every_stream_case_is_right(dialect: str) -> None:
    is_ollamas = {"openai": False, "ollama": True}[dialect]
    cases = [
        case for case in stream_cases().values() if (case["input_format"] == "ndjson") == is_ollamas
    ]
    code, found = run_parse(["stream", "--dialect", dialect], cases)
    assert (code, len(found)) == (0, len(cases))
    assert len(cases) >= (2 if is_ollamas else 13)
    wrong = [
        case["id"]
        for case, stream in zip(cases, found, strict=True)
        if not stream_is_right(case["right_answer"], stream)
    ]
    assert wrong == []


def event(text: str, finish: str | None = None) -> str:
    choice = {"delta": {"content": text}, "finish_reason": finish}
    return f"data: {json.dumps({'choices': [choice]})}\n\n"


@pytest.mark.parametrize(
    ("raw", "state", "reason", "text"),
    [
        (event("a"), "incomplete", "incomplete_stream", "a"),
        (event("a", "length"), "complete", None, "a"),
        (event("a") + "data: {broken\n\n", "error", "broken_stream", "a"),
        (event("a") + 'data: {"error": "no"}', "error", "provider_error", "a"),
        ("\n\n: ping\n\n", "error", "empty_stream", ""),
        ([], "error", "empty_stream", ""),
        (event("a", "stop").removesuffix("\n\n"), "complete", None, "a"),
    ],
)
def test_how_a_stream_ended_is_told_with_what_came(
    raw: object, state: str, reason: str | None, text: str
) -> None:
    _, (found,) = run_parse(["stream", "--dialect", "openai"], [{"raw": raw}])
    assert (found["state"], found["reason"], found["text"]) == (state, reason, text)


def test_a_stream_without_times_has_none() -> None:
    _, (found,) = run_parse(["stream", "--dialect", "openai"], [{"raw": event("a", "stop")}])
    assert {found[name] for name in found if name.startswith(("t_", "ttf"))} == {None}


@pytest.mark.parametrize(
    ("arguments", "line", "field"),
    [
        (["model"], b"{", None),
        (["model"], b"\xff\xfe", None),
        (["model"], b"7", None),
        (["model"], b"[" * 20_000, None),
        (["model"], {}, "raw"),
        (["model"], {"raw": 7}, "raw"),
        (["model"], {"raw": "x", "provider": []}, "provider"),
        (["model"], {"raw": "x", "metadata": 7}, "metadata"),
        (["model"], {"raw": "x", "metadata": "{"}, "metadata"),
        (["gpu"], {"memory": "8 GB"}, "raw"),
        (["gpu"], {"raw": "x", "system_ram_gb": "much"}, "system_ram_gb"),
        (["gpu"], {"raw": "x", "system_ram_gb": -1}, "system_ram_gb"),
        (["gpu"], {"raw": "x", "memory": True}, "memory"),
        (["gpu"], {"raw": "x", "reported_by": 1}, "reported_by"),
        (["stream", "--dialect", "ollama"], {}, "raw"),
        (["stream", "--dialect", "ollama"], {"raw": ["zz"]}, "raw[0]"),
        (["stream", "--dialect", "ollama"], {"raw": [{"line": "x"}]}, "raw[0].t_ms"),
        (["stream", "--dialect", "ollama"], {"raw": [{"t_ms": 1}]}, "raw[0].line"),
    ],
)  # fmt: skip
def test_a_bad_line_is_named_and_the_rest_goes_on(
    arguments: list[str], line: object, field: str | None
) -> None:
    good = {"raw": ""}
    code, found = run_parse(arguments, [good, b"", line, good])
    assert code == 4
    assert len(found) == 3
    assert (found[1]["line"], found[1]["field"]) == (3, field)
    assert found[0] == found[2]


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        (
            {"arch": "qwen2", "quantization": "4bit", "compatibility_type": "mlx", "type": "llm"},
            {"quantization": "MLX-4bit", "refuse_reason": None},
        ),
        (
            {"type": "embeddings"},
            {"refuse_reason": "The server says that this model cannot chat."},
        ),
        (
            {"meta": {"n_params": 7615616512, "size": 4677120000}, "path": "/m/a.Q4_K_M.gguf"},
            {
                "parameters_b": 7.615616512,
                "size_basis": "provider",
                "bits_per_weight": 4.91,
                "quantization": "Q4_K_M",
            },
        ),
        (
            {"model_info": {"general.architecture": "gemma3", "parameter_count": 4299915632}},
            {"model_family": "gemma", "parameters_b": 4.299915632},
        ),
        ({"remote_host": "https://ollama.example.invalid"}, {"size_basis": None}),
        ({"details": None, "size": "big", "capabilities": 7}, {"refuse_reason": None}),
    ],
)  # fmt: skip
def test_what_servers_say_is_read_in_their_own_words(
    metadata: dict[str, Any], expected: dict[str, Any]
) -> None:
    line = {"raw": "my-alias", "metadata": metadata}
    _, (found,) = run_parse(["model"], [line])
    assert {name: found[name] for name in expected} == expected


def test_hostile_lines_are_answered() -> None:
    raws = ["A" * 100_000, "\x1b[2J\u202e", "\ud800", "q4_" * 30_000, "x/" * 50_000, "千问"]
    for kind in ("model", "gpu"):
        code, found = run_parse([kind], ({"raw": raw} for raw in raws))
        assert (code, len(found)) == (0, len(raws))


def odd_streams(dialect: str) -> list[dict[str, Any]]:
    lines = (FIXTURES / "own" / "streams.jsonl").read_text(encoding="utf-8").split("\n")
    streams = [json.loads(line) for line in lines if line]
    return [stream for stream in streams if stream["dialect"] == dialect]


@pytest.mark.parametrize("dialect", ["openai", "ollama"])
def test_odd_streams_are_read_right(dialect: str) -> None:
    streams = odd_streams(dialect)
    code, found = run_parse(["stream", "--dialect", dialect], streams)
    assert (code, len(found)) == (0, len(streams))
    wrong = [
        stream["why"]
        for stream, reply in zip(streams, found, strict=True)
        if not stream_is_right(stream["right_answer"], reply)
    ]
    assert wrong == []


@pytest.mark.parametrize(
    "raw",
    [
        "NVIDIA GeForce RTX 4090\0",
        "NVIDIA GeForce RTX 4090\\u0000",
        "\x1b[32mNVIDIA GeForce RTX 4090\x1b[0m\x07",
        "NVIDIA\u200b GeForce RTX 4090\u202e",
        "NVIDIA GeForce RTX\u00a04090",
        "\ud800 RTX 4090",
        "RTX 4090" + " " * 100_000,
    ],
)
def test_what_cannot_be_seen_does_not_hide_a_gpu(raw: str) -> None:
    _, (gpu,) = run_parse(["gpu"], [{"raw": raw}])
    assert (gpu["gpu"], gpu["gpu_memory_class_gb"]) == ("RTX 4090", 24)


@pytest.mark.parametrize(
    "piece", ["1", "Aa", "Aa, ", " ", "\t", "Properties(", "using device a (", "2x ", "RTX 4090 + "]
)
def test_a_repeated_pattern_takes_no_long_time(piece: str) -> None:
    raw = "RTX 4090 " + piece * (100_000 // len(piece)) + "x"
    work = partial(run_parse, ["gpu"], [{"raw": raw}])
    assert idle_s(work, limit_s=2.0, tries=3) < 2.0  # quadratic rules took 17


@pytest.mark.parametrize("source", ["/proc/cpuinfo", "lscpu"])
def test_a_report_of_processors_has_no_gpu(source: str) -> None:
    raw = "AMD Ryzen 7 8845HS w/ Radeon 780M Graphics"
    _, (gpu,) = run_parse(["gpu"], [{"raw": raw, "reported_by": source, "system_ram_gb": 31}])
    assert (gpu["gpu_count"], gpu["cpu_model"]) == (0, "AMD Ryzen 7 8845HS")


HOSTILE = (
    *("A" * 100_000, "(" * 100_000, "a: " * 33_000, "Name: RTX 4090\nx: y\n" * 5_000),
    *("|  0 " + "x " * 50_000, "- " * 50_000, "/" * 100_000, "data: " * 20_000, "card0," * 20_000),
)


@pytest.mark.parametrize("arguments", [["model"], ["gpu"], ["stream", "--dialect", "openai"]])
def test_a_long_line_gives_one_short_line(arguments: list[str]) -> None:
    _, found = run_parse(arguments, [{"raw": raw} for raw in HOSTILE])
    assert len(found) == len(HOSTILE)
    assert max(len(json.dumps(one)) for one in found) < 10_000
