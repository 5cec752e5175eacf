"""Forged and faulty runs, and the finding that catches each."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bench_loop.contracts.chat import EngineTimings, Sampling
from bench_loop.result.fingerprint import fingerprinted
from bench_loop.result.records import (
    Artifact,
    DeclaredMachine,
    Gpu,
    HarnessSettings,
    HarnessTrial,
    MatrixArm,
    PeakMemory,
    Power,
    RunPart,
    RunResult,
    Spread,
    SuiteSettings,
    Trial,
)
from bench_loop.scoring.differences import differences, is_same
from submissions import checks
from submissions.checks import Finding
from submissions.checks.artifacts import is_safe_path
from submissions.checks.speed import fastest_rate
from tests.site.make_result import (
    make_document,
    make_harness_settings,
    make_result,
    nothing_right,
    rescored,
    speed_trial,
)

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
DONE = NOW - timedelta(hours=1)
CODE_SUITES = {"coding", "loop_code_fix"}


def findings(result: RunResult, severity: str = "refused") -> list[Finding]:
    return [one for one in checks.findings(result, NOW) if one.severity == severity]


def fields(result: RunResult, severity: str = "refused") -> set[str]:
    return {finding.field for finding in findings(result, severity)}


def honest(**changes: Any) -> RunResult:
    return make_result(finished_at=DONE, **changes)


def with_first_trial(result: RunResult, **changes: Any) -> RunResult:
    """`result` with its first quality trial changed, and every score made to fit."""
    index = next(i for i, trial in enumerate(result.trials) if trial.suite != "speed")
    trials = list(result.trials)
    trials[index] = trials[index].model_copy(update=changes)
    return rescored(result.model_copy(update={"trials": tuple(trials)}))


def test_an_honest_run_without_code_is_consistent() -> None:
    found = checks.findings(honest(), NOW)
    assert [one for one in found if one.severity != "note"] == []
    assert checks.level(found) == "consistent"


@pytest.mark.parametrize("profile", ["smoke", "quick", "core", "full", "harness"])
def test_an_honest_run_with_code_is_reported_for_that_code_alone(profile: str) -> None:
    result = honest(profile=profile)
    found = [one for one in checks.findings(result, NOW) if one.severity != "note"]
    assert {one.code for one in found} == {"code_waiting"}
    judged_by_code = {trial.suite for trial in result.trials if trial.verifier is not None}
    assert {one.field for one in found} == {
        f"suites[{index}]"
        for index, suite in enumerate(result.suites)
        if suite.suite in judged_by_code
    }
    with_code = {trial.suite for trial in result.trials if trial.verifier}
    assert with_code >= (CODE_SUITES if profile != "harness" else {"loop_code_fix_files"})
    assert checks.level(found) == "reported"


def test_an_honest_run_of_picked_suites_is_accepted() -> None:
    assert findings(honest(suites=["reasonmath"])) == []


def test_a_suite_said_to_have_its_own_trials_must_have_them_and_the_packs_sampling() -> None:
    result = honest()
    own = SuiteSettings(suite="reasonmath", trials=3, sampling=Sampling(temperature=0.7))
    settings = result.settings.model_copy(update={"by_suite": (own,)})
    changed = rescored(result.model_copy(update={"settings": settings}))
    assert "trials" in fields(changed)
    assert "settings.by_suite" in fields(changed, "needs_review")
    assert "settings.by_suite" not in fields(result, "needs_review")


def test_an_honest_failing_run_is_accepted() -> None:
    assert findings(honest(write=nothing_right)) == []


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"outcome": "pass", "score": 1.0, "reason": None}, "outcome"),
        ({"score": 0.5}, "score"),
        ({"reason": "another_reason"}, "reason"),
        ({"answer": "42"}, "answer"),
        ({"outcome": "not_applicable", "reason": "no_tools"}, "outcome"),
        ({"outcome": "partial"}, "outcome"),
        ({"output": "another output"}, "answer"),
    ],
)
def test_a_flipped_verdict_is_refused_whatever_the_scores_say(
    changes: dict[str, Any], field: str
) -> None:
    forged = with_first_trial(honest(write=nothing_right), **changes)
    caught = fields(forged)
    assert any(name.startswith("trials[") for name in caught), caught
    if "output" not in changes:
        assert any(name.endswith(f".{field}") for name in caught), caught


NOT_GIVEN = {
    "outcome": "not_applicable",
    "score": 0.0,
    "reason": "harness_lacks_capability",
    "answer": None,
    "output": None,
    "turns": 0,
    "requests": (),
}


@pytest.mark.parametrize(("suite", "is_refused"), [("reasonmath", True), ("toolcall", False)])
def test_a_task_is_not_applicable_only_where_the_harness_cannot_be_given_it(
    suite: str, is_refused: bool
) -> None:
    claimed = with_first_trial(honest(suites=[suite], harness="aider"), **NOT_GIVEN)
    assert ("trials[0].outcome" in fields(claimed)) is is_refused


def test_an_honest_run_without_a_speed_has_the_wall_limit_of_one() -> None:
    found = checks.findings(honest(suites=["reasonmath"]), NOW)
    assert checks.level(found) == "consistent", found


def test_an_honest_run_in_a_harness_is_consistent() -> None:
    found = checks.findings(honest(harness="goose"), NOW)
    assert checks.level(found) == "consistent", found


@pytest.mark.parametrize(
    ("harness", "settings", "field"),
    [
        ("goose", None, "settings.harness"),
        ("raw", make_harness_settings("goose"), "settings.harness"),
        ("goose", make_harness_settings("goose", limit_rule="none"), "settings.harness.limit_rule"),
    ],
)
def test_a_harness_that_was_run_otherwise_is_looked_at(
    harness: str, settings: HarnessSettings | None, field: str
) -> None:
    result = honest(harness=harness)
    changed = result.settings.model_copy(update={"harness": settings})
    assert field in fields(
        rescored(result.model_copy(update={"settings": changed})), "needs_review"
    )


def test_raw_has_no_times_of_a_program() -> None:
    forged = with_first_trial(
        honest(suites=["reasonmath"]), harness=HarnessTrial(way="question", wall_s=1.0)
    )
    assert "trials[0].harness" in fields(forged)


HOME = "/home/jane.miller/notes"


@pytest.mark.parametrize(
    ("changes", "severity"),
    [
        ({"transcript": ({"role": "tool", "content": HOME},)}, "refused"),
        ({"harness": HarnessTrial(way="question", diff=HOME)}, "needs_review"),
        ({"harness": HarnessTrial(way="question", said={"notices": HOME})}, "needs_review"),
        ({"message": HOME}, "needs_review"),
        ({"reason": HOME}, "refused"),
    ],
)
def test_a_home_folder_in_the_words_of_model_or_harness_is_for_a_person_to_judge(
    changes: dict[str, Any], severity: str
) -> None:
    result = with_first_trial(honest(suites=["reasonmath"], harness="goose"), **changes)
    found = checks.check_privacy(checks.Upload(result, NOW))
    assert {one.severity for one in found} == {severity}


def test_a_pass_without_an_output_is_refused() -> None:
    assert fields(with_first_trial(honest(), output=None))


@pytest.mark.parametrize(
    "changes", [{"output": None}, {"output": " \n"}, {"finish_reason": "length"}, {"limit": "wall"}]
)
def test_a_pass_of_code_that_nobody_wrote_to_its_end_is_refused(changes: dict[str, Any]) -> None:
    forged = with_first_trial(honest(suites=["coding"]), **changes)
    assert "trials[0].outcome" in fields(forged)


def test_an_honest_failing_run_of_code_is_accepted() -> None:
    for write in (nothing_right, lambda task: ""):
        assert findings(honest(suites=["loop_code_fix"], write=write)) == []


def test_a_harness_failure_costs_a_point_and_is_accepted() -> None:
    broken = with_first_trial(
        honest(profile="smoke", harness="goose"),
        outcome="harness_error",
        score=0.0,
        reason="harness_failed",
        answer=None,
        output=None,
        requests=(),
    )
    assert findings(broken) == []
    quality = broken.aggregates.quality_score
    assert quality is not None
    assert quality < 100


@pytest.mark.parametrize("changes", [{"score": 1.0}, {"answer": "42"}])
def test_a_failure_without_an_output_claims_nothing(changes: dict[str, Any]) -> None:
    ending = {"outcome": "fail", "reason": "engine_crashed", "output": None, "score": 0.0}
    forged = with_first_trial(honest(), **{**ending, "answer": None, **changes})
    assert any(name.endswith(next(iter(changes))) for name in fields(forged))


def test_slow_timings_cannot_be_left_out_by_calling_them_warm_ups() -> None:
    result = honest()
    trials = [
        trial.model_copy(update={"trial": 0, "is_warmup": False})
        if (trial.task_id, trial.trial) == ("p1024x256", 1)
        else trial
        for trial in result.trials
    ]
    forged = rescored(result.model_copy(update={"trials": tuple(trials)}))
    assert "missing_trial" in {one.code for one in findings(forged)}


def test_a_dropped_timing_is_looked_at() -> None:
    result = honest()
    trials = [
        trial.model_copy(update={"finish_reason": "error"})
        if (trial.task_id, trial.trial) == ("p1024x256", 1)
        else trial
        for trial in result.trials
    ]
    odd = rescored(result.model_copy(update={"trials": tuple(trials)}))
    assert {one.field for one in findings(odd, "needs_review")} == {"speed.findings"}


def test_edited_aggregates_are_refused_leaf_by_leaf() -> None:
    result = honest()
    assert result.aggregates.reliability_score is not None
    forged = result.model_copy(
        update={"aggregates": result.aggregates.model_copy(update={"answers_per_minute": 99.0})}
    )
    assert fields(forged) == {"aggregates.answers_per_minute"}


def test_a_score_is_compared_after_six_decimals() -> None:
    assert is_same(50.0000001, 50.0000004)
    assert not is_same(50.000001, 50.000002)
    assert not is_same(None, 0.0)


def test_a_missing_trial_is_refused() -> None:
    result = honest(profile="smoke")
    shorter = rescored(result.model_copy(update={"trials": result.trials[:-1]}))
    assert "missing_trial" in {one.code for one in findings(shorter)}


def test_a_suite_left_out_of_a_profile_gives_no_overall() -> None:
    result = honest(profile="quick")
    assert result.aggregates.overall_score is not None
    kept = [suite.suite for suite in result.suites][1:]
    trials = tuple(trial for trial in result.trials if trial.suite in kept)
    partial = rescored(result.model_copy(update={"trials": trials}), suites=kept)
    assert findings(partial) == []
    assert partial.aggregates.overall_score is None


def test_a_dropped_suite_that_still_claims_a_quality_is_refused() -> None:
    result = honest()
    kept = [suite.suite for suite in result.suites][1:]
    trials = tuple(trial for trial in result.trials if trial.suite in kept)
    partial = rescored(result.model_copy(update={"trials": trials}), suites=kept)
    forged = partial.model_copy(
        update={"aggregates": partial.aggregates.model_copy(update={"quality_score": 100.0})}
    )
    assert "aggregates.quality_score" in fields(forged)


def test_an_unofficial_pack_is_refused() -> None:
    result = honest()
    suites = (
        result.suites[0].model_copy(update={"pack_hash": "sha256:" + "a" * 64}),
        *result.suites[1:],
    )
    assert "suites[0].pack_hash" in fields(result.model_copy(update={"suites": suites}))


@pytest.mark.parametrize("status", ["incomplete", "aborted"])
def test_a_run_that_is_not_complete_is_refused(status: str) -> None:
    assert "status" in fields(honest().model_copy(update={"status": status}))


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"finished_at": NOW + timedelta(minutes=6)}, "finished_at"),
        ({"started_at": NOW + timedelta(days=9)}, "started_at"),
        ({"started_at": DONE + timedelta(minutes=1)}, "finished_at"),
        ({"total_runtime_s": 0.5}, "total_runtime_s"),
        ({"benchmark_version": "99.0.0"}, "benchmark_version"),
        ({"benchmark_version": "latest"}, "benchmark_version"),
        ({"scoring_version": "999"}, "scoring_version"),
        ({"fingerprint": "sha256:" + "1" * 64}, "fingerprint"),
    ],
)
def test_a_header_that_cannot_be_is_refused(changes: dict[str, Any], field: str) -> None:
    assert field in fields(honest().model_copy(update=changes))


def test_a_clock_four_minutes_fast_is_accepted() -> None:
    assert findings(make_result(finished_at=NOW + timedelta(minutes=4))) == []


@pytest.mark.parametrize(
    "marks",
    [
        {"t_first_byte_s": 1.5, "t_first_answer_s": 0.5},
        {"t_first_answer_s": 1.9, "t_last_s": 1.0},
        {"t_last_s": 60.0},
    ],
)
def test_time_marks_out_of_order_are_refused(marks: dict[str, float]) -> None:
    assert "marks_reversed" in {one.code for one in findings(with_first_trial(honest(), **marks))}


def test_a_million_tokens_a_second_are_refused() -> None:
    timings = EngineTimings(generated_tokens=1000, generation_s=0.001)
    forged = with_first_trial(honest(), engine_timings=timings)
    assert "impossible_speed" in {one.code for one in findings(forged)}


def test_a_very_fast_stream_is_looked_at_and_not_refused() -> None:
    timings = EngineTimings(generated_tokens=1000, generation_s=0.2)
    fast = with_first_trial(honest(), engine_timings=timings)
    assert findings(fast) == []
    assert "very_fast" in {one.code for one in findings(fast, "needs_review")}
    assert checks.level(checks.findings(fast, NOW)) == "reported"


def test_the_rate_of_a_stream_leaves_its_first_event_out() -> None:
    trial = speed_trial(1024, 101, 1, 50.0).model_copy(update={"engine_timings": None})
    assert fastest_rate(trial) == pytest.approx(50.0)


@pytest.mark.parametrize(
    "path", ["../../etc/passwd", "/etc/passwd", "C:\\Users\\a.txt", "c:a", "a/../../b", "", "a\\b"]
)
def test_an_artifact_outside_the_workspace_is_unsafe(path: str) -> None:
    assert not is_safe_path(path)


def test_an_artifact_inside_the_workspace_is_safe() -> None:
    assert is_safe_path("src/main.py")


def test_an_unsafe_artifact_is_refused() -> None:
    artifact = Artifact(path="../x", sha256="sha256:" + "0" * 64, size_bytes=1)
    forged = with_first_trial(honest(), artifacts=(artifact,))
    assert any(name.endswith("artifacts[0].path") for name in fields(forged))


@pytest.mark.parametrize("path", ["/home/alice/x", "/Users/alice/x", "C:\\Users\\alice\\x"])
def test_a_home_folder_in_the_machine_is_refused(path: str) -> None:
    assert "machine.machine_label" in fields(honest(machine={"machine_label": path}))


@pytest.mark.parametrize("text", ["~/x", "/home/user/x", "/homework/x", "C:\\Users\\user\\x"])
def test_a_path_that_names_nobody_is_accepted(text: str) -> None:
    assert findings(honest(machine={"machine_label": text})) == []


def test_a_home_folder_in_an_output_is_looked_at() -> None:
    def write(task: object) -> str:
        return "see /home/alice/notes"

    result = honest(write=write)
    assert findings(result) == []
    assert {one.code for one in findings(result, "needs_review")} == {"private"}


def test_a_machine_that_was_not_detected_is_looked_at() -> None:
    remote = honest(machine={"is_local": False})
    assert fields(remote, "needs_review") == {"machine.is_local"}


def test_an_unknown_gpu_is_no_finding() -> None:
    assert findings(honest(gpu="Marvel 9000")) == []


def test_differences_name_the_leaves() -> None:
    claimed = {"a": [1.0, {"b": 2}], "c": None}
    computed = {"a": [1.0, {"b": 3}], "c": {"d": 1}}
    found = list(differences(claimed, computed, "x"))
    assert found == [("x.a[1].b", 2, 3), ("x.c", None, "1 values")]


def test_findings_are_json() -> None:
    forged = with_first_trial(honest(write=nothing_right), outcome="pass", score=1.0, reason=None)
    found = [finding.as_json() for finding in checks.findings(forged, NOW)]
    assert json.loads(json.dumps(found)) == found


def test_the_number_of_findings_is_bounded() -> None:
    document = make_document()
    result = RunResult.model_validate_json(json.dumps(document))
    trial = Trial(suite="nowhere", task_id="x", prompt_hash="sha256:" + "0" * 64, trial=1)
    flood = result.model_copy(update={"trials": (trial,) * 2000})
    assert len(checks.findings(flood, NOW)) == checks.MAX_FINDINGS


def test_a_speed_above_what_the_hardware_allows_is_reviewed_and_never_refused() -> None:
    # RTX 4090: 1008 GB/s / (8.2 x 10^9 x 4.9 bits / 8) = 200.7 tok/s, 230.8 with the tolerance
    result = honest(generation_tps=240.0)
    assert findings(result) == []
    codes = {one.code for one in findings(result, "needs_review")}
    assert codes == {"implausible_speed"}


def test_the_same_speed_on_two_faster_gpus_is_accepted() -> None:
    gpus = (Gpu(model="RTX 5090", vendor="NVIDIA", memory_gb=31.8),) * 2
    machine = {"gpus": gpus, "gpu_memory_gb": 63.6, "device_class": "2x-rtx-5090-32gb"}
    assert findings(honest(generation_tps=240.0, machine=machine), "needs_review") == []


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"device_class": "rtx-5090-32gb"}, "machine.device_class"),
        ({"gpu_memory_gb": 48.0}, "machine.gpu_memory_gb"),
        ({"gpu_memory_gb": None}, "machine.gpu_memory_gb"),
        ({"gpus": ()}, "machine.device_class"),
        ({"declared": DeclaredMachine(gpu="H200 x8")}, "machine.declared.gpu"),
    ],
)
def test_hardware_that_contradicts_itself_is_looked_at(changes: dict[str, Any], field: str) -> None:
    result = honest(machine=changes)
    assert findings(result) == []
    assert field in fields(result, "needs_review")


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"parameters_b": 70.0}, "subject.parameters_b"),
        ({"provider": "my-cloud"}, "subject.provider"),
        ({"harness": "my-harness"}, "subject.harness"),
        ({"model_id": "qwen3:8b-q8_0"}, "subject.quantization"),
    ],
)
def test_a_subject_that_this_site_cannot_place_is_looked_at(
    changes: dict[str, Any], field: str
) -> None:
    result = honest()
    renamed = result.model_copy(update={"subject": result.subject.model_copy(update=changes)})
    assert fields(rescored(renamed), "needs_review") == {field}


@pytest.mark.parametrize(
    ("model_id", "parameters_b", "expected"),
    [
        ("qwen2.5-coder-0.5b", 0.630, set()),
        ("qwen2.5-coder-0.5b", 1.54, {"subject.parameters_b"}),
        ("qwen2.5-coder-0.5b", 0.36, {"subject.parameters_b"}),
        ("qwen3:8b", 10.5, {"subject.parameters_b"}),
    ],
)
def test_a_small_model_whose_file_holds_its_embeddings_twice_is_named_rightly(
    model_id: str, parameters_b: float, expected: set[str]
) -> None:
    result = honest()
    changes = {"model_id": model_id, "parameters_b": parameters_b}
    renamed = result.model_copy(update={"subject": result.subject.model_copy(update=changes)})
    assert fields(rescored(renamed), "needs_review") == expected


def test_other_rules_than_those_of_every_run_are_looked_at() -> None:
    result = honest(profile="smoke")
    settings = result.settings.model_copy(update={"answer_budget_rule": "no bound"})
    changed = rescored(result.model_copy(update={"settings": settings}))
    assert "settings.answer_budget_rule" in fields(changed, "needs_review")
    assert "settings.answer_budget_rule" not in fields(result, "needs_review")


def test_loading_longer_than_the_whole_run_is_refused() -> None:
    result = honest()
    assert result.speed is not None
    load = Spread(peak=9e8, mean=9e8, median=9e8, n=1)
    speed = result.speed.model_copy(update={"load_s": load})
    assert "total_runtime_s" in fields(result.model_copy(update={"speed": speed}))


@pytest.mark.parametrize(
    "said",
    [
        {"gpu_uuid": "GPU-00000000-1111-2222-3333-444444444444"},
        {"host": {"ip": "192.168.1.50"}},
        {"mac": "a4:83:e7:12:34:56"},
        {"/home/alice/secret": 1},
        {"note": "sk-proj-" + "Ab1" * 10},
    ],
)
def test_what_points_to_one_computer_is_refused(said: dict[str, Any]) -> None:
    result = honest()
    trial = result.trials[-1].model_copy(update={"transcript": (said,)})
    changed = result.model_copy(update={"trials": (*result.trials[:-1], trial)})
    assert {one.code for one in findings(rescored(changed))} == {"private"}


POWER = Power(
    source="nvml",
    scope="gpus",
    interval_s=0.1,
    coverage=1.0,
    idle_w=22.0,
    energy_j=9000.0,
    joules_per_token=4.1,
    joules_per_correct_answer=90.0,
)


def with_sensors(power: Power | None, **peak: Any) -> RunResult:
    memory = PeakMemory(**peak) if peak else None
    return honest().model_copy(update={"power": power, "peak_memory": memory})


def test_honest_readings_of_power_and_memory_are_accepted() -> None:
    result = with_sensors(POWER, ram_gb=3.1, ram_scope="server", vram_gb=7.2)
    assert [one for one in checks.findings(result, NOW) if one.severity != "note"] == []


def test_energy_that_was_not_covered_is_refused() -> None:
    power = POWER.model_copy(update={"coverage": 0.8})
    assert fields(with_sensors(power)) == {"power.energy_j"}


def test_energy_of_answers_that_none_gave_is_refused() -> None:
    wrong = honest(write=nothing_right).model_copy(update={"power": POWER})
    assert fields(wrong) == {"power.joules_per_correct_answer"}


def test_answers_that_took_more_energy_than_the_run_are_refused() -> None:
    power = POWER.model_copy(update={"joules_per_correct_answer": 9000.0})
    assert fields(with_sensors(power)) == {"power.joules_per_correct_answer"}


@pytest.mark.parametrize(
    ("peak", "field"),
    [
        ({"ram_gb": 90.0, "ram_scope": "server"}, "peak_memory.ram_gb"),
        ({"vram_gb": 48.0}, "peak_memory.vram_gb"),
    ],
)
def test_more_memory_in_use_than_there_is_is_looked_at(peak: dict[str, Any], field: str) -> None:
    result = with_sensors(None, **peak)
    assert (fields(result), fields(result, "needs_review")) == (set(), {field})


def test_a_sensor_of_another_machine_than_the_model_ran_on_is_looked_at() -> None:
    cards = honest(machine={"gpus": (), "gpu_memory_gb": None, "device_class": "cpu-x-8c-64gb"})
    result = cards.model_copy(update={"power": POWER})
    assert "power.source" in fields(result, "needs_review")


MATRIX_ID = "matrix-20260102T030405Z-abcdefghij"


def arm(cold: int = 1, turns: int = 1, **matrix: Any) -> RunResult:
    """A run that had `turns` in a matrix, and so many trials that were first in one."""
    plain = honest()
    told = {"matrix_id": MATRIX_ID, "arm": 1, "arms": ("raw", "aider"), **matrix}
    marked = (
        trial.model_copy(update={"is_cold": place < cold})
        for place, trial in enumerate(plain.trials)
    )
    parts = tuple(
        RunPart(
            started_at=plain.started_at,
            finished_at=plain.finished_at,
            runtime_s=plain.total_runtime_s or 0.0,
            block=number,
        )
        for number in range(1, turns + 1)
    )
    return fingerprinted(
        plain.model_copy(
            update={"matrix": MatrixArm(**told), "trials": tuple(marked), "parts": parts}
        )
    )


def test_an_honest_arm_of_a_matrix_is_not_refused() -> None:
    assert "matrix_mismatch" not in {one.code for one in findings(arm())}


@pytest.mark.parametrize(
    ("forged", "field"),
    [
        (arm(cold=2), "trials"),
        (arm(cold=10_000, turns=3), "trials"),
        (arm(arm=2), "matrix.arm"),
        (arm(arm=100), "matrix.arm"),
        (arm(arms=()), "matrix.arm"),
        (arm(arms=("raw", "raw")), "matrix.arms"),
        (arm().model_copy(update={"matrix": None}), "matrix"),
        (arm(cold=0, turns=1).model_copy(update={"matrix": None}), "matrix"),
    ],
)
def test_an_arm_that_cannot_have_been_is_refused(forged: RunResult, field: str) -> None:
    found = findings(forged)
    assert field in {one.field for one in found if one.code == "matrix_mismatch"}
