"""Tests of a trial's folders: how they begin, and what is read back whatever was done to them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bench_loop.contracts.place import Folder, Place
from bench_loop.contracts.sandbox import FILES_MAX, SandboxLimits
from bench_loop.errors import SandboxError, SetupError
from bench_loop.programs._staged import Host
from bench_loop.programs.direct import Direct
from bench_loop.programs.workspace import (
    DIFF_CHARS,
    MOST_BYTES,
    MOST_ENTRIES,
    changes,
    diff,
    empty,
    remove,
    renew,
)

FILES = {"calc.py": "def add(a, b):\n    return a - b\n", "docs/read me.txt": "Read me.\n"}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Folders alone: no program is run in them here."""
    root = tmp_path / "place"
    root.mkdir()
    made = Direct(Host(root, tmp_path, None, (), (), 1, tmp_path / "none", SandboxLimits()))
    assert made.workspace == Folder(root / "work", str(root / "work"))
    renew(made, FILES)
    return made


def _git(place: Place, *arguments: str) -> str:
    words = ["git", "-c", "safe.directory=*", *arguments]
    done = subprocess.run(words, cwd=place.workspace.here, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# --- The beginning --------------------------------------------------------------------------------


def test_a_workspace_holds_the_files_and_nothing_that_git_calls_changed(place: Place) -> None:
    assert {path: (place.workspace.here / path).read_text() for path in FILES} == FILES
    assert _git(place, "status", "--porcelain", "--ignored") == ""
    assert _git(place, "rev-list", "--all", "--count") == "1"


def test_the_same_files_give_the_same_commit(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    first = _git(place, "rev-parse", "HEAD")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Somebody")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    renew(place, FILES)
    assert _git(place, "rev-parse", "HEAD") == first
    assert _git(place, "log", "--format=%an <%ae> %aI") == (
        "BenchLoop <bench@localhost> 2026-01-01T00:00:00+00:00"
    )


def test_files_that_would_be_ignored_are_committed(place: Place) -> None:
    renew(place, {".gitignore": "*.log\n", "kept.log": "a line\n"})
    assert _git(place, "ls-files").split() == [".gitignore", "kept.log"]


def test_a_workspace_without_files_is_a_repository_too(place: Place) -> None:
    renew(place, {})
    assert _git(place, "rev-list", "--count", "HEAD") == "1"


def test_renewing_leaves_nothing_of_the_trial_before(place: Place) -> None:
    (place.state.here / "home" / ".config").mkdir()
    (place.state.here / "agent.db").touch()
    (place.workspace.here / "more.py").touch()
    renew(place, FILES)
    assert sorted(path.name for path in place.state.here.rglob("*")) == ["home", "tmp"]
    assert changes(place, FILES).files_changed == ()


@pytest.mark.parametrize("path", ["../x", "/x", "a/../../x", ".git/hooks/pre-commit", "a\n", ""])
def test_a_path_that_leads_elsewhere_is_refused(path: str, place: Place) -> None:
    with pytest.raises(SandboxError, match="can't be put into the workspace"):
        renew(place, {path: ""})


def test_a_machine_without_git_is_told_so(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(SetupError, match="git is not installed"):
        renew(place, FILES)


def test_personal_settings_of_git_are_not_used(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".gitconfig").write_text("[core]\n\thooksPath = /nowhere\n[user]\n\tname = Me\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    renew(place, FILES)
    monkeypatch.undo()
    assert _git(place, "log", "--format=%an %cn") == "BenchLoop BenchLoop"


# --- Emptying -------------------------------------------------------------------------------------


def test_a_link_is_removed_and_not_what_it_leads_to(tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "folder"
    outside.mkdir()
    folder.mkdir()
    (outside / "kept").touch()
    (folder / "link").symlink_to(outside)
    (folder / "below").mkdir()
    (folder / "below" / "link").symlink_to(outside)
    empty(folder)
    assert list(folder.iterdir()) == []
    assert (outside / "kept").exists()


def test_folders_are_removed_at_any_depth(tmp_path: Path) -> None:
    """Deeper than a path can be long, and than Python can recurse."""
    folder = tmp_path / "folder"
    folder.mkdir()
    source = "import os\nfor _ in range(1200): os.mkdir('deep'); os.chdir('deep')"
    subprocess.run([sys.executable, "-c", source], cwd=folder, check=True)
    empty(folder)
    assert list(folder.iterdir()) == []


def test_what_its_owner_made_unreadable_is_removed(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "file").touch()
    os.mkfifo(tmp_path / "a" / "pipe")
    (tmp_path / "a" / "b").chmod(0)
    (tmp_path / "a").chmod(0)
    remove(tmp_path / "a")
    assert not (tmp_path / "a").exists()


# --- Reading back ---------------------------------------------------------------------------------


def test_changed_new_and_removed_files_are_told_with_a_diff(place: Place) -> None:
    work = place.workspace.here
    (work / "calc.py").write_text("def add(a, b):\n    return a + b\n")
    (work / "docs" / "read me.txt").unlink()
    (work / "new.txt").write_text("no end")
    found = changes(place, FILES)
    assert found.files_changed == ("calc.py", "docs/read me.txt", "new.txt")
    assert set(found.files) == {"calc.py", "new.txt"}
    assert found.diff == (
        "--- a/calc.py\n+++ b/calc.py\n@@ -1,2 +1,2 @@\n def add(a, b):\n"
        "-    return a - b\n+    return a + b\n"
        "--- a/docs/read me.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-Read me.\n"
        "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+no end\n\\ No newline at end of file\n"
    )


def test_the_diff_can_be_applied(place: Place) -> None:
    (place.workspace.here / "calc.py").write_text("def add(a, b):\n    return a + b  # \u2028 now")
    found = changes(place, FILES)
    renew(place, FILES)
    done = subprocess.run(
        ["git", "apply"], cwd=place.workspace.here, input=found.diff.encode(), capture_output=True
    )
    assert done.returncode == 0, done.stderr
    assert changes(place, FILES).files == found.files


def test_caches_and_the_repository_are_left_out(place: Place) -> None:
    work = place.workspace.here
    for folder in ("__pycache__", "docs/.pytest_cache", ".agent.tags.v4"):
        (work / folder).mkdir()
        (work / folder / "entry").touch()
    found = changes(place, FILES, left_out=(".agent*",))
    assert set(found.files) == set(FILES)


def test_links_and_pipes_are_named_and_neither_followed_nor_opened(place: Place) -> None:
    work = place.workspace.here
    (work / "calc.py").unlink()
    (work / "calc.py").symlink_to("/etc/passwd")
    os.mkfifo(work / "pipe")
    found = changes(place, FILES)
    assert (found.files_changed, found.skipped) == (("calc.py",), ("calc.py", "pipe"))
    assert set(found.files) == {"docs/read me.txt"}


def test_a_folder_that_became_a_link_is_not_entered(place: Place, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "read me.txt").write_text("not yours")
    renew(place, {"docs/read me.txt": "Read me.\n"})
    (place.workspace.here / "docs").rename(tmp_path / "moved")
    (place.workspace.here / "docs").symlink_to(outside)
    found = changes(place, {"docs/read me.txt": "Read me.\n"})
    assert (found.files, found.skipped) == ({}, ("docs",))


def test_a_repository_that_became_a_link_is_removed_as_such(place: Place, tmp_path: Path) -> None:
    work, outside = place.workspace.here, tmp_path / "outside"
    (work / ".git").rename(outside)
    (work / ".git").symlink_to(outside)
    assert changes(place, FILES).skipped == ()
    renew(place, FILES)
    assert not (work / ".git").is_symlink()
    assert (outside / "HEAD").exists()


def test_a_workspace_that_became_a_link_is_not_followed(place: Place, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    work = place.workspace.here
    empty(work)
    work.rmdir()
    work.symlink_to(outside)
    assert changes(place, FILES).files == {}
    renew(place, FILES)
    assert changes(place, FILES).files_changed == ()
    assert [path.name for path in outside.iterdir()] == ["kept"]


def test_names_that_are_not_plain_are_told_and_not_read(place: Place) -> None:
    for name in (b"new\nline", b"\xff\xfe", b"back\\slash", b"\x1b[2J"):
        (place.workspace.here / os.fsdecode(name)).touch()
    found = changes(place, FILES)
    assert set(found.files) == set(FILES)
    assert sorted(found.skipped) == sorted(("new\nline", "\\xff\\xfe", "back\\slash", "\x1b[2J"))


def test_a_huge_file_is_not_read_and_does_not_hide_the_others(place: Place) -> None:
    work = place.workspace.here
    with (work / "a-huge-file").open("wb") as file:
        file.truncate(1 << 40)
    (work / "calc.py").write_text("fixed")
    found = changes(place, FILES)
    assert found.is_cut
    assert found.files_changed == ("a-huge-file", "calc.py")
    assert found.files["calc.py"] == b"fixed"
    assert found.diff.startswith("Files /dev/null and b/a-huge-file differ\n")


def test_the_files_are_bounded_in_number_and_the_tasks_own_come_first(place: Place) -> None:
    for number in range(FILES_MAX + 50):
        (place.workspace.here / f"a{number}").touch()
    found = changes(place, FILES)
    assert found.is_cut
    assert len(found.files) == FILES_MAX
    assert set(FILES) <= set(found.files)


def test_the_files_are_bounded_in_size_together(place: Place) -> None:
    for number in range(5):
        (place.workspace.here / f"a{number}").write_bytes(b"x" * (MOST_BYTES // 4))
    found = changes(place, FILES)
    assert found.is_cut
    assert sum(map(len, found.files.values())) <= MOST_BYTES
    assert set(FILES) <= set(found.files)


def test_too_many_entries_are_not_all_looked_at(place: Place) -> None:
    for number in range(MOST_ENTRIES + 10):
        (place.workspace.here / f"b{number}").symlink_to("x")
    began = time.monotonic()
    found = changes(place, FILES)
    assert found.is_cut
    assert time.monotonic() - began < 5


def test_a_file_that_is_no_text_is_only_named_in_the_diff() -> None:
    assert diff({"a": b"\xff"}, {"a": b"\xfe"}, ["a"]) == "Files a/a and b/a differ\n"


def test_a_comparison_that_would_take_long_is_not_made() -> None:
    old = b"".join(b"%d\n" % (number % 7) for number in range(60_000))
    new = b"".join(b"%d\n" % (number % 11) for number in range(60_000))
    began = time.monotonic()
    assert diff({"a": old}, {"a": new}, ["a"]) == "Files a/a and b/a differ\n"
    assert time.monotonic() - began < 1


def test_a_long_diff_is_cut() -> None:
    after = {"a": b"line\n" * 100_000}
    assert len(diff({}, after, ["a"])) < DIFF_CHARS + 20
