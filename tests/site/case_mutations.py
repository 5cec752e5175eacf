"""Applies the mutations of `tests/fixtures/cases/submissions.jsonl` to a run result.

The cases use the words of the specification; `FIELDS` says what they are called in the schema.
"""

from __future__ import annotations

import copy
import json
import random
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench_loop.result.records import RunResult
from bench_loop.result.store import to_bytes
from tests.site.make_result import rescored

CASES_FILE = Path(__file__).parent.parent / "fixtures" / "cases" / "submissions.jsonl"
CASES: dict[str, dict[str, Any]] = {
    case["id"]: case
    for case in map(json.loads, CASES_FILE.read_text(encoding="utf-8").splitlines())
}

FIELDS = {
    "model_id": "subject.model_id",
    "timestamp": "finished_at",
    "machine_id": "machine.machine_id",
    "machine.gpu_model": "machine.gpus[0].model",
    "aggregates.overall": "aggregates.overall_score",
    "aggregates.quality": "aggregates.quality_score",
    "aggregates.speed": "aggregates.speed_score",
    "suites[0].median_latency": "suites[0].median_latency_s",
    "suites[0].tasks[0].output_tokens": "suites[0].tasks[0].tokens.completion",
    "suites[*].tasks[*].latency": "trials[*].latency_s",
}

RAW = "a value that is put in as raw text"


def case_body(case_id: str, document: dict[str, Any], *, is_honest: bool) -> bytes:
    """The body that a case posts. `is_honest`: scores and fingerprint follow from the change."""
    changed = copy.deepcopy(document)
    raw = None
    for step in CASES[case_id]["request"]["mutate"]:
        raw = step["value"] if step["op"] == "raw_set" else raw
        _apply(changed, step)
    if is_honest:
        return to_bytes(rescored(RunResult.model_validate_json(json.dumps(changed))))
    text = json.dumps(changed)
    return (text if raw is None else text.replace(json.dumps(RAW), raw)).encode()


def _apply(document: dict[str, Any], step: dict[str, Any]) -> None:
    path = _schema_path(document, FIELDS.get(step["path"], step["path"]))
    *parents, last = re.findall(r"[^.\[\]]+", path)
    if path == "trials[*].latency_s":
        _jitter(document, step["value"])
        return
    place: Any = document
    for part in parents:
        place = place[int(part)] if isinstance(place, list) else place.setdefault(part, {})
    key: Any = int(last) if isinstance(place, list) else last
    match step["op"]:
        case "set" if isinstance(place, list) and key == len(place):
            place.append(_value(step["value"]))
        case "set":
            place[key] = _value(step["value"])
        case "raw_set":
            place[key] = RAW
        case "remove":
            del place[key]
        case "add_to":
            place[key] += step["value"]
        case "repeat_first":
            document["trials"].extend([document["trials"][key]] * step["value"])
        case other:
            raise AssertionError(f"unknown mutation {other}")


def _schema_path(document: dict[str, Any], path: str) -> str:
    """Tasks lie in `trials`; `suites[speed]` is found by name."""
    if found := re.match(r"suites\[(\w+)\]\.tasks(?:\[0\]|$)", path):
        name = found[1] if found[1] == "speed" else document["suites"][int(found[1])]["suite"]
        index = next(i for i, trial in enumerate(document["trials"]) if trial["suite"] == name)
        rest = path[found.end() :]
        return f"trials[{index}]{rest}" if rest or path.endswith("]") else f"trials[{index}]"
    if path.startswith("suites[speed]"):
        names = [suite["suite"] for suite in document["suites"]]
        return path.replace("suites[speed]", f"suites[{names.index('speed')}]")
    return path


def _value(value: Any) -> Any:
    if value == "now":
        return datetime.now(UTC).isoformat()
    if value == "now+4min":
        return (datetime.now(UTC) + timedelta(minutes=4)).isoformat()
    if isinstance(value, str) and (found := re.fullmatch(r"'(.)'\*(\d+)", value)):
        return found[1] * int(found[2])
    return value


def _jitter(document: dict[str, Any], share: float) -> None:
    """Stretch the times of every task by up to `share`, as another run would."""
    dice = random.Random(7)
    for trial in document["trials"]:
        factor = 1 + share * dice.random()
        for name in trial:
            if name in ("latency_s",) and trial[name] is not None:
                trial[name] *= factor
    document["total_runtime_s"] *= 1 + share
