"""The trials of a run as CSV: a line for each, warm-ups too, every figure unrounded."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from bench_loop.report.spreadsheet import Value, csv_cell
from bench_loop.result.records import RunResult, Trial

COLUMNS = (
    *("run_id", "model", "quantization", "harness", "harness_version", "device_class", "profile"),
    *("suite", "task_id", "trial", "is_warmup", "seed", "difficulty", "capability_tags"),
    *("verifier_type", "outcome", "score", "reason", "message", "answer", "finish_reason"),
    *("latency_s", "t_first_byte_s", "t_first_thinking_s", "t_first_answer_s", "t_last_s"),
    *("prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens", "token_basis"),
    *("turns", "tool_calls", "retries", "harness_wall_s", "model_s", "tools_s", "harness_s"),
)


def trials_csv(result: RunResult) -> str:
    """Unknown is empty. Texts are on one line, 400 characters at most; outputs are left out."""
    text = io.StringIO()
    lines = csv.writer(text)
    lines.writerow(COLUMNS)
    stack = tuple(_stack(result))
    for trial in result.trials:
        lines.writerow([csv_cell(value) for value in (*stack, *_trial(trial))])
    return text.getvalue()


def _stack(result: RunResult) -> Iterator[Value]:
    subject = result.subject
    yield from (result.run_id, subject.model_id, subject.quantization)
    yield from (subject.harness, subject.harness_version)
    yield from (result.machine.device_class, result.profile)


def _trial(trial: Trial) -> Iterator[Value]:
    tokens, harness = trial.tokens, trial.harness
    yield from (trial.suite, trial.task_id, trial.trial, "yes" if trial.is_warmup else "no")
    yield from (trial.seed, trial.difficulty, " ".join(trial.capability_tags))
    yield from (trial.verifier_type, trial.outcome, trial.score, trial.reason, trial.message)
    yield from (trial.answer, trial.finish_reason)
    yield from (trial.latency_s, trial.t_first_byte_s, trial.t_first_thinking_s)
    yield from (trial.t_first_answer_s, trial.t_last_s)
    yield from (tokens.prompt, tokens.cached, tokens.completion, tokens.reasoning, tokens.basis)
    yield from (trial.turns, len(trial.tool_calls), trial.retries)
    if harness is None:
        yield from (None, None, None, None)
    else:
        yield from (harness.wall_s, harness.model_s, harness.tools_s, harness.harness_s)
