"""What the site checks before it believes an upload: each check gives findings, none decides alone.

No aggregate, count or verdict of an upload is used: packs come from this installation, verdicts
from its verifiers on the stored outputs, and scores from the trials judged so.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from bench_loop.contracts.sandbox import Sandbox
from bench_loop.result.records import RunResult
from submissions.checks.artifacts import check_artifacts
from submissions.checks.finding import Finding
from submissions.checks.fingerprints import check_fingerprint
from submissions.checks.hardware import check_hardware, check_model_fits
from submissions.checks.imported import check_import
from submissions.checks.machine import check_machine, check_peak_memory, check_power
from submissions.checks.matrix import check_matrix
from submissions.checks.packs import check_packs, check_private
from submissions.checks.privacy import check_privacy
from submissions.checks.scores import check_scores
from submissions.checks.settings import check_settings, check_subject
from submissions.checks.speed import (
    check_plausibility,
    check_rates,
    check_speed_findings,
    check_speed_groups,
    check_speed_plan,
)
from submissions.checks.thinking import check_answer_budget, check_thinking
from submissions.checks.times import check_time_marks, check_times
from submissions.checks.timings import (
    check_engine_clock,
    check_stream_events,
    check_usual_rate,
)
from submissions.checks.trials import check_status, check_trials
from submissions.checks.upload import Check, Upload
from submissions.checks.verdicts import check_speed_outcomes, check_verdicts
from submissions.checks.versions import check_versions

__all__ = ["CHECKS", "Finding", "Upload", "findings", "level"]

CHECKS: Sequence[Check] = (
    check_versions,
    check_status,
    check_times,
    check_private,
    check_packs,
    check_trials,
    check_speed_plan,
    check_speed_groups,
    check_fingerprint,
    check_verdicts,
    check_speed_outcomes,
    check_scores,
    check_time_marks,
    check_engine_clock,
    check_stream_events,
    check_rates,
    check_usual_rate,
    check_plausibility,
    check_speed_findings,
    check_artifacts,
    check_privacy,
    check_machine,
    check_hardware,
    check_model_fits,
    check_subject,
    check_settings,
    check_thinking,
    check_answer_budget,
    check_power,
    check_peak_memory,
    check_matrix,
)

IMPORT_CHECKS: Sequence[Check] = (
    check_import,
    check_private,
    check_versions,
    check_status,
    check_times,
    check_fingerprint,
    check_artifacts,
    check_privacy,
)
"""What can be checked of a result that another tool measured: nothing of it is ranked."""


MAX_FINDINGS = 200


def findings(result: RunResult, now: datetime, sandbox: Sandbox | None = None) -> list[Finding]:
    """What all checks found, refusals first, at most MAX_FINDINGS.

    With a `sandbox` the code of models is judged again too; raises SandboxError when that fails.
    """
    upload = Upload(result, now, sandbox)
    checks = CHECKS if result.imported is None else IMPORT_CHECKS
    found = [finding for check in checks for finding in check(upload)]
    order = ["refused", "needs_review", "note"]
    return sorted(found, key=lambda finding: order.index(finding.severity))[:MAX_FINDINGS]


def level(found: Sequence[Finding]) -> str:
    """The level that these findings, none of them a refusal, are evidence for."""
    return "reported" if any(one.severity == "needs_review" for one in found) else "consistent"
