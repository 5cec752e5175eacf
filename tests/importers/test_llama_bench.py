"""llama-bench files: old and new fields, several configurations, and files that contradict."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import mean, median
from typing import Any

import pytest

from bench_loop.errors import ResultError
from bench_loop.importers import import_file
from bench_loop.importers.building import Wishes
from bench_loop.result.records import RunResult
from bench_loop.result.store import from_bytes, to_bytes

FILES = Path(__file__).parent / "files"
NEW, OLD = FILES / "llama-bench-new.json", FILES / "llama-bench-old.jsonl"


def imported(file: Path, **wishes: Any) -> list[RunResult]:
    return import_file(file, Wishes(**wishes))


def changed(folder: Path, number: int, **fields: Any) -> Path:
    """The new file with other fields in one of its tests."""
    rows = json.loads(NEW.read_text())
    rows[number] |= fields
    file = folder / "changed.json"
    file.write_text(json.dumps(rows))
    return file


def test_a_new_build_gives_its_speed_by_shape() -> None:
    (result,) = imported(NEW)
    rows = json.loads(NEW.read_text())
    assert result.speed is not None
    assert result.speed.generation_tps is not None
    assert result.speed.prompt_tps is not None
    assert result.speed.generation_tps.median == median(rows[1]["samples_ts"])
    assert result.speed.generation_tps.mean == pytest.approx(mean(rows[1]["samples_ts"]))
    assert result.speed.generation_tps.n == 5
    assert result.speed.prompt_tps.median == median(rows[0]["samples_ts"])
    shapes = [(s.prompt_tokens, s.output_tokens, s.depth_tokens) for s in result.speed.shapes]
    assert shapes == [(512, 0, 0), (0, 128, 0), (0, 128, 4096), (512, 128, 0)]


def test_a_test_of_both_together_is_neither_speed() -> None:
    (result,) = imported(NEW)
    assert result.speed is not None
    both = result.speed.shapes[3]
    assert (both.generation_tps, both.prompt_tps) == (None, None)


def test_model_machine_and_settings_are_those_of_the_file() -> None:
    (result,) = imported(NEW)
    subject = result.subject
    assert (subject.model_family, subject.quantization) == ("qwen", "Q4_K_M")
    assert subject.parameters_b == pytest.approx(7.615616512)
    assert subject.file_name == "Qwen2.5-7B-Instruct-Q4_K_M.gguf"
    assert [gpu.model for gpu in result.machine.gpus] == ["RTX 4090"]
    assert result.machine.backend == "cuda"
    assert result.settings.threads == 16
    assert result.settings.flash_attention is None  # -1 is automatic
    assert result.imported is not None
    assert result.imported.stated["n_gpu_layers"] == "-1"
    assert result.imported.tool_version == "b7421 a1b2c3d4"
    assert result.imported.findings == ()


def test_no_path_of_the_user_comes_through() -> None:
    (result,) = imported(NEW)
    assert "someone" not in to_bytes(result).decode()


def test_what_the_file_does_not_state_is_null() -> None:
    (result,) = imported(NEW)
    assert result.settings.sampling is None
    assert result.settings.context_window is None
    assert result.machine.machine_id is None
    assert result.software is None
    assert result.total_runtime_s is None
    assert result.aggregates.overall_score is None
    assert result.trials == ()


def test_an_old_build_gives_one_run_for_each_configuration() -> None:
    eight, four = imported(OLD)
    assert (eight.settings.threads, four.settings.threads) == (8, 4)
    assert eight.subject.quantization == "Q4_0"
    assert eight.subject.file_name == "llama-2-7b-chat.Q4_0.gguf"
    assert eight.machine.backend == "cpu"
    assert eight.machine.device_class == "cpu-xeon-e-2288g"
    assert eight.fingerprint != four.fingerprint


def test_an_imported_result_is_a_result_file_like_any_other() -> None:
    for file in (NEW, OLD):
        for result in imported(file):
            assert from_bytes(to_bytes(result), "a file") == result


def test_the_same_file_is_the_same_run() -> None:
    (first,), (second,) = imported(NEW), imported(NEW)
    assert first.run_id != second.run_id
    assert first.fingerprint == second.fingerprint


def test_a_mean_that_its_samples_contradict_is_a_finding(tmp_path: Path) -> None:
    (result,) = imported(changed(tmp_path, 1, avg_ts=200.0))
    assert result.imported is not None
    (finding,) = result.imported.findings
    assert finding.startswith("tg128 ([1]): it claims mean 200")
    assert result.speed is not None
    assert result.speed.generation_tps is not None
    assert result.speed.generation_tps.mean < 135


def test_rates_that_their_times_contradict_are_a_finding(tmp_path: Path) -> None:
    rows = json.loads(NEW.read_text())
    times = [2 * ns for ns in rows[0]["samples_ns"]]
    (result,) = imported(changed(tmp_path, 0, samples_ns=times))
    assert result.imported is not None
    assert "samples_ts[0]" in result.imported.findings[0]


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"avg_ts": -5.0}, "[1], avg_ts"),
        ({"avg_ts": 1e308}, "[1], avg_ts"),
        ({"avg_ts": "131"}, "[1], avg_ts"),
        ({"avg_ts": True}, "[1], avg_ts"),
        ({"samples_ts": [131.0, float("nan")]}, "[1], samples_ts[1]"),
        ({"samples_ts": []}, "[1], samples_ts"),
        ({"n_gen": -1}, "[1], n_gen"),
        ({"n_gen": 0}, "[1], n_prompt"),
        ({"model_filename": None}, "[1], model_filename"),
        ({"test_time": "yesterday"}, "[1], test_time"),
    ],
)
def test_a_wrong_field_is_named_with_a_remedy(
    tmp_path: Path, fields: dict[str, Any], field: str
) -> None:
    with pytest.raises(ResultError) as refused:
        imported(changed(tmp_path, 1, **fields))
    assert refused.value.field == field
    assert refused.value.remedy is not None


def test_another_model_may_be_named() -> None:
    (result,) = imported(NEW, model="qwen2.5:7b")
    assert result.subject.model_id == "qwen2.5:7b"


def test_a_declared_machine_does_not_replace_what_the_file_states() -> None:
    (result,) = imported(NEW, gpu="RTX 3090", gpu_memory_gb=24.0, label="desk")
    assert result.machine.device_class == "rtx-4090-24gb"
    assert result.machine.declared is not None
    assert result.machine.declared.gpu == "RTX 3090"
    assert result.machine.machine_label == "desk"


def test_times_without_end_end_nowhere(tmp_path: Path) -> None:
    far = {"test_time": "9999-12-31T23:59:59Z", "samples_ns": [2**53 - 1] * 5}
    (result,) = imported(changed(tmp_path, 0, **far))
    assert result.finished_at.year < 9999


def test_many_tests_keep_their_speeds_and_the_first_of_their_samples(tmp_path: Path) -> None:
    row = json.loads(NEW.read_text())[1]
    rows = [row | {"n_gen": 1 + number} for number in range(150)]
    file = tmp_path / "many.json"
    file.write_text(json.dumps(rows))
    (result,) = imported(file)
    assert result.speed is not None
    assert len(result.speed.shapes) == 150
    assert result.imported is not None
    assert len(result.imported.samples) == 100
    assert len(result.imported.findings) == 50
