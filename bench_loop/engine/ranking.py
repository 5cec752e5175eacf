"""Which runs may stand in a ranking, and which of them in the same one."""

from __future__ import annotations

from bench_loop.engine.profiles import CUSTOM, PROFILES
from bench_loop.result.compare import IMPORT_TITLES, core_settings
from bench_loop.result.fingerprint import tagged_hash
from bench_loop.result.records import RunHeader
from bench_loop.scoring.constants import PUBLISHABLE_HALF_WIDTH, SCORING_VERSION


def not_ranked_reason(header: RunHeader, *, may_be_fresh: bool = False) -> str:
    """Why this run may not stand in a ranking, as a sentence; empty when it may.

    `may_be_fresh`: among runs of one person's choice fresh ones have leagues of their own, by seed.
    On a board they have none: whoever submits chooses the seed, and could choose the luckiest.
    """
    rules = PROFILES.get(header.profile)
    context, speed = header.subject.context, header.speed
    widths = (speed.generation_half_width, speed.ttft_half_width) if speed else ()
    if header.imported is not None:
        return f"Imported from {IMPORT_TITLES[header.imported.format]}."
    if header.status != "complete":
        return f"The run is {header.status}."
    if header.scoring_version != SCORING_VERSION:
        scored = header.scoring_version[:20]
        return f"Scored by version {scored}; only version {SCORING_VERSION} is ranked."
    if any(suite.is_private for suite in header.suites):
        return "Private packs are never ranked."
    if header.settings.fresh_seed is not None and not may_be_fresh:
        return f"Fresh instances (seed {header.settings.fresh_seed}) stand in no ranking."
    if header.profile == CUSTOM.name:
        return "Runs of hand-picked suites are never ranked."
    if rules is None or not rules.is_ranked:
        return f"Runs of the profile {header.profile} are never ranked."
    if header.aggregates.overall_score is None:
        return "There is no overall score: a part of the profile was not measured."
    if context is None or context.loaded is None:
        return "The loaded context window was not read back from the server."
    if speed and "estimated_tokens" in speed.findings:
        return "The tokens behind its speed were estimated from the text, not counted."
    if None in widths:
        return "The speed was measured only once, which does not show how much it varies."
    if any(width is not None and width > PUBLISHABLE_HALF_WIDTH for width in widths):
        return "The speed varied too much to be ranked."
    return ""


def league_of(header: RunHeader) -> str:
    """Key of the set inside which runs are ranked: the same work, scored and driven alike."""
    return tagged_hash(core_settings(header))
