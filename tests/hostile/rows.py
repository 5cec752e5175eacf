"""The table of hostile programs: the rows, the columns, and what it means to be contained."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.hostile.programs import PROGRAMS
from tests.hostile.world import World, world

ROOT = Path(__file__).parent.parent.parent
ORDINARY_USER = 10002
LIMITS = {"memory_mb": 256, "pids": 64, "wall_s": 4.0, "disk_mb": 64, "output_kb": 1024}
TIMEOUT_S = 60
LATE_S = 4.0
"""A program that is contained is over so long after its limit, start and end included."""

LONGER = {"memory_bomb": 20.0, "memory_bombs": 20.0}
"""Seconds for programs that need them: touching fresh memory is slow in a virtual machine."""


@dataclass(frozen=True)
class Column:
    """One kind of sandbox, by whom it is used, and the rows of which it claims nothing."""

    title: str
    sandbox: str
    is_root: bool
    unclaimed: frozenset[int] = frozenset()


COLUMNS = {
    "D": Column("docker", "docker", is_root=True),
    "BC": Column(
        "bubblewrap with a control group (root drops to another user)", "bubblewrap", True
    ),
    "B": Column("bubblewrap as an ordinary user, without one", "bubblewrap", False, frozenset({3})),
    "S": Column("subprocess as an ordinary user", "subprocess", False, frozenset({3, 4})),
}

NAKED = Column("a process with resource limits only", "naked", is_root=False)
"""Not safe at all: what it does not contain must be seen by the tests."""


@dataclass(frozen=True)
class Seen:
    """What came of one attempt, inside and outside. `said` is None: the harness did not survive."""

    said: dict[str, Any] | None
    hits: list[str]
    damage: list[str]
    leftovers: int
    secret: str

    def answers(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.stdout.splitlines() if line.startswith(b"{")]

    @property
    def stdout(self) -> bytes:
        return base64.b64decode(self.result["stdout"])

    @property
    def result(self) -> dict[str, Any]:
        assert self.said is not None
        return self.said

    @property
    def is_secret_out(self) -> bool:
        files = [base64.b64decode(content) for content in self.result["files"].values()]
        return any(self.secret.encode() in text for text in (self.stdout, *files))

    @property
    def is_shadow_out(self) -> bool:
        return b"root:" in self.stdout

    @property
    def is_over_in_time(self) -> bool:
        return bool(self.result["seconds"] < self.result["wall_s"] + LATE_S)


Contained = Callable[[Seen], bool]


def no_secret(seen: Seen) -> bool:
    return not seen.is_secret_out and not seen.is_shadow_out


def time_is_up(seen: Seen) -> bool:
    return seen.result["limit"] == "wall" and seen.is_over_in_time


def has_no_survivor(seen: Seen) -> bool:
    return b"survived" not in seen.stdout


def few_processes(seen: Seen) -> bool:
    # RLIMIT_NPROC also counts what else the user runs at that moment.
    return seen.answers()[0]["processes"] <= LIMITS["pids"] + 2


def disk_is_small(seen: Seen) -> bool:
    return all(answer["mb"] <= LIMITS["disk_mb"] for answer in seen.answers())


def little_comes_back(seen: Seen) -> bool:
    return bool(seen.result["file_bytes"] <= LIMITS["disk_mb"] * 1024 * 1024)


def output_is_cut(seen: Seen) -> bool:
    is_cut = seen.result["limit"] == "output"
    return is_cut and seen.result["output_bytes"] <= LIMITS["output_kb"] * 1024


def nothing_is_read_back(seen: Seen) -> bool:
    return "result.json" in seen.result["skipped"] and no_secret(seen)


def bytes_come_back(seen: Seen) -> bool:
    return base64.b64decode(seen.result["files"]["result.json"]).startswith(b"\x80")


def nothing_gained(seen: Seen) -> bool:
    return seen.answers() == []


def nothing_more(seen: Seen) -> bool:
    return True


CONTAINED: dict[str, Contained] = {
    "fork_bomb": few_processes,
    "memory_bomb": has_no_survivor,
    "memory_bombs": has_no_survivor,
    "many_files": disk_is_small,
    "huge_file": little_comes_back,
    "endless_output": output_is_cut,
    "read_secrets": no_secret,
    "connect": nothing_more,
    "kill_harness": nothing_more,
    "link_as_result": nothing_is_read_back,
    "write_outside": nothing_more,
    "read_memory": no_secret,
    "read_environments": no_secret,
    "daemon": nothing_more,
    "ignore_sigterm": time_is_up,
    "busy_loop": time_is_up,
    "inherited_descriptors": no_secret,
    "pickle_bomb": bytes_come_back,
    "fifo_as_result": nothing_is_read_back,
    "gain_root": nothing_gained,
    "unix_socket": nothing_more,
}
"""What must hold of each program, beside what must hold of all (`is_contained`)."""

ROWS = dict(enumerate(PROGRAMS, 1))


def is_contained(program: str, seen: Seen) -> bool:
    """Whether the harness lives, nothing outside was reached, and the program's own point holds."""
    if seen.said is None or seen.hits or seen.damage or seen.leftovers:
        return False
    return seen.result["error"] is None and seen.is_over_in_time and CONTAINED[program](seen)


def attempt(column: Column, program: str) -> Seen:
    """Run a hostile program in a harness of its own, in a world of its own."""
    user = os.getuid() if column.is_root or os.getuid() else ORDINARY_USER
    with world(user) as here:
        said = _said_by_harness(column, program, here, None if user == os.getuid() else user)
        return Seen(said, here.hits(), here.damage(), here.leftovers(), here.secret)


def _said_by_harness(
    column: Column, program: str, here: World, user: int | None
) -> dict[str, Any] | None:
    spec = {
        "sandbox": column.sandbox,
        "program": program,
        "user": user,
        "limits": LIMITS | {"wall_s": LONGER.get(program, LIMITS["wall_s"])},
        "world": here.words(),
    }
    process = subprocess.Popen(
        [sys.executable, Path(__file__).parent / "harness.py", json.dumps(spec)],
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "THE_SECRET": here.secret,
            "TMPDIR": str(here.folder),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd="/",
    )
    try:
        stdout, stderr = process.communicate(timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return None
    if process.returncode < 0:
        return None
    assert process.returncode == 0, stderr.decode()
    said: dict[str, Any] = json.loads(stdout)
    return said
