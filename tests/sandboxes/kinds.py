"""A real sandbox of each kind, for tests."""

from __future__ import annotations

import os

from bench_loop.contracts.sandbox import SandboxLimits
from bench_loop.sandboxes import bubblewrap, docker
from bench_loop.sandboxes import subprocess as subprocess_kind
from bench_loop.sandboxes._local import USER
from bench_loop.sandboxes._session import StagedSandbox
from tests.components import need_bubblewrap, need_docker

KINDS = ("docker", "bubblewrap", "subprocess")
LIMITS = SandboxLimits(wall_s=10)


def real(kind: str, limits: SandboxLimits = LIMITS) -> StagedSandbox:
    """A sandbox of `kind` without its self-test; the test ends where there is none."""
    match kind:
        case "docker":
            need_docker()
            return docker.open_kind(limits)
        case "bubblewrap":
            need_bubblewrap()
            return bubblewrap.open_kind(limits)
        case _:
            return subprocess_kind.open_kind(limits, user=a_user(), is_unsafe_allowed=True)


def a_user() -> int | None:
    """Whom root must become for `subprocess`; None: nobody else."""
    return USER if os.getuid() == 0 else None
