"""The forged runs: how each was made, and the finding that catches it.

Every forger here recomputes scores and fingerprint, so that nothing is caught by a sum alone.
What none of these checks can catch is told in `submissions/copies.py`.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User

from bench_loop.contracts.chat import EngineTimings
from bench_loop.result.fingerprint import fingerprinted
from bench_loop.result.records import Gpu, RunResult, Trial
from submissions.keys import create_key
from tests.site.make_result import make_result, nothing_right, rescored, to_bytes
from tests.site.uploads import SUBMISSIONS, Uploader

Forge = Callable[[RunResult], RunResult]
CLOCKS = ("latency_s", "t_first_byte_s", "t_first_answer_s", "t_last_s", "engine_timings")


def trials_of(result: RunResult, change: Callable[[Trial], dict[str, Any]]) -> RunResult:
    trials = tuple(trial.model_copy(update=change(trial)) for trial in result.trials)
    return rescored(result.model_copy(update={"trials": trials}))


def kept(result: RunResult, keep: Callable[[Trial], bool]) -> RunResult:
    return rescored(result.model_copy(update={"trials": tuple(filter(keep, result.trials))}))


def is_failed(trial: Trial) -> bool:
    return trial.outcome == "fail"


def edited_outputs(result: RunResult) -> RunResult:
    """Right answers typed over wrong ones, and nothing else."""
    right = {(one.suite, one.task_id): one.output for one in make_result().trials}
    return trials_of(
        result,
        lambda trial: {"output": right[trial.suite, trial.task_id]} if is_failed(trial) else {},
    )


def edited_outputs_and_verdicts(result: RunResult) -> RunResult:
    """The same with the verdicts that they would have: longer answers in the same tokens."""
    right = {(one.suite, one.task_id): one for one in make_result().trials}
    fields = ("outcome", "score", "reason", "answer", "message")

    def change(trial: Trial) -> dict[str, Any]:
        if not is_failed(trial):
            return {}
        other = right[trial.suite, trial.task_id]
        padded = f"{'thinking it over ' * 90}\n{other.output}"
        return {"output": padded} | {name: getattr(other, name) for name in fields}

    return trials_of(result, change)


def edited_verdicts(result: RunResult) -> RunResult:
    passed = {"outcome": "pass", "score": 1.0, "reason": None}
    return trials_of(result, lambda trial: passed if is_failed(trial) else {})


def edited_scores(result: RunResult) -> RunResult:
    better = result.aggregates.model_copy(
        update={"reliability_score": 99.0, "answers_per_minute": 60.0}
    )
    return fingerprinted(result.model_copy(update={"aggregates": better}))


def swapped_timings(result: RunResult) -> RunResult:
    """The clocks of short answers put on long ones: more tokens a second."""
    quality = [i for i, trial in enumerate(result.trials) if trial.suite != "speed"]
    by_length = sorted(quality, key=lambda i: result.trials[i].tokens.completion or 0)
    trials = list(result.trials)
    for short, long in zip(by_length, reversed(by_length), strict=True):
        clocks = {name: getattr(result.trials[short], name) for name in CLOCKS}
        trials[long] = result.trials[long].model_copy(update=clocks)
    return rescored(result.model_copy(update={"trials": tuple(trials)}))


def swapped_engine_timings(result: RunResult) -> RunResult:
    """The engine's clock of the 64-token shape on the others."""
    quick = EngineTimings(prompt_tokens=128, prompt_s=0.01, generated_tokens=64, generation_s=0.2)
    return trials_of(
        result, lambda trial: {"engine_timings": quick} if trial.suite == "speed" else {}
    )


def quicker_engine(result: RunResult) -> RunResult:
    """The engine's clock alone runs ten times slower: ten times the speed."""

    def change(trial: Trial) -> dict[str, Any]:
        timings = trial.engine_timings
        if timings is None:
            return {}
        slower = {"generation_s": (timings.generation_s or 0.0) / 10}
        return {"engine_timings": timings.model_copy(update=slower)}

    return trials_of(result, change)


def quicker_everything(result: RunResult) -> RunResult:
    """All clocks together, far beyond what the board can do."""

    def change(trial: Trial) -> dict[str, Any]:
        timings = trial.engine_timings
        scaled = {
            name: value / 10
            for name in CLOCKS[:4]
            if isinstance(value := getattr(trial, name), float)
        }
        return scaled | {
            "engine_timings": timings
            and timings.model_copy(
                update={
                    "prompt_s": (timings.prompt_s or 0.0) / 10,
                    "generation_s": (timings.generation_s or 0.0) / 10,
                }
            )
        }

    return trials_of(result, change)


