"""Whether a run may go on: the same plan, on the same server, model and settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import bench_loop
from bench_loop.contracts.provider import ServerFacts
from bench_loop.contracts.record import Record
from bench_loop.engine.journal import Conditions
from bench_loop.engine.plan import PlannedSuite, RunPlan, plan_of
from bench_loop.engine.profiles import CUSTOM, PROFILES
from bench_loop.engine.recorded import Recorded
from bench_loop.engine.shelf import Shelf
from bench_loop.errors import PackError, SetupError, UsageError
from bench_loop.scoring.recompute import SuiteKey

START_ANEW = "or start a new run; what was measured stays where it is."

_MAY_CHANGE = {
    "server": {"endpoint", "load_s"},
    "machine": {"machine_label", "declared", "os", "system_memory_gb"},
    "sandbox": {"engine_version", "runtime", "host", "limits_verified"},
    "software": {"platform", "packages", "python"},
}
"""What says nothing about whether the parts of a run belong together."""

_REMEDIES = {
    "server": "Start the same server with the settings that it had",
    "model": "Load the model that the run began with",
    "machine": "Go on on the machine that the run began on",
    "thinking": "Switch the model's thinking as it was",
    "harness": "Use the harness that the run began with",
    "harness_version": "Install that version of the harness",
    "harness_config_hash": "Install the version of BenchLoop that configures it so",
    "harness_settings": "Give the options of the harness, its place and --force as they were",
    "sandbox": "Provide the sandbox that the run began with",
    "software": "Install that version of BenchLoop",
}


def plan_again(run: Recorded, packs: Path | None = None) -> RunPlan:
    """The plan that the journal tells of, with the packs of now.

    `packs` is where private packs are now; None: where they were. Raises SetupError when a pack, or
    BenchLoop itself, is another one than the run began with, and for a run that was part of a
    recommendation.
    """
    planned = run.planned
    if planned.is_cut_short:
        raise SetupError(
            f"The run {run.run_id} is part of a recommendation and cannot go on alone: where it "
            "ends depends on the runs of the other models.",
            remedy="Start anew: bench-loop recommend; what was measured stays where it is.",
        )
    began = run.conditions.software.bench_loop
    if began != bench_loop.__version__:
        raise _cannot_go_on("software", [f"bench_loop was {began}, is {bench_loop.__version__}"])
    settings, was_in = planned.settings, planned.request.packs
    shelf = Shelf(settings.fresh_seed, packs or (Path(was_in) if was_in else None))
    return plan_of(
        PROFILES.get(planned.profile, CUSTOM),
        [_suite_again(key, shelf) for key in planned.suites],
        settings,
    )


def _suite_again(key: SuiteKey, shelf: Shelf) -> PlannedSuite:
    try:
        pack = shelf.pack(key.suite)
    except (PackError, UsageError) as error:
        raise SetupError(
            f"The run cannot go on: its pack {key.suite} cannot be read: {error.message}",
            remedy=f"Put the pack back as it was, {START_ANEW}",
        ) from error
    if (pack.version, pack.pack_hash) != (key.version, key.pack_hash):
        raise SetupError(
            f"The run cannot go on: the pack {key.suite} changed: it was version {key.version} "
            f"({_short(key.pack_hash)}), is {pack.version} ({_short(pack.pack_hash)}).",
            remedy=f"Put the pack back as it was, {START_ANEW}",
        )
    tasks = {task.id: task for task in pack.tasks}
    return PlannedSuite(
        pack, tuple(tasks[task_id] for task_id in key.task_ids), left_out=key.left_out
    )


def refuse_changes(before: Conditions, now: Conditions) -> None:
    """Raises SetupError, naming what changed and the remedy, when the conditions are others.

    A sandbox may come to a run that had none: its suites are still to be run.
    """
    for part in Conditions.model_fields:
        old, new = getattr(before, part), getattr(now, part)
        changes = _changes(part, old, new)
        if part == "server":
            changes += _other_host(before.server, now.server)
        if changes and not (part == "sandbox" and old is None):
            raise _cannot_go_on(part, changes)


def _other_host(old: ServerFacts, new: ServerFacts) -> list[str]:
    """A server on this machine may get another port; one elsewhere must be on the same host."""
    hosts = [urlsplit(server.endpoint).hostname for server in (old, new)]
    if new.is_local or hosts[0] == hosts[1]:
        return []
    return [f"host was {_word(hosts[0])}, is {_word(hosts[1])}"]


def _cannot_go_on(part: str, changes: list[str]) -> SetupError:
    return SetupError(
        f"The run cannot go on: {part.replace('_', ' ')} changed: {'; '.join(changes)}.",
        remedy=f"{_REMEDIES[part]}, {START_ANEW}",
    )


def _changes(part: str, old: Any, new: Any) -> list[str]:
    """Each field that differs, as words; a value that is no record is its own only field."""
    if not isinstance(old, Record) or not isinstance(new, Record):
        return [] if old == new else [f"it was {_word(old)}, is {_word(new)}"]
    return [
        f"{name} was {_word(getattr(old, name))}, is {_word(getattr(new, name))}"
        for name in type(old).model_fields
        if name not in _MAY_CHANGE.get(part, ()) and getattr(old, name) != getattr(new, name)
    ]


def _word(value: Any) -> str:
    if value is None:
        return "unknown"
    if isinstance(value, Record):
        return "another"
    return _short(value) if isinstance(value, str) else str(value)


def _short(text: str) -> str:
    return text.removeprefix("sha256:")[:12] if text.startswith("sha256:") else text[:80]
