"""`--fresh-seed` and `--packs` on the command line: what is run, refused and told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bench_loop.cli import main
from bench_loop.config import results_folder
from bench_loop.result.records import RunResult
from bench_loop.result.store import LATEST, load
from tests.engine.fresh_packs import official_packs, solved, write_pack
from tests.fakes.openai_server import FakeOpenAI


@pytest.fixture(autouse=True)
def _packs(tmp_path: Path) -> Iterator[None]:
    with official_packs(tmp_path / "packs"):
        yield


@dataclass
class Shell:
    """A shell with a model server that can add, and what its commands said."""

    server: FakeOpenAI
    capsys: pytest.CaptureFixture[str]

    def __call__(self, *words: str | Path) -> int:
        with pytest.raises(SystemExit) as ended:
            main([*map(str, words)])
        said = self.capsys.readouterr()
        self.out, self.err = said.out, said.err
        return int(ended.value.code or 0)

    def run(self, *words: str | Path) -> int:
        served = ("--model", "tiny", "--provider", "openai_compat", "--endpoint", self.server.url)
        return self("run", *served, *words)


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str]) -> Iterator[Shell]:
    def answer(body: dict[str, list[dict[str, str]]]) -> str:
        prompt = body["messages"][-1]["content"]
        return f"ANSWER: {solved(prompt)}" if "What is" in prompt else "Hello"

    with FakeOpenAI(engine="llama.cpp", answer=answer) as server:
        yield Shell(server, capsys)


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A folder with a person's own pack."""
    write_pack(tmp_path / "mine" / "chores", {"one": ("5 + 6", None), "two": ("60 + 6", "small")})
    return tmp_path / "mine"


def latest() -> RunResult:
    return load(results_folder() / LATEST)


@pytest.mark.parametrize("seed", ["-1", "2147483648", "99999999999999999999", "seven", "1.5", ""])
def test_what_is_no_seed_is_refused(seed: str, shell: Shell) -> None:
    assert shell.run("--suites", "sums", "--fresh-seed", seed) == 2
    assert "is no seed: a whole number, 0 to 2147483647" in shell.err
    assert shell.server.requests == []


def test_a_seed_must_be_named(shell: Shell) -> None:
    assert shell.run("--suites", "sums", "--fresh-seed") == 2
    assert "requires an argument" in shell.err


def test_a_fresh_run_says_what_it_runs_and_how_far_from_a_frozen_one_it_is(shell: Shell) -> None:
    assert shell.run("--suites", "sums") == 0
    frozen = latest()
    assert shell.run("--suites", "sums", "--fresh-seed", "7") == 0
    assert "Fresh instances of seed 7: sums 3 of 4 tasks" in shell.err
    shown = " ".join(shell.out.split())
    assert "fresh instances of seed 7" in shown
    assert "1 official tasks have no family" in shown
    assert f"(run {frozen.run_id}), fresh 100.0" in shown
    assert latest().settings.fresh_seed == 7
    assert shell("runs", "show", "latest") == 0
    assert "The same 2 families: frozen 100.0" in " ".join(shell.out.split())
    assert shell("runs", "list", "--json") == 0
    assert [run["fresh_seed"] for run in json.loads(shell.out)] == [7, None]


def test_events_of_a_fresh_run_end_with_the_gap(shell: Shell) -> None:
    shell.run("--suites", "sums")
    assert shell.run("--suites", "sums", "--fresh-seed", "7", "--json") == 0
    last = json.loads(shell.out.splitlines()[-1])
    assert (last["event"], last["difference"], last["family_count"]) == ("gap", 0, 2)


def test_the_command_that_runs_it_again_has_its_seed(shell: Shell) -> None:
    from bench_loop.report.command_line import command_line

    shell.run("--suites", "sums", "--fresh-seed", "7")
    assert "--fresh-seed 7" in command_line(latest())


def test_a_queue_draws_with_the_seed(shell: Shell) -> None:
    served = ("--provider", "openai_compat", "--endpoint", shell.server.url, "--cool-down", "0")
    assert shell("run", "--models", "tiny", *served, "--suites", "sums", "--fresh-seed", "7") == 0
    assert latest().settings.fresh_seed == 7


def test_private_packs_are_run_judged_and_told(mine: Path, shell: Shell) -> None:
    assert shell.run("--packs", mine) == 0
    result = latest()
    (suite,) = result.suites
    assert (suite.suite, suite.is_private, suite.score) == ("chores", True, 100)
    assert "Private packs, whose results stay on this machine: chores" in shell.out
    assert "submit" not in shell.out
    assert shell("runs", "list", "--json") == 0
    assert json.loads(shell.out)[0]["private_suites"] == ["chores"]
    assert shell("rescore", "latest") == 0
    assert "It is a private pack" in shell.out
    assert shell("rescore", "latest", "--packs", mine) == 0
    assert "Nothing has changed." in shell.out


def test_a_pack_alone_is_a_folder_of_packs_too_and_official_suites_go_along(
    mine: Path, shell: Shell
) -> None:
    assert shell.run("--packs", mine / "chores", "--suites", "chores,words") == 0
    assert {suite.suite: suite.is_private for suite in latest().suites} == {
        "chores": True,
        "words": False,
    }


def test_private_packs_can_be_drawn_afresh(mine: Path, shell: Shell) -> None:
    assert shell.run("--packs", mine, "--fresh-seed", "3") == 0
    assert [trial.task_id for trial in latest().trials] == ["chores.small-3-1"]


