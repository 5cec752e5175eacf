"""What the site checks before it believes an upload: each check gives findings, none decides alone.

No aggregate, count or verdict of an upload is used: packs come from this installation, verdicts
from its verifiers on the stored outputs, and scores from the trials judged so.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from functools import cached_property
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any, Literal

from pydantic import BaseModel

import bench_loop
from bench_loop.config import bundled
from bench_loop.contracts.chat import Sampling
from bench_loop.contracts.harness import Capability
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.harness_limits import RULE as HARNESS_LIMIT_RULE
from bench_loop.engine.official_text import official_text
from bench_loop.engine.packs import Pack, pack_names
from bench_loop.engine.physics import implausible_speeds
from bench_loop.engine.plan import (
    SEED_RULE,
    UNMEASURED_WALL_LIMIT_RULE,
    WALL_LIMIT_RULE,
    make_plan,
)
from bench_loop.engine.profiles import PROFILES
from bench_loop.engine.rescore import has_no_output, scored_task_ids
from bench_loop.engine.shelf import Shelf
from bench_loop.engine.speed_plans import PLANS, WARMUP_ROUNDS
from bench_loop.engine.suitability import why_not
from bench_loop.errors import PackError
from bench_loop.machine.record import gpu_class, total_memory_gb
from bench_loop.names.parse import parse_model
from bench_loop.privacy import has_home, private_kind
from bench_loop.registry import load, names
from bench_loop.result.fingerprint import fingerprint
from bench_loop.result.records import RunResult, SuiteResult, Trial
from bench_loop.scoring.constants import FINDINGS, MIN_COVERED_SHARE, SCORING_VERSION
from bench_loop.scoring.load import is_speed_id, streams_of
from bench_loop.scoring.rates import Shape
from bench_loop.scoring.recompute import SuiteKey, score_run
from bench_loop.scoring.suites import is_warmup
from bench_loop.verifiers.judging import judge, judge_ending, needs_sandbox, task_prompt_hash

Severity = Literal["refused", "needs_review", "note"]
"""`refused`: the upload contradicts itself or cannot be checked. `needs_review`: it may be honest,
and a person should look. `note`: worth knowing."""

DECIMALS = 6
CLOCK_SKEW = timedelta(minutes=5)
SLACK_S = 1.0
SLACK_SHARE = 0.02
REVIEW_TPS = 2_500.0
IMPOSSIBLE_TPS = 100_000.0
"""Tokens a second of one stream: a clock or a count must be wrong."""

SENSOR_SLACK = 1.1
"""Sensors round, and gaps between readings are filled: a part may seem more than the whole."""

LONGEST_TOKEN = 128
"""Characters of the longest tokens in use (runs of spaces)."""

SIZE_TOLERANCE = 0.25
"""Names round a model's size, and some leave its embeddings out."""
HARNESSES = bundled("harnesses")
PROVIDERS = bundled("bench_loop") / "providers"

PACK_FIELDS = {"suite", "version", "pack_hash", "dimension"}
"""Fields of a suite's result that `check_packs` is for."""

SPEED_DOUBTS = frozenset({"broken_stream", "engine_client_gap"})
SPEED_OUTCOMES = (None, "fail", "infrastructure_error")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a check found, for the owner and the moderator to read."""

    severity: Severity
    code: str
    field: str
    sentence: str
    numbers: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        """As JSON and databases can hold it: a rate without end has no number there."""
        numbers = {
            name: None if isinstance(value, float) and not math.isfinite(value) else value
            for name, value in self.numbers.items()
        }
        return asdict(self) | {"numbers": numbers}


@dataclass(frozen=True)
class Upload:
    """A result under check, with what this installation knows of its suites."""

    result: RunResult
    now: datetime

    @property
    def shelf(self) -> Shelf:
        """The official packs, or the fresh instances of them that its seed draws."""
        return Shelf(self.result.settings.fresh_seed)

    @cached_property
    def packs(self) -> dict[str, Pack]:
        """The packs of the upload's suites, as its seed makes them.

        Unknown and private ones are left out, and those of which the seed draws nothing.
        """
        known = set(pack_names())
        found = {}
        for suite in self.result.suites:
            if suite.suite in known and not suite.is_private:
                with suppress(PackError):
                    found[suite.suite] = self.shelf.pack(suite.suite)
        return found

    @cached_property
    def tasks(self) -> dict[tuple[str, str], BenchmarkTask]:
        """Every task of those packs, by suite and task id."""
        return {(name, task.id): task for name, pack in self.packs.items() for task in pack.tasks}

    def is_capable_of(self, task: BenchmarkTask) -> bool:
        """Whether the upload's harness can be given `task`; one that is not known here cannot."""
        return self._capabilities is not None and why_not(task, self._capabilities) is None

    @cached_property
    def _capabilities(self) -> frozenset[Capability] | None:
        name = self.result.subject.harness
        if name not in names(HARNESSES):
            return None
        found: frozenset[Capability] = load("harness", HARNESSES, name).Adapter.capabilities
        return found

    def quality_trials(self) -> Iterator[tuple[str, Trial]]:
        """The trials that verifiers judge, with their field paths."""
        for index, trial in enumerate(self.result.trials):
            if trial.suite in self.packs and self.packs[trial.suite].dimension == "quality":
                yield f"trials[{index}]", trial


