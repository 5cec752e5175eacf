"""The first look at a machine: with a sandbox everything is measured, without one all else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from bench_loop.cli import group, main
from bench_loop.engine.plan import make_plan
from bench_loop.result.records import RunResult
from bench_loop.result.store import LATEST, load
from tests.components import need_bubblewrap
from tests.fakes.ollama import FakeOllama

NEED_A_SANDBOX = ["coding", "loop_code_fix"]
SMOKE = make_plan(profile="smoke")
TASKS = {task.messages[-1].content: task for _, task, _ in SMOKE.quality_trials}
WORDS = "word " * 400


def answer(body: dict[str, Any]) -> str:
    """The reference of every task that is answered in text, long prose for the speed suite."""
    task = TASKS.get(body["messages"][-1]["content"])
    return WORDS if task is None else str(task.reference)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeOllama]:
    """A server that quickstart finds by itself."""
    with FakeOllama(answer=answer) as running:
        monkeypatch.setenv("OLLAMA_HOST", running.url)
        yield running


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[int | None]:
    """The ports for which the local site was opened."""
    ports: list[int | None] = []

    def serve(port: int | None = None) -> int:
        ports.append(port)
        return 0

    monkeypatch.setattr("bench_loop.commands.serve.serve", serve)
    return ports


def quickstart(*arguments: str) -> Result:
    invoke = CliRunner().invoke
    return invoke(group, ["quickstart", *arguments], catch_exceptions=False, standalone_mode=False)


def result_in(folder: Path) -> RunResult:
    return load(folder / LATEST)


@pytest.mark.usefixtures("server", "without_sandbox")
def test_without_a_sandbox_all_else_is_measured_and_the_site_is_opened(
    served: list[int | None], benchloop_home: Path
) -> None:
    outcome = quickstart("--port", "8901")
    assert (outcome.return_value, served) == (0, [8901])
    result = result_in(benchloop_home / "results")
    measured = {suite.suite for suite in result.suites}
    assert measured == {suite.pack.name for suite in SMOKE.suites} - set(NEED_A_SANDBOX)
    assert result.status == "incomplete"
    said = " ".join(outcome.output.split())
    for suite in ("reasonmath", "toolcall"):
        assert suite in said
    last = outcome.stderr.splitlines()[-1]
    assert "Not run: coding, loop_code_fix." in last
    assert "install bubblewrap (apt install bubblewrap)" in last
    assert last.endswith(f"run --resume {result.run_id}")


@pytest.mark.usefixtures("server", "without_sandbox")
def test_without_a_sandbox_and_without_the_site_it_is_no_error_either(
    served: list[int | None],
) -> None:
    outcome = quickstart("--no-serve")
    assert (outcome.return_value, served) == (0, [])
    assert outcome.stdout.rstrip().endswith("serve")


@pytest.mark.usefixtures("server", "without_sandbox")
def test_a_run_without_a_sandbox_tells_all_else_and_ends_as_incomplete(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--model", "tiny:1b", "--profile", "smoke", "--output", str(tmp_path)]
    with pytest.raises(SystemExit) as ended:
        main(["run", *arguments])
    assert ended.value.code == 3
    said = capsys.readouterr()
    assert "Not run: coding, loop_code_fix." in " ".join(said.out.split())
    assert "apt install bubblewrap" in said.err
    assert f"run --resume {result_in(tmp_path).run_id}" in " ".join(said.err.split())


@pytest.mark.real
@pytest.mark.usefixtures("server", "served")
def test_with_a_sandbox_everything_is_measured(
    benchloop_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_bubblewrap()
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    assert quickstart().return_value == 0
    result = result_in(benchloop_home / "results")
    assert result.status == "complete"
    assert result.sandbox is not None
    passed = {trial.task_id for trial in result.trials if trial.outcome == "pass"}
    # The fake calls no tools.
    assert passed >= {task.id for task in TASKS.values() if task.suite != "toolcall"}
