"""The results folder of the local role, taken into the database."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from bench_loop.result import store
from leaderboard.models import Entry
from leaderboard.tasks import show_local_results
from runs.models import ResultFile, Run
from runs.results_folder import take_in
from tests.site.make_result import make_result

pytestmark = pytest.mark.django_db


@pytest.fixture
def results(benchloop_home: Path) -> Path:
    folder = benchloop_home / "results"
    folder.mkdir(parents=True)
    return folder


def test_a_result_is_shown_at_once_and_marked_local(results: Path) -> None:
    store.save(make_result(), results)
    assert show_local_results() == 1
    entry = Entry.objects.shown().get()
    assert entry.is_local
    assert entry.run.source == "local"


def test_the_same_result_is_taken_in_once(results: Path) -> None:
    file = store.save(make_result(), results)
    show_local_results()
    (results / "copy.json").write_bytes(file.read_bytes())
    assert show_local_results() == 0
    assert Run.objects.count() == 1
    assert ResultFile.objects.count() == 2


def test_a_file_that_did_not_change_is_not_read_again(results: Path) -> None:
    store.save(make_result(), results)
    assert len(list(take_in(results))) == 1
    assert list(take_in(results)) == []


def test_a_file_that_is_no_result_is_reported_and_holds_up_nothing(results: Path) -> None:
    (results / "broken.json").write_text("{")
    (results / "binary.json").write_bytes(b"\xff\x00\xfe")
    store.save(make_result(), results)
    assert show_local_results() == 1
    assert "not JSON" in ResultFile.objects.get(name="broken.json").problem
    assert ResultFile.objects.get(name="binary.json").run is None


def test_a_mended_file_is_taken_in(results: Path) -> None:
    result = make_result()
    file = results / f"{result.run_id}.json"
    file.write_text("{")
    show_local_results()
    store.save(result, results)
    assert show_local_results() == 1
    assert ResultFile.objects.get().problem == ""


def test_a_completed_run_takes_the_place_of_the_interrupted_one(results: Path) -> None:
    whole = make_result()
    trials = whole.trials[:-1]
    partial = whole.model_copy(update={"status": "incomplete", "trials": trials})
    store.save(partial, results)
    show_local_results()
    store.save(whole, results)
    show_local_results()
    [entry] = Entry.objects.shown()
    assert entry.run.header["status"] == "complete"
    assert Run.objects.count() == 2


def test_a_run_that_was_stored_and_not_shown_is_shown(results: Path) -> None:
    store.save(make_result(), results)
    list(take_in(results))
    assert show_local_results() == 1


def test_a_deleted_file_changes_nothing(results: Path) -> None:
    file = store.save(make_result(), results)
    show_local_results()
    file.unlink()
    show_local_results()
    assert Entry.objects.shown().count() == 1


def test_latest_is_no_file_of_its_own(results: Path) -> None:
    store.save(make_result(), results)
    list(take_in(results))
    assert not ResultFile.objects.filter(name="latest.json").exists()


def make_pipe(folder: Path) -> None:
    os.mkfifo(folder / "pipe.json")


def make_loop(folder: Path) -> None:
    (folder / "loop.json").symlink_to("loop.json")


def make_endless(folder: Path) -> None:
    (folder / "zero.json").symlink_to("/dev/zero")


def make_dangling(folder: Path) -> None:
    (folder / "gone.json").symlink_to("/nonexistent")


def make_folder(folder: Path) -> None:
    (folder / "folder.json").mkdir()


def make_huge(folder: Path) -> None:
    with (folder / "huge.json").open("wb") as file:
        file.truncate(store.MAX_FILE_BYTES + 1)


def make_unnameable(folder: Path) -> None:
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff\x1b[2J.json")).write_bytes(b"{}")


def make_deep(folder: Path) -> None:
    (folder / "deep.json").write_bytes(b"[" * 200_000)


@pytest.mark.skipif(os.name != "posix", reason="the file system of this machine has none of these")
@pytest.mark.parametrize(
    "make",
    [
        *(make_pipe, make_loop, make_endless, make_dangling),
        *(make_folder, make_huge, make_unnameable, make_deep),
    ],
)
def test_no_file_holds_up_the_others(results: Path, make: Callable[[Path], None]) -> None:
    make(results)
    store.save(make_result(), results)
    assert show_local_results() == 1
    assert show_local_results() == 0