Check = Callable[[Upload], Iterator[Finding]]


def refused(code: str, where: str, sentence: str, **numbers: Any) -> Finding:
    return Finding("refused", code, where, sentence, numbers)


def needs_review(code: str, where: str, sentence: str, **numbers: Any) -> Finding:
    return Finding("needs_review", code, where, sentence, numbers)


def check_versions(upload: Upload) -> Iterator[Finding]:
    """Runs of a newer BenchLoop or of other formulas cannot be checked here."""
    claimed, known = _version(upload.result.benchmark_version), _version(bench_loop.__version__)
    if claimed is None or known is None or claimed > known:
        yield refused(
            "unknown_version",
            "benchmark_version",
            f"This site checks runs of BenchLoop up to {bench_loop.__version__}.",
        )
    if upload.result.scoring_version != SCORING_VERSION:
        yield refused(
            "unknown_version",
            "scoring_version",
            f"This site computes scores of version {SCORING_VERSION}.",
        )


def _version(text: str) -> tuple[int, ...] | None:
    parts = text.split(".")
    if not all(part.isascii() and part.isdigit() and len(part) < 9 for part in parts):
        return None
    return tuple(map(int, parts))


def check_status(upload: Upload) -> Iterator[Finding]:
    """Only complete runs are submitted; an infrastructure error leaves a run incomplete."""
    if upload.result.status != "complete":
        yield refused(
            "not_complete",
            "status",
            f"The run is {upload.result.status}; resume it and submit the complete run.",
        )
    for index, trial in enumerate(upload.result.trials):
        if trial.outcome == "infrastructure_error":
            yield refused(
                "not_complete",
                f"trials[{index}].outcome",
                "A trial ended with an infrastructure error, so the run is not complete.",
            )


def check_times(upload: Upload) -> Iterator[Finding]:
    """Wall times lie in the past and in order, and the serial run had time for its trials."""
    result = upload.result
    for name in ("started_at", "finished_at"):
        if getattr(result, name) > upload.now + CLOCK_SKEW:
            yield refused("in_the_future", name, "This time lies in the future.")
    if result.finished_at < result.started_at:
        yield refused("times_reversed", "finished_at", "The run finished before it started.")
    busy_s = sum(_own_time_s(trial) for trial in result.trials)
    if result.speed and result.speed.load_s:
        busy_s += result.speed.load_s.median
    runtime_s = result.total_runtime_s
    if runtime_s is None:  # an import that does not state it
        return
    if runtime_s < busy_s * (1 - SLACK_SHARE) - SLACK_S:
        yield refused(
            "runtime_too_short",
            "total_runtime_s",
            "Loading and all trials together took longer than the whole run.",
            total_runtime_s=result.total_runtime_s,
            trials_s=busy_s,
        )
    wall_s = (result.finished_at - result.started_at).total_seconds()
    if runtime_s > wall_s * (1 + SLACK_SHARE) + 60:
        yield needs_review(
            "runtime_too_long",
            "total_runtime_s",
            "The run claims more time than lies between its start and its end.",
            total_runtime_s=result.total_runtime_s,
            wall_s=wall_s,
        )


def _own_time_s(trial: Trial) -> float:
    """The time of the run that a trial needed: of several at once each needs its share."""
    streams = streams_of(trial.task_id) if trial.suite == "speed" else None
    return (trial.latency_s or 0.0) / (streams or 1)


def check_fingerprint(upload: Upload) -> Iterator[Finding]:
    """The fingerprint follows from what was measured."""
    if upload.result.fingerprint != fingerprint(upload.result):
        yield refused(
            "fingerprint_mismatch",
            "fingerprint",
            "The fingerprint does not belong to this content; the file was changed after the run.",
        )


def check_private(upload: Upload) -> Iterator[Finding]:
    """No suite is a person's own pack, whatever it is called."""
    for index, suite in enumerate(upload.result.suites):
        if suite.is_private:
            yield refused(
                "private_pack",
                f"suites[{index}].is_private",
                "This is a private pack, which no site can check: its results stay at home.",
            )


