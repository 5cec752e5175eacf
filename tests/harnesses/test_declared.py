"""What the adapters declare of their programs: enough to install them, and always the same."""

from __future__ import annotations

import re
from inspect import get_annotations
from pathlib import Path

import pytest

from bench_loop.contracts.harness import HarnessAdapter, Installation
from bench_loop.programs.install import NODE_VERSION
from bench_loop.programs.installed import version_of
from bench_loop.programs.known import Known, all_harnesses
from bench_loop.programs.runtime import fits
from tests.components import need_harness

LICENCES = {"Apache-2.0", "MIT"}
"""That a harness may have without a second look."""
EXACT = re.compile(r"(?:@[\w-]+/)?[\w.-]+(?:==|@)\d+(?:\.\d+)+")

PROGRAMS = [one for one in all_harnesses() if one.adapter.installation is not None]


def how(harness: Known) -> Installation:
    assert harness.adapter.installation is not None
    return harness.adapter.installation


@pytest.fixture(params=PROGRAMS, ids=[one.adapter.name for one in PROGRAMS])
def harness(request: pytest.FixtureRequest) -> Known:
    assert isinstance(request.param, Known)
    return request.param


def test_every_package_has_an_exact_version(harness: Known) -> None:
    assert [pin for pin in how(harness).packages if not EXACT.fullmatch(pin)] == []


def test_the_version_of_the_harness_is_that_of_its_package(harness: Known) -> None:
    assert version_of(how(harness)) == harness.adapter.version


def test_the_licence_is_one_that_is_known(harness: Known) -> None:
    assert how(harness).licence in LICENCES


def test_the_runtime_can_be_had(harness: Known) -> None:
    newest = {"npm": NODE_VERSION, "pypi": "3.12.12"}[how(harness).registry]
    assert fits(newest, how(harness).runtime)


def test_every_part_of_the_contract_is_there(harness: Known) -> None:
    parts = [*get_annotations(HarnessAdapter), "setup", "run_task", "teardown"]
    assert [part for part in parts if not hasattr(harness.adapter, part)] == []


def test_its_configuration_has_a_fingerprint_that_stays(harness: Known) -> None:
    found = harness.adapter.config_hash
    assert re.fullmatch("sha256:[0-9a-f]{64}", found or "")
    assert type(harness.adapter)().config_hash == found


def test_the_homepage_can_be_looked_up(harness: Known) -> None:
    assert how(harness).homepage.startswith("https://")


@pytest.mark.real
def test_the_licence_and_the_size_are_those_of_the_package(
    harness: Known, benchloop_home: Path
) -> None:
    found = need_harness(harness.adapter.name, how(harness), benchloop_home)
    assert found.record.licence == how(harness).licence
    assert found.record.size_bytes / 2**20 == pytest.approx(how(harness).size_mb, rel=0.1)
