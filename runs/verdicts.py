"""Verdicts of this site beside those of a file: what differs is stored, and laid over it again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench_loop.contracts.verifier import TaskScore
from bench_loop.result.records import RunHeader, RunResult, Trial

VERDICT_FIELDS = tuple(TaskScore.model_fields)


def differing_verdicts(filed: RunResult, judged: RunResult) -> dict[str, Any]:
    """The verdicts of `judged` that are not those of the file it was judged from.

    As JSON that any database can hold, by the place of the trial in the file, from 0.
    """
    pairs = zip(filed.trials, judged.trials, strict=True)
    return {str(place): _verdict(new) for place, (old, new) in enumerate(pairs) if old != new}


def rejudged(filed: RunResult, header: RunHeader, verdicts: Mapping[str, Any]) -> RunResult:
    """The file's trials with `verdicts` laid over them, under `header`."""
    trials = tuple(
        trial if (verdict := verdicts.get(str(place))) is None else _with(trial, verdict)
        for place, trial in enumerate(filed.trials)
    )
    kept = {name: getattr(header, name) for name in RunHeader.model_fields}
    return RunResult(**kept, trials=trials)


def _verdict(trial: Trial) -> dict[str, Any]:
    whole = trial.model_dump(mode="json", include=set(VERDICT_FIELDS))
    return {
        name: storable(value) if isinstance(value, str) else value for name, value in whole.items()
    }


def storable(text: str) -> str:
    """`text` without what no JSON column holds: NUL, and halves of surrogate pairs."""
    return text.replace("\x00", "\N{REPLACEMENT CHARACTER}").encode(errors="replace").decode()


def _with(trial: Trial, verdict: Mapping[str, Any]) -> Trial:
    score = TaskScore.model_validate(verdict, strict=False)
    return trial.model_copy(update={name: getattr(score, name) for name in VERDICT_FIELDS})