def check_packs(upload: Upload) -> Iterator[Finding]:
    """Every suite is an official pack, of the version that this site knows, and named once.

    Fresh instances are those that the seed draws of it: hash for hash the same.
    """
    counts = Counter(suite.suite for suite in upload.result.suites)
    for index, suite in enumerate(upload.result.suites):
        where = f"suites[{index}]"
        pack = upload.packs.get(suite.suite)
        if counts[suite.suite] > 1:
            yield refused("mixed_versions", f"{where}.suite", "This suite is listed twice.")
        elif suite.is_private:
            continue  # `check_private` refuses it.
        elif pack is None and suite.suite in pack_names():
            yield refused(
                "unknown_seed",
                "settings.fresh_seed",
                f"This seed gives no fresh instances of {suite.suite}.",
            )
        elif pack is None:
            yield refused(
                "unknown_suite",
                f"{where}.suite",
                f"This site has no such suite. It has: {', '.join(pack_names())}.",
            )
        else:
            yield from _pack_findings(where, suite, pack)


def _pack_findings(where: str, suite: SuiteResult, pack: Pack) -> Iterator[Finding]:
    if suite.version != pack.version:
        yield refused(
            "unknown_pack",
            f"{where}.version",
            f"This site checks version {pack.version} of {pack.name}.",
        )
    elif suite.pack_hash != pack.pack_hash and pack.fresh_seed is not None:
        yield refused(
            "unknown_pack",
            f"{where}.pack_hash",
            f"This is not what the seed {pack.fresh_seed} draws of the official {pack.name} "
            f"{pack.version}: that has the hash {pack.pack_hash}.",
        )
    elif suite.pack_hash != pack.pack_hash:
        yield refused(
            "unknown_pack",
            f"{where}.pack_hash",
            f"This is not the official {pack.name} {pack.version}: its hash is {pack.pack_hash}.",
        )
    if suite.dimension != pack.dimension:
        yield refused(
            "unknown_pack", f"{where}.dimension", f"{pack.name} measures {pack.dimension}."
        )


def check_trials(upload: Upload) -> Iterator[Finding]:
    """Exactly the trials that suites and profile ask for: none missing, twice, or made up."""
    seen: set[tuple[str, str, bool, int]] = set()
    for index, trial in enumerate(upload.result.trials):
        where = f"trials[{index}]"
        key = (trial.suite, trial.task_id, trial.is_warmup, trial.trial)
        if key in seen:
            yield refused(
                "duplicate_trial", f"{where}.task_id", "This trial of this task occurs twice."
            )
        seen.add(key)
        if trial.suite not in upload.packs:
            yield refused("unknown_suite", f"{where}.suite", "The run has no such suite.")
        elif upload.packs[trial.suite].dimension == "speed":
            yield from _speed_trial_findings(where, trial)
        else:
            task = upload.tasks.get((trial.suite, trial.task_id))
            is_fresh = upload.shelf.fresh_seed is not None
            yield from _task_findings(where, trial, task, is_fresh=is_fresh)
    for suite, task_id, number in sorted(_expected(upload) - _numbered(upload)):
        yield refused(
            "missing_trial", "trials", f"Trial {number} of {task_id} is missing.", suite=suite
        )
    for suite, task_id, number in sorted(_numbered(upload) - _expected(upload)):
        yield refused(
            "extra_trial",
            "trials",
            f"Trial {number} of {task_id} is not part of this run.",
            suite=suite,
        )


def _speed_trial_findings(where: str, trial: Trial) -> Iterator[Finding]:
    if not is_speed_id(trial.task_id):
        yield refused("unknown_task", f"{where}.task_id", "Speed trials are named like p1024x256.")
    if trial.outcome not in SPEED_OUTCOMES:
        yield refused("verdict_mismatch", f"{where}.outcome", "Nothing is judged in a speed trial.")


def _task_findings(
    where: str, trial: Trial, task: BenchmarkTask | None, *, is_fresh: bool
) -> Iterator[Finding]:
    if task is None:
        yield refused(
            "unknown_task", f"{where}.task_id", f"The suite {trial.suite} has no such task."
        )
        return
    if trial.prompt_hash != task_prompt_hash(task):
        yield refused(
            "task_mismatch", f"{where}.prompt_hash", f"This is not the prompt of {task.id}."
        )
    if trial.verifier_type != task.verifier_type:
        yield refused("task_mismatch", f"{where}.verifier_type", f"{task.id} has another verifier.")
    if trial.family != (task.family if is_fresh else None):
        whose = f"an instance of {task.family}" if is_fresh else "no fresh instance"
        yield refused("task_mismatch", f"{where}.family", f"{task.id} is {whose}.")
    # Labels may be corrected without a new pack hash.
    if (trial.difficulty, trial.capability_tags) != (task.difficulty, task.capability_tags):
        yield needs_review(
            "task_mismatch", f"{where}.difficulty", f"{task.id} is labelled otherwise here."
        )


