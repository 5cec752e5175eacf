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
    trials = [_without(trial.model_dump(mode="json"), "family") for trial in result.trials]
    try:
        return tagged_hash(
            _imported_identity(result)
            | {
                "subject": result.subject.model_dump(mode="json"),
                "settings": _without(result.settings.model_dump(mode="json"), "by_suite"),
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


def _without(fields: dict[str, Any], name: str) -> dict[str, Any]:
    """`fields` without one that older results do not have, where it says nothing."""
    if not fields[name]:
        del fields[name]
    return fields


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
