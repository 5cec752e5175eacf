"""Tests of what holds for OpenCode alone, with the real program."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench_loop.simulator.settings import call, say
from tests.harnesses.conftest import Find
from tests.harnesses.live import DONE, ODD_QUESTION, Overheard, adapter, ask, repair, task

pytestmark = pytest.mark.real

ANSWER = (say("ANSWER: 4"),)


def test_a_question_reaches_the_model_as_it_is_by_one_request(find_installed: Find) -> None:
    made, overheard = adapter("opencode"), Overheard()
    ask(made, find_installed(made), task(ODD_QUESTION), ANSWER, wrapped=overheard.of)
    assert overheard.questions() == [ODD_QUESTION]
    assert len(overheard.bodies) == 1  # none for a title


def test_it_searches_files_on_every_machine_and_offers_no_web(find_installed: Find) -> None:
    made = adapter("opencode")
    searches = (call("grep", '{"pattern": "return a"}'), say(DONE))
    seen = ask(made, find_installed(made), repair(), searches)
    [found] = [one.content for one in seen.result.transcript if one.role == "tool"]
    assert "calc.py" in found
    assert not {"question", "webfetch", "websearch"} & set(seen.log[0].tools)


def test_a_persons_own_rules_do_not_reach_the_model(
    find_installed: Find, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for rules in (".config/opencode/AGENTS.md", ".claude/CLAUDE.md", ".opencode/AGENTS.md"):
        (tmp_path / rules).parent.mkdir(parents=True)
        (tmp_path / rules).write_text("PLANTED\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / ".config"))
    made, overheard = adapter("opencode"), Overheard()
    installed = find_installed(made)
    ask(made, installed, task("How many?"), ANSWER, place="direct", wrapped=overheard.of)
    assert overheard.bodies
    assert "PLANTED" not in str(overheard.bodies)
