"""Tests of what holds for every program, with the real one: each test runs one trial of each."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bench_loop.contracts.harness import HarnessAdapter
from bench_loop.engine.harness_record import unseen_calls
from bench_loop.privacy import this_person
from bench_loop.simulator.settings import Program, run, say
from tests.harnesses.conftest import Find
from tests.harnesses.live import (
    DOES_IT,
    DONE,
    FAST,
    FILES,
    LIES,
    PERSONAL,
    RIGHT,
    adapter,
    ask,
    processes_with,
    programs,
    repair,
    task,
    texts,
)

pytestmark = pytest.mark.real

DEADLINE_S = 20.0
START_S = {"openclaw": 25.0}
"""On top of a deadline, for a program that takes that long before it asks its model."""
NEVER_WAITS = {"openclaw"}
"""Goes on without a command that takes ten seconds, so it is stopped while its model is silent."""
GRACE_S = 8.0
"""From the deadline until everything is dead, on a busy machine."""
ALL_RIGHT = {path: text.encode() for path, text in FILES.items()} | {"calc.py": RIGHT.encode()}
UNCHANGED = {path: text.encode() for path, text in FILES.items()}


@pytest.fixture(params=programs())
def harness(request: pytest.FixtureRequest) -> HarnessAdapter:
    return adapter(request.param)


@pytest.fixture
def soonest(harness: HarnessAdapter) -> HarnessAdapter:
    """The program on the path on which it asks its model soonest, for a test with a deadline."""
    return type(harness)(path="exec") if harness.name == "openclaw" else harness  # type: ignore[call-arg]


def test_it_does_a_task_on_the_workspace(harness: HarnessAdapter, find_installed: Find) -> None:
    seen = ask(harness, find_installed(harness), repair(), DOES_IT)
    assert seen.result.files == ALL_RIGHT
    assert seen.result.files_changed == ("calc.py",)
    assert "+    return a + b" in (seen.result.diff or "")
    assert seen.result.final_text.splitlines()[-1] == "ANSWER: calc.py"
    assert (seen.result.failure, seen.result.limit) == (None, None)
    assert seen.result.transcript[-1].content == seen.result.final_text
    assert seen.result.wall_s is not None
    assert len(seen.requests) == len(seen.log) > 0
    assert unseen_calls(seen.result.tool_calls, seen.requests) == 0


def test_what_it_only_claims_is_not_done(harness: HarnessAdapter, find_installed: Find) -> None:
    seen = ask(harness, find_installed(harness), repair(), LIES)
    assert seen.result.final_text == DONE
    assert seen.result.files == UNCHANGED
    assert seen.result.files_changed == ()


def test_it_answers_a_question_in_words(harness: HarnessAdapter, find_installed: Find) -> None:
    question = task("/init is what? Finish with one line: ANSWER: <word>")
    answer = "It is a word.\n\nANSWER: word"
    seen = ask(harness, find_installed(harness), question, (say(answer),))
    assert seen.result.final_text == answer
    assert (seen.result.files_changed, seen.result.failure) == ((), None)


def test_a_broken_server_is_no_answer_and_ends_by_the_deadline(
    soonest: HarnessAdapter, find_installed: Find
) -> None:
    broken = Program(window=131_072, http_error=500)
    installed = find_installed(soonest)
    wall_s = DEADLINE_S + START_S.get(soonest.name, 0.0)
    seen = ask(soonest, installed, repair(), DOES_IT, program=broken, wall_s=wall_s)
    assert seen.result.final_text == ""
    assert seen.result.files == UNCHANGED
    assert seen.result.failure is not None or seen.result.limit == "wall"
    assert seen.result.wall_s is not None
    assert seen.result.wall_s < wall_s + GRACE_S
    assert {request.status for request in seen.requests} == {500}


def test_nothing_outlives_its_end(soonest: HarnessAdapter, find_installed: Find) -> None:
    # Outside a sandbox, which would end with all that is in it anyway.
    if "run_commands" not in soonest.capabilities or soonest.name in NEVER_WAITS:
        script, program = DOES_IT, Program(window=131_072, queue_s=600.0)
    else:
        script, program = (run(f"sleep 9{os.getpid()}"), say(DONE)), FAST
    installed = find_installed(soonest)
    wall_s = 15.0 + START_S.get(soonest.name, 0.0)
    seen = ask(soonest, installed, repair(), script, program=program, place="direct", wall_s=wall_s)
    assert seen.result.limit == "wall"
    assert len(seen.log) == 1
    assert processes_with(f"sleep 9{os.getpid()}") == []
    assert processes_with(seen.state) == []


def test_a_persons_own_configuration_is_neither_read_nor_written(
    harness: HarnessAdapter,
    find_installed: Find,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    home = tmp_path / "home"
    for path, content in PERSONAL[harness.name].items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(content)
    before = _files(home)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    seen = ask(harness, find_installed(harness), repair(), DOES_IT, place="direct")
    assert seen.result.files == ALL_RIGHT
    assert not [
        change for one in seen.requests for change in one.changes if change.field == "model"
    ]
    assert _files(home) == before


def test_what_is_kept_points_to_no_machine(harness: HarnessAdapter, find_installed: Find) -> None:
    looks = (run("pwd; hostname; uname -r; env; ls -d $HOME"), *DOES_IT)
    seen = ask(harness, find_installed(harness), repair(), looks, place="direct")
    kept = "\n".join(texts(seen.result))
    told = [
        fact for fact in (*seen.private, *this_person().names, os.uname().release) if fact in kept
    ]
    assert told == []


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