def inflated_tokens(result: RunResult) -> RunResult:
    """Three times the tokens in the same time, with the engine's count left as it was."""
    return trials_of(
        result,
        lambda trial: {
            "tokens": trial.tokens.model_copy(
                update={"completion": 3 * (trial.tokens.completion or 0)}
            )
        },
    )


def inflated_counts(result: RunResult) -> RunResult:
    suites = tuple(
        one.model_copy(update={"pass_count": (one.pass_count or 0) + 1, "fail_count": 0})
        for one in result.suites
    )
    return fingerprinted(result.model_copy(update={"suites": suites}))


def dropped_failures(result: RunResult) -> RunResult:
    return kept(result, lambda trial: not is_failed(trial))


def failures_as_harness_errors(result: RunResult) -> RunResult:
    broken = {"outcome": "harness_error", "score": 0.0, "reason": "harness_failed", "answer": None}
    return trials_of(result, lambda trial: broken if is_failed(trial) else {})


def failures_as_not_applicable(result: RunResult) -> RunResult:
    apart = {"outcome": "not_applicable", "score": 0.0, "output": None, "answer": None, "turns": 0}
    reason = {"reason": "harness_lacks_capability"}
    return trials_of(result, lambda trial: apart | reason if is_failed(trial) else {})


def failures_as_warmups(result: RunResult) -> RunResult:
    return trials_of(result, lambda trial: {"trial": 0} if is_failed(trial) else {})


def cherry_picked_trials(result: RunResult) -> RunResult:
    """Each failed task asked again with other seeds until it passed."""
    right = {(one.suite, one.task_id): one for one in make_result(seed=9).trials}
    trials = tuple(
        right[trial.suite, trial.task_id].model_copy(update={"seed": 1042})
        if is_failed(trial)
        else trial
        for trial in result.trials
    )
    return rescored(result.model_copy(update={"trials": trials}))


def extra_trials(result: RunResult) -> RunResult:
    """Passed trials once more, under other numbers."""
    more = tuple(
        trial.model_copy(update={"trial": 2, "seed": 1002})
        for trial in result.trials
        if trial.outcome == "pass"
    )
    return rescored(result.model_copy(update={"trials": result.trials + more}))


def slow_timings_left_out(result: RunResult) -> RunResult:
    return kept(result, lambda trial: (trial.task_id, trial.trial) != ("p1024x256", 1))


def slow_timings_as_failures(result: RunResult) -> RunResult:
    failed = {"outcome": "fail", "reason": "engine_crashed"}
    return trials_of(
        result,
        lambda trial: failed if (trial.task_id, trial.trial) == ("p1024x256", 1) else {},
    )


def with_machine(**changes: Any) -> Forge:
    def forge(result: RunResult) -> RunResult:
        machine = result.machine.model_copy(update=changes)
        return fingerprinted(result.model_copy(update={"machine": machine}))

    return forge


def with_subject(**changes: Any) -> Forge:
    def forge(result: RunResult) -> RunResult:
        subject = result.subject.model_copy(update=changes)
        return rescored(result.model_copy(update={"subject": subject}))

    return forge


def with_settings(**changes: Any) -> Forge:
    def forge(result: RunResult) -> RunResult:
        settings = result.settings.model_copy(update=changes)
        return rescored(result.model_copy(update={"settings": settings}))

    return forge


def in_no_time(result: RunResult) -> RunResult:
    return result.model_copy(
        update={
            "total_runtime_s": 30.0,
            "started_at": result.finished_at - timedelta(seconds=30),
        }
    )


def copied(result: RunResult) -> RunResult:
    """Somebody else's run with right outputs, another machine and another order."""
    dice = random.Random(3)
    forged = edited_outputs_and_verdicts(result)
    trials = list(forged.trials)
    dice.shuffle(trials)
    machine = forged.machine.model_copy(update={"machine_id": "f" * 16})
    return rescored(forged.model_copy(update={"trials": tuple(trials), "machine": machine}))


def thinking_unsaid(result: RunResult) -> RunResult:
    """A run that thought, told as one of a model whose thinking was off."""
    return with_subject(thinking=False)(
        trials_of(
            result, lambda trial: {} if trial.suite == "speed" else {"thinking": "Let me see"}
        )
    )


def cut_replies_told_as_whole(result: RunResult) -> RunResult:
    """What was cut by the budget is told as wrong: it hides how much of the run was cut."""

    def change(trial: Trial) -> dict[str, Any]:
        if trial.suite == "speed" or not is_failed(trial):
            return {}
        return {
            "tokens": trial.tokens.model_copy(update={"completion": 256}),
            "stream": None,
            "engine_timings": None,
        }

    return trials_of(result, change)


