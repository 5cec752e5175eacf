"""`run --models` from the command line, on a fake Ollama that tells what it has loaded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench_loop.cli import main
from bench_loop.commands._queue import model_names
from bench_loop.engine.queue import queues_folder, read_queue
from bench_loop.errors import UsageError
from bench_loop.result.store import load
from tests.fakes.ollama import FakeModel, FakeOllama

MODELS = (FakeModel("first:1b"), FakeModel("second:1b"))


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["run", *arguments])
    assert isinstance(ended.value.code, int)
    return ended.value.code


def queue_arguments(server: FakeOllama, models: str) -> list[str]:
    of_server = ["--provider", "ollama", "--endpoint", server.url]
    return ["--models", models, *of_server, "--suites", "loop_schema", "--cool-down", "0"]


def test_a_queue_runs_each_model_unloads_it_and_ends_with_one_table(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with FakeOllama(models=MODELS) as server:
        code = run(*queue_arguments(server, "first:1b,missing,second:1b"))
        assert server.loaded == {}
    (folder,) = queues_folder().iterdir()
    queue = read_queue(folder)
    assert code == 5
    assert [one.state for one in queue.runs] == ["complete", "failed", "complete"]
    assert [one.findings for one in queue.runs] == [(), queue.runs[1].findings, ()]
    assert "has no model 'missing" in (queue.runs[1].reason or "")
    for one in (queue.runs[0], queue.runs[2]):
        assert load(Path(one.result_file or "")).subject.model_id == one.model_id
    table = capsys.readouterr().out.splitlines()
    head = next(number for number, line in enumerate(table) if line.startswith("model "))
    assert [line.split()[0] for line in table[head + 1 : head + 4]] == [
        "first:1b",
        "missing",
        "second:1b",
    ]
    assert table[head + 1].split()[-1] == "complete"


def test_a_queue_that_is_done_is_not_gone_on_with(capsys: pytest.CaptureFixture[str]) -> None:
    with FakeOllama(models=MODELS) as server:
        assert run(*queue_arguments(server, "first:1b,second:1b"), "--json") == 0
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert last["event"] == "queue_ended"
    assert [one["state"] for one in last["runs"]] == ["complete", "complete"]
    assert run("--resume") == 2
    assert "no run to go on with" in capsys.readouterr().err


def test_a_model_is_named_once() -> None:
    assert model_names(" a , b,") == ("a", "b")
    for wrong in ("", " , ", "a,b,a"):
        with pytest.raises(UsageError):
            model_names(wrong)


@pytest.mark.parametrize(
    "arguments", [["--model", "a", "--models", "b"], ["--model", "a", "--cool-down", "1m"]]
)
def test_options_that_do_not_go_together_are_refused(arguments: list[str]) -> None:
    assert run(*arguments) == 2
