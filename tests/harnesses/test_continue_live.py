"""Tests of what holds for Continue alone, with the real program."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench_loop.simulator.settings import call, say
from tests.harnesses.conftest import Find
from tests.harnesses.live import DONE, ODD_QUESTION, Overheard, adapter, ask, repair, task

pytestmark = pytest.mark.real

ANSWER = (say("ANSWER: 4"),)


def test_a_question_reaches_the_model_as_it_is(find_installed: Find) -> None:
    made, overheard = adapter("continue"), Overheard()
    ask(made, find_installed(made), task(ODD_QUESTION), ANSWER, wrapped=overheard.of)
    assert overheard.questions() == [ODD_QUESTION]


def test_the_model_is_not_told_to_answer_in_json(find_installed: Find) -> None:
    made, overheard = adapter("continue"), Overheard()
    ask(made, find_installed(made), task("How many?"), ANSWER, wrapped=overheard.of)
    assert "JSON" not in str(overheard.bodies[0]["messages"])


def test_it_offers_what_a_task_needs_and_nothing_that_waits_for_a_person(
    find_installed: Find,
) -> None:
    made = adapter("continue")
    seen = ask(made, find_installed(made), task("How many?"), ANSWER)
    offered = set(seen.log[0].tools)
    assert {"Bash", "Edit", "List", "Read", "Search", "Write"} <= offered
    assert not {"AskQuestion", "Fetch"} & offered


def test_it_searches_files_on_every_machine(find_installed: Find) -> None:
    made = adapter("continue")
    searches = (call("Search", '{"pattern": "return a"}'), say(DONE))
    seen = ask(made, find_installed(made), repair(), searches)
    [found] = [one.content for one in seen.result.transcript if one.role == "tool"]
    assert "calc.py" in found


def test_a_persons_own_rules_do_not_reach_the_model(
    find_installed: Find, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = tmp_path / ".continue" / "rules" / "mine.md"
    rules.parent.mkdir(parents=True)
    rules.write_text("PLANTED\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CONTINUE_GLOBAL_DIR", str(tmp_path / ".continue"))
    made, overheard = adapter("continue"), Overheard()
    installed = find_installed(made)
    ask(made, installed, task("How many?"), ANSWER, place="direct", wrapped=overheard.of)
    assert overheard.bodies
    assert "PLANTED" not in str(overheard.bodies)
