"""What a finding points at: the trial it names, with both verdicts, or a value of the file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from bench_loop.contracts.task import BenchmarkTask
from bench_loop.contracts.verifier import TaskScore
from bench_loop.engine.packs import Pack, pack_names
from bench_loop.engine.shelf import Shelf
from bench_loop.errors import BenchLoopError
from bench_loop.report.printable import one_line, printable
from bench_loop.report.records import Passage, Reading
from bench_loop.report.trials import passages, trial_readings
from bench_loop.result.records import RunResult, Trial
from bench_loop.scoring.differences import is_same
from bench_loop.verifiers.judging import judge, judge_ending, needs_sandbox

JUDGED = ("outcome", "score", "reason", "answer")
SHOWN_OF_A_KIND = 2
"""Findings of the same kind that are not folded."""

TRIALS_ON_A_PAGE = 25
MOST_TRIALS_JUDGED = 60
"""Trials of one page whose stored output is judged again; the others show what is stored."""

LONGEST_VALUE = 400
LONGEST_PASSAGE = 12_000
"""Characters of a prompt or an output on a page of many."""

_TRIAL = re.compile(r"trials\[(\d{1,6})\]")
_STEP = re.compile(r"([A-Za-z0-9_]+)|\[(\d{1,6})\]")
SEVERITIES = ("refused", "needs_review", "note")


@dataclass(frozen=True, slots=True)
class Verdict:
    """One field of a verdict: as stored, and as this site's verifier gives it for the output."""

    name: str
    stored: str
    again: str
    is_other: bool


@dataclass(frozen=True, slots=True)
class ShownTrial:
    """A trial to look at. `number` counts from 1; `no_verdict` says why it was not judged again."""

    number: int
    suite: str
    task: str
    title: str
    outcome: str
    prompt: tuple[Passage, ...]
    output: tuple[Passage, ...]
    readings: tuple[Reading, ...]
    verdicts: tuple[Verdict, ...]
    no_verdict: str


@dataclass(frozen=True, slots=True)
class Told:
    """A finding as text. `value` is what the file says at its field, where that is no trial's."""

    severity: str
    code: str
    field: str
    sentence: str
    numbers: tuple[Reading, ...]
    value: str


@dataclass(frozen=True, slots=True)
class Exhibit:
    """Findings about one trial beside it, or one finding about something else.

    `number` is the trial's, from 1; None: it is about no trial. `trial` None: see its own page.
    """

    findings: tuple[Told, ...]
    number: int | None
    trial: ShownTrial | None

    @property
    def is_open(self) -> bool:
        """Whether it is unfolded at first: where the verdicts do not agree."""
        return self.trial is not None and any(one.is_other for one in self.trial.verdicts)

    @property
    def page(self) -> int:
        """The page of the list of trials that has the trial."""
        return ((self.number or 1) - 1) // TRIALS_ON_A_PAGE + 1


@dataclass(frozen=True, slots=True)
class Group:
    """Exhibits of one kind of finding: those to look at first, and the rest."""

    first: tuple[Exhibit, ...]
    rest: tuple[Exhibit, ...]


def grouped(found: Sequence[Exhibit]) -> list[Group]:
    """Exhibits of the same findings together: one doubt may be about every trial."""
    kinds: dict[frozenset[str], list[Exhibit]] = {}
    for exhibit in found:
        kind = frozenset(finding.code or finding.sentence for finding in exhibit.findings)
        kinds.setdefault(kind, []).append(exhibit)
    return [
        Group(tuple(one[:SHOWN_OF_A_KIND]), tuple(one[SHOWN_OF_A_KIND:])) for one in kinds.values()
    ]


def exhibits(bench: Bench, findings: Sequence[Mapping[str, Any]]) -> list[Exhibit]:
    """The findings, worst first, those about one trial together."""
    by_trial: dict[int, list[Told]] = {}
    order: list[int | Told] = []
    for finding in sorted(findings, key=_badness):
        told = _told(finding, bench.document)
        index = trial_index(told.field)
        if index is None or index >= bench.trials:
            order.append(told)
        elif index in by_trial:
            by_trial[index].append(told)
        else:
            by_trial[index] = [told]
            order.append(index)
    return [
        Exhibit(tuple(by_trial[one]), one + 1, bench.trial(one) if bench.has_time else None)
        if isinstance(one, int)
        else Exhibit((one,), None, None)
        for one in order
    ]


def _badness(finding: Mapping[str, Any]) -> int:
    severity = finding.get("severity")
    return SEVERITIES.index(severity) if severity in SEVERITIES else len(SEVERITIES)


def _told(finding: Mapping[str, Any], document: Any) -> Told:
    field = str(finding.get("field", ""))
    numbers = finding.get("numbers") or {}
    return Told(
        severity=one_line(str(finding.get("severity", ""))).replace("_", " "),
        code=one_line(str(finding.get("code", ""))),
        field=one_line(field),
        sentence=printable(str(finding.get("sentence", ""))),
        numbers=tuple(
            Reading(one_line(str(name)).replace("_", " "), _shown(value))
            for name, value in numbers.items()
        ),
        value=_value_at(document, field),
    )


