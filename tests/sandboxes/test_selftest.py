"""Tests that the self-test passes for real sandboxes, and fails where a limit is taken away."""

from __future__ import annotations

from typing import Any

import pytest

from bench_loop.contracts.sandbox import LimitsVerified, Program, SandboxLimits, SandboxRun
from bench_loop.errors import SandboxError
from bench_loop.sandboxes._session import StagedSandbox
from bench_loop.sandboxes.bubblewrap import Bubblewrap
from bench_loop.sandboxes.docker import Docker, connect
from bench_loop.sandboxes.ladder import open_sandbox
from bench_loop.sandboxes.selftest import SelfTest, examine
from tests.components import need_bubblewrap, need_docker, need_root
from tests.sandboxes.kinds import a_user, real

pytestmark = pytest.mark.real

ALL_HOLD = LimitsVerified(
    memory_total=True, pids=True, disk=True, network=True, fs_read=True, fs_write=True
)


class LooseDocker(Docker):
    """Docker with some of its settings taken away."""

    def __init__(self, *without: str, **instead: object) -> None:
        super().__init__(connect(), SandboxLimits(disk_mb=16))
        self.without, self.instead = without, instead

    def _settings(self, name: str) -> dict[str, Any]:
        settings = super()._settings(name) | self.instead
        return {key: value for key, value in settings.items() if key not in self.without}


class LooseBubblewrap(Bubblewrap):
    """bubblewrap with more words among its settings."""

    def __init__(self, *words: str) -> None:
        super().__init__(SandboxLimits())
        self.words = words

    def _command(self, filter_descriptor: int) -> list[str]:
        command = super()._command(filter_descriptor)
        at = command.index("--remount-ro")
        return [*command[:at], *self.words, *command[at:]]


def examined(sandbox: StagedSandbox) -> SelfTest:
    try:
        return examine(sandbox)
    finally:
        sandbox.close()


def test_docker_passes() -> None:
    test = examined(real("docker"))
    assert (test.verified, test.faults) == (ALL_HOLD, ())


def test_bubblewrap_passes_with_a_control_group() -> None:
    need_root()
    test = examine(real("bubblewrap"))
    assert (test.verified, test.faults) == (ALL_HOLD, ())


def test_bubblewrap_without_a_control_group_cannot_limit_the_memory_of_all() -> None:
    need_bubblewrap()
    test = examine(Bubblewrap(SandboxLimits(), with_group=False))
    assert test.verified == ALL_HOLD.model_copy(update={"memory_total": False})
    assert test.faults == ("several processes together took more memory than allowed",)


def test_a_subprocess_cannot_limit_the_disk() -> None:
    assert not examine(real("subprocess")).verified.disk


@pytest.mark.parametrize(
    ("limit", "without"),
    [("memory_total", ("mem_limit", "memswap_limit")), ("pids", ("pids_limit",))],
)
def test_a_limit_taken_away_from_docker_is_seen(limit: str, without: tuple[str, ...]) -> None:
    need_docker()
    test = examined(LooseDocker(*without))
    assert test.verified == ALL_HOLD.model_copy(update={limit: False})


@pytest.mark.parametrize(
    ("instead", "limit"),
    [
        ({"network_mode": "host"}, "network"),
        ({"tmpfs": {"/work": "mode=1777", "/tmp": "mode=1777"}, "mem_limit": "1g"}, "disk"),
        ({"volumes": ["/:/host:ro"], "read_only": False, "user": "0:0"}, "fs_write"),
    ],
)
def test_a_wall_taken_away_from_docker_is_seen(instead: dict[str, object], limit: str) -> None:
    need_docker()
    without = ("memswap_limit",)
    assert getattr(examined(LooseDocker(*without, **instead)).verified, limit) is False


@pytest.mark.parametrize(
    ("instead", "fault"),
    [
        ({"user": "0:0"}, "ran as root"),
        ({"cap_drop": []}, "capabilities"),
        ({"security_opt": []}, "gain privileges"),
        (
            {"security_opt": ["no-new-privileges", "seccomp=unconfined"]},
            "no filter of system calls",
        ),
    ],
)
def test_rights_left_to_a_container_are_seen(instead: dict[str, object], fault: str) -> None:
    need_docker()
    assert any(fault in sentence for sentence in examined(LooseDocker(**instead)).faults)


@pytest.mark.parametrize(
    ("words", "limit"),
    [
        (("--share-net",), "network"),
        (("--bind", "/tmp", "/tmp"), "fs_read"),
        (("--tmpfs", "/work"), "disk"),
    ],
)
def test_a_wall_taken_away_from_bubblewrap_is_seen(words: tuple[str, ...], limit: str) -> None:
    need_bubblewrap()
    assert getattr(examine(LooseBubblewrap(*words)).verified, limit) is False


def test_what_a_sandbox_was_seen_to_limit_is_recorded() -> None:
    need_bubblewrap()
    record = open_sandbox("bubblewrap").record()
    assert record.kind == "bubblewrap"
    assert record.limits_verified.model_copy(update={"memory_total": True}) == ALL_HOLD
    assert (record.network, record.seccomp, record.opted_in) == ("none", "custom", False)


def test_a_subprocess_is_recorded_as_opted_into() -> None:
    said: list[str] = []
    sandbox = open_sandbox("subprocess", is_unsafe_allowed=True, user=a_user(), warn=said.append)
    assert sandbox.record().opted_in
    assert any("the work folder took more than its size" in sentence for sentence in said)


class Mute(Bubblewrap):
    """A sandbox in which other programs run than are asked for."""

    def run(self, program: Program, *, wall_s: float | None = None) -> SandboxRun:
        return super().run(Program(("true",)), wall_s=wall_s)


def test_a_sandbox_whose_probe_says_nothing_is_none() -> None:
    need_bubblewrap()
    with pytest.raises(SandboxError, match="self-test gave no answer: exit status 0"):
        examine(Mute(SandboxLimits()))
