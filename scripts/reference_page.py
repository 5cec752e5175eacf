"""The page about the reference runs, docs/reference-runs/README.md, computed from their files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bench_loop.engine.packs import load_pack, pack_names
from bench_loop.result.records import RunResult
from scripts.markdown import table
from scripts.references import MATRICES


def stale_suites(result: RunResult) -> list[str]:
    """Suites of the run whose pack is another one now."""
    known = set(pack_names())
    return [
        suite.suite
        for suite in result.suites
        if suite.suite not in known or load_pack(suite.suite).pack_hash != suite.pack_hash
    ]


def page(found: Mapping[str, RunResult], in_harnesses: Mapping[str, RunResult]) -> str:
    """docs/reference-runs/README.md; `in_harnesses` are the arms of the matrices."""
    return "\n\n".join([*_parts(found), *_matrix_parts(in_harnesses)]) + "\n"


def _parts(found: Mapping[str, RunResult]) -> Iterator[str]:
    yield "# Reference runs"
    yield (
        "Whole runs of small models, made by `make reference` and committed as they came out.\n"
        "They show what a result holds, and which tasks tell these models apart. Their verdicts\n"
        "and scores are computed again by the tests. A suite whose tasks have changed since is\n"
        "marked stale: its score belongs to the pack with that hash and to no other."
    )
    if not found:
        yield "There is none yet."
        return
    yield table(
        ("run", "model", "machine", "profile", "quality", "reliability", "minutes"),
        [_row(name, result) for name, result in found.items()],
    )
    yield "## Suites"
    yield table(("suite", *found), _suite_rows(found))
    yield "## Tasks that no run, or every run, passed"
    yield from _undecided(found)


def _row(name: str, result: RunResult) -> tuple[object, ...]:
    seconds = (result.finished_at - result.started_at).total_seconds()
    scores = result.aggregates
    return (
        f"[{name}]({name}.json) ([report]({name}.html))",
        f"{result.subject.model_id} {result.subject.quantization or ''}",
        result.machine.cpu_model or result.machine.device_class,
        f"{result.profile}, {result.status}",
        _score(scores.quality_score),
        _score(scores.reliability_score),
        f"{seconds / 60:.0f}",
    )


def _score(value: float | None) -> str:
    return "none" if value is None else f"{value:.1f}"


def _suite_rows(found: Mapping[str, RunResult]) -> Iterator[tuple[object, ...]]:
    names = sorted({suite.suite for result in found.values() for suite in result.suites})
    stale = {name: stale_suites(result) for name, result in found.items()}
    for suite_name in names:
        cells = []
        for name, result in found.items():
            suite = next((one for one in result.suites if one.suite == suite_name), None)
            if suite is None or suite.dimension == "speed":
                cells.append("" if suite is None else "measured")
                continue
            passed = len(passed_tasks(result, suite_name))
            mark = " (stale)" if suite_name in stale[name] else ""
            cells.append(f"{_score(suite.score)}: {passed} of {suite.task_count}{mark}")
        yield (suite_name, *cells)


def passed_tasks(result: RunResult, suite: str) -> set[str]:
    """Ids of the tasks of a suite of which a trial passed."""
    return {
        trial.task_id for trial in result.trials if trial.suite == suite and trial.outcome == "pass"
    }


def _undecided(found: Mapping[str, RunResult]) -> Iterator[str]:
    yield (
        "These runs do not tell models apart by them. That none of these small models passed a\n"
        "task says nothing of larger ones; why each is right stands in its file (`notes`)."
    )
    lines = []
    for suite in (load_pack(name) for name in pack_names()):
        current = [r for r in found.values() if suite.name not in stale_suites(r)]
        asked = [{t.task_id for t in result.trials if t.suite == suite.name} for result in current]
        passed = [passed_tasks(result, suite.name) for result in current]
        none, all_ = [], []
        for task in suite.tasks:
            runs_of = [p for a, p in zip(asked, passed, strict=True) if task.id in a]
            if len(runs_of) < 2:
                continue
            count = sum(task.id in one for one in runs_of)
            short = f"`{task.id.partition('.')[2]}`"
            if count == 0:
                none.append(short)
            elif count == len(runs_of):
                all_.append(short)
        if none or all_:
            lines.append((suite.name, ", ".join(none), ", ".join(all_)))
    yield table(("suite", "passed by none", "passed by all"), lines)


def _matrix_parts(found: Mapping[str, RunResult]) -> Iterator[str]:
    if not found:
        return
    yield "## The same model in several harnesses"
    yield (
        "Matrices of three tasks of `loop_harness`, once each: change a list, find an answer, and\n"
        "see that there is nothing to do. Three tasks tell no harness from another; they show\n"
        "what each does to a small model, and what it costs. The first task of an arm is cold."
    )
    for reference in MATRICES.values():
        arms_of = {
            name: found[f"{reference.name}.{name}"]
            for name in reference.harnesses
            if f"{reference.name}.{name}" in found
        }
        if not arms_of:
            continue
        some = next(iter(arms_of.values()))
        template = "its own" if "--chat-template" not in reference.arguments else "bare-calls.jinja"
        yield f"### {reference.name}"
        yield (
            f"{some.subject.model_id} {some.subject.quantization or ''}, window "
            f"{some.settings.context_window:,}, chat template {template} "
            f"([report]({reference.name}.html))"
        )
        yield table(
            ("harness", "passed", "outcomes", "requests", "prompt tokens", "seconds"),
            [_arm_row(reference.name, name, arm) for name, arm in arms_of.items()],
        )


def _arm_row(matrix: str, harness: str, arm: RunResult) -> tuple[object, ...]:
    passed = sum(trial.outcome == "pass" for trial in arm.trials)
    stale = " (stale)" if stale_suites(arm) else ""
    return (
        f"[{harness}]({matrix}.{harness}.json){stale}",
        f"{passed} of {len(arm.trials)}",
        ", ".join(str(trial.reason or trial.outcome) for trial in arm.trials),
        sum(len(trial.requests or ()) for trial in arm.trials),
        f"{sum(trial.tokens.prompt or 0 for trial in arm.trials):,}",
        f"{sum(trial.latency_s or 0.0 for trial in arm.trials):.0f}",
    )