def check_speed_plan(upload: Upload) -> Iterator[Finding]:
    """The speed suite holds every timing of its plan: slow ones cannot be left out."""
    result = upload.result
    has_suite = any(suite.dimension == "speed" for suite in result.suites)
    if has_suite != (result.speed is not None):
        yield refused("speed_mismatch", "speed", "Speed and the speed suite belong together.")
    if result.speed is None or result.speed.plan is None:
        return
    plan = result.speed.plan
    rules = PROFILES.get(result.profile)
    if rules is not None and plan not in rules.speed_plans:
        yield refused(
            "speed_mismatch",
            "speed.plan",
            f"The profile {rules.name} has the speed plans {', '.join(rules.speed_plans)}.",
        )
    timed = Counter(
        trial.task_id for trial in result.trials if trial.suite == "speed" and not is_warmup(trial)
    )
    rounds = PLANS[plan][WARMUP_ROUNDS[plan] :]
    for shape, wanted in Counter(shape for one in rounds for shape in one).items():
        if timed[shape.task_id] < wanted:
            yield refused(
                "missing_trial",
                "trials",
                f"The speed plan {plan} times {shape.task_id} {wanted} times.",
                found=timed[shape.task_id],
                expected=wanted,
            )


def check_speed_groups(upload: Upload) -> Iterator[Finding]:
    """Of streams at once, and under a sustained load, no trial was left out."""
    numbers: dict[str, list[int]] = defaultdict(list)
    for trial in upload.result.trials:
        if trial.suite == "speed" and Shape.parse(trial.task_id) is None:
            numbers[trial.task_id].append(trial.trial)
    for task_id, found in numbers.items():
        wanted = streams_of(task_id) or len(found)
        if sorted(found) != list(range(1, wanted + 1)):
            yield refused(
                "missing_trial",
                "trials",
                f"The trials of {task_id} are not numbered from 1 to {wanted}.",
                found=len(found),
                expected=wanted,
            )


def _numbered(upload: Upload) -> set[tuple[str, str, int]]:
    """The scored quality trials that the upload holds, unknown tasks left out."""
    return {
        (trial.suite, trial.task_id, trial.trial)
        for _, trial in upload.quality_trials()
        if not is_warmup(trial) and (trial.suite, trial.task_id) in upload.tasks
    }


def _expected(upload: Upload) -> set[tuple[str, str, int]]:
    """The scored quality trials that its suites, profile and number of trials ask for."""
    settings = upload.result.settings
    return {
        (name, task_id, number)
        for name, pack in upload.packs.items()
        if pack.dimension == "quality"
        for task_id in scored_task_ids(upload.result, pack)
        for number in range(1, (settings.trials_of(name) or 0) + 1)
    }


def check_verdicts(upload: Upload) -> Iterator[Finding]:
    """Every verdict is what this site's verifiers say about the stored output."""
    for where, trial in upload.quality_trials():
        task = upload.tasks.get((trial.suite, trial.task_id))
        if task is None or is_warmup(trial):
            continue
        if trial.outcome == "not_applicable" and upload.is_capable_of(task):
            yield refused(
                "verdict_mismatch",
                f"{where}.outcome",
                f"The harness {upload.result.subject.harness} can be given this task.",
            )
        elif has_no_output(trial):
            yield from _no_output_findings(where, trial)
        else:
            yield from _verdict_findings(where, trial, task, upload.packs[trial.suite])


def _no_output_findings(where: str, trial: Trial) -> Iterator[Finding]:
    for name in ("score", "answer"):
        if getattr(trial, name):
            yield refused(
                "verdict_mismatch",
                f"{where}.{name}",
                f"A trial that ended as {trial.outcome} without an output has no {name}.",
            )


def _verdict_findings(
    where: str, trial: Trial, task: BenchmarkTask, pack: Pack
) -> Iterator[Finding]:
    output = pack.stored_output(trial)
    verdict = judge_ending(output) if needs_sandbox(task) else judge(output, task)
    if verdict is None:
        yield needs_review(
            "not_judged_again",
            f"{where}.outcome",
            "This verdict needs code to be run, which this site does not do; it is as reported.",
        )
        return
    for name in ("outcome", "score", "reason", "answer"):
        claimed, judged = getattr(trial, name), getattr(verdict, name)
        if not is_same(claimed, judged):
            yield refused(
                "verdict_mismatch",
                f"{where}.{name}",
                f"The verifier gives another {name} for the stored output.",
                **({"claimed": claimed, "computed": judged} if name != "answer" else {}),
            )


