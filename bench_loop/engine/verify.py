"""Checks a result file offline: what of it holds, what does not, and what cannot be told here.

Nothing that the file says of its own scores is believed: verdicts come from this installation's
verifiers on the stored outputs, and scores from the trials judged so.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from bench_loop.contracts.sandbox import Sandbox
from bench_loop.engine.packs import Pack
from bench_loop.engine.rescore import (
    Rescore,
    has_no_output,
    packs_of,
    rescore,
    scored_task_ids,
    task_of,
)
from bench_loop.errors import PackError, ResultError
from bench_loop.result import strict_json
from bench_loop.result.fingerprint import fingerprint
from bench_loop.result.records import RunResult
from bench_loop.result.signature import (
    BadSignatureError,
    installation_public_key,
    short,
    signer_of,
)
from bench_loop.result.store import from_bytes
from bench_loop.scoring.constants import SCORING_VERSION
from bench_loop.scoring.differences import differences, figure
from bench_loop.scoring.suites import is_warmup
from bench_loop.verifiers.judging import needs_sandbox

Standing = Literal["holds", "fails", "unchecked"]
MOST_DETAILS = 20
"""Details of one check; the others are counted."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    name: str
    standing: Standing
    sentence: str
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verification:
    """What is to be thought of a result file."""

    result: RunResult
    checks: tuple[Check, ...]

    @property
    def holds(self) -> bool:
        """Whether nothing that could be checked is wrong."""
        return all(check.standing != "fails" for check in self.checks)


def read_strictly(data: bytes, name: str) -> tuple[dict[str, Any], RunResult]:
    """The document and the result that `data` holds. Raises ResultError with the field."""
    try:
        document = strict_json.loads(data.decode("utf-8"))
    except strict_json.JSONError as error:
        raise ResultError(name, error.field or None, error.sentence) from error
    except UnicodeDecodeError as error:
        raise ResultError(name, None, f"not UTF-8 (byte {error.start})") from error
    except (json.JSONDecodeError, RecursionError) as error:
        raise ResultError(name, None, f"not JSON: {error}") from error
    return document, from_bytes(data, name)


def verify(
    document: dict[str, Any],
    result: RunResult,
    *,
    sandbox: Sandbox | None = None,
    packs: Path | None = None,
) -> Verification:
    """Check `result`, which was read from `document`.

    `sandbox` runs the code that the model wrote; None: its verdicts stay unchecked. `packs` is
    where the run's private packs are. Raises PackError for a fault in those.
    """
    checks = [
        Check("schema", "holds", f"It follows version {result.schema_version} of the schema."),
        _fingerprint(result),
        _signature(document),
    ]
    if result.imported is not None:
        why = f"Imported: {result.imported.tool} measured it, and it holds no outputs."
        return Verification(result, (*checks, Check("scores", "unchecked", why)))
    try:
        known = packs_of(result, packs)
        again = rescore(result, sandbox=sandbox, packs=packs)
    except PackError as error:
        if packs is not None:
            raise
        why = f"The packs cannot be read: {error.message}"
        return Verification(result, (*checks, Check("packs", "unchecked", why)))
    checks += [
        _packs(result, known),
        _trials(result, known),
        *_verdicts(again, known, has_sandbox=sandbox is not None),
        *_scores(again),
    ]
    return Verification(result, tuple(checks))


def _fingerprint(result: RunResult) -> Check:
    try:
        is_own = fingerprint(result) == result.fingerprint
    except ResultError as error:
        return Check("fingerprint", "fails", f"It cannot be computed: {error.reason}.")
    if is_own:
        return Check("fingerprint", "holds", "It belongs to what was measured.")
    return Check("fingerprint", "fails", "It does not belong to the trials: the file was changed.")


def _signature(document: Mapping[str, Any]) -> Check:
    try:
        key = signer_of(document)
    except BadSignatureError as error:
        return Check("signature", "fails", str(error))
    if key is None:
        return Check("signature", "unchecked", "It is not signed.")
    whose = "this installation" if key == installation_public_key() else "another installation"
    return Check(
        "signature", "holds", f"Unchanged since it was signed by {whose}, key {short(key)}."
    )


def _packs(result: RunResult, known: Mapping[str, Pack]) -> Check:
    """Whether the suites are those of this installation."""
    hashes = {name: pack.pack_hash for name, pack in known.items()}
    stale = [one for one in result.suites if hashes.get(one.suite) != one.pack_hash]
    same = len(result.suites) - len(stale)
    held = f"{'1 suite' if same == 1 else f'{same} suites'} as in this installation"
    if not stale:
        return Check("packs", "holds", f"{held}.")
    lines = (f"{one.suite} {one.version}: another pack, or none here" for one in stale)
    sentence = f"{held}, {len(stale)} not: their verdicts are taken from the file."
    return Check("packs", "unchecked", sentence, _few(lines))


