"""Every number that a score rests on; a change of any of them is a new SCORING_VERSION."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from bench_loop.contracts.verifier import Outcome

SCORING_VERSION = "1.1"
"""Version of all formulas and constants, stored with every score and never mixed in a ranking.

A verifier that judges an old output otherwise than before is a new version too.
"""
EARLIER_SCORING_VERSIONS = ("1.0",)
"""Those that were in use before: runs scored by them are taken in, and kept apart."""


@dataclass(frozen=True, slots=True)
class OutcomeRule:
    """What an outcome means and how it counts."""

    is_scored: bool
    """Whether trials with this outcome are in the denominator of any score."""
    is_verdict: bool
    """Whether a verifier judged an output."""
    meaning: str


OUTCOMES: Mapping[Outcome, OutcomeRule] = MappingProxyType(
    {
        "pass": OutcomeRule(True, True, "The verifier judged the output right."),
        "partial": OutcomeRule(
            True,
            True,
            "The final outcome really happened, but the evidence for it is incomplete. "
            "Never a pass in a score; it earns credit in the diagnostic score only.",
        ),
        "fail": OutcomeRule(
            True,
            True,
            "The verifier judged the output wrong, or the engine refused or lost this one request "
            "while it answered others.",
        ),
        "truncated": OutcomeRule(
            True, False, "Cut by the answer budget or by a limit before the output was finished."
        ),
        "harness_error": OutcomeRule(True, False, "The harness crashed or broke its protocol."),
        "infrastructure_error": OutcomeRule(
            False,
            False,
            "The model server could not be reached or failed a control request too. Says nothing "
            "about the model: never scored, and the run is incomplete.",
        ),
        "not_applicable": OutcomeRule(
            False, False, "The harness lacks a capability that the task needs. Never scored."
        ),
    }
)
"""Every outcome of a trial."""

ENGINE_FAULTS = frozenset({"engine_rejected_output", "context_overflow", "engine_crashed"})
"""Reasons of a `fail` that has no output to read."""

# Quality, reliability, overall

QUALITY_WEIGHT = 0.55
"""Weight of quality in the overall score."""
SPEED_WEIGHT = 0.20
"""Weight of speed in the overall score."""
RELIABILITY_WEIGHT = 0.25
"""Weight of reliability in the overall score."""
FULL_CREDIT_QUALITY = 20.0
"""Quality from which speed and reliability count in full."""
CENSORED_SHARE = 0.02
"""Share of truncated trials from which a suite's score is marked censored."""
CUBED_TRIALS = 3
"""Trials that must all pass in pass^3."""

# Speed score

GENERATION_WEIGHT = 0.70
"""Weight of generation speed in the speed score."""
PROMPT_WEIGHT = 0.15
"""Weight of prompt speed in the speed score."""
TTFT_WEIGHT = 0.15
"""Weight of the time to the first token in the speed score."""
GENERATION_ZERO_TPS = 1.0
"""Generation speed, tokens a second, that scores 0."""
GENERATION_FULL_TPS = 1000.0
"""Generation speed, tokens a second, that scores 100."""
PROMPT_ZERO_TPS = 10.0
"""Prompt speed, tokens a second, that scores 0."""
PROMPT_FULL_TPS = 100_000.0
"""Prompt speed, tokens a second, that scores 100."""
TTFT_ZERO_S = 60.0
"""Time to the first token, seconds, that scores 0."""
TTFT_FULL_S = 0.02
"""Time to the first token, seconds, that scores 100."""

# Speed figures

