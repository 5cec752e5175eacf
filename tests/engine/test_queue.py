"""The queue: nothing that befalls one model ends it, and its state is on disk at any moment."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bench_loop.engine.plan import RunOptions
from bench_loop.engine.queue import (
    QUEUE,
    Asked,
    OpenQueue,
    Queue,
    find_queue,
    newest_open_queue,
    read_queue,
)
from bench_loop.errors import ModelNotFoundError, ProviderError, ResultError, UsageError
from bench_loop.machine.rest import Rest
from bench_loop.result.store import save
from tests.console.make_run import make_run

Happening = Callable[[], None]


class ScriptedWork:
    """Work whose runs end as a test says; every run has a result file, unless it fails before."""

    def __init__(self, output: Path, **happenings: Happening) -> None:
        self.output = output
        self.happenings = happenings
        self.lacks: dict[str, str] = {}
        self.freed: dict[str, str | None] = {}
        self.known: dict[str, str] = {}
        self.begun: set[str] = set()
        self.log: list[str] = []

    def lack_of_room(self, model_id: str) -> str | None:
        return self.lacks.get(model_id)

    def has_run(self, run_id: str) -> bool:
        return run_id in self.begun

    def run(self, model_id: str, run_id: str) -> None:
        self.log.append(f"resume {model_id}" if self.has_run(run_id) else f"run {model_id}")
        self.known[model_id] = run_id
        if model_id in self.happenings:
            self.happenings[model_id]()
        self.keep(model_id)

    def keep(self, model_id: str, status: str = "complete") -> None:
        """A result on disk, as a run leaves it."""
        self.begun.add(self.known[model_id])
        reason = None if status == "complete" else "The server failed in 3 of 9 trials."
        result = make_run(run_id=self.known[model_id], status=status, status_reason=reason)
        save(result, self.output)

    def free(self, model_id: str) -> str | None:
        self.log.append(f"free {model_id}")
        return self.freed.get(model_id)

    def rest(self) -> Rest:
        return Rest(temperature_c=40.0, load=0.0)

    def cool_down(self, before: Rest) -> str | None:
        self.log.append(f"cool to {before.temperature_c}")
        return None


def asked(output: Path) -> Asked:
    return Asked(
        profile="smoke",
        suites=None,
        trials=1,
        context_window=8192,
        thinking=None,
        sampling=None,
        options=RunOptions(),
        provider="ollama",
        endpoint=None,
        harness="raw",
        sandbox_kind="auto",
        is_unsafe_allowed=False,
        sandbox_user=None,
        label=None,
        gpu=None,
        gpu_memory_gb=None,
        output=str(output),
        cool_down_s=60.0,
    )


def say(_: str) -> None:
    """Nobody listens."""


def states(queue: Queue) -> list[str]:
    return [run.state for run in queue.runs]


def raises(error: BaseException) -> Happening:
    def happen() -> None:
        raise error

    return happen


def test_models_are_run_in_turn_and_unloaded_and_the_machine_cools_between(tmp_path: Path) -> None:
    work = ScriptedWork(tmp_path)
    with OpenQueue.begun(("a", "b"), asked(tmp_path)) as queue:
        done = queue.work_through(work, say)
    assert states(done) == ["complete", "complete"]
    assert work.log == ["run a", "free a", "cool to 40.0", "run b", "free b"]
    assert [Path(run.result_file or "").stem for run in done.runs] == [
        work.known["a"],
        work.known["b"],
    ]


def test_a_failure_keeps_its_reason_and_the_next_model_is_run(tmp_path: Path) -> None:
    missing = ModelNotFoundError("There is no model a.", remedy="ollama pull a")
    work = ScriptedWork(tmp_path, a=raises(missing), b=raises(RuntimeError("a fault of ours")))
    with OpenQueue.begun(("a", "b", "c"), asked(tmp_path)) as queue:
        done = queue.work_through(work, say)
    assert states(done) == ["failed", "failed", "complete"]
    assert done.runs[0].reason == "There is no model a. ollama pull a"
    assert done.runs[1].reason == "RuntimeError: a fault of ours"
    assert done.runs[2].reason is None


def test_an_incomplete_run_keeps_its_result_and_the_results_own_reason(tmp_path: Path) -> None:
    work = ScriptedWork(tmp_path)

    def outage() -> None:
        work.keep("a", status="incomplete")
        raise ProviderError("The run is incomplete: ...", remedy="See to the server.")

    work.happenings = {"a": outage}
    with OpenQueue.begun(("a", "b"), asked(tmp_path)) as queue:
        done = queue.work_through(work, say)
    assert states(done) == ["incomplete", "complete"]
    assert done.runs[0].reason == "The server failed in 3 of 9 trials."
    assert done.runs[0].result_file is not None


def test_a_model_that_does_not_fit_is_skipped_and_nothing_of_it_is_started(tmp_path: Path) -> None:
    work = ScriptedWork(tmp_path)
    work.lacks = {"a": "It needs about 99.0 GB, and there are 4.0 GB of memory."}
    with OpenQueue.begun(("a", "b"), asked(tmp_path)) as queue:
        done = queue.work_through(work, say)
    assert states(done) == ["skipped", "complete"]
    assert done.runs[0].reason == work.lacks["a"]
    assert work.log == ["run b", "free b"]


def test_a_model_that_stays_in_memory_is_a_finding(tmp_path: Path) -> None:
    work = ScriptedWork(tmp_path)
    work.freed = {"a": "It is still in memory after it was unloaded."}
    with OpenQueue.begun(("a", "b"), asked(tmp_path)) as queue:
        done = queue.work_through(work, say)
    assert done.runs[0].findings == ("It is still in memory after it was unloaded.",)
    assert done.runs[1].findings == ()


def test_ctrl_c_ends_the_queue_and_it_goes_on_with_the_stopped_model(tmp_path: Path) -> None:
    work = ScriptedWork(tmp_path)

    def stop() -> None:
        work.keep("b", status="aborted")
        raise KeyboardInterrupt

    work.happenings = {"b": stop}
    with OpenQueue.begun(("a", "b", "c"), asked(tmp_path)) as queue:
        with pytest.raises(KeyboardInterrupt):
            queue.work_through(work, say)
        folder = queue.file.parent
    assert states(read_queue(folder)) == ["complete", "aborted", "waiting"]
    work.happenings, work.log = {}, []
    with OpenQueue.resumed(folder) as queue:
        done = queue.work_through(work, say)
    assert states(done) == ["complete", "complete", "complete"]
    assert [line for line in work.log if line.startswith("r")] == ["resume b", "run c"]


class Killed(BaseException):
    """Stands for the end of the process: nothing is written after it."""


def test_a_killed_queue_goes_on_with_the_run_that_was_cut_off(tmp_path: Path) -> None:
    work = ScriptedWork(tmp_path, b=raises(Killed()))
    with OpenQueue.begun(("a", "b", "c"), asked(tmp_path)) as queue:
        with pytest.raises(Killed):
            queue.work_through(work, say)
        folder = queue.file.parent
    assert states(read_queue(folder)) == ["complete", "running", "waiting"]
    assert newest_open_queue() == folder
    cut_off = read_queue(folder).runs[1].run_id
    assert cut_off is not None
    work.begun.add(cut_off)
    work.happenings, work.log = {}, []
    with OpenQueue.resumed(folder) as queue:
        done = queue.work_through(work, say)
    assert states(done) == ["complete", "complete", "complete"]
    assert work.log[0] == "resume b"
    assert done.runs[1].run_id == cut_off
    assert newest_open_queue() is None


def test_a_model_whose_run_had_not_begun_when_it_was_killed_is_run_anew(tmp_path: Path) -> None:
    work = ScriptedWork(tmp_path, a=raises(Killed()))
    with OpenQueue.begun(("a",), asked(tmp_path)) as queue:
        with pytest.raises(Killed):
            queue.work_through(work, say)
        folder = queue.file.parent
    work.happenings, work.log = {}, []
    with OpenQueue.resumed(folder) as queue:
        queue.work_through(work, say)
    assert work.log[0] == "run a"


def test_a_run_that_cannot_go_on_now_is_kept_for_later(tmp_path: Path) -> None:
    work = ScriptedWork(tmp_path)

    def hold() -> None:
        work.begun.add(work.known["a"])
        raise UsageError("The run is being written by a running process.", remedy="Wait.")

    work.happenings = {"a": hold}
    with OpenQueue.begun(("a",), asked(tmp_path)) as queue:
        done, folder = queue.work_through(work, say), queue.file.parent
    assert states(done) == ["incomplete"]
    assert newest_open_queue() == folder
    work.happenings, work.log = {}, []
    with OpenQueue.resumed(folder) as queue:
        done = queue.work_through(work, say)
    assert states(done) == ["complete"]
    assert work.log[0] == "resume a"


def test_a_run_that_was_deleted_meanwhile_is_run_anew_under_another_id(tmp_path: Path) -> None:
    work = ScriptedWork(tmp_path)

    def begin_and_be_killed() -> None:
        work.begun.add(work.known["a"])
        raise Killed

    work.happenings = {"a": begin_and_be_killed}
    with OpenQueue.begun(("a",), asked(tmp_path)) as queue:
        with pytest.raises(Killed):
            queue.work_through(work, say)
        folder = queue.file.parent
    deleted = work.known["a"]
    work.begun.clear()
    work.happenings, work.log = {}, []
    with OpenQueue.resumed(folder) as queue:
        done = queue.work_through(work, say)
    assert work.log[0] == "run a"
    assert done.runs[0].state == "complete"
    assert done.runs[0].run_id not in (None, deleted)


def test_a_queue_that_a_process_works_on_is_not_the_one_to_go_on_with(tmp_path: Path) -> None:
    with OpenQueue.begun(("a",), asked(tmp_path)) as queue:
        assert newest_open_queue() is None
    assert newest_open_queue() == queue.file.parent


def test_two_processes_never_work_on_one_queue(tmp_path: Path) -> None:
    with OpenQueue.begun(("a",), asked(tmp_path)) as queue, pytest.raises(UsageError):
        OpenQueue.resumed(queue.file.parent)


def test_the_machine_at_rest_is_that_before_the_first_run_even_after_a_kill(tmp_path: Path) -> None:
    work = ScriptedWork(tmp_path, a=raises(Killed()))
    with OpenQueue.begun(("a", "b"), asked(tmp_path)) as queue:
        with pytest.raises(Killed):
            queue.work_through(work, say)
        folder = queue.file.parent
    assert read_queue(folder).at_rest == Rest(temperature_c=40.0, load=0.0)


def test_a_damaged_queue_is_told_with_its_field(tmp_path: Path) -> None:
    with OpenQueue.begun(("a",), asked(tmp_path)) as queue:
        folder = queue.file.parent
    file = folder / QUEUE
    file.write_text(file.read_text().replace('"waiting"', '"dancing"'))
    with pytest.raises(ResultError, match=r"runs\[0\].state"):
        read_queue(folder)


def test_a_queue_that_does_not_exist_is_told() -> None:
    with pytest.raises(UsageError, match="There is no queue"):
        find_queue("queue-20200101T000000Z-aaaaaaaaaa")


def test_times_are_kept(tmp_path: Path) -> None:
    before = datetime.now(UTC)
    with OpenQueue.begun(("a",), asked(tmp_path)) as queue:
        done = queue.work_through(ScriptedWork(tmp_path), say)
    began, ended = done.runs[0].began_at, done.runs[0].ended_at
    assert began is not None
    assert ended is not None
    assert before <= began <= ended