def check_scores(upload: Upload) -> Iterator[Finding]:
    """Suites, speed and aggregates, recomputed from the trials, are what the upload says."""
    result = upload.result
    if any(suite.suite not in upload.packs for suite in result.suites):
        return
    load = result.speed.load_s if result.speed else None
    scores = score_run(
        result.trials,
        [_suite_key(upload, suite) for suite in result.suites],
        result.profile,
        result.speed.plan if result.speed else None,
        load_s=load.median if load else None,
        missing_suites=missing_suites(result),
    )
    yield from _score_findings("aggregates", result.aggregates, scores.aggregates)
    yield from _score_findings("speed", result.speed, scores.speed)
    computed = {suite.suite: suite for suite in scores.suites}
    for index, suite in enumerate(result.suites):
        yield from _score_findings(f"suites[{index}]", suite, computed.get(suite.suite))


def _suite_key(upload: Upload, suite: SuiteResult) -> SuiteKey:
    pack = upload.packs[suite.suite]
    return SuiteKey(
        suite=pack.name,
        version=pack.version,
        pack_hash=pack.pack_hash,
        dimension=pack.dimension,
        task_ids=scored_task_ids(upload.result, pack) if pack.dimension == "quality" else (),
        left_out=pack.left_out_of(upload.result.profile),
    )


def missing_suites(result: RunResult) -> list[str]:
    """Suites that the profile asks for and the run does not hold."""
    ran, shelf = {suite.suite for suite in result.suites}, Shelf(result.settings.fresh_seed)
    missing = []
    for name in pack_names():
        with suppress(PackError):  # Nothing can be drawn of it, and so nothing is missing.
            if name not in ran and result.profile in shelf.pack(name).profiles:
                missing.append(name)
    return missing


def _score_findings(
    where: str, claimed: BaseModel | None, computed: BaseModel | None
) -> Iterator[Finding]:
    for path, ours, theirs in differences(_plain(claimed), _plain(computed), where):
        yield refused(
            "score_mismatch",
            path,
            f"The trials give {_figure(theirs)}, the file says {_figure(ours)}.",
            claimed=ours,
            computed=theirs,
        )


def _plain(record: BaseModel | None) -> Any:
    return None if record is None else record.model_dump(mode="json", exclude=PACK_FIELDS)


def _figure(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6f}".rstrip("0").rstrip(".")
    return "nothing" if value is None else str(value)[:60]


