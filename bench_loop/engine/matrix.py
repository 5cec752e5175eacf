"""Models x harnesses, block by block on one server each, so that the arms can be compared.

The state is on disk before and after each arm's turn, in `matrices/<matrix_id>/matrix.json`. Each
arm is a run of its own, with a journal and a result; what is done of it, its journal alone says.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager as Context
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal, Protocol, Self

from pydantic import AwareDatetime, Field, model_validator

from bench_loop.config import home
from bench_loop.contracts.record import Many, Record
from bench_loop.engine.blocks import Block, Turn, blocks
from bench_loop.engine.events import BlockStarted, Listener
from bench_loop.engine.matrix_pace import MatrixPace
from bench_loop.engine.plan import RunPlan
from bench_loop.engine.queue import Asked
from bench_loop.engine.recorded import Recorded
from bench_loop.engine.run_folder import known_run
from bench_loop.engine.run_lock import is_live
from bench_loop.engine.state_file import OpenState, read_state
from bench_loop.errors import NeedsError, ResultError, UsageError
from bench_loop.result.records import MatrixArm, MatrixId, RunId
from bench_loop.result.store import new_run_id

MATRIX = "matrix.json"
PAGE = "matrix.html"
"""What is shown of it, beside it."""
PREFIX = "matrix-"
VERSION = 1
PASSES = 2
"""A block in which the server failed is run once more when the others are done."""

BEGIN_ONE = "bench-loop matrix --models A,B --harnesses raw,goose"

ArmState = Literal["waiting", "running", "complete", "incomplete", "refused"]
"""`refused`: the model or its server is not enough for the harness."""
DONE: frozenset[ArmState] = frozenset({"complete", "refused"})


class Arm(Record):
    """One model in one harness, and how it stands with it."""

    model_id: str
    harness: str
    state: ArmState = "waiting"
    reason: Annotated[str, Field(max_length=1000)] | None = Field(
        None, description="Why it is not complete."
    )
    needs: Many[str] = Field((), description="What the harness needs and does not get.")
    run_id: RunId | None = Field(None, description="Given before it begins. Null: it has not.")


class Matrix(Record):
    """The whole matrix, as it is on disk."""

    version: int = VERSION
    matrix_id: MatrixId
    made_at: AwareDatetime
    asked: Asked = Field(description="What every arm is asked to do; its harness is its own.")
    task_ids: Many[str] | None = Field(description="The only tasks of its suites; null: all.")
    arms: Many[Arm] = Field(min_length=1)

    @model_validator(mode="after")
    def _each_arm_once(self) -> Self:
        named = [(arm.model_id, arm.harness) for arm in self.arms]
        given = [arm.run_id for arm in self.arms if arm.run_id is not None]
        if len(set(named)) < len(named) or len(set(given)) < len(given):
            raise ValueError("an arm, or the run of one, is there twice")
        return self

    @property
    def models(self) -> tuple[str, ...]:
        """Each model once, in the order of running."""
        return tuple(dict.fromkeys(arm.model_id for arm in self.arms))

    def arms_of(self, model_id: str) -> list[tuple[int, Arm]]:
        """The arms of one model, with their places among all."""
        return [(at, arm) for at, arm in enumerate(self.arms) if arm.model_id == model_id]

    @property
    def is_untouched(self) -> bool:
        """Whether nothing came of it yet."""
        return all(arm.state == "waiting" for arm in self.arms)

    @property
    def is_done(self) -> bool:
        return all(arm.state in DONE for arm in self.arms)


class ModelWork(Protocol):
    """One model on its server, with the harnesses that can work there."""

    @property
    def plan(self) -> RunPlan:
        """Of every arm."""

    @property
    def refused(self) -> Mapping[str, NeedsError]:
        """The harnesses that cannot, and why."""

    def run(self, harness: str, run_id: str, turn: Turn) -> None:
        """Run one block, as the beginning of the run of this id or as more of it."""

    def expected_s(self, harness: str, block: Block) -> float | None:
        """Seconds that a block is expected to take by the model's speed; None: it is not known."""


class Work(Protocol):
    """What a matrix has done for each model."""

    def opened(self, model_id: str, harnesses: Sequence[str]) -> Context[ModelWork]:
        """The model, loaded for these harnesses; given back at the end."""