HUGE = (Gpu(model="H200", vendor="NVIDIA", memory_gb=139.8),) * 8

FORGED: dict[str, tuple[Forge, str]] = {
    "edited outputs": (edited_outputs, "verdict_mismatch"),
    "edited outputs and verdicts": (edited_outputs_and_verdicts, "too_few_tokens"),
    "edited verdicts": (edited_verdicts, "verdict_mismatch"),
    "edited scores": (edited_scores, "score_mismatch"),
    "inflated counts": (inflated_counts, "score_mismatch"),
    "swapped timings": (swapped_timings, "foreign_timings"),
    "swapped engine timings": (swapped_engine_timings, "foreign_timings"),
    "a slow engine clock": (quicker_engine, "speed"),
    "quick clocks all over": (quicker_everything, "implausible_speed"),
    "inflated tokens": (inflated_tokens, "foreign_timings"),
    "dropped failures": (dropped_failures, "missing_trial"),
    "failures called harness errors": (failures_as_harness_errors, "verdict_mismatch"),
    "failures called not applicable": (failures_as_not_applicable, "verdict_mismatch"),
    "failures called warm-ups": (failures_as_warmups, "missing_trial"),
    "cherry-picked trials": (cherry_picked_trials, "other_settings"),
    "extra trials": (extra_trials, "extra_trial"),
    "slow timings left out": (slow_timings_left_out, "missing_trial"),
    "slow timings called failures": (slow_timings_as_failures, "verdict_mismatch"),
    "a larger board": (
        with_machine(gpus=HUGE, gpu_memory_gb=1118.4),
        "machine_mismatch",
    ),
    "a board with too much memory": (
        with_machine(
            gpus=(Gpu(model="RTX 4090", vendor="NVIDIA", memory_gb=96.0),),
            gpu_memory_gb=96.0,
            device_class="rtx-4090-96gb",
        ),
        "odd_machine",
    ),
    "a board of another vendor": (with_machine(backend="rocm"), "odd_machine"),
    "a larger model than the memory": (
        with_subject(model_id="qwen3:405b", parameters_b=405.0, active_parameters_b=8.0),
        "memory_mismatch",
    ),
    "another quantization": (with_subject(model_id="qwen3:8b-q8_0"), "name_mismatch"),
    "another family": (with_subject(model_family="llama"), "name_mismatch"),
    "a sparse model, for its speed": (with_subject(active_parameters_b=0.5), "name_mismatch"),
    "thinking that was not told": (thinking_unsaid, "thinking_mismatch"),
    "no thinking where it was on": (
        lambda result: with_settings(thinking_budget=4096)(with_subject(thinking=True)(result)),
        "thinking_mismatch",
    ),
    "a league of one's own": (
        with_subject(harness_config_hash="sha256:" + "1" * 64),
        "other_settings",
    ),
    "room to think without thinking": (with_settings(thinking_budget=32768), "other_settings"),
    "replies that were cut, as wrong ones": (cut_replies_told_as_whole, "over_budget"),
    "other sampling": (with_settings(seed_rule="the best of ten"), "other_settings"),
    "a run in no time": (in_no_time, "runtime_too_short"),
    "copied under another owner": (copied, "copied_trials"),
}


def half_right(task: Any) -> Any:
    """What a middling model writes."""
    return task.reference if len(task.id) % 2 else nothing_right(task)


@pytest.fixture
def honest() -> RunResult:
    return make_result(write=half_right)


def test_the_run_that_is_forged_from_here_on_is_honest_and_accepted(
    uploader: Uploader, honest: RunResult
) -> None:
    assert uploader.post(to_bytes(honest)).json()["level"] == "consistent"
    assert any(map(is_failed, honest.trials))


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_run_is_caught(
    name: str, uploader: Uploader, stranger: User, honest: RunResult
) -> None:
    forge, code = FORGED[name]
    if name == "dropped failures":  # Of a profile: whoever picks suites picks what is in them.
        honest = make_result(profile="quick", write=half_right)
    assert uploader.post(to_bytes(honest)).status_code == 201
    body = to_bytes(forge(honest))
    forger = Uploader(create_key(stranger)[1])
    answer = forger.post(body, address=f"{SUBMISSIONS}?dry_run=1").json()
    caught = {one["code"] for one in answer["findings"] if one["severity"] != "note"}
    assert code in caught, caught
    assert answer["level"] in (None, "reported")
