"""A harness that may be attacked: runs one program in one kind of sandbox and says what came of it.

`python harness.py SPEC`; SPEC is JSON. Its environment, its memory and an inheritable descriptor
hold a secret. As root it becomes `user` first, when everything is imported.
"""

from __future__ import annotations

import base64
import ctypes
import json
import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench_loop.contracts.sandbox import Program, SandboxLimits
from bench_loop.errors import SandboxError
from bench_loop.sandboxes import bubblewrap
from bench_loop.sandboxes import subprocess as subprocess_kind
from bench_loop.sandboxes._session import (
    Channel,
    Confinement,
    StagedSandbox,
    supervisor_source,
)

PR_SET_DUMPABLE = 4


def main() -> None:
    spec = json.loads(sys.argv[1])
    secret = f"{os.environ['THE_SECRET']}"
    source = (Path(__file__).parent / "programs.py").read_bytes()
    supervisor_source()
    if spec["user"] is not None:
        become(spec["user"])
    os.set_inheritable(os.open(spec["world"]["key"], os.O_RDONLY), True)
    sandbox = open_kind(spec["sandbox"], SandboxLimits(**spec["limits"]))
    world = spec["world"] | {"harness": os.getpid()}
    program = Program(
        ("python", "programs.py", spec["program"], json.dumps(world)),
        files={"programs.py": source},
        wants_files=True,
    )
    start = time.monotonic()
    print(json.dumps(attempt(sandbox, program) | {"seconds": time.monotonic() - start}))
    assert secret


class Naked(subprocess_kind.Subprocess):
    """A subprocess with nothing but its resource limits: what it lets through must be seen."""

    def _start(self, wall_s: float) -> tuple[Channel, Confinement]:
        channel, confinement = super()._start(wall_s)
        return channel, replace(confinement, readable=None, seccomp=b"")


def open_kind(name: str, limits: SandboxLimits) -> StagedSandbox:
    match name:
        case "docker":
            from bench_loop.sandboxes import docker

            return docker.open_kind(limits)
        case "bubblewrap":
            return bubblewrap.open_kind(limits)
        case "subprocess":
            return subprocess_kind.open_kind(limits, is_unsafe_allowed=True)
        case _:
            return Naked(limits)


def attempt(sandbox: StagedSandbox, program: Program) -> dict[str, Any]:
    try:
        run = sandbox.run(program)
    except SandboxError as error:
        return {"error": str(error)}
    finally:
        sandbox.close()
    return {
        "error": None,
        "wall_s": sandbox.limits.wall_s,
        "status": run.exit_status,
        "limit": run.limit,
        "stdout": base64.b64encode(run.stdout).decode(),
        "stderr": run.stderr[-2000:].decode(errors="replace"),
        "output_bytes": len(run.stdout) + len(run.stderr),
        "files": {
            path: base64.b64encode(content[:4096]).decode() for path, content in run.files.items()
        },
        "file_bytes": sum(map(len, run.files.values())),
        "skipped": run.skipped,
    }


def become(user: int) -> None:
    """Go on as an ordinary user, as open to that user's other programs as any process of his."""
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)


if __name__ == "__main__":
    main()
