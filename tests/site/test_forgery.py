"""Every field of a valid result, edited in turn: no edit moves a published number unseen."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.utils import timezone

from bench_loop.result.fingerprint import fingerprinted
from bench_loop.result.records import RunResult
from leaderboard.publish import columns
from submissions import checks, intake
from tests.site.make_result import make_document

DOCUMENT = make_document(suites=["speed", "reasonmath"])
PUBLISHED = columns(RunResult.model_validate_json(json.dumps(DOCUMENT)))

KNOWN_TO_THE_MACHINE_ALONE = {("machine", "system_memory_gb")}
"""Nothing in a result can confirm these; they enter no score."""

Path = tuple[str | int, ...]


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every leaf and list; of the trials the first of each suite."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*path, key))
        return
    if isinstance(value, list):
        for index, item in enumerate(value):
            if path != ("trials",) or index in FIRST_TRIALS:
                yield from leaves(item, (*path, index))
    yield path, value


FIRST_TRIALS = {
    index
    for index, trial in enumerate(DOCUMENT["trials"])
    if trial["suite"] not in {other["suite"] for other in DOCUMENT["trials"][:index]}
}


def edits(value: Any) -> list[Any]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        return [value * 2 + 1, value / 2]
    if isinstance(value, str):
        return [f"{value}x", "pass"]
    if isinstance(value, list):
        return [value[1:], value + value[-1:]] if value else []
    return [1, 1.5]


def edited(path: Path, value: Any) -> dict[str, Any]:
    document = copy.deepcopy(DOCUMENT)
    place: Any = document
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = value
    return document


def numbers_unseen(document: dict[str, Any], *, is_hashed_anew: bool) -> dict[str, Any]:
    """Published numbers that are not those of the honest run, if neither check nor person sees."""
    try:
        result = intake.parse(json.dumps(document).encode())
        if is_hashed_anew:
            result = fingerprinted(result)
        found = checks.findings(result, timezone.now())
    except intake.IntakeError:
        return {}
    if any(finding.severity in ("refused", "needs_review") for finding in found):
        return {}
    return {
        name: value
        for name, value in columns(result).items()
        if isinstance(value, int | float) and value != PUBLISHED[name]
    }


@pytest.mark.parametrize("is_hashed_anew", [False, True])
def test_no_edit_of_one_field_moves_a_published_number_unseen(is_hashed_anew: bool) -> None:
    holes = {
        (path, str(value)[:40]): moved
        for path, before in leaves(DOCUMENT)
        if path not in KNOWN_TO_THE_MACHINE_ALONE
        for value in edits(before)
        if (moved := numbers_unseen(edited(path, value), is_hashed_anew=is_hashed_anew))
    }
    assert holes == {}