HEADLINE_PROMPT_TOKENS = 1024
"""Prompt of the headline generation speed and of the headline TTFT."""
HEADLINE_OUTPUT_TOKENS = 256
"""Output of the headline generation speed."""
FAST_OUTPUT_TOKENS = 2048
"""Output of the headline generation speed on machines too fast for the usual one."""
FAST_GENERATION_TPS = 2000.0
"""Generation speed, tokens a second, above which the usual output is too short."""
HEADLINE_TRIALS = 3
"""Trials of the headline generation speed at least."""
PREFILL_PROMPT_TOKENS = 4096
"""Prompt of the headline prompt speed."""
MINIMUM_OUTPUT_TOKENS = 64
"""Output of the one shape of plan `minimum`."""
MIN_GENERATED_TOKENS = 64
"""Generated tokens that a trial needs for a generation speed."""
MIN_ARRIVALS = 16
"""Distinct arrival times that a trial needs for a generation speed."""
MIN_WINDOW_S = 0.1
"""Shortest time, seconds, over which one trial's generation speed may be taken."""
MIN_TOTAL_WINDOW_S = 1.0
"""Shortest time, seconds, of all trials of one generation speed together."""
MIN_UNCACHED_TOKENS = 512
"""Uncached prompt tokens that a trial needs for a prompt speed."""
MIN_PROMPT_WINDOW_S = 0.005
"""Shortest prompt time, seconds, that an engine's clock can be believed on."""
OVERHEAD_PROMPT_TOKENS = 8
"""Prompt of the trials whose median TTFT is the overhead L0."""
OVERHEAD_TRIALS = 5
"""Trials that the overhead L0 needs."""
OVERHEAD_FACTOR = 5.0
"""TTFT must be this many times L0 for a prompt speed taken from TTFT."""
MAX_CACHED_TOKENS = 32
"""Cached prompt tokens up to which a trial is cold whatever its length."""
MAX_CACHED_SHARE = 0.02
"""Cached share of the prompt up to which a trial is cold."""
HIDDEN_CACHE_AGREEMENT = 0.25
"""Greatest spread of prompt speeds, by the smallest, where the server hides its cache."""
MAX_LOAD_IN_TRIAL_S = 0.5
"""Load time, seconds, above which a trial measured the loading of the model too."""
ENGINE_CLIENT_GAP = 0.03
"""Relative gap between the engine's and the client's generation speed that is a finding."""
TARGET_HALF_WIDTH = 0.03
"""Relative half-width at which no more speed trials are needed."""
MAX_SPEED_TRIALS = 10
"""Speed trials of one shape at most."""
PUBLISHABLE_HALF_WIDTH = 0.10
"""Relative half-width above which a run is not ranked."""
SUSTAINED_SHARE = 0.1
"""Share of a sustained load that is its beginning, and its end."""
THROTTLING_RATIO = 0.9
"""Speed at the end of a sustained load by that at its beginning, below which it is throttling."""
CURVE_PROMPT_SHARE = 0.9375
"""Share of the filled window that is prompt in the context curve."""
CURVE_OUTPUT_TOKENS = 256
"""Output in the context curve."""
DRIFT_TRIALS = 5
"""Trials from which a monotone trend is called drifting."""

FINDINGS: Mapping[str, str] = MappingProxyType(
    {
        "broken_stream": "A speed trial ended before its answer was complete and was dropped.",
        "cache_hidden": "The server hides its prompt cache, and a single prompt cannot show "
        "that it was cold.",
        "drifting": "Generation speed rose or fell from each trial to the next.",
        "engine_client_gap": "The engine's own generation speed and the one seen by the client "
        f"differ by more than {100 * ENGINE_CLIENT_GAP:g} %.",
        "estimated_tokens": "Tokens were estimated from the text; such a speed is not ranked.",
        "loaded_in_trial": "The server loaded the model inside a speed trial; its TTFT was "
        "dropped.",
        "no_trials": "No speed trial was measured.",
        "overhead_unknown": "The server gives no prompt time of its own and its overhead was not "
        "measured, so that there is no prompt speed.",
        "throttling": "Under a sustained load, generation speed fell below "
        f"{100 * THROTTLING_RATIO:g} % of what it was at the beginning.",
        "tokens_unknown": "The server gives no count of the generated tokens.",
        "too_close_to_overhead": "The time to the first token is too close to the server's "
        "overhead to give a prompt speed.",
        "too_short_to_rate": "Too few tokens, arrivals or seconds to give a speed.",
        "warm": "Part of a prompt was answered from the prompt cache; it was dropped.",
        "wide_spread": "The trials differ so much that the half-width is above "
        f"{100 * PUBLISHABLE_HALF_WIDTH:g} %.",
    }
)
"""Codes of what limits the trust in a speed figure."""

# What the hardware allows, and energy

PLAUSIBLE_FACTOR = 1.15
"""Speed by what the hardware allows, up to which it is believed."""
LARGEST_CACHE_MIB = 256
"""Largest last-level cache of a device, MiB: weights that fit it need not be read from memory."""
MAX_READING_GAP_S = 0.5
"""Longest time, seconds, between two readings of power that counts as covered."""
MIN_COVERED_SHARE = 0.9
"""Share of a stretch of time that readings must cover before its energy is told."""
MIN_IDLE_SECONDS = 10
"""Covered seconds that an idle power needs."""

# Statistics

CONFIDENCE = 0.95
"""Coverage of every interval."""
ALPHA = 0.05
"""A p-value below this is a difference."""
MARGIN = 3.0
"""Points of quality within which two runs are practically equal."""
SIGN_FLIPS = 10_000
"""Random sign flips behind the p-value of a pair of runs."""
SIGN_FLIP_SEED = 1001
"""Seed of the sign flips: the same two runs always give the same p-value."""
MIN_DISCORDANT = 5
"""Tasks that must differ before a pair of runs is judged at all."""
MAX_MORE_TASKS = 2000
"""Further tasks beyond which no practical number would settle a pair of runs."""
MAX_TRIALS = 30
"""Trials of each task beyond which more of them are not advised."""
BAND_ROWS = 200
"""Best rows of a league that get a rank band."""
MIN_BLOCK_MODELS = 3
"""Models that variance components need."""
MIN_BLOCK_HARNESSES = 3
"""Harnesses that variance components need."""
MIN_BLOCK_TASKS = 12
"""Tasks that variance components need."""