def test_private_results_are_not_submitted(mine: Path, shell: Shell) -> None:
    shell.run("--packs", mine)
    for words in (("--site", "http://127.0.0.1:9", "--yes"), ("--print-payload",)):
        assert shell("submit", "latest", *words) == 4
        assert "chores is a private pack" in shell.err
        assert shell.out == ""


def test_a_mark_that_was_taken_out_shows(mine: Path, shell: Shell, tmp_path: Path) -> None:
    shell.run("--packs", mine)
    text = (
        (results_folder() / LATEST).read_text().replace('"is_private": true', '"is_private": false')
    )
    text = text.replace('"is_private":true', '"is_private":false')
    (tmp_path / "edited.json").write_text(text)
    assert shell("submit", tmp_path / "edited.json", "--print-payload") == 4
    assert "the file was changed after the run" in shell.err


def test_a_private_run_goes_on_where_its_packs_are(mine: Path, shell: Shell) -> None:
    from bench_loop.engine.journal import JOURNAL
    from bench_loop.engine.recorded import read_journal
    from bench_loop.engine.resume import plan_again
    from bench_loop.engine.run_folder import run_folders
    from bench_loop.errors import SetupError

    shell.run("--packs", mine)
    known, _ = read_journal(run_folders()[0] / JOURNAL)
    assert [suite.pack.is_private for suite in plan_again(known).suites] == [True]
    moved = mine.parent / "moved"
    mine.rename(moved)
    with pytest.raises(SetupError, match="its pack chores cannot be read"):
        plan_again(known)
    assert [suite.pack.is_private for suite in plan_again(known, moved).suites] == [True]


def test_a_private_run_is_repeated_with_its_folder(mine: Path, shell: Shell) -> None:
    shell.run("--packs", mine)
    file = results_folder() / f"{latest().run_id}.json"
    assert shell("run", "--like", file, "--endpoint", shell.server.url) == 3
    assert "--packs" in shell.err
    assert shell("run", "--like", file, "--endpoint", shell.server.url, "--packs", mine) == 0


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("one.yaml", "title: A sum", "title: A sum\ncolour: red", "chores/one.yaml: colour"),
        ("one.yaml", "value: 11", "value: 12", "chores/one.yaml: reference: must pass"),
        ("one.yaml", "verifier_type: tolerance", "verifier_type: vibes", "chores/one.yaml: verif"),
        ("pack.yaml", "dimension: quality", "dimension: speed", "chores/pack.yaml: "),
        ("pack.yaml", "name: chores", "name: sums", "chores/pack.yaml: name"),
    ],
)
def test_a_fault_stops_the_run_before_any_request(
    file: str, old: str, new: str, said: str, mine: Path, shell: Shell
) -> None:
    path = mine / "chores" / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    assert shell.run("--packs", mine) == 4
    assert said in shell.err
    assert shell.server.requests == []


def test_a_private_pack_has_no_official_name(mine: Path, shell: Shell) -> None:
    write_pack(mine / "sums", {"one": ("5 + 6", None)})
    for words in (("run", "--model", "tiny", "--packs", mine), ("suites", "--packs", mine)):
        assert shell(*words) == 4
        assert "sums/pack.yaml: name: is the name of an official suite" in shell.err


def test_a_folder_without_packs_is_refused(tmp_path: Path, shell: Shell) -> None:
    (tmp_path / "empty").mkdir()
    assert shell.run("--packs", tmp_path / "empty") == 4
    assert "holds no pack" in shell.err
    assert shell.run("--packs", tmp_path / "nowhere") == 2


def test_private_packs_are_in_no_profile(mine: Path, shell: Shell) -> None:
    assert shell.run("--packs", mine, "--profile", "quick") == 2
    assert "private packs are in no profile" in shell.err


def test_hostile_text_of_a_pack_reaches_no_terminal(tmp_path: Path, shell: Shell) -> None:
    folder = write_pack(
        tmp_path / "mine" / "chores", {"one": ("5 + 6", None)}, title='"\\e]0;owned\\a\\e[31mSums"'
    )
    task = folder / "one.yaml"
    hostile = task.read_text().replace("title: A sum", 'title: "\\e[2JA sum"')
    task.write_text(hostile.replace("One step.", '"\\e[2J <script>alert(1)</script>"'))
    for words in (
        ("suites", "--packs", folder.parent),
        ("suites", "chores", "--packs", folder.parent),
        ("run", "--model", "tiny", "--endpoint", shell.server.url, "--packs", folder.parent),
        ("runs", "show", "latest"),
        ("runs", "list"),
    ):
        assert shell(*words) == 0
        assert "\x1b]0" not in shell.out + shell.err
        assert "\x1b[2J" not in shell.out + shell.err
    task.write_text(hostile.replace("arithmetic", '"\\e[2Jarithmetic"'))
    assert shell("suites", "--packs", folder.parent) == 4
    assert "\x1b[2J" not in shell.err


def test_own_packs_are_listed(mine: Path, shell: Shell) -> None:
    assert shell("suites", "--packs", mine) == 0
    assert "chores" in shell.out
    assert "words" not in shell.out
    assert shell("suites", "chores", "--packs", mine) == 0
    assert "private: never uploaded or ranked" in shell.out
    assert shell("suites", "sums", "--json") == 0
    listed = json.loads(shell.out)
    assert [task["family"] for task in listed["tasks"]] == ["large", None, "small", "small"]
