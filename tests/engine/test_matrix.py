"""A matrix, run by real runs on a server inside the test: what each arm's result holds."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from bench_loop.commands._setup import load_harness, prepare
from bench_loop.config import runs_folder
from bench_loop.contracts.chat import ChatRequest
from bench_loop.contracts.harness import HarnessAdapter
from bench_loop.engine.blocks import Block, Turn
from bench_loop.engine.events import BlockStarted, Event
from bench_loop.engine.journal import JOURNAL
from bench_loop.engine.matrix import (
    MATRIX,
    Matrix,
    ModelWork,
    OpenMatrix,
    find_matrix,
    newest_matrix,
    read_matrix,
)
from bench_loop.engine.plan import RunPlan, make_plan
from bench_loop.engine.run import Run
from bench_loop.engine.run_folder import OpenRun, known_run
from bench_loop.errors import (
    JournalError,
    NeedsError,
    ProviderError,
    ResultError,
    UsageError,
)
from bench_loop.result.records import RunResult
from bench_loop.result.store import load
from tests.engine.doubles import Answer, ScriptedProvider, outage, reply
from tests.engine.test_queue import asked

SUITES = ["reasonmath"]


def twin(name: str) -> HarnessAdapter:
    """`raw` under another name, so that several arms need no program."""
    adapter: Any = load_harness("raw")
    adapter.name = name
    return adapter


@dataclass
class Server:
    """Work on one scripted server, whose arms are all `raw`."""

    output: Path
    provider: ScriptedProvider = field(default_factory=ScriptedProvider)
    trials: int = 2
    refused: Mapping[str, NeedsError] = field(default_factory=dict)
    opened_for: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)

    @property
    def plan(self) -> RunPlan:
        return make_plan(suites=SUITES, trials=self.trials)

    @contextmanager
    def opened(self, model_id: str, harnesses: Sequence[str]) -> Iterator[ModelWork]:
        self.opened_for.append((model_id, tuple(harnesses)))
        yield self

    def run(self, harness: str, run_id: str, turn: Turn) -> None:
        setup = prepare(self.provider, self.opened_for[-1][0], twin(harness))
        with ExitStack() as stack:
            resumed = None
            if known_run(run_id) is not None:
                resumed = stack.enter_context(OpenRun.resumed(runs_folder() / run_id))
            run = Run(
                self.plan,
                setup,
                self.output,
                lambda event: None,
                resumed=resumed,
                run_id=None if resumed else run_id,
                turn=turn,
            )
            run.go()

    def expected_s(self, harness: str, block: Block) -> float | None:
        return 1.0


def begun(output: Path, harnesses: Sequence[str] = ("raw", "twin")) -> OpenMatrix:
    return OpenMatrix.begun(("tiny",), harnesses, asked(output), None)


def results(matrix: Matrix, output: Path) -> list[RunResult]:
    return [load(output / f"{arm.run_id}.json") for arm in matrix.arms]


def test_each_arm_is_a_run_whose_blocks_alternate_with_the_others(tmp_path: Path) -> None:
    told: list[Event] = []
    with begun(tmp_path) as opened:
        matrix = opened.work_through(Server(tmp_path), told.append)
    assert [arm.state for arm in matrix.arms] == ["complete", "complete"]
    assert read_matrix(newest_matrix()) == matrix
    turns = [(one.harness, one.trial) for one in told if isinstance(one, BlockStarted)]
    assert turns == [("raw", 1), ("twin", 1), ("twin", 2), ("raw", 2)]
    raw, other = results(matrix, tmp_path)
    assert [part.block for part in raw.parts or ()] == [1, 4]
    assert [part.block for part in other.parts or ()] == [2, 3]
    for place, result in enumerate((raw, other), start=1):
        assert result.status == "complete"
        assert result.matrix is not None
        assert (result.matrix.matrix_id, result.matrix.arm) == (matrix.matrix_id, place)
        assert result.matrix.arms == ("raw", "twin")
        cold = [trial.is_cold for trial in result.trials]
        warm = [False] * (len(cold) // 2 - 1)
        # At the turn the second arm follows itself: the server may still hold its prompt.
        assert cold == [True, *warm, True if result is raw else None, *warm]
    assert [t.task_id for t in raw.trials] == [t.task_id for t in other.trials]


class Breaking(ScriptedProvider):
    """Answers, and at the request numbers in `at` something else happens."""

    def __init__(self, at: Mapping[int, BaseException]) -> None:
        super().__init__()
        self._at = dict(at)
        self.count = 0

    def chat(self, request: ChatRequest, watch: Any = None) -> Any:
        self.count += 1
        if (error := self._at.pop(self.count, None)) is not None:
            raise error
        return super().chat(request, watch)


@pytest.mark.parametrize("request_number", [1, 2, 9, 16, 17, 18, 40, 60])
def test_wherever_it_is_stopped_it_ends_as_if_it_had_not_been(
    tmp_path: Path, request_number: int
) -> None:
    broken = Breaking({request_number: KeyboardInterrupt()})
    with begun(tmp_path) as opened, pytest.raises(KeyboardInterrupt):
        opened.work_through(Server(tmp_path, broken), lambda event: None)
    folder = find_matrix(None)
    with OpenMatrix.resumed(folder) as opened:
        matrix = opened.work_through(Server(tmp_path), lambda event: None)
    assert [arm.state for arm in matrix.arms] == ["complete", "complete"]
    for result in results(matrix, tmp_path):
        keys = [(trial.task_id, trial.trial) for trial in result.trials]
        assert len(set(keys)) == len(keys) == 2 * len({task_id for task_id, _ in keys})
        # One first trial for each part: that of a block, or of the rest of one.
        firsts = sum(trial.is_cold is not False for trial in result.trials)
        assert firsts == len([part for part in result.parts or () if part.block])
    assert len({arm.run_id for arm in matrix.arms}) == 2


def test_a_trial_in_which_the_server_failed_is_run_again_when_the_others_are_done(
    tmp_path: Path,
) -> None:
    failing: list[Answer] = [reply(""), *[outage(500)] * 3]
    server = Server(tmp_path, ScriptedProvider(failing, control=outage()), trials=1)
    told: list[Event] = []
    with begun(tmp_path) as opened:
        matrix = opened.work_through(server, told.append)
    turns = [one.harness for one in told if isinstance(one, BlockStarted)]
    assert turns == ["raw", "twin", "raw"]
    assert [arm.state for arm in matrix.arms] == ["complete", "complete"]
    assert not any(
        trial.outcome == "infrastructure_error"
        for result in results(matrix, tmp_path)
        for trial in result.trials
    )


def test_a_server_that_is_gone_ends_it_and_nothing_is_lost(tmp_path: Path) -> None:
    gone = ProviderError("The server does not answer.")
    first_block = 1 + len(make_plan(suites=SUITES, trials=1).quality_trials)
    server = Server(tmp_path, Breaking({first_block + 1: gone}))
    with begun(tmp_path) as opened, pytest.raises(ProviderError, match="does not answer"):
        opened.work_through(server, lambda event: None)
    raw, other = read_matrix(newest_matrix()).arms
    assert (raw.state, other.state) == ("running", "running")
    kept = known_run(raw.run_id or "")
    assert kept is not None
    assert len(kept.trials) == first_block - 1


def test_what_a_harness_needs_and_does_not_get_is_kept_and_the_others_go_on(
    tmp_path: Path,
) -> None:
    lack = NeedsError("twin needs a window of 64,000 tokens.", needs=["context_window"])
    server = Server(tmp_path, refused={"twin": lack}, trials=1)
    with begun(tmp_path, ("raw", "twin", "third")) as opened:
        matrix = opened.work_through(server, lambda event: None)
    raw, refused, third = matrix.arms
    assert (raw.state, refused.state, third.state) == ("complete", "refused", "complete")
    assert refused.needs == ("context_window",)
    assert "64,000" in (refused.reason or "")
    assert load(tmp_path / f"{raw.run_id}.json").matrix is not None
    assert matrix.is_done
    assert refused.run_id is None


def test_models_come_one_after_the_other(tmp_path: Path) -> None:
    server = Server(tmp_path, trials=1)
    with OpenMatrix.begun(("a", "b"), ("raw", "twin"), asked(tmp_path), None) as opened:
        opened.work_through(server, lambda event: None)
    assert server.opened_for == [("a", ("raw", "twin")), ("b", ("raw", "twin"))]


def test_an_arm_goes_on_with_its_matrix_alone(tmp_path: Path) -> None:
    from bench_loop.commands._resume import newest_resumable, resume

    with begun(tmp_path) as opened, pytest.raises(KeyboardInterrupt):
        opened.work_through(
            Server(tmp_path, Breaking({5: KeyboardInterrupt()})), lambda event: None
        )
    arm = read_matrix(newest_matrix()).arms[0]
    with pytest.raises(UsageError, match="no run to go on with"):
        newest_resumable()
    with pytest.raises(UsageError, match="arm of a matrix") as refused:
        resume(
            arm.run_id or "",
            endpoint=None,
            is_unsafe_allowed=False,
            sandbox_user=None,
            as_json=False,
        )
    assert "matrix --resume matrix-" in (refused.value.remedy or "")


def test_a_matrix_is_worked_on_by_one_process(tmp_path: Path) -> None:
    with begun(tmp_path) as opened, pytest.raises(UsageError):
        OpenMatrix.resumed(opened.file.parent)


def test_a_matrix_is_found_by_a_part_of_its_name(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no matrix yet"):
        newest_matrix()
    with pytest.raises(UsageError, match="no matrix to go on with"):
        find_matrix(None)
    with begun(tmp_path) as opened:
        folder = opened.file.parent
    assert find_matrix(folder.name[-10:]) == find_matrix(str(folder)) == folder
    with pytest.raises(UsageError, match=folder.name):
        find_matrix("another")


def test_a_damaged_matrix_is_told_with_its_field(tmp_path: Path) -> None:
    with begun(tmp_path) as opened:
        folder = opened.file.parent
    text = (folder / MATRIX).read_text()
    (folder / MATRIX).write_text(text.replace('"waiting"', '"asleep"', 1))
    with pytest.raises(ResultError, match=r"arms\[0\]\.state"):
        read_matrix(folder)


@pytest.mark.parametrize("lines", [1, 2])
def test_an_arm_that_was_killed_after_its_last_trial_is_complete_when_it_goes_on(
    tmp_path: Path, lines: int
) -> None:
    """`lines` of its journal were not written any more: its result, and its end too."""
    with begun(tmp_path) as opened:
        matrix = opened.work_through(Server(tmp_path), lambda event: None)
        arms = tuple(arm.model_copy(update={"state": "running"}) for arm in matrix.arms)
        opened.keep(arms=arms)
    file = runs_folder() / (arms[0].run_id or "") / JOURNAL
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:-lines]))
    (tmp_path / f"{arms[0].run_id}.json").unlink()
    with OpenMatrix.resumed(find_matrix(None)) as opened:
        again = opened.work_through(Server(tmp_path), lambda event: None)
    assert [arm.state for arm in again.arms] == ["complete", "complete"]
    raw, other = results(again, tmp_path)
    assert raw.status == "complete"
    assert len(raw.trials) == len(other.trials)


def test_an_arm_that_was_stopped_after_its_last_trial_is_complete_when_it_goes_on(
    tmp_path: Path,
) -> None:
    class Stopping(ScriptedProvider):
        """Ctrl-C while the server is read back at the end of the last block."""

        seen = 0

        def server(self) -> Any:
            self.seen += 1
            if self.seen == last:
                raise KeyboardInterrupt
            return super().server()

    last = -1
    counting = Stopping()
    with begun(tmp_path) as opened:
        opened.work_through(Server(tmp_path, counting, trials=1), lambda event: None)
    last = counting.seen
    with begun(tmp_path) as opened, pytest.raises(KeyboardInterrupt):
        opened.work_through(Server(tmp_path, Stopping(), trials=1), lambda event: None)
    with OpenMatrix.resumed(find_matrix(None)) as opened:
        again = opened.work_through(Server(tmp_path, trials=1), lambda event: None)
    assert [arm.state for arm in again.arms] == ["complete", "complete"]


@pytest.mark.parametrize("name", ["../../elsewhere", "/etc", "", "20260102T030405Z-abcdefghij/.."])
def test_the_id_of_a_run_is_no_path(tmp_path: Path, name: str) -> None:
    with begun(tmp_path) as opened:
        folder = opened.file.parent
    text = (folder / MATRIX).read_text()
    (folder / MATRIX).write_text(text.replace('"run_id": null', f'"run_id": "{name}"', 1))
    with pytest.raises(ResultError, match=r"arms\[0\]\.run_id"):
        read_matrix(folder)


def test_a_matrix_without_arms_is_none(tmp_path: Path) -> None:
    with begun(tmp_path) as opened:
        folder = opened.file.parent
    document = json.loads((folder / MATRIX).read_text())
    (folder / MATRIX).write_text(json.dumps({**document, "arms": []}))
    with pytest.raises(ResultError, match="arms"):
        read_matrix(folder)


def test_an_arm_stands_in_a_matrix_once(tmp_path: Path) -> None:
    with begun(tmp_path) as opened:
        folder = opened.file.parent
    text = (folder / MATRIX).read_text()
    (folder / MATRIX).write_text(text.replace('"harness": "twin"', '"harness": "raw"', 1))
    with pytest.raises(ResultError, match="twice"):
        read_matrix(folder)


def test_the_run_of_one_arm_is_not_taken_for_that_of_another(tmp_path: Path) -> None:
    with begun(tmp_path) as opened:
        matrix = opened.work_through(Server(tmp_path, trials=1), lambda event: None)
        ids = [arm.run_id for arm in matrix.arms]
        swapped = zip(matrix.arms, reversed(ids), strict=True)
        opened.keep(
            arms=tuple(
                arm.model_copy(update={"state": "running", "run_id": run_id})
                for arm, run_id in swapped
            )
        )
    with (
        OpenMatrix.resumed(find_matrix(None)) as opened,
        pytest.raises(ResultError, match="another arm"),
    ):
        opened.work_through(Server(tmp_path, trials=1), lambda event: None)


def test_a_journal_that_is_damaged_is_told_and_not_begun_anew(tmp_path: Path) -> None:
    with begun(tmp_path) as opened, pytest.raises(KeyboardInterrupt):
        opened.work_through(
            Server(tmp_path, Breaking({5: KeyboardInterrupt()})), lambda event: None
        )
    run_id = read_matrix(newest_matrix()).arms[0].run_id
    file = runs_folder() / (run_id or "") / JOURNAL
    file.write_bytes(
        file.read_bytes().replace(b'"pass"', b'"psas"').replace(b"reasonm", b"raesonm")
    )
    with (
        OpenMatrix.resumed(find_matrix(None)) as opened,
        pytest.raises(JournalError, match="is damaged"),
    ):
        opened.work_through(Server(tmp_path), lambda event: None)
    assert read_matrix(newest_matrix()).arms[0].run_id == run_id
