"""Tests that `requirements/ci.txt` fits `pyproject.toml` and tells nobody where it came from."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent.parent
LOCK = (ROOT / "requirements" / "ci.txt").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PINS = dict(re.findall(r"^([\w.-]+)==(\S+)", LOCK, flags=re.MULTILINE))


def requirements() -> list[Requirement]:
    """Everything that the project or one of its extras asks for, itself apart."""
    lists = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    found = [Requirement(line) for lines in lists for line in lines]
    return [requirement for requirement in found if requirement.name != PROJECT["name"]]


@pytest.mark.parametrize("requirement", requirements(), ids=str)
def test_the_lock_holds_a_version_inside_the_range(requirement: Requirement) -> None:
    version = PINS.get(canonicalize_name(requirement.name))
    assert version is not None, "run: make lock"
    assert requirement.specifier.contains(version), "run: make lock"


def test_every_pinned_version_has_a_hash() -> None:
    for block in re.split(r"\n(?=\S)", LOCK):
        if not block.startswith("#"):
            assert re.search(r"--hash=sha256:[0-9a-f]{64}", block), block


def test_the_lock_names_no_address() -> None:
    assert "://" not in LOCK
