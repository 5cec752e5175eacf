"""Which runs may stand in a ranking, and which of them in the same one."""

from __future__ import annotations

from bench_loop.engine.packs import official_versions
from bench_loop.engine.profiles import CUSTOM, PROFILES
from bench_loop.result.compare import IMPORT_TITLES, core_settings
from bench_loop.result.fingerprint import tagged_hash
from bench_loop.result.records import RunHeader
from bench_loop.scoring.constants import PUBLISHABLE_HALF_WIDTH, SCORING_VERSION

RANKED_SINCE = "0.1.0"
"""The first BenchLoop that measures as this one does; earlier runs are kept and not ranked."""


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
    if version_of(header.benchmark_version) < version_of(RANKED_SINCE):
        measured = header.benchmark_version[:20]
        return f"Measured by BenchLoop {measured}; only {RANKED_SINCE} and later are ranked."
    if any(suite.is_private for suite in header.suites):
        return "Private packs are never ranked."
    if old := _earlier_suites(header):
        return f"Made with earlier tasks: {', '.join(old)}."
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


def _earlier_suites(header: RunHeader) -> list[str]:
    """The suites of the run, with their versions, that have another one today."""
    today = official_versions()
    return [
        f"{suite.suite} {suite.version[:20]}"
        for suite in header.suites
        if suite.version != today.get(suite.suite, suite.version)
    ]


def version_of(text: str) -> tuple[int, ...]:
    """`0.1.0` as numbers that can be compared; empty, and so before all others, for other text."""
    parts = text.split(".")
    if not all(part.isascii() and part.isdigit() and len(part) < 9 for part in parts):
        return ()
    return tuple(map(int, parts))


def league_of(header: RunHeader) -> str:
    """Key of the set inside which runs are ranked: the same work, scored and driven alike."""
    return tagged_hash(core_settings(header))
