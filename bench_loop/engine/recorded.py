"""What a journal says of a run: its lines taken together, and nothing from anywhere else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal

from bench_loop.engine.context import Usable
from bench_loop.engine.journal import (
    Conditions,
    DeterminismProbed,
    Line,
    PartBegan,
    PartEnded,
    Planned,
    ResultSaved,
    SpeedChosen,
    SustainedLoad,
    TrialsDone,
    UsableProbed,
    read_lines,
)
from bench_loop.engine.speed_plans import Rates
from bench_loop.errors import JournalError
from bench_loop.result.records import PeakMemory, Power, RunPart, SpeedPlan, Trial
from bench_loop.scoring.load import is_sustained, streams_of
from bench_loop.scoring.recompute import SuiteKey

CUT_OFF = "The run was cut off: its process ended without a word."


@dataclass(slots=True)
class Part:
    """The work of one process on the run."""

    began: PartBegan
    last_at: datetime
    """When its last line was written."""
    runtime_s: float = 0.0
    ended: PartEnded | None = None
    """None: it was cut off, or still goes on."""
    peak_memory: PeakMemory | None = None


@dataclass(slots=True)
class Recorded:
    """A run as far as its journal knows it. `parts` is never empty, `trials` may be."""

    planned: Planned
    parts: list[Part] = field(default_factory=list)
    trials: list[Trial] = field(default_factory=list)
    """In the order in which they were finished. What a resumed run does again is left out: trials
    in which the server failed, and a sustained load that was cut off."""
    speed: SpeedChosen | None = None
    usable: Usable | None = None
    determinism: DeterminismProbed | None = None
    is_load_done: bool = False
    """Whether a sustained load came to its end."""
    is_saved: bool = False
    """Whether the result of the last part is a file."""
    has_lost_speed: bool = False
    """Whether the last part has speed trials to do again in which the server failed."""

    @property
    def run_id(self) -> str:
        return self.planned.run_id

    @property
    def conditions(self) -> Conditions:
        """Those of the last part: a part begins only where they are those of the first."""
        return self.parts[-1].began.conditions

    @property
    def end(self) -> PartEnded:
        """How the run stands; of one that was cut off, that it was."""
        ended = self.parts[-1].ended
        return ended or PartEnded(
            status="aborted", status_reason=CUT_OFF, power=None, peak_memory=None
        )

    @property
    def is_complete(self) -> bool:
        return self.end.status == "complete"

    @property
    def is_done(self) -> bool:
        """Whether it is complete and its result was written: one was killed just before that."""
        return self.is_complete and self.is_saved

    @property
    def can_go_on(self) -> bool:
        """Whether something of it is left to do that `run --resume` may do."""
        planned = self.planned
        return not self.is_done and not planned.is_cut_short and planned.matrix is None

    @property
    def left_out(self) -> tuple[str, ...]:
        return self.parts[-1].began.left_out

    @property
    def suites(self) -> tuple[SuiteKey, ...]:
        """The suites of the plan that could be run."""
        return tuple(key for key in self.planned.suites if key.suite not in self.left_out)

    @property
    def speed_plan(self) -> SpeedPlan | None:
        return self.speed.plan if self.speed else None

    @property
    def rates(self) -> Rates | None:
        """The speeds of the first calibration, by which plan and wall limits are chosen."""
        speed = self.speed
        return None if speed is None else Rates(speed.prompt_tps, speed.generation_tps)

    @property
    def has_begun_quality(self) -> bool:
        """Whether anything was done that comes after the speed suite."""
        return self.determinism is not None or any(t.suite != "speed" for t in self.trials)

    @property
    def runtime_s(self) -> float:
        """Seconds of all parts; what lies between them does not count."""
        return sum(part.runtime_s for part in self.parts)

    @property
    def power(self) -> Power | None:
        """Of a run in one part: the readings of a part that was cut off are gone with it."""
        return self.end.power if len(self.parts) == 1 else None

    @property
    def peak_memory(self) -> PeakMemory | None:
        """The most of all parts."""
        found = [part.peak_memory for part in self.parts if part.peak_memory is not None]
        if not found:
            return None
        return PeakMemory(
            ram_gb=max((peak.ram_gb for peak in found if peak.ram_gb), default=None),
            ram_scope=found[-1].ram_scope,
            vram_gb=max((peak.vram_gb for peak in found if peak.vram_gb), default=None),
        )

    def missing_suites(self) -> tuple[str, ...]:
        """Suites that could be run and lack a trial: a run that was stopped has some."""
        done = {(trial.task_id, trial.trial) for trial in self.trials}
        return tuple(
            key.suite
            for key in self.suites
            if key.dimension == "quality"
            and any(
                (task, number) not in done
                for number in range(1, (self.planned.settings.trials_of(key.suite) or 0) + 1)
                for task in key.task_ids
            )
        )

    def part_records(self) -> tuple[RunPart, ...]:
        """The parts as the result file tells them."""
        before = (None, *self.parts)
        return tuple(
            _part_record(part, last) for part, last in zip(self.parts, before, strict=False)
        )


def _part_record(part: Part, last: Part | None) -> RunPart:
    after: Literal["pause", "reboot"] | None = None
    if last is not None:
        after = "pause" if part.began.boot == last.began.boot else "reboot"
    return RunPart(
        started_at=part.began.started_at,
        finished_at=part.last_at,
        runtime_s=part.runtime_s,
        after=after,
        is_cut_off=part.ended is None,
        block=part.began.block,
    )


def read_journal(file: Path) -> tuple[Recorded, int]:
    """The run that a journal tells of, and the length of its whole lines in bytes.

    Raises JournalError, naming the line, when it is damaged or does not begin with a plan.
    """
    lines, size = read_lines(file)
    return taken_together(lines, str(file)), size


def taken_together(lines: Sequence[Line], name: str) -> Recorded:
    """The run that `lines` tell of. Raises JournalError; `name` is the file for its message."""
    if not lines or not isinstance(lines[0].entry, Planned):
        raise JournalError(name, "line 1", "is no plan", remedy="Delete the run; it never began.")
    run = Recorded(lines[0].entry)
    for number, line in enumerate(lines[1:], start=2):
        if isinstance(line.entry, PartBegan):
            _begin_part(run, line.entry, line.at)
        elif isinstance(line.entry, ResultSaved):
            run.is_saved = True
            continue  # It says when the result was written, which is no part of the result.
        elif not run.parts or isinstance(line.entry, Planned):
            raise JournalError(name, f"line {number}", "belongs to no part of the run")
        else:
            _take(run, line)
        part = run.parts[-1]
        # The machine's clock may be set back while the part goes on.
        part.last_at, part.runtime_s = max(part.last_at, line.at), line.part_s
    if not run.parts:
        raise JournalError(name, None, "ends before the run began", remedy="Delete the run.")
    return run


def _begin_part(run: Recorded, began: PartBegan, at: datetime) -> None:
    """What the server failed in is done again; of streams at once, all of them."""
    run.parts.append(Part(began, max(at, began.started_at)))
    run.is_saved = False
    lost = [trial for trial in run.trials if trial.outcome == "infrastructure_error"]
    groups = {trial.task_id for trial in lost if streams_of(trial.task_id)}
    run.has_lost_speed = any(trial.suite == "speed" for trial in lost)
    run.trials = [t for t in run.trials if t not in lost and t.task_id not in groups]


def _take(run: Recorded, line: Line) -> None:
    part = run.parts[-1]
    match line.entry:
        case TrialsDone() as done:
            run.trials += done.trials
            part.peak_memory = done.peak_memory
        case SpeedChosen() as chosen:
            run.speed = chosen
        case UsableProbed() as probed:
            run.usable = Usable(probed.tokens, probed.why_not)
        case DeterminismProbed() as probed:
            run.determinism = probed
        case SustainedLoad() as load:
            run.is_load_done = load.is_done
            if not load.is_done:
                run.trials = list(_without_sustained(run.trials))
        case PartEnded() as ended:
            part.ended = ended
            part.peak_memory = ended.peak_memory


def _without_sustained(trials: Iterable[Trial]) -> Iterable[Trial]:
    """The trials that belong to no sustained load."""
    return (t for t in trials if t.suite != "speed" or not is_sustained(t.task_id))
