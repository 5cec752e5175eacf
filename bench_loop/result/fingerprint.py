"""Hashes that identify things: canonical JSON in, `sha256:<hex>` out."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import rfc8785

from bench_loop.errors import ResultError

if TYPE_CHECKING:
    from bench_loop.result.records import RunResult


def tagged_hash(value: Any) -> str:
    """SHA-256 over RFC 8785 JSON of `value`, as `sha256:<64 hex digits>`."""
    return "sha256:" + hashlib.sha256(rfc8785.dumps(value)).hexdigest()


UNSET = "sha256:" + "0" * 64
"""Stands in a result until it is complete and can be `fingerprinted`."""


def fingerprinted(result: RunResult) -> RunResult:
    """The result under its fingerprint. Raises ResultError as `fingerprint` does."""
    return result.model_copy(update={"fingerprint": fingerprint(result)})


def fingerprint(result: RunResult) -> str:
    """Identity of a run: what was measured and what came out, trial by trial with its timings.

    Ids, the machine's id, the order of the trials, wall times, labels, notes, signature and
    everything that can be computed from the trials are left out, so that the same trials under
    another name are the same run. An import is known by its file and the figures in it. Raises
    ResultError for a number that JSON cannot carry exactly.
    """
    trials = [_trial_identity(trial.model_dump(mode="json")) for trial in result.trials]
    try:
        return tagged_hash(
            _imported_identity(result)
            | {
                "subject": result.subject.model_dump(mode="json"),
                "settings": _without(
                    result.settings.model_dump(mode="json"), "by_suite", "harness"
                ),
                "suites": [
                    _without(
                        {
                            "suite": suite.suite,
                            "version": suite.version,
                            "pack_hash": suite.pack_hash,
                            "is_private": suite.is_private,
                        },
                        "is_private",
                    )
                    for suite in sorted(result.suites, key=lambda suite: suite.suite)
                ],
                "trials": sorted(trials, key=rfc8785.dumps),
            }
        )
    except rfc8785.CanonicalizationError as error:
        raise ResultError(result.run_id, "trials", f"cannot be hashed: {error}") from error


_OF_GATEWAY = (
    *("t_first_byte_s", "t_first_answer_s", "messages", "tools_offered"),
    *("tool_calls", "changes", "refused", "fault"),
)


def _trial_identity(trial: dict[str, Any]) -> dict[str, Any]:
    """A trial without what older results do not have and it does not say."""
    requests = [_without(request, *_OF_GATEWAY) for request in trial["requests"] or ()]
    if trial["requests"] is not None:
        trial["requests"] = requests
    if trial["harness"]:
        del trial["harness"]["started_at"]  # a time of the day
    return _without(trial, "family", "harness", "is_cold")


def _without(fields: dict[str, Any], *names: str) -> dict[str, Any]:
    """`fields` without those that older results do not have, where they say nothing.

    A count of nought says something; no, null, and an empty list do not.
    """
    kept = {name for name in names if fields[name] or type(fields[name]) in (int, float)}
    return {name: value for name, value in fields.items() if name not in names or name in kept}


def _imported_identity(result: RunResult) -> dict[str, Any]:
    """What an import came out with, which has no trials: its file, and the figures read from it."""
    if result.imported is None:
        return {}
    return {
        "imported": result.imported.model_dump(mode="json", include={"format", "file_hash"}),
        "speed": result.speed.model_dump(mode="json") if result.speed else None,
        "scores": [
            {"suite": suite.suite, "score": suite.score, "task_count": suite.task_count}
            for suite in sorted(result.suites, key=lambda suite: suite.suite)
        ],
    }
