"""Profiles: named sets of suites (METHODOLOGY.md 9)."""

from __future__ import annotations

from dataclasses import dataclass

from bench_loop.result.records import Profile, SpeedPlan


@dataclass(frozen=True, slots=True)
class ProfileRules:
    """What a profile asks of a run, beside the tasks that each pack assigns to it."""

    name: Profile
    purpose: str
    speed_plan: SpeedPlan
    """The smallest speed plan; a larger one is taken where the speed budget allows."""
    speed_budget_s: float
    answer_tokens_cap: int | None
    is_ranked: bool


PROFILES: dict[str, ProfileRules] = {
    rules.name: rules
    for rules in (
        ProfileRules("smoke", "Does everything work? Never ranked.", "minimum", 90, 192, False),
        ProfileRules("quick", "What most people run.", "headline", 720, None, True),
        ProfileRules("core", "The ranked default.", "headline", 720, None, True),
        ProfileRules("full", "The audit: core and everything beyond.", "headline", 720, None, True),
    )
}
