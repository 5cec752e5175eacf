"""What runs where: which tasks a harness can be given, and how each is put to it; pure rules."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from bench_loop.contracts.harness import Capability, HarnessAdapter
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.packs import Pack
from bench_loop.errors import UsageError
from bench_loop.result.records import HarnessWay

WAYS: dict[HarnessWay, tuple[Capability, ...]] = {
    "question": ("plain_answer",),
    "workspace": ("read_files", "edit_files"),
    "given_tools": ("given_tools", "multi_turn"),
}
"""What a harness must be capable of for a task that is put to it so."""

_LACKS: dict[Capability, str] = {
    "plain_answer": "it cannot answer in words alone",
    "read_files": "it has no tool that reads files",
    "edit_files": "it has no tool that changes files",
    "multi_turn": "it does not go on by itself after a tool has answered",
    "given_tools": "it takes no tools but its own",
}


@dataclass(frozen=True, slots=True)
class Cell:
    """One suite in one harness."""

    suite: str
    harness: str
    way: HarnessWay
    """How its tasks are put to it."""
    why_not: str | None
    """Why they cannot be; None: they can."""


def way_of(task: BenchmarkTask) -> HarnessWay:
    """How `task` is put to a harness."""
    if task.tools == "workspace":
        return "workspace"
    return "given_tools" if task.tools else "question"


def why_not(task: BenchmarkTask, capabilities: Collection[Capability]) -> str | None:
    """What a harness lacks for `task`, as the end of a sentence; None: nothing."""
    lacking = [one for one in WAYS[way_of(task)] if one not in capabilities]
    return _LACKS[lacking[0]] if lacking else None


def refuse_unless_able(harness: HarnessAdapter, packs: Sequence[Pack]) -> None:
    """Raises UsageError when there are tasks, and the harness can do none of them."""
    reasons = [why_not(task, harness.capabilities) for pack in packs for task in pack.tasks]
    if reasons and all(reasons):
        raise UsageError(
            f"{harness.name} can do none of these tasks: {reasons[0]}.",
            remedy="Pick other suites, like --suites agent (docs/harnesses.md: what runs where).",
        )


def table(packs: Iterable[Pack], adapters: Iterable[HarnessAdapter]) -> tuple[Cell, ...]:
    """Every suite of tasks in every harness, suites first."""
    return tuple(
        Cell(
            pack.name,
            adapter.name,
            way_of(pack.tasks[0]),
            next(filter(None, (why_not(one, adapter.capabilities) for one in pack.tasks)), None),
        )
        for pack in packs
        if pack.tasks
        for adapter in adapters
    )
