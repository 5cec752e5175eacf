"""What official tasks say themselves: text that is public, in whoever's result it stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bench_loop.engine.packs import Pack
from bench_loop.engine.rescore import task_of
from bench_loop.result.records import RunResult


def official_text(result: RunResult, packs: Mapping[str, Pack]) -> dict[str, str]:
    """`trials[3]` to all that the task of that trial says, for tasks of official packs."""
    words: dict[tuple[str, str], str] = {}
    found = {}
    for index, trial in enumerate(result.trials):
        if trial.suite not in packs or packs[trial.suite].is_private:
            continue
        key = (trial.suite, trial.task_id)
        if key not in words:
            task = task_of(trial, packs)
            words[key] = "\n".join(_texts(task.model_dump(mode="json"))) if task else ""
        found[f"trials[{index}]"] = words[key]
    return found


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield name
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