class OpenMatrix(OpenState[Matrix]):
    """A matrix that this process works through: its file, locked. A context manager."""

    @classmethod
    def begun(
        cls,
        models: Sequence[str],
        harnesses: Sequence[str],
        asked: Asked,
        task_ids: Sequence[str] | None,
    ) -> Self:
        """A new matrix on disk. Raises SetupError where nothing can be written."""
        matrix = Matrix(
            matrix_id=PREFIX + new_run_id(),
            made_at=datetime.now(UTC),
            asked=asked,
            task_ids=None if task_ids is None else tuple(task_ids),
            arms=tuple(
                Arm(model_id=model, harness=harness) for model in models for harness in harnesses
            ),
        )
        return cls.new(matrices_folder() / matrix.matrix_id / MATRIX, matrix)

    @classmethod
    def resumed(cls, folder: Path) -> Self:
        """The matrix in `folder`, to go on with.

        Raises UsageError when another process works on it, ResultError when it cannot be read.
        """
        return cls.opened(folder / MATRIX, Matrix, VERSION)

    def discard(self) -> None:
        """Leave nothing of it on disk."""
        shutil.rmtree(self.file.parent, ignore_errors=True)

    def work_through(self, work: Work, tell: Listener) -> Matrix:
        """Do what is to be done, model after model.

        What ends it, like a server that is gone, is raised on; what is finished is kept.
        """
        for model_id in self.state.models:
            arms = self.state.arms_of(model_id)
            if all(arm.state in DONE for _, arm in arms):
                continue
            harnesses = [arm.harness for _, arm in arms if arm.state != "refused"]
            with work.opened(model_id, harnesses) as there:
                self._take_turns(model_id, there, tell)
        return self.state

    def _take_turns(self, model_id: str, there: ModelWork, tell: Listener) -> None:
        """All blocks of one model."""
        for harness, error in there.refused.items():
            self._change(
                self._place(model_id, harness),
                state="refused",
                reason=error.message[:1000],
                needs=error.needs,
            )
        places = [at for at, arm in self.state.arms_of(model_id) if arm.state != "refused"]
        if not places:
            return
        names = tuple(self.state.arms[at].harness for at in places)
        order = blocks(there.plan, len(places))
        pace = MatrixPace({one: there.expected_s(names[one.arm], one) for one in order})
        last: int | None = None
        for _ in range(PASSES):
            for block in order:
                place = places[block.arm]
                if (run := self._known(place)) is not None and block.is_done(run.trials):
                    done = block.of(run.trials)
                    pace.leave_out(block, sum(trial.latency_s or 0.0 for trial in done))
                    continue
                tell(self._told(block, place, len(order), pace.left_s()))
                with pace.timed(block):
                    self._run(block, place, names, there, is_after_other=place != last)
                last = place
        lasts = {places[block.arm]: block for block in order}
        for place in places:
            if self._lacks_an_end(place, [one for one in order if places[one.arm] == place]):
                self._run(lasts[place], place, names, there, is_after_other=True)
            self._end(place)

    def _run(
        self,
        block: Block,
        place: int,
        names: tuple[str, ...],
        there: ModelWork,
        *,
        is_after_other: bool,
    ) -> None:
        matrix = MatrixArm(matrix_id=self.state.matrix_id, arm=block.arm + 1, arms=names)
        turn = Turn(matrix, block, is_after_other=is_after_other)
        there.run(names[block.arm], self._run_id(place), turn)

    def _lacks_an_end(self, place: int, own: Sequence[Block]) -> bool:
        """Whether an arm has all its trials and was stopped before its result was made of them."""
        run = self._known(place)
        is_measured = run is not None and all(block.is_done(run.trials) for block in own)
        return run is not None and is_measured and not run.is_done

    def _known(self, place: int) -> Recorded | None:
        """The run of an arm so far. Raises ResultError where it is that of another."""
        arm = self.state.arms[place]
        run = known_run(arm.run_id) if arm.run_id is not None else None
        if run is None:
            return None
        planned = run.planned
        is_of_matrix = planned.matrix and planned.matrix.matrix_id == self.state.matrix_id
        is_own = (planned.request.model, run.conditions.harness) == (arm.model_id, arm.harness)
        if not is_of_matrix or not is_own:
            field = f"arms[{place}].run_id"
            raise ResultError(str(self.file), field, "is the run of another arm, or of none")
        return run

    def _end(self, place: int) -> None:
        """All blocks of an arm have had their turn: how its run stands."""
        run = self._known(place)
        if run is not None and run.is_complete:
            self._change(place, state="complete", reason=None)
        else:
            reason = (run.end.status_reason if run else None) or "Nothing was measured."
            self._change(place, state="incomplete", reason=reason[:1000])

    def _told(
        self, block: Block, place: int, count: int, left_s: tuple[float, float] | None
    ) -> BlockStarted:
        arm = self.state.arms[place]
        return BlockStarted(
            block.number, count, arm.model_id, arm.harness, block.suite, block.trial, left_s
        )

    def _run_id(self, place: int) -> str:
        """The id of an arm's run, on disk before it is used; of one that was killed before it
        began, a new one."""
        run_id = self.state.arms[place].run_id
        if run_id is None or self._known(place) is None:
            run_id = new_run_id()
        self._change(place, state="running", reason=None, run_id=run_id)
        return run_id

    def _place(self, model_id: str, harness: str) -> int:
        return next(at for at, arm in self.state.arms_of(model_id) if arm.harness == harness)

    def _change(self, place: int, **fields: object) -> None:
        arms = list(self.state.arms)
        arms[place] = Arm.model_validate(dict(arms[place]) | fields)
        self.keep(arms=tuple(arms))


def matrices_folder() -> Path:
    """Where each matrix has a folder."""
    return home() / "matrices"


def _folders() -> list[Path]:
    """Those of all matrices, the newest last."""
    return sorted(file.parent for file in matrices_folder().glob(f"*/{MATRIX}"))


def find_matrix(name: str | None) -> Path:
    """The folder of the matrix `name`, None: of the newest that is not done.

    Raises UsageError when there is none.
    """
    folders = _folders()
    if name is not None:
        wanted = Path(name).name
        found = [folder for folder in folders if wanted and wanted in folder.name]
        if len(found) == 1:
            return found[0]
        what = f"There is no matrix {name!r}." if not found else f"{name!r} may mean several."
        has = f" The newest is {folders[-1].name}." if folders else ""
        raise UsageError(what + has, remedy="Name one whole.")
    for folder in reversed(folders):
        try:
            if not read_matrix(folder).is_done and not is_live(folder):
                return folder
        except ResultError:
            continue  # A damaged one is told when it is asked for by name.
    raise UsageError("There is no matrix to go on with.", remedy=BEGIN_ONE)


def newest_matrix() -> Path:
    """The folder of the newest matrix. Raises UsageError when there is none."""
    folders = _folders()
    if not folders:
        raise UsageError("There is no matrix yet.", remedy=BEGIN_ONE)
    return folders[-1]


def read_matrix(folder: Path) -> Matrix:
    """The matrix in `folder`. Raises ResultError with the field when the file is wrong."""
    return read_state(folder / MATRIX, Matrix, VERSION)
