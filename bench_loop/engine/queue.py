"""Several models one after the other, overnight: nothing that befalls one of them ends the queue.

The state of the queue is on disk before and after each model, in `queues/<queue_id>/queue.json`, so
that a queue that was killed goes on where it was. Each run has a journal and a result of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal, Protocol, Self

from pydantic import AwareDatetime, Field

from bench_loop.config import home
from bench_loop.contracts.chat import Sampling
from bench_loop.contracts.record import Count, Many, Record, Seconds, Seed
from bench_loop.engine.plan import RunOptions
from bench_loop.engine.run_lock import is_live
from bench_loop.engine.state_file import OpenState, read_state
from bench_loop.engine.stopping import why_stopped
from bench_loop.errors import BenchLoopError, ResultError, UsageError
from bench_loop.machine.rest import Rest
from bench_loop.result.records import RunId, RunResult, RunStatus
from bench_loop.result.store import load, new_run_id

QUEUE = "queue.json"
PREFIX = "queue-"
VERSION = 1

State = Literal["waiting", "running", "complete", "incomplete", "aborted", "failed", "skipped"]
"""`failed`: there is no result. `skipped`: it was not tried. `aborted`: stopped by the user."""

DONE: frozenset[State] = frozenset({"complete", "failed", "skipped"})
"""What a queue that goes on leaves as it is: what can be mended is tried again."""

Say = Callable[[str], None]
Reason = Annotated[str, Field(max_length=1000)]


class Asked(Record):
    """What every run of a queue is asked to do: the options of the command line."""

    profile: str | None
    suites: Many[str] | None
    trials: Count | None
    context_window: Count
    thinking: bool | None
    sampling: Sampling | None
    options: RunOptions
    provider: str | None
    endpoint: str | None
    harness: str
    harness_options: dict[str, str] = {}
    is_forced: bool = False
    sandbox_kind: str
    is_unsafe_allowed: bool
    sandbox_user: int | None
    label: str | None
    gpu: str | None
    gpu_memory_gb: float | None
    output: str = Field(description="Folder of the result files.")
    cool_down_s: Seconds = Field(description="Longest wait between two models.")
    fresh_seed: Seed | None = Field(None, description="Seed of fresh instances; null: frozen.")
    packs: str | None = Field(None, description="Folder of the person's own packs; null: none.")
    chat_template: str | None = Field(None, description="In place of the model's; null: its own.")
    yarn_factor: int = Field(1, ge=1, description="Times that the model's window is stretched.")


class QueuedRun(Record):
    """One model of the queue, and how it stands with it."""

    model_id: str
    state: State = "waiting"
    reason: Reason | None = Field(None, description="Why it is not complete.")
    run_id: RunId | None = Field(
        None, description="Given before it begins. Null: not tried, or nothing was measured."
    )
    result_file: str | None = None
    began_at: AwareDatetime | None = None
    ended_at: AwareDatetime | None = None
    findings: Many[Reason] = Field((), description="What may have touched its figures.")


class Queue(Record):
    """The whole queue, as it is on disk."""

    version: int = VERSION
    queue_id: str
    made_at: AwareDatetime
    asked: Asked
    at_rest: Rest | None = Field(None, description="The machine before the first run.")
    runs: Many[QueuedRun]


class Work(Protocol):
    """What a queue has done for each model."""

    def lack_of_room(self, model_id: str) -> str | None:
        """Why the model does not fit into memory now, as a sentence; None: it does."""

    def has_run(self, run_id: str) -> bool:
        """Whether the run of this id has begun and can be read."""

    def run(self, model_id: str, run_id: str) -> None:
        """Run the model to its result under this id, or go on with the run that has it."""

    def free(self, model_id: str) -> str | None:
        """Have the model out of memory; a sentence where it is not, or nobody can tell."""

    def rest(self) -> Rest:
        """The machine's heat and load now."""

    def cool_down(self, before: Rest) -> str | None:
        """Wait until the machine is as it was; a sentence where it never was."""


