"""Profiles: named sets of suites. Each pack's own file says which of its tasks belong to which."""

from __future__ import annotations

from dataclasses import dataclass

from bench_loop.result.records import Profile, SpeedPlan


@dataclass(frozen=True, slots=True)
class ProfileRules:
    """What a profile asks of a run, beside the tasks that each pack assigns to it."""

    name: Profile
    purpose: str
    speed_plans: tuple[SpeedPlan, ...]
    """Largest first; the largest that fits the speed budget is taken, the last one in any case.
    None at all where speed is not measured."""
    speed_budget_s: float
    answer_tokens_cap: int | None
    """Upper bound of every task's answer budget; None: the task's own."""
    is_ranked: bool


_LONG: tuple[SpeedPlan, ...] = ("nine", "five", "headline")

PROFILES: dict[str, ProfileRules] = {
    rules.name: rules
    for rules in (
        ProfileRules(
            "smoke",
            "Does everything work? 16 short tasks of the suites of core; never ranked.",
            ("minimum",),
            90,
            192,
            False,
        ),
        ProfileRules(
            "quick",
            "What most people run: five tasks of each core suite; tells large differences only.",
            ("headline",),
            720,
            None,
            True,
        ),
        ProfileRules("core", "The ranked default.", _LONG, 720, None, True),
        ProfileRules("full", "The audit: core, agent and longcontext.", _LONG, 720, None, True),
        ProfileRules(
            "harness",
            "Comparing harnesses, on work in a folder of files; speed is not measured.",
            (),
            0,
            None,
            False,
        ),
    )
}

CONTEXT_WINDOW = 8192
"""Tokens of the one window that a run asks for, unless a suite of it needs more or it is told."""

CUSTOM = ProfileRules("custom", "Suites picked by name; not ranked.", _LONG, 720, None, False)
