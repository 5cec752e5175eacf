"""The ladder of sandboxes: the best one that this machine has and whose self-test passes.

A rung is never left for a less safe one without a word: `auto` stops with an error below its last
rung, and a rung that was asked for by name must hold.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable

from bench_loop.contracts.sandbox import Sandbox, SandboxLimits
from bench_loop.errors import SandboxError
from bench_loop.registry import pick
from bench_loop.sandboxes import bubblewrap, docker
from bench_loop.sandboxes._session import StagedSandbox
from bench_loop.sandboxes.selftest import LIMIT_FAULTS, SelfTest, examine

AUTO = "auto"
RUNGS = ("docker", "bubblewrap")
"""From the best down; these are safe enough to be taken unasked."""

CHOICES = (AUTO, *RUNGS, "subprocess")
MAY_FAIL = {
    "docker": frozenset[str](),
    "bubblewrap": frozenset({"memory_total"}),
}
"""Limits that need not hold on a rung. What is not named here is opted into and only recorded."""


def present() -> tuple[str, ...]:
    """The rungs whose engine is there; only `open_sandbox` says whether it holds."""

    def is_there(look: Callable[[], object]) -> bool:
        try:
            look()
        except SandboxError:
            return False
        return True

    looks = {"docker": lambda: docker.connect().close(), "bubblewrap": bubblewrap.find_bwrap}
    return tuple(name for name in RUNGS if is_there(looks[name]))


def open_sandbox(
    choice: str = AUTO,
    limits: SandboxLimits | None = None,
    *,
    is_unsafe_allowed: bool = False,
    user: int | None = None,
    warn: Callable[[str], None] = lambda sentence: None,
) -> Sandbox:
    """A sandbox that has passed its self-test, for as many programs as one likes; close it.

    `choice` is one of CHOICES (`--sandbox`). `is_unsafe_allowed` (`--allow-unsafe`) is needed for
    `subprocess`, and so is a `user` id to become (`--sandbox-user`) where BenchLoop runs as root.
    `warn` is given a sentence on each limit that does not hold and need not.

    Raises SandboxError that says what failed on each rung that was tried, with the remedy.
    """
    pick("sandbox", choice, CHOICES)
    limits = limits or SandboxLimits()
    failed: list[tuple[str, SandboxError]] = []
    for name in RUNGS if choice == AUTO else (choice,):
        try:
            return _open_rung(name, limits, is_unsafe_allowed, user, warn)
        except SandboxError as error:
            failed.append((name, error))
    if len(failed) == 1:
        raise failed[0][1]
    reasons = " ".join(f"{name}: {error.message}" for name, error in failed)
    raise SandboxError(
        f"There is no sandbox for code that a model wrote. {reasons}",
        remedy=next((error.remedy for _, error in reversed(failed) if error.remedy), None),
    )


def _open_rung(
    name: str,
    limits: SandboxLimits,
    is_unsafe_allowed: bool,
    user: int | None,
    warn: Callable[[str], None],
) -> Sandbox:
    kind = importlib.import_module(f"bench_loop.sandboxes.{name}")
    sandbox: StagedSandbox = kind.open_kind(limits, user=user, is_unsafe_allowed=is_unsafe_allowed)
    try:
        test = examine(sandbox)
        if name in MAY_FAIL:
            _require(name, test)
    except BaseException:
        sandbox.close()
        raise
    sandbox.verified = test.verified
    for limit, fault in LIMIT_FAULTS.items():
        if not getattr(test.verified, limit):
            warn(f"Sandbox {name}: in its self-test {fault}.")
    return sandbox


def _require(name: str, test: SelfTest) -> None:
    allowed = {LIMIT_FAULTS[limit] for limit in MAY_FAIL[name]}
    faults = [fault for fault in test.faults if fault not in allowed]
    if faults:
        raise SandboxError(
            f"In the self-test {'; '.join(faults)}.",
            remedy=f"Choose another than --sandbox {name}.",
        )
