"""What there is to run, in a terminal and as JSON: suites, their tasks, the profiles."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from bench_loop.console import clean, width
from bench_loop.contracts.task import BenchmarkTask, Difficulty
from bench_loop.engine.packs import Pack
from bench_loop.engine.profiles import ProfileRules
from bench_loop.report import figures

LEVELS: tuple[Difficulty, ...] = get_args(Difficulty)
FULL = 72
"""Below so many columns there is no room for levels, profiles and purposes."""
NARROW = 48
"""Below so many columns there is no room for versions."""
NAMES = ("suite", "task", "profile", "difficulty")
"""Columns whose cells are never broken over two lines."""


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds that suites and profiles are expected to take here. Empty: nothing was measured."""

    suites: Mapping[str, float]
    profiles: Mapping[str, float]
    basis: str | None = None
    """The run whose speed they rest on, in words; None: there is none."""


def print_suites(
    packs: Sequence[Pack], profiles: Sequence[ProfileRules], times: Times, screen: Console
) -> None:
    """All suites, with their number of tasks by level and profile where that fits, the profiles,
    each with the time it is expected to take, and what the suites ask of a model.
    """
    says_what = width(screen) >= FULL
    names = [rules.name for rules in profiles]
    counted = names if says_what else []
    levels = ["levels"] * says_what
    versioned = width(screen) >= NARROW
    columns = ("suite", *["version"] * versioned, "tasks", *levels, *counted, "time")
    suites = _table(*columns, figures={"tasks", "time", "levels", *names})
    for pack in packs:
        counts = [_count(pack, name) for name in counted]
        all_tasks = str(len(pack.tasks)) if pack.tasks else "-"
        by_level = [_levels(pack)] * says_what
        time = _time(times.suites.get(pack.name))
        version = [pack.version] * versioned
        _add(suites, pack.name, *version, all_tasks, *by_level, *counts, time)
    table = _table("profile", "tasks", "time", "ranked", "speed plan", figures={"tasks", "time"})
    for rules in profiles:
        tasks = str(sum(len(pack.profiles.get(rules.name, ())) for pack in packs))
        ranked = "yes" if rules.is_ranked else "no"
        plan = ", ".join(rules.speed_plans) or "-"
        time = _time(times.profiles.get(rules.name))
        _add(table, rules.name, tasks, time, ranked, plan, *[rules.purpose] * says_what)
    _print(screen, suites, table)
    for pack in packs:
        line = Text.assemble((clean(pack.name), "figure"), f"  {clean(pack.title)}")
        tags = sorted({tag for task in pack.tasks for tag in task.capability_tags})
        screen.print(line.append(f": {', '.join(tags)}" if tags else ""), width=width(screen))
    screen.print()
    words = f"Levels are easy/medium/hard. {_basis(times)}" if says_what else _basis(times)
    screen.print(Text(clean(words), style="basis"), width=width(screen))
    screen.print("The tasks of one suite: bench-loop suites NAME", style="basis")


def _basis(times: Times) -> str:
    if times.basis is None:
        return "Times on this machine are not measured yet: bench-loop run measures them."
    return f"Times are what a model as fast as {times.basis} would take on this machine."


def _levels(pack: Pack) -> str:
    """How many of its tasks are easy, medium and hard: `4/5/3`."""
    counts = (sum(task.difficulty == level for task in pack.tasks) for level in LEVELS)
    return "/".join(map(str, counts)) if pack.tasks else "-"


def _time(seconds: float | None) -> str:
    return "-" if seconds is None else figures.duration(seconds)


def print_suite(pack: Pack, times: Times, screen: Console) -> None:
    """One suite: what it is, and its tasks with difficulty, capabilities and profiles."""
    screen.print(Text.assemble((clean(pack.name), "figure"), f" {pack.version}"))
    screen.print(Text(clean(f"{pack.title}. {pack.description}")), width=width(screen))
    whose = ", private: never uploaded or ranked" if pack.is_private else ""
    screen.print(Text(f"{pack.dimension}, pack {pack.pack_hash[:19]}{whose}", style="basis"))
    if (seconds := times.suites.get(pack.name)) is not None:
        words = f"about {figures.duration(seconds)}. {_basis(times)}"
        screen.print(Text(clean(words), style="basis"), width=width(screen))
    screen.print()
    if not pack.tasks:
        screen.print("It measures speed and has no tasks to pass.")
        return
    table = _table("task", "difficulty", "family", "capabilities", "profiles")
    for task in pack.tasks:
        profiles = [profile for profile, ids in pack.profiles.items() if task.id in ids]
        name = task.id.removeprefix(f"{pack.name}.")
        tags = ", ".join(task.capability_tags)
        _add(table, name, task.difficulty, task.family or "-", tags, ", ".join(profiles))
    _print(screen, table)


def suites_json(
    packs: Sequence[Pack], profiles: Sequence[ProfileRules], times: Times
) -> dict[str, Any]:
    """All suites and profiles for a program to read."""
    return {
        "suites": [suite_json(pack, times) for pack in packs],
        "profiles": [
            {**_profile_json(rules, packs), "expected_s": times.profiles.get(rules.name)}
            for rules in profiles
        ],
        "expected_basis": times.basis,
    }


def suite_json(pack: Pack, times: Times) -> dict[str, Any]:
    """One suite for a program to read."""
    return {
        "name": pack.name,
        "title": pack.title,
        "version": pack.version,
        "dimension": pack.dimension,
        "description": pack.description,
        "convention": pack.convention,
        "pack_hash": pack.pack_hash,
        "is_private": pack.is_private,
        "settings": pack.settings.model_dump(mode="json"),
        "capability_tags": sorted({tag for task in pack.tasks for tag in task.capability_tags}),
        "expected_s": times.suites.get(pack.name),
        "profiles": {profile: list(ids) for profile, ids in pack.profiles.items()},
        "tasks": [_task_json(task) for task in pack.tasks],
    }


def _task_json(task: BenchmarkTask) -> dict[str, Any]:
    return {
        "id": task.id,
        "title": task.title,
        "difficulty": task.difficulty,
        "family": task.family,
        "capability_tags": list(task.capability_tags),
        "verifier_type": task.verifier_type,
        "answer_tokens": task.limits.answer_tokens,
    }


def _profile_json(rules: ProfileRules, packs: Sequence[Pack]) -> dict[str, Any]:
    inside = [pack for pack in packs if rules.name in pack.profiles]
    return {
        "name": rules.name,
        "purpose": rules.purpose,
        "is_ranked": rules.is_ranked,
        "speed_plans": list(rules.speed_plans),
        "suites": [pack.name for pack in inside],
        "task_count": sum(len(pack.profiles[rules.name]) for pack in inside),
    }


def _count(pack: Pack, profile: str) -> str:
    """How many tasks a profile takes of a pack; a pack without tasks is in it or not."""
    if profile not in pack.profiles:
        return "-"
    return str(len(pack.profiles[profile])) if pack.tasks else "yes"


def _table(*heads: str, figures: Collection[str] = ()) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="basis")
    for head in heads:
        justify: JustifyMethod = "right" if head in figures else "left"
        table.add_column(head, justify=justify, no_wrap=head in NAMES)
    return table


def _add(table: Table, *cells: str) -> None:
    """A row; a cell beyond the named columns is the words at its end."""
    table.add_row(*(Text(clean(cell).strip()) for cell in cells))


def _print(screen: Console, *tables: Table) -> None:
    for table in tables:
        screen.print(table, width=width(screen))
        screen.print()
