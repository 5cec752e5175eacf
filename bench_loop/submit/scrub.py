"""Takes private text out of a copy of a result, and proves that no verdict changes by it.

The site judges the outputs that it is sent. So every trial that lost a word is judged again here,
as it was and as it would be sent; where outcome or score differ, or cannot be told, the copy may
not be sent in the place of the result. A fail for another reason is told, and stays a fail.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import bench_loop
from bench_loop.contracts.sandbox import Sandbox
from bench_loop.contracts.verifier import TaskScore
from bench_loop.engine.official_text import official_text
from bench_loop.engine.packs import Pack
from bench_loop.engine.rescore import has_no_output, packs_of, task_of, verdict_on
from bench_loop.errors import PackError
from bench_loop.privacy import Person, PrivateFinding, private_findings, without_private
from bench_loop.result.fingerprint import fingerprinted
from bench_loop.result.records import RunResult, Scrubbing, Trial
from bench_loop.result.signature import signed_like
from bench_loop.result.store import from_bytes, to_bytes
from bench_loop.verifiers.judging import judge_ending, needs_sandbox

_TRIAL = r"trials\[\d+\]\."
_BY_A_MODEL = re.compile(
    rf"{_TRIAL}(?:output|thinking|answer|message|artifacts\[\d+\]\.(?:path|text)|harness\.diff"
    r"|(?:requests\[\d+\]\.)?tool_calls\[\d+\]\.(?:name|arguments))"
    r"|subject\.(?:model_id|file_name|quant_publisher|provider_version|speculative)"
    r"|machine\.(?:cpu_model|os)|imported\.file_name"
)
"""What a model wrote, and names: taken out is what points to this machine or opens a door."""

_BY_A_PROGRAM = re.compile(
    rf"{_TRIAL}(?:transcript\[\d+\]\..*|requests\[\d+\]\.(?:error|refused|changes\[\d+\]\..*)"
    r"|harness\.(?:failure|said\..*|files_changed\[\d+\]))"
    r"|status_reason|machine\.(?:machine_label|listener|declared\.(?:label|gpu))"
    r"|subject\.(?:launch_args\[\d+\]|launch_untold|context\.not_usable_reason)"
    r"|settings\.harness\.options\..*|imported\.(?:stated\..*|findings\[\d+\])"
)
"""What servers, programs and people said of this machine: taken out is all that might."""

_JUDGED = ("output", "thinking", "tool_calls", "artifacts")
"""Fields of a trial that its verdict rests on."""


@dataclass(frozen=True, slots=True)
class ChangedVerdict:
    """A trial that would be judged otherwise, or of which that cannot be told."""

    field: str
    task_id: str
    before: str | None
    """Outcome and reason; None: it cannot be judged again here."""
    after: str | None
    is_scored_the_same: bool = False
    """Only the reason of a fail is another one."""


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """A result without its private text."""

    result: RunResult
    """Under a fingerprint and, where the file was signed here, a signature of its own."""
    taken: tuple[PrivateFinding, ...]
    """Empty: nothing was private, and `result` is the one that came in."""
    left: tuple[PrivateFinding, ...]
    """Private text where nothing can be put in its place."""
    changed: tuple[ChangedVerdict, ...] = ()
    """Not empty: the copy would be scored otherwise and is not to be sent."""
    reworded: tuple[ChangedVerdict, ...] = ()
    """The same outcome and score for another reason."""

    @property
    def counts(self) -> dict[str, int]:
        """How often each kind was taken out, the most frequent first."""
        return dict(Counter(one.kind for one in self.taken).most_common())


def wants_sandbox(result: RunResult, person: Person) -> bool:
    """Whether a verdict on what private text is taken out of needs code to be run."""
    packs = _packs(result)
    public = official_text(result, packs)
    _, _, touched = _without_private(result, person, public)
    tasks = (task_of(result.trials[index], packs) for index in touched)
    return any(task is not None and needs_sandbox(task) for task in tasks)


def scrub(result: RunResult, data: bytes, person: Person, sandbox: Sandbox | None) -> Scrubbed:
    """A copy of `result`, which was read from `data`, without what is private in it.

    `sandbox` judges code; without one its verdicts cannot be told.
    """
    packs = _packs(result)
    public = official_text(result, packs)
    document, taken, touched = _without_private(result, person, public)
    if not taken:
        return Scrubbed(result, (), private_findings(data, person, public))
    copy = from_bytes(json.dumps(document).encode(), result.run_id)
    trials, changed = list(copy.trials), []
    for index in touched:
        judged = _judged_again(index, result.trials[index], copy.trials[index], packs, sandbox)
        trials[index], change = judged
        changed += [change] if change else []
    counts = Counter(copy.scrubbed.counts if copy.scrubbed else {})
    counts.update(one.kind for one in taken)
    copy = copy.model_copy(
        update={
            "trials": tuple(trials),
            "scrubbed": Scrubbing(bench_loop=bench_loop.__version__, counts=dict(counts)),
            "rescored": copy.rescored
            and copy.rescored.model_copy(update={"first_fingerprint": None}),
        }
    )
    copy = signed_like(result, json.loads(data), fingerprinted(copy))
    return Scrubbed(
        result=copy,
        taken=tuple(taken),
        left=private_findings(to_bytes(copy), person, public),
        changed=tuple(one for one in changed if not one.is_scored_the_same),
        reworded=tuple(one for one in changed if one.is_scored_the_same),
    )


def _packs(result: RunResult) -> dict[str, Pack]:
    """The official packs that the run was made with; none where they are not to be had."""
    try:
        packs = packs_of(result)
    except PackError:
        return {}
    hashes = {suite.suite: suite.pack_hash for suite in result.suites}
    return {name: pack for name, pack in packs.items() if pack.pack_hash == hashes[name]}


def _without_private(
    result: RunResult, person: Person, public: Mapping[str, str]
) -> tuple[dict[str, Any], list[PrivateFinding], list[int]]:
    """The document of a result without private text, what was taken, and the trials it was in.

    Only trials of which something is judged are named.
    """
    document = result.model_dump(mode="json", exclude={"signature"})
    walk = _Walk(person, public, [])
    clean = walk.cleaned(document, "")
    touched = [
        index
        for index, (before, after) in enumerate(
            zip(document["trials"], clean["trials"], strict=True)
        )
        if any(before[name] != after[name] for name in (*_JUDGED, "answer"))
    ]
    for trial in (clean["trials"][index] for index in touched):
        for artifact in trial["artifacts"]:
            _measure_again(artifact)
    return clean, walk.taken, touched


def _measure_again(artifact: dict[str, Any]) -> None:
    """The hash and the size of a file whose text is another one; the old hash would give it away.

    A file that holds no text stays what it was.
    """
    if artifact["text"] is not None:
        content = artifact["text"].encode()
        artifact["sha256"] = f"sha256:{hashlib.sha256(content).hexdigest()}"
        artifact["size_bytes"] = len(content)


@dataclass(frozen=True, slots=True)
class _Walk:
    """Goes through a document and cleans the texts that may be cleaned."""

    person: Person
    public: Mapping[str, str]
    taken: list[PrivateFinding]

    def cleaned(self, value: Any, path: str) -> Any:
        if isinstance(value, dict):
            return {
                name: self.cleaned(item, f"{path}.{name}" if path else name)
                for name, item in value.items()
            }
        if isinstance(value, list):
            return [self.cleaned(item, f"{path}[{index}]") for index, item in enumerate(value)]
        is_wide = isinstance(value, str) and _BY_A_PROGRAM.fullmatch(path) is not None
        if not isinstance(value, str) or not (is_wide or _BY_A_MODEL.fullmatch(path)):
            return value
        public = self.public.get(path.partition(".")[0], "")
        found = without_private(value, path, self.person, public, is_wide=is_wide)
        self.taken.extend(found.taken)
        return found.text


def _judged_again(
    index: int,
    before: Trial,
    after: Trial,
    packs: Mapping[str, Pack],
    sandbox: Sandbox | None,
) -> tuple[Trial, ChangedVerdict | None]:
    """The trial with what is read out of it now, and how its verdict changed, if it did."""
    if before.outcome is None or has_no_output(before):
        return after, None
    old, new = (_verdict(trial, packs, sandbox) for trial in (before, after))
    field = f"trials[{index}].outcome"
    if old is None or new is None:
        return after, ChangedVerdict(field, before.task_id, None, None)
    judged = after.model_copy(
        update={
            "reason": before.reason if old.reason == new.reason else new.reason,
            "answer": new.answer,
            "message": new.message,
        }
    )
    if (old.reason, *_scored(old)) == (new.reason, *_scored(new)):
        return judged, None
    is_scored_the_same = _scored(old) == _scored(new)
    change = ChangedVerdict(field, before.task_id, _told(old), _told(new), is_scored_the_same)
    return judged, change


def _told(verdict: TaskScore) -> str:
    return f"{verdict.outcome} ({verdict.reason})" if verdict.reason else verdict.outcome


def _verdict(trial: Trial, packs: Mapping[str, Pack], sandbox: Sandbox | None) -> TaskScore | None:
    """The verdict on a trial; None where it cannot be told here."""
    pack = packs.get(trial.suite)
    if pack is None or task_of(trial, packs) is None:
        return None
    return verdict_on(trial, packs, sandbox) or judge_ending(pack.stored_output(trial))


def _scored(verdict: TaskScore) -> tuple[object, ...]:
    """All of a verdict that scores are computed from."""
    return verdict.outcome, verdict.score, verdict.answer is None
