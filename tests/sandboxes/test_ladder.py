"""Tests of which sandbox is taken, and of never taking a less safe one unasked."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bench_loop.errors import SandboxError, UsageError
from bench_loop.sandboxes.ladder import open_sandbox
from tests.components import need_bubblewrap, need_docker, need_root


@pytest.mark.usefixtures("without_sandbox")
def test_without_any_rung_it_says_what_failed_and_how_to_mend_it() -> None:
    with pytest.raises(SandboxError) as error:
        open_sandbox(is_unsafe_allowed=True, user=1000)
    assert "docker: No Docker or Podman engine answers." in error.value.message
    assert "bubblewrap: bubblewrap is not installed." in error.value.message
    assert "apt install bubblewrap" in str(error.value.remedy)


@pytest.mark.usefixtures("without_sandbox")
@pytest.mark.parametrize("name", ["docker", "bubblewrap"])
def test_a_rung_that_was_asked_for_must_be_there(name: str) -> None:
    with pytest.raises(SandboxError):
        open_sandbox(name)


@pytest.mark.real
def test_bubblewrap_is_taken_where_no_engine_answers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    need_bubblewrap()
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    assert open_sandbox().kind == "bubblewrap"


@pytest.mark.real
def test_docker_is_taken_first() -> None:
    need_docker()
    sandbox = open_sandbox()
    assert sandbox.kind == "docker"
    sandbox.close()


def test_a_subprocess_must_be_opted_into() -> None:
    with pytest.raises(SandboxError, match="accidents only") as error:
        open_sandbox("subprocess", user=1000)
    assert "--allow-unsafe" in str(error.value.remedy)


def test_a_subprocess_does_not_run_as_root() -> None:
    need_root()
    for user in (None, os.getuid()):
        with pytest.raises(SandboxError, match="not run as root"):
            open_sandbox("subprocess", is_unsafe_allowed=True, user=user)


def test_an_unknown_sandbox_is_a_mistake_of_the_command_line() -> None:
    with pytest.raises(UsageError, match="no sandbox called 'dcker'"):
        open_sandbox("dcker")