def _trials(result: RunResult, known: Mapping[str, Pack]) -> Check:
    """Whether every task was run as often as the run says, and no trial is there twice."""
    seen = Counter(
        (trial.suite, trial.task_id, trial.is_warmup, trial.trial) for trial in result.trials
    )
    faults = [
        f"{task_id}, trial {number}: there {times} times"
        for (_, task_id, _, number), times in seen.items()
        if times > 1
    ]
    for suite in result.suites:
        if suite.dimension == "quality" and suite.suite in known:
            wanted = {
                (task_id, number)
                for task_id in scored_task_ids(result, known[suite.suite])
                for number in range(1, (result.settings.trials_of(suite.suite) or 0) + 1)
            }
            found = {
                (trial.task_id, trial.trial)
                for trial in result.trials
                if trial.suite == suite.suite and not is_warmup(trial)
            }
            faults += [f"{task}, trial {number}: missing" for task, number in wanted - found]
            faults += [f"{task}, trial {number}: not asked for" for task, number in found - wanted]
    if faults:
        return Check("trials", "fails", "They are not those of this run.", _few(sorted(faults)))
    sentence = f"{len(result.trials)}: every task as often as the run says, and none twice."
    return Check("trials", "holds", sentence)


def _verdicts(again: Rescore, known: Mapping[str, Pack], *, has_sandbox: bool) -> Iterator[Check]:
    """What today's verifiers say of the stored outputs; code apart, which is not always run."""
    changed = {id(change.before): change for change in again.trials}
    stale = {suite.before.suite for suite in again.suites if suite.is_stale}
    for name, is_code in (("verdicts", False), ("code verdicts", True)):
        judged, faults, left = 0, [], 0
        for index, trial in enumerate(again.before.trials):
            task = task_of(trial, known)
            if trial.outcome is None or has_no_output(trial):
                continue
            if (task is not None and needs_sandbox(task)) is not is_code:
                continue
            if task is None or trial.suite in stale or (is_code and not has_sandbox):
                left += 1
                continue
            judged += 1
            if change := changed.get(id(trial)):
                faults.append(
                    f"trials[{index}] {trial.task_id}: the file says"
                    f" {_verdict(trial.outcome, trial.reason)}, the verifier"
                    f" {_verdict(change.after.outcome, change.after.reason)}"
                )
        if judged or left:
            yield _verdict_check(name, judged, faults, left, needs_code=is_code and not has_sandbox)


def _verdict_check(
    name: str, judged: int, faults: Sequence[str], left: int, *, needs_code: bool
) -> Check:
    outputs = "1 output" if judged == 1 else f"{judged} outputs"
    why = "they need the model's code to be run (--code)" if needs_code else "their pack is another"
    rest = f" {left} not judged: {why}." if left else ""
    if faults:
        sentence = f"{len(faults)} of {outputs} judged again came out otherwise.{rest}"
        return Check(name, "fails", sentence, _few(faults))
    if not judged:
        return Check(name, "unchecked", f"{left} not judged again: {why}.")
    return Check(name, "holds", f"{outputs} judged again, and all came out the same.{rest}")


def _verdict(outcome: str | None, reason: str | None) -> str:
    return f"{outcome} ({reason})" if reason else str(outcome)


def _scores(again: Rescore) -> Iterator[Check]:
    """Whether every score, count and interval follows from the trials as they are judged here."""
    claimed, computed = again.before, again.after
    if claimed.scoring_version != SCORING_VERSION:
        yield Check(
            "scores",
            "unchecked",
            f"They are of formulas {claimed.scoring_version}; this version has {SCORING_VERSION}.",
        )
        return
    names = {"suites", "aggregates", "speed"}
    ours, theirs = (one.model_dump(mode="json", include=names) for one in (claimed, computed))
    found = [
        difference for name in ours for difference in differences(ours[name], theirs[name], name)
    ]
    figures = _leaves(ours)
    if found:
        sentence = f"{len(found)} of {figures} figures do not follow from the trials."
        details = (
            f"{path}: the file says {figure(stated)}, the trials give {figure(told)}"
            for path, stated, told in found
        )
        yield Check("scores", "fails", sentence, _few(details))
        return
    yield Check(
        "scores",
        "holds",
        f"{figures} figures computed again from the trials, counts and intervals included: all the"
        " same.",
    )


def _leaves(value: Any) -> int:
    """How many numbers a JSON value holds."""
    if isinstance(value, dict):
        return sum(map(_leaves, value.values()))
    if isinstance(value, list):
        return sum(map(_leaves, value))
    return isinstance(value, int | float) and not isinstance(value, bool)


def _few(lines: Any) -> tuple[str, ...]:
    """The first MOST_DETAILS, and how many there are more."""
    found = tuple(lines)
    more = len(found) - MOST_DETAILS
    return found if more <= 0 else (*found[:MOST_DETAILS], f"and {more} more")
