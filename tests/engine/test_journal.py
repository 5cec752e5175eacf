"""The journal: whole lines survive, a torn last one is nothing, any other damage is told."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from bench_loop.engine.journal import (
    JOURNAL,
    MAX_BYTES,
    Journal,
    SustainedLoad,
    TrialsDone,
    UsableProbed,
    read_lines,
)
from bench_loop.errors import JournalError
from tests.scoring.make_trials import task_trial

ENTRIES = tuple(UsableProbed(tokens=number, why_not=None) for number in range(1, 4))


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    with Journal.create(tmp_path / "run") as journal:
        for entry in ENTRIES:
            journal.append(entry)
    return tmp_path / "run" / JOURNAL


def entries(file: Path) -> list[object]:
    return [line.entry for line in read_lines(file)[0]]


def test_what_is_written_is_read(journal: Path) -> None:
    assert entries(journal) == list(ENTRIES)
    assert read_lines(journal)[1] == journal.stat().st_size


def test_a_trial_comes_back_as_it_was(tmp_path: Path) -> None:
    done = TrialsDone(trials=(task_trial("reasonmath.a", "fail"),), peak_memory=None)
    with Journal.create(tmp_path / "run") as journal:
        journal.append(done)
    assert entries(tmp_path / "run" / JOURNAL) == [done]


def test_a_last_line_that_was_cut_anywhere_did_not_happen(journal: Path) -> None:
    data = journal.read_bytes()
    begin = data.rstrip(b"\n").rfind(b"\n") + 1
    for end in range(begin, len(data)):
        journal.write_bytes(data[:end])
        assert entries(journal) == list(ENTRIES[:2])
        assert read_lines(journal)[1] == begin


def test_zeros_of_a_power_cut_are_a_torn_line(journal: Path) -> None:
    journal.write_bytes(journal.read_bytes() + bytes(4096))
    assert entries(journal) == list(ENTRIES)


def test_what_is_written_next_takes_the_place_of_a_torn_line(journal: Path) -> None:
    journal.write_bytes(journal.read_bytes() + b'{"at":"2026-')
    with Journal(journal, read_lines(journal)[1]) as again:
        again.append(SustainedLoad(is_done=True))
    assert entries(journal) == [*ENTRIES, SustainedLoad(is_done=True)]


@pytest.mark.parametrize("line", [1, 2, 3])
def test_one_changed_bit_in_any_line_is_told_with_its_line(journal: Path, line: int) -> None:
    lines = journal.read_bytes().split(b"\n")
    text = lines[line - 1]
    for at in range(0, len(text), 7):
        changed = text[:at] + bytes([text[at] ^ 1]) + text[at + 1 :]
        if b"\n" in changed:
            continue
        journal.write_bytes(b"\n".join([*lines[: line - 1], changed, *lines[line:]]))
        with pytest.raises(JournalError, match=f"line {line}: is damaged"):
            read_lines(journal)


def test_a_line_that_is_missing_its_middle_is_told(journal: Path) -> None:
    lines = journal.read_bytes().split(b"\n")
    journal.write_bytes(b"\n".join([lines[0], lines[1][:40] + lines[1][60:], *lines[2:]]))
    with pytest.raises(JournalError, match="line 2: is damaged"):
        read_lines(journal)


def test_a_write_that_a_signal_cut_short_leaves_nothing_behind(
    journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.write

    def cut(descriptor: int, data: bytes) -> int:
        real(descriptor, data[:20])
        raise KeyboardInterrupt

    with Journal(journal, read_lines(journal)[1]) as again:
        with monkeypatch.context() as patched:
            patched.setattr(os, "write", cut)
            with pytest.raises(KeyboardInterrupt):
                again.append(TrialsDone(trials=(), peak_memory=None))
        again.append(SustainedLoad(is_done=False))
    assert entries(journal) == [*ENTRIES, SustainedLoad(is_done=False)]


def test_a_disk_that_is_full_at_the_sync_leaves_the_journal_as_it_was(
    journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    before = journal.read_bytes()
    with Journal(journal, len(before)) as again:
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(JournalError, match="No space left on device") as failed:
            again.append(SustainedLoad(is_done=False))
    assert journal.read_bytes() == before
    assert failed.value.remedy == "Make room on the disk, then: bench-loop run --resume run"


def moved(lines: list[bytes], change: str) -> list[bytes]:
    first, second, *others = lines
    changed = {
        "doubled": [first, first, second, *others],
        "missing": [first, *others],
        "swapped": [second, first, *others],
    }
    return changed[change]


@pytest.mark.parametrize("change", ["doubled", "missing", "swapped"])
def test_a_line_in_the_wrong_place_is_damage_though_it_is_whole(journal: Path, change: str) -> None:
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(moved(lines, change)))
    with pytest.raises(JournalError, match=r"line \d: is damaged"):
        read_lines(journal)


def test_a_journal_of_a_later_version_is_told_as_that(journal: Path) -> None:
    later = b'{"at":"2027-01-01T00:00:00Z","entry":{"kind":"plan","journal_version":99},"seal":1}'
    journal.write_bytes(later + b"\n")
    with pytest.raises(JournalError, match="line 1: is of version 99, this BenchLoop reads") as no:
        read_lines(journal)
    assert no.value.remedy is not None
    assert "another version of BenchLoop" in no.value.remedy


def test_what_is_no_plain_file_is_told_and_never_waited_for(tmp_path: Path) -> None:
    folder, pipe = tmp_path / "folder", tmp_path / "pipe"
    folder.mkdir()
    os.mkfifo(pipe)
    for file in (folder, pipe):
        with pytest.raises(JournalError, match="is no plain file"):
            read_lines(file)


def test_a_file_that_is_far_too_large_is_not_read_whole(tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as huge:
        huge.truncate(MAX_BYTES + 1)
    with pytest.raises(JournalError, match="no run writes so much"):
        read_lines(tmp_path / "huge")


def test_a_journal_that_may_not_be_written_is_told_with_the_remedy(
    journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    size = read_lines(journal)[1]
    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(JournalError, match="cannot be written: Permission denied") as no:
        Journal.reopened(journal, size)
    assert no.value.remedy is not None
    assert "right to write" in no.value.remedy
