"""Whatever an upload says of its own verdicts, what is published is what this site judges."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from functools import cache
from typing import Any

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench_loop.contracts.sandbox import Sandbox
from bench_loop.result.fingerprint import fingerprinted
from bench_loop.result.records import HarnessTrial, RequestRecord, RunResult, Trial
from bench_loop.sandboxes.ladder import open_sandbox
from leaderboard.publish import columns
from submissions import checks, intake
from submissions.checks.scores import scores_of
from submissions.checks.verdicts import check_verdicts
from tests.components import need_bubblewrap
from tests.site.make_result import make_result, nothing_right, rescored

CLAIMS = ("score", "outcome", "reason", "passed", "answer", "state_at_cut")
"""Fields in which an upload says how good it was, beside all scores and counts."""

Path = tuple[str | int, ...]

ASKED = RequestRecord(sent_s=0.0, latency_s=1.0, status=200, finish_reason="stop", messages=1)
FAILED = RequestRecord(sent_s=0.0, latency_s=1.0, status=500, error="It broke.", messages=1)

ENDINGS: dict[str, dict[str, Any]] = {
    "judged": {"requests": (ASKED,)},
    "judged after a failure made good": {"requests": (FAILED, ASKED)},
    "truncated": {
        "finish_reason": "length",
        "outcome": "truncated",
        "score": 0.0,
        "reason": "answer_budget",
        "answer": None,
    },
    "empty": {
        "output": "",
        "outcome": "fail",
        "score": 0.0,
        "reason": "empty_answer",
        "answer": None,
    },
    "the engine failed": {
        "output": None,
        "requests": (FAILED,),
        "outcome": "fail",
        "score": 0.0,
        "reason": "engine_crashed",
        "answer": None,
    },
    "the engine failed behind the harness": {
        "output": "I give up.",
        "requests": (ASKED, FAILED),
        "outcome": "fail",
        "score": 0.0,
        "reason": "engine_rejected_output",
        "answer": None,
        "harness": HarnessTrial(way="question"),
    },
    "the harness failed": {
        "output": None,
        "requests": (ASKED,),
        "outcome": "harness_error",
        "score": 0.0,
        "reason": "harness_failed",
        "answer": None,
    },
    "the harness asked nothing": {
        "output": "",
        "requests": (),
        "outcome": "harness_error",
        "score": 0.0,
        "reason": "harness_failed",
        "answer": None,
        "harness": HarnessTrial(way="question"),
    },
    "the window was too small": {
        "output": None,
        "requests": (),
        "turns": 0,
        "outcome": "fail",
        "score": 0.0,
        "reason": "context_overflow",
        "answer": None,
    },
    "not applicable": {
        "output": None,
        "requests": (),
        "turns": 0,
        "outcome": "not_applicable",
        "score": 0.0,
        "reason": "harness_lacks_capability",
        "answer": None,
    },
}

HARNESS_OF = {
    "the harness failed": "goose",
    "the engine failed behind the harness": "goose",
    "the harness asked nothing": "goose",
    "not applicable": "aider",
}
SUITES_OF = {"not applicable": ("toolcall",)}

CASES = [(name, write) for name in ENDINGS for write in ("right", "wrong")]


@cache
def honest(ending: str, write: str) -> RunResult:
    """A valid run whose first quality trial, and with it every score, ended so."""
    result = make_result(
        suites=["speed", *SUITES_OF.get(ending, ("reasonmath", "instructfollow"))],
        harness=HARNESS_OF.get(ending, "raw"),
        **({} if write == "right" else {"write": nothing_right}),
    )
    index = first_of(result)
    trials = list(result.trials)
    trials[index] = trials[index].model_copy(update=ENDINGS[ending])
    return rescored(result.model_copy(update={"trials": tuple(trials)}))


def first_of(result: RunResult) -> int:
    return next(i for i, trial in enumerate(result.trials) if trial.suite != "speed")


def published(result: RunResult) -> dict[str, Any]:
    """Every number that this site would publish of `result`."""
    scores = scores_of(checks.Upload(result, timezone.now()))
    assert scores is not None
    return asdict(scores)


def claims(value: Any, path: Path = ()) -> Iterator[Path]:
    """The paths of everything that is called like a verdict."""
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, item in items:
        if key in CLAIMS or str(key).endswith(("_score", "_count")):
            yield (*path, key)
        yield from claims(item, (*path, key))


def changed(result: RunResult, path: Path, value: Any) -> RunResult | None:
    """`result` with `value` at `path` and a fingerprint that fits; None: the intake refuses it."""
    document = json.loads(result.model_dump_json())
    place: Any = document
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = copy.deepcopy(value)
    try:
        return fingerprinted(intake.parse(json.dumps(document).encode()))
    except intake.IntakeError:
        return None


FLIPS = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, 1, 0.0, 0.5, 1.0, 100.0]),
    st.sampled_from(
        [
            *("pass", "partial", "fail", "truncated", "harness_error", "infrastructure_error"),
            *("not_applicable", "empty_answer", "engine_crashed", "context_overflow", "42"),
            *("engine_rejected_output", "answer_budget", "harness_failed", "wrong_answer"),
        ]
    ),
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(case=st.sampled_from(CASES), data=st.data())
def test_no_claim_of_an_upload_is_read_before_its_output_is_judged(
    case: tuple[str, str], data: st.DataObject
) -> None:
    result = honest(*case)
    trials = {first_of(result), 0}  # One that is judged, and one that is timed.
    paths = [
        path
        for path in claims(json.loads(result.model_dump_json()))
        if path[0] != "trials" or path[1] in trials
    ]
    path = data.draw(st.sampled_from(paths))
    forged = changed(result, path, data.draw(FLIPS))
    if forged is None:
        return
    assert published(forged) == published(result), path
    found = {one.severity for one in checks.findings(forged, timezone.now())}
    if not found & {"refused", "needs_review"}:
        assert columns(forged) == columns(result), path
        assert forged.suites == result.suites, path


@pytest.mark.parametrize(("ending", "write"), CASES)
def test_an_honest_ending_of_every_kind_is_accepted(ending: str, write: str) -> None:
    found = checks.findings(honest(ending, write), timezone.now())
    assert [one for one in found if one.severity == "refused"] == []


VERDICTS = [
    {"outcome": outcome, "score": score, "reason": reason, "answer": answer}
    for outcome, score, reason in [
        ("pass", 1.0, None),
        ("partial", 0.5, "incomplete"),
        ("fail", 0.0, "wrong_answer"),
        ("fail", 0.0, "engine_crashed"),
        ("truncated", 0.0, "answer_budget"),
        ("harness_error", 0.0, "harness_failed"),
        ("not_applicable", 0.0, "harness_lacks_capability"),
    ]
    for answer in (None, "42")
]
COUNTED = ("outcome", "score", "answer")


@pytest.mark.parametrize(("ending", "write"), CASES)
def test_no_verdict_that_fits_together_and_all_its_scores_passes_for_another(
    ending: str, write: str
) -> None:
    result = honest(ending, write)
    index = first_of(result)
    for verdict in VERDICTS:
        trials = list(result.trials)
        trials[index] = trials[index].model_copy(update=verdict)
        forged = rescored(result.model_copy(update={"trials": tuple(trials)}))
        found = checks.findings(forged, timezone.now())
        if not same_numbers(trials[index], result.trials[index]):
            severities = {one.severity for one in found if one.field.startswith("trials[")}
            assert severities, (ending, verdict)


def same_numbers(one: Trial, other: Trial) -> bool:
    return all(getattr(one, name) == getattr(other, name) for name in COUNTED)


@pytest.mark.parametrize(
    ("write", "claimed"), [("right", VERDICTS[4]), ("wrong", VERDICTS[0]), ("wrong", VERDICTS[10])]
)
def test_where_code_is_run_again_its_claimed_verdict_counts_as_little(
    write: str, claimed: dict[str, Any]
) -> None:
    result = code_run(write)
    forged = with_first(result, **claimed)
    with closing(sandbox_here()) as sandbox:
        honestly = checks.Upload(result, timezone.now(), sandbox)
        upload = checks.Upload(forged, timezone.now(), sandbox)
        assert scores_of(upload) == scores_of(honestly)
        assert list(check_verdicts(honestly)) == []
        assert "trials[0].outcome" in {one.field for one in check_verdicts(upload)}


@pytest.mark.parametrize("verdict", VERDICTS[6:])
def test_code_that_was_not_run_again_has_no_ending_but_a_verdict(verdict: dict[str, Any]) -> None:
    forged = with_first(code_run("right"), **verdict)
    found = {one.code for one in checks.findings(forged, timezone.now())}
    assert "verdict_mismatch" in found


def sandbox_here() -> Sandbox:
    need_bubblewrap()
    return open_sandbox("bubblewrap")


@cache
def code_run(write: str) -> RunResult:
    result = make_result(
        suites=["coding"], **({} if write == "right" else {"write": lambda task: WRONG})
    )
    return rescored(result.model_copy(update={"trials": result.trials}))


WRONG = "```python\nprint('nothing')\n```"


def with_first(result: RunResult, **changes: Any) -> RunResult:
    first = result.trials[0].model_copy(update=changes)
    return rescored(result.model_copy(update={"trials": (first, *result.trials[1:])}))


def test_a_slow_timing_cannot_be_called_a_failure() -> None:
    result = make_result()
    index = next(i for i, t in enumerate(result.trials) if (t.task_id, t.trial) == ("p1024x256", 1))
    trials = list(result.trials)
    trials[index] = trials[index].model_copy(update={"outcome": "fail", "reason": "engine_crashed"})
    forged = rescored(result.model_copy(update={"trials": tuple(trials)}))
    refusals = [one for one in checks.findings(forged, timezone.now()) if one.severity == "refused"]
    assert f"trials[{index}].outcome" in {one.field for one in refusals}
    assert published(forged) == published(result)