def trial_index(field: str) -> int | None:
    """The place, from 0, of the trial that a field path names; None: it names none."""
    found = _TRIAL.match(field)
    return int(found[1]) if found else None


class Bench:
    """Lays out trials of one run, with the official tasks that they answer."""

    def __init__(self, result: RunResult, known: Mapping[str, Any] | None = None) -> None:
        """`known`: verdicts of this site that are not those of `result`, as `Run` keeps them."""
        self._known = known or {}
        self.document = result.model_dump(mode="json", exclude={"trials"})
        self.trials = len(result.trials)
        self._trials = result.trials
        self._shelf = Shelf(result.settings.fresh_seed)
        self._judged = 0
        self._private = {suite.suite for suite in result.suites if suite.is_private}
        self.trial = cache(self._trial)
        self._pack = cache(self._official_pack)

    @property
    def has_time(self) -> bool:
        """Whether another trial may be judged for this page."""
        return self._judged < MOST_TRIALS_JUDGED

    def _trial(self, index: int) -> ShownTrial:
        """The trial at this place, from 0."""
        trial = self._trials[index]
        pack = self._pack(trial.suite)
        task = _task(pack, trial.task_id)
        verdict, why_not = self._verdict(index, trial, pack, task)
        return ShownTrial(
            number=index + 1,
            suite=one_line(trial.suite),
            task=one_line(trial.task_id),
            title=one_line(task.title) if task else "",
            outcome=trial.outcome or "measured",
            prompt=tuple(map(_clipped, _prompt(task))) if task else (),
            output=tuple(map(_clipped, passages(trial))),
            readings=trial_readings(trial),
            verdicts=tuple(_verdicts(trial, verdict)),
            no_verdict=why_not,
        )

    def _verdict(
        self, index: int, trial: Trial, pack: Pack | None, task: BenchmarkTask | None
    ) -> tuple[TaskScore | None, str]:
        if (known := self._known.get(str(index))) is not None:
            return TaskScore.model_validate(known, strict=False), ""
        if trial.suite == "speed":
            return None, "A speed trial is measured; nothing is judged."
        if pack is None or task is None:
            return None, "This site does not have the task."
        if trial.output is None:
            return None, "There is no output to judge."
        if not self.has_time:
            return None, f"Only {MOST_TRIALS_JUDGED} trials of a page are judged again."
        self._judged += 1
        output = pack.stored_output(trial)
        if not needs_sandbox(task):
            return judge(output, task), ""
        ending = judge_ending(output)
        return ending, "" if ending else "A verdict needs the code to be run in a sandbox."

    def _official_pack(self, suite: str) -> Pack | None:
        """The pack of an official suite, as the run's seed makes it."""
        if suite not in pack_names() or suite in self._private:
            return None
        try:
            return self._shelf.pack(suite)
        except BenchLoopError:
            return None


def _task(pack: Pack | None, task_id: str) -> BenchmarkTask | None:
    return next((task for task in pack.tasks if task.id == task_id), None) if pack else None


def _prompt(task: BenchmarkTask) -> Iterator[Passage]:
    for message in task.messages:
        yield Passage(one_line(message.role), printable(message.content or ""))
    for path, text in task.files.items():
        yield Passage(one_line(path), printable(text))


def _clipped(passage: Passage) -> Passage:
    """Long texts are cut here: the whole is in the file."""
    left_out = len(passage.text) - LONGEST_PASSAGE
    if left_out <= 0:
        return passage
    told = f"{passage.text[:LONGEST_PASSAGE]}\n[{left_out:,} more characters are in the file]"
    return replace(passage, text=told)


def _verdicts(trial: Trial, verdict: TaskScore | None) -> Iterator[Verdict]:
    for name in JUDGED:
        stored = getattr(trial, name)
        again = getattr(verdict, name) if verdict else None
        is_other = verdict is not None and not is_same(stored, again)
        yield Verdict(name, _shown(stored), _shown(again) if verdict else "", is_other)


def _value_at(document: Any, field: str) -> str:
    """What the file says at a field path such as `machine.gpus[0].model`.

    Empty: nothing, or a whole record such as a suite, of which the finding tells what matters.
    """
    value = document
    for name, place in _STEP.findall(field):
        if name and isinstance(value, dict) and name in value:
            value = value[name]
        elif place and isinstance(value, list) and int(place) < len(value):
            value = value[int(place)]
        else:
            return ""
    return _shown(value) if field and not isinstance(value, dict) else ""


def _shown(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, float):
        return f"{value:,.6g}"
    if isinstance(value, dict | list):
        return one_line(json.dumps(value, ensure_ascii=True), LONGEST_VALUE)
    return one_line(str(value), LONGEST_VALUE)