class OpenQueue(OpenState[Queue]):
    """A queue that this process works through: its file, locked. A context manager."""

    @classmethod
    def begun(cls, models: tuple[str, ...], asked: Asked) -> Self:
        """A new queue on disk. Raises SetupError where nothing can be written."""
        queue = Queue(
            queue_id=PREFIX + new_run_id(),
            made_at=datetime.now(UTC),
            asked=asked,
            runs=tuple(QueuedRun(model_id=model) for model in models),
        )
        return cls.new(queues_folder() / queue.queue_id / QUEUE, queue)

    @classmethod
    def resumed(cls, folder: Path) -> Self:
        """The queue in `folder`, to go on with.

        Raises UsageError when another process works on it, ResultError when it cannot be read.
        """
        return cls.opened(folder / QUEUE, Queue, VERSION)

    @property
    def queue(self) -> Queue:
        """The queue as it is on disk."""
        return self.state

    def change(self, number: int, **fields: object) -> QueuedRun:
        """Have the model at `number` with these fields on disk."""
        runs = list(self.queue.runs)
        runs[number] = QueuedRun.model_validate(dict(runs[number]) | fields)
        self.keep(runs=tuple(runs))
        return runs[number]

    def work_through(self, work: Work, say: Say) -> Queue:
        """Do what is to be done. Ctrl-C ends it, with what is finished kept, and raises on."""
        if self.queue.at_rest is None:
            self.keep(at_rest=work.rest())
        is_warm = False
        for number, run in enumerate(self.queue.runs):
            if run.state in DONE:
                continue
            say(f"{number + 1} of {len(self.queue.runs)}: {run.model_id}")
            is_warm = self._one(number, work, is_warm=is_warm) or is_warm
        return self.queue

    def _one(self, number: int, work: Work, *, is_warm: bool) -> bool:
        """One model, whatever befalls it; whether anything was run."""
        run = self.queue.runs[number]
        try:
            lack = work.lack_of_room(run.model_id)
            if lack is not None:
                self.change(number, state="skipped", reason=lack, ended_at=datetime.now(UTC))
                return False
            warm = work.cool_down(self.queue.at_rest or Rest()) if is_warm else None
            run_id = self._begin(number, work)
            self._note(number, warm)
            work.run(run.model_id, run_id)
            self._end(number, work, None)
        except KeyboardInterrupt as stop:
            self._end(number, work, why_stopped(stop), stopped=True)
            raise
        except BenchLoopError as error:
            self._end(number, work, error.message, remedy=error.remedy)
        except Exception as error:  # a fault of our own must not cost the models after this one
            self._end(number, work, f"{type(error).__name__}: {error}")
        self._note(number, self._free(run.model_id, work))
        return True

    def _begin(self, number: int, work: Work) -> str:
        """The id of the model's run, on disk before it is used: no other run is taken for it.

        It is that of the run that this model had when the queue was killed or stopped.
        """
        run = self.queue.runs[number]
        goes_on = run.run_id is not None and work.has_run(run.run_id)
        run_id = run.run_id if run.run_id is not None and goes_on else new_run_id()
        began = run.began_at if goes_on else datetime.now(UTC)
        self.change(
            number, state="running", reason=None, run_id=run_id, began_at=began, ended_at=None
        )
        return run_id

    def _end(
        self,
        number: int,
        work: Work,
        reason: str | None,
        *,
        remedy: str | None = None,
        stopped: bool = False,
    ) -> None:
        """What became of it: its result's own word, where there is a result.

        A run that has begun and has no result yet is incomplete, and can be gone on with.
        """
        run_id = self.queue.runs[number].run_id
        file = Path(self.queue.asked.output) / f"{run_id}.json" if run_id else None
        result = _result(file)
        has_begun = run_id is not None and work.has_run(run_id)
        state: State | RunStatus = "incomplete" if has_begun else "failed"
        if result is not None:
            state = result.status
        if stopped and state != "complete":
            state = "aborted"
        if state == "complete":
            reason = None
        elif result is not None and not stopped:
            reason = result.status_reason or reason
        elif remedy:
            reason = f"{reason} {remedy}"
        self.change(
            number,
            state=state,
            reason=reason[:1000] if reason else None,
            run_id=run_id if has_begun or result is not None else None,
            result_file=str(file) if result is not None else None,
            ended_at=datetime.now(UTC),
        )

    def _free(self, model_id: str, work: Work) -> str | None:
        try:
            return work.free(model_id)
        except Exception as error:  # as above: the next model's turn has come
            return f"Whether it left the memory is not known: {error}"

    def _note(self, number: int, finding: str | None) -> None:
        if finding is not None:
            findings = (*self.queue.runs[number].findings, finding[:1000])
            self.change(number, findings=findings)


def _result(file: Path | None) -> RunResult | None:
    try:
        return load(file) if file is not None else None
    except ResultError:
        return None


def queues_folder() -> Path:
    """Where each queue has a folder."""
    return home() / "queues"


def find_queue(name: str) -> Path:
    """The folder of the queue with this id. Raises UsageError when there is none."""
    folder = queues_folder() / Path(name).name
    if not (folder / QUEUE).is_file():
        known = sorted(file.parent.name for file in queues_folder().glob(f"*/{QUEUE}"))
        has = f" The newest is {known[-1]}." if known else ""
        raise UsageError(f"There is no queue {name!r}.{has}", remedy="bench-loop run --models A,B")
    return folder


def newest_open_queue() -> Path | None:
    """The newest queue with something left to do that no process works on; None: there is none."""
    for file in sorted(queues_folder().glob(f"*/{QUEUE}"), reverse=True):
        try:
            is_open = any(run.state not in DONE for run in read_queue(file.parent).runs)
            if is_open and not is_live(file.parent):
                return file.parent
        except ResultError:
            continue  # A damaged one is told when it is asked for by name.
    return None


def read_queue(folder: Path) -> Queue:
    """The queue in `folder`. Raises ResultError with the field when the file is wrong."""
    return read_state(folder / QUEUE, Queue, VERSION)
