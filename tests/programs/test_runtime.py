"""Which Node and which Python a program can run on."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from bench_loop.errors import SetupError
from bench_loop.programs.runtime import find_node, find_python, fits, is_system, need_python


@pytest.mark.parametrize(
    ("version", "wanted", "is_fit"),
    [
        ("3.12.4", ">=3.10,<3.13", True),
        ("3.13.0", ">=3.10,<3.13", False),
        ("3.9.18", ">=3.10,<3.13", False),
        ("24.16.0", ">=24.16,<25", True),
        ("24.9.0", ">=24.16,<25", False),
        ("24.21.0", "24.21.0", True),
        ("24.21.1", "24.21.0", False),
        ("20.20.2", "", True),
        ("24.21.0-nightly", ">=24.16", True),
    ],
)
def test_a_version_fits_its_range(version: str, wanted: str, is_fit: bool) -> None:
    assert fits(version, wanted) is is_fit


def test_a_range_that_cannot_be_read_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"'~=3\.10' is no range"):
        fits("3.10", "~=3.10")


def test_a_python_that_fits_is_found_and_can_be_started() -> None:
    python = need_python(">=3.8", "aider")
    said = subprocess.run([python.executable, "-V"], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == f"Python {python.version}"


def test_the_system_s_own_python_is_taken_before_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = find_python("")
    assert python is not None
    script = tmp_path / "python3.14"
    script.write_text("#!/bin/sh\necho 3.14.0\necho /opt/python3.14\necho /opt\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    other = find_python(">=3.14,<3.15")
    assert other is None or other.version.startswith("3.14")
    found = find_python("")
    assert found is not None
    assert is_system(found.prefix) or not Path("/usr/bin/python3").exists()


def test_a_missing_python_is_named_with_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SetupError, match=r"aider needs Python >=3\.1,<3\.2, and none") as caught:
        need_python(">=3.1,<3.2", "aider")
    assert caught.value.remedy is not None
    with pytest.raises(SetupError) as caught:
        need_python(">=3.12,<3.12.1", "aider")
    assert "Install Python 3" in (caught.value.remedy or "")


def test_without_a_node_none_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_node("") is None


def test_a_node_of_another_version_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / "node"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho 20.20.2\necho {program}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/bin")
    assert find_node(">=24.16,<25") is None
    found = find_node(">=20")
    assert found is not None
    assert (found.version, found.prefix) == ("20.20.2", tmp_path)