def differences(claimed: Any, computed: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    """The leaves at which two JSON values differ: (path, claimed, computed)."""
    if isinstance(claimed, dict) and isinstance(computed, dict):
        for name in {**claimed, **computed}:
            yield from differences(claimed.get(name), computed.get(name), f"{path}.{name}")
    elif isinstance(claimed, list) and isinstance(computed, list) and len(claimed) == len(computed):
        for index, (ours, theirs) in enumerate(zip(claimed, computed, strict=True)):
            yield from differences(ours, theirs, f"{path}[{index}]")
    elif not is_same(claimed, computed):
        yield path, _leaf(claimed), _leaf(computed)


def _leaf(value: Any) -> Any:
    """A differing value, small enough to be shown."""
    return f"{len(value)} values" if isinstance(value, dict | list) else value


def is_same(claimed: Any, computed: Any) -> bool:
    """Numbers are equal when they agree after rounding to DECIMALS."""
    numbers = (int, float)
    if isinstance(claimed, numbers) and isinstance(computed, numbers):
        return round(claimed, DECIMALS) == round(computed, DECIMALS)
    return bool(claimed == computed)


def check_time_marks(upload: Upload) -> Iterator[Finding]:
    """Within a trial the time marks come in order and inside its latency."""
    for index, trial in enumerate(upload.result.trials):
        marks = [
            ("t_first_byte_s", trial.t_first_byte_s),
            ("t_first_thinking_s", trial.t_first_thinking_s),
            ("t_first_answer_s", trial.t_first_answer_s),
            ("t_last_s", trial.t_last_s),
        ]
        known = [(name, mark) for name, mark in marks if mark is not None]
        for (_, earlier), (name, later) in pairwise(known):
            if later < earlier - 1e-6:
                yield refused(
                    "marks_reversed", f"trials[{index}].{name}", "The time marks are out of order."
                )
        if trial.t_last_s is None or trial.latency_s is None:
            continue
        if trial.t_last_s > trial.latency_s * (1 + SLACK_SHARE) + 0.05:
            yield refused(
                "marks_reversed",
                f"trials[{index}].t_last_s",
                "The last token came after the trial had ended.",
                t_last_s=trial.t_last_s,
                latency_s=trial.latency_s,
            )


def check_rates(upload: Upload) -> Iterator[Finding]:
    """Token counts, output lengths and times of a trial fit together."""
    for index, trial in enumerate(upload.result.trials):
        where = f"trials[{index}]"
        rate = fastest_rate(trial)
        if rate is not None and rate > IMPOSSIBLE_TPS:
            yield refused(
                "impossible_speed",
                f"{where}.tokens.completion",
                "No stream is this fast: the tokens and the times do not belong together.",
                tokens_per_second=rate,
            )
        elif rate is not None and rate > REVIEW_TPS:
            yield needs_review(
                "very_fast",
                f"{where}.tokens.completion",
                "The stream is unusually fast.",
                tokens_per_second=rate,
            )
        length = len(trial.output or "") + len(trial.thinking or "")
        tokens = trial.tokens.completion
        if tokens is not None and length > (tokens + 1) * LONGEST_TOKEN:
            yield needs_review(
                "too_few_tokens",
                f"{where}.tokens.completion",
                "The output is longer than this many tokens can be.",
                tokens=tokens,
                characters=length,
            )


def check_plausibility(upload: Upload) -> Iterator[Finding]:
    """No request was faster than the memory and the compute of the named hardware allow."""
    for one in implausible_speeds(upload.result):
        yield needs_review(
            "implausible_speed",
            f"trials[{one.index}]",
            f"Its {one.kind} speed is above what this hardware and this model's size allow.",
            tokens_per_second=one.tps,
            ceiling=one.ceiling_tps,
        )


def fastest_rate(trial: Trial) -> float | None:
    """Tokens a second of the trial's stream, by the faster of both clocks; None: cannot be told."""
    rates = []
    first = min(
        (mark for mark in (trial.t_first_thinking_s, trial.t_first_answer_s) if mark is not None),
        default=None,
    )
    if trial.tokens.completion and first is not None and trial.t_last_s is not None:
        early = trial.stream.first_event_tokens if trial.stream else 1
        window_s = trial.t_last_s - first
        if trial.tokens.completion > early and window_s > 0:
            rates.append((trial.tokens.completion - early) / window_s)
    engine = trial.engine_timings
    if engine and engine.generated_tokens and engine.generated_tokens > 1 and engine.generation_s:
        rates.append(engine.generated_tokens / engine.generation_s)
    return max(rates, default=None)


def check_speed_findings(upload: Upload) -> Iterator[Finding]:
    """What scoring itself says of the speed; the claimed codes are compared with it elsewhere.

    A trial that was dropped, or clocks that disagree, may hide something; the rest is only noted.
    """
    for code in upload.result.speed.findings if upload.result.speed else ():
        severity: Severity = "needs_review" if code in SPEED_DOUBTS else "note"
        sentence = FINDINGS.get(code, "A speed finding of a kind that is not known here.")
        yield Finding(severity, "speed", "speed.findings", sentence, {})


def check_artifacts(upload: Upload) -> Iterator[Finding]:
    """Artifacts are named by relative paths that stay inside the workspace."""
    for index, trial in enumerate(upload.result.trials):
        for number, artifact in enumerate(trial.artifacts):
            if not is_safe_path(artifact.path):
                yield refused(
                    "unsafe_path",
                    f"trials[{index}].artifacts[{number}].path",
                    "This must be a relative path inside the workspace, with forward slashes.",
                )


def is_safe_path(text: str) -> bool:
    path = PurePosixPath(text)
    is_relative = not path.is_absolute() and not re.match(r"[A-Za-z]:", text) and "\\" not in text
    return bool(text) and is_relative and ".." not in path.parts


def check_privacy(upload: Upload) -> Iterator[Finding]:
    """Home folders, keys and addresses point to people, but for those that tasks themselves name.

    Outside of what a model or a server wrote they are refused, else shown to a moderator.
    """
    document = upload.result.model_dump(mode="json", exclude={"aggregates", "speed", "suites"})
    official = official_text(upload.result, upload.packs)
    for path, text in _texts(document, ""):
        public = official.get(path.partition(".")[0], "")
        kind = "home folder" if has_home(text, public) else private_kind(text, public)
        if kind is None:
            continue
        if _FOREIGN_WORDS.search(path):
            yield needs_review("private", path, f"This holds a {kind}; a person may be meant.")
        else:
            yield refused("private", path, f"This holds a {kind}; leave it out before submitting.")


_FOREIGN_WORDS = re.compile(
    r"^trials\[\d+\]\.((output|thinking|answer|message|artifacts\[\d+\]\..*)$"
    r"|(requests\[\d+\]\.)?tool_calls\[\d+\]\.(name|arguments)$|requests\[\d+\]\.error$"
    r"|harness\.(diff|failure|said.*|files_changed\[\d+\])$)"
)
"""Paths of what a model, a harness or a server wrote: nobody chose to put it there.

Not a transcript, which holds what tools said of the machine.
"""


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Every text with its path. A key counts as a text of the object that has it."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield path, name
            yield from _texts(item, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, f"{path}[{index}]")


def check_machine(upload: Upload) -> Iterator[Finding]:
    """Hardware that was not read from the machine itself, or that contradicts itself.

    It is for a moderator to judge and never refused: there are more devices than any table has.
    """
    machine = upload.result.machine
    if not machine.is_local:
        yield needs_review(
            "remote_machine",
            "machine.is_local",
            "The model ran on another machine than BenchLoop, so its hardware was not detected.",
        )
        return
    if machine.declared and machine.declared.gpu:
        yield needs_review(
            "declared_machine", "machine.declared.gpu", "This hardware was typed, not detected."
        )
        return
    expected = gpu_class(machine.gpus, machine.system_memory_gb) if machine.gpus else "cpu"
    if machine.device_class != expected and not machine.device_class.startswith(f"{expected}-"):
        yield needs_review(
            "machine_mismatch",
            "machine.device_class",
            "The device class does not follow from the hardware listed.",
            computed=expected,
        )
    if machine.gpu_memory_gb != total_memory_gb(machine.gpus):
        yield needs_review(
            "machine_mismatch",
            "machine.gpu_memory_gb",
            "This is not the memory of the GPUs together.",
            computed=total_memory_gb(machine.gpus),
        )


def check_subject(upload: Upload) -> Iterator[Finding]:
    """The model's name, size and quantization agree; harness and provider are known here."""
    subject = upload.result.subject
    name = parse_model(subject.model_id, None)
    claimed_b, named_b = subject.parameters_b, name.parameters_b
    if claimed_b and named_b and abs(claimed_b / named_b - 1) > SIZE_TOLERANCE:
        yield needs_review(
            "name_mismatch",
            "subject.parameters_b",
            "The model's id names another size.",
            claimed=claimed_b,
            named=named_b,
        )
    if name.quantization and subject.quantization not in (None, name.quantization):
        yield needs_review(
            "name_mismatch",
            "subject.quantization",
            f"The model's id names another quantization: {name.quantization}.",
        )
    for field, folder in (("harness", HARNESSES), ("provider", PROVIDERS)):
        if getattr(subject, field) not in names(folder):
            yield needs_review(
                f"unknown_{field}", f"subject.{field}", f"This site knows no such {field}."
            )


def check_settings(upload: Upload) -> Iterator[Finding]:
    """The rules that every run of BenchLoop follows were followed: none of them is an option."""
    result = upload.result
    settings = result.settings
    budget = result.profile in PROFILES and make_plan(profile=result.profile).answer_budget_rule
    is_timed = any(suite.dimension == "speed" for suite in result.suites)
    rules: dict[str, object] = {
        "seed_rule": SEED_RULE,
        "wall_limit_rule": WALL_LIMIT_RULE if is_timed else UNMEASURED_WALL_LIMIT_RULE,
        "answer_budget_rule": budget or settings.answer_budget_rule,
        "use_prompt_cache": True,
    }
    if not result.subject.thinking:
        rules["sampling"] = Sampling()
    for field, rule in rules.items():
        if getattr(settings, field) != rule:
            yield _other_settings(field)
    if not result.subject.thinking and not all(
        settings.sampling_of(name) == pack.settings.sampling
        for name, pack in upload.packs.items()
        if pack.dimension == "quality"
    ):
        yield _other_settings("by_suite")
    yield from _harness_settings_findings(upload)


def _harness_settings_findings(upload: Upload) -> Iterator[Finding]:
    """A program of a harness is run by BenchLoop's rule, and `raw` is no program."""
    settings = upload.result.settings.harness
    name = upload.result.subject.harness
    if name not in names(HARNESSES):
        return
    is_raw = name == "raw"
    if is_raw is not (settings is None):
        yield _other_settings("harness")
    elif settings is not None and settings.limit_rule != HARNESS_LIMIT_RULE:
        yield _other_settings("harness.limit_rule")
    if not is_raw:
        return
    for index, trial in enumerate(upload.result.trials):
        if trial.harness is not None:
            where = f"trials[{index}].harness"
            yield refused("marks_reversed", where, "The raw harness is no program and has none.")


def _other_settings(field: str) -> Finding:
    return needs_review(
        "other_settings", f"settings.{field}", "BenchLoop's own runs do this otherwise."
    )


def check_power(upload: Upload) -> Iterator[Finding]:
    """Energy was covered by readings, by a sensor of that machine, and its parts fit the whole."""
    result = upload.result
    power = result.power
    if power is None:
        return
    if power.energy_j is not None and power.coverage < MIN_COVERED_SHARE:
        yield refused(
            "power_mismatch", "power.energy_j", "Too little of the run was read to know its energy."
        )
    passed = sum(
        trial.outcome == "pass" and not is_warmup(trial) for _, trial in upload.quality_trials()
    )
    claimed, whole_j = power.joules_per_correct_answer, power.energy_j
    is_too_much = whole_j is not None and (claimed or 0.0) * passed > whole_j * SENSOR_SLACK
    if claimed is not None and (not passed or is_too_much):
        yield refused(
            "power_mismatch",
            "power.joules_per_correct_answer",
            "The right answers cannot have taken this energy.",
            passed=passed,
            energy_j=whole_j,
        )
    has_nvidia = any(gpu.vendor == "NVIDIA" for gpu in result.machine.gpus)
    if not result.machine.is_local or has_nvidia != (power.source == "nvml"):
        yield needs_review(
            "power_mismatch", "power.source", "This sensor is none of the hardware listed."
        )


def check_peak_memory(upload: Upload) -> Iterator[Finding]:
    """A server took no more memory than its machine has.

    Everything on a machine may, in a container that sees more than its own share.
    """
    peak, machine = upload.result.peak_memory, upload.result.machine
    if peak is None:
        return
    server_gb = peak.ram_gb if peak.ram_scope == "server" else None
    for field, used, installed in (
        ("ram_gb", server_gb, machine.system_memory_gb),
        ("vram_gb", peak.vram_gb, machine.gpu_memory_gb),
    ):
        if used is not None and installed is not None and used > installed * SENSOR_SLACK:
            yield needs_review(
                "memory_mismatch",
                f"peak_memory.{field}",
                "More memory was in use than the machine has.",
                used_gb=used,
                installed_gb=installed,
            )


def check_matrix(upload: Upload) -> Iterator[Finding]:
    """An arm of a matrix is the one it says, and no more of it was cold than it had turns.

    Cold trials are held apart from the others: who marks all of them hides how long they took.
    """
    result = upload.result
    arm, parts = result.matrix, result.parts or ()
    turns = sum(part.block is not None for part in parts)
    cold = sum(trial.is_cold is True for trial in result.trials)
    marked = sum(trial.is_cold is not None for trial in result.trials)
    if arm is None:
        if turns or marked:
            yield _no_such_arm("matrix", "This run is no arm of a matrix and had no turns in one.")
        return
    if arm.arms[arm.arm - 1 : arm.arm] != (result.subject.harness,):
        yield _no_such_arm("matrix.arm", "This place in the matrix is that of another harness.")
    if len(set(arm.arms)) < len(arm.arms):
        yield _no_such_arm("matrix.arms", "A harness stands in a matrix once.")
    if cold > turns:
        yield _no_such_arm(
            "trials", "More trials were the first of a turn than there were turns.", cold=cold
        )


def _no_such_arm(field: str, sentence: str, **numbers: int) -> Finding:
    return refused("matrix_mismatch", field, sentence, **numbers)


def check_import(upload: Upload) -> Iterator[Finding]:
    """A person looks at every import: it has no trials from which it could be computed again."""
    result = upload.result
    if result.imported is None:
        return
    yield needs_review(
        "imported",
        "imported",
        f"Not ranked, imported: {result.imported.tool} measured it, not BenchLoop.",
    )
    if result.trials:
        yield refused("imported", "trials", "An imported result has no trials.")
    for sentence in result.imported.findings:
        yield needs_review("import_contradiction", "imported.findings", sentence)


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
    check_scores,
    check_time_marks,
    check_rates,
    check_plausibility,
    check_speed_findings,
    check_artifacts,
    check_privacy,
    check_machine,
    check_subject,
    check_settings,
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


def findings(result: RunResult, now: datetime) -> list[Finding]:
    """What all checks found, refusals first, at most MAX_FINDINGS."""
    upload = Upload(result, now)
    checks = CHECKS if result.imported is None else IMPORT_CHECKS
    found = [finding for check in checks for finding in check(upload)]
    order = ["refused", "needs_review", "note"]
    return sorted(found, key=lambda finding: order.index(finding.severity))[:MAX_FINDINGS]


def level(found: Sequence[Finding]) -> str:
    """The level that these findings, none of them a refusal, are evidence for."""
    return "reported" if any(one.severity == "needs_review" for one in found) else "consistent"
