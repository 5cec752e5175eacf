"""A whole run as text: what the run page and the static dashboard print."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from bench_loop.engine.packs import load_pack, pack_names
from bench_loop.engine.plan import window_of
from bench_loop.engine.ranking import not_ranked_reason
from bench_loop.report import figures
from bench_loop.report.capabilities import capability_readings
from bench_loop.report.figures import NOT_RUN
from bench_loop.report.gap import gap_sentences
from bench_loop.report.printable import one_line
from bench_loop.report.probes import determinism, usable
from bench_loop.report.records import Notice, PathNode, Reading, RunView, Stat
from bench_loop.report.sensors import sensor_readings
from bench_loop.report.sentences import doubts, formula, notices, run_lede
from bench_loop.report.speed import speed_view
from bench_loop.report.stack import (
    PLACES,
    WHERE,
    device,
    generation_figure,
    harness_configuration,
    harness_label,
    harness_shape,
    own_way,
    quality_suites,
    score_figure,
    stack_name,
    title,
    ttft_figure,
)
from bench_loop.report.trials import (
    outcome_counts,
    passed_of,
    quality_trials,
    suite_row,
    suite_trials,
    tapes,
    with_outcome,
)
from bench_loop.result.records import (
    Imported,
    Machine,
    RunHeader,
    RunResult,
    Speed,
    Subject,
    Trial,
)
from bench_loop.scoring.aggregates import reliability_losses
from bench_loop.scoring.constants import OUTCOMES
from bench_loop.scoring.suites import is_scored

if TYPE_CHECKING:
    from bench_loop.engine.gap import FoundGap


def run_view(result: RunResult, gap: FoundGap | None = None) -> RunView:
    """The whole run as text; `gap` is that of a fresh run to a frozen one, where there is one."""
    judged = quality_trials(result.trials)
    return RunView(
        run_id=result.run_id,
        stack=stack_name(result),
        title=title(result.subject, result.machine),
        profile=result.profile,
        status=result.status,
        scoring_version=one_line(result.scoring_version),
        started=figures.moment(result.started_at),
        runtime=figures.known_duration(result.total_runtime_s),
        not_ranked=not_ranked_reason(result),
        lede=run_lede(result),
        notices=(*notices(result), *doubts(result), *_gap_notices(gap)),
        stats=stats(result, judged),
        formula=None if not_ranked_reason(result) else formula(result.aggregates),
        path=signal_path(result, judged),
        tapes=tapes(judged),
        outcomes=outcome_counts(trial.outcome for trial in judged),
        suites=tuple(suite_row(suite, result.trials) for suite in quality_suites(result)),
        has_pass_cubed=any(suite.pass_cubed is not None for suite in quality_suites(result)),
        capabilities=capability_readings(judged),
        trials=suite_trials(with_outcome(result.trials)),
        speed=speed_view(result.speed, result.trials) if result.speed else None,
        settings=settings_readings(result),
        machine=(*machine_readings(result.machine), *sensor_readings(result)),
        provenance=provenance(result),
        command=command_line(result),
    )


def _gap_notices(gap: FoundGap | None) -> tuple[Notice, ...]:
    if gap is None:
        return ()
    return (Notice("information", one_line(" ".join(gap_sentences(gap)), 600)),)


def stats(header: RunHeader, judged: Sequence[Trial]) -> tuple[Stat, ...]:
    """The aggregates with their ingredients; the raw figure stands beside the score."""
    scores = header.aggregates
    reason = not_ranked_reason(header)
    return (
        Stat(
            "Overall",
            score_figure(scores.overall_score, scores.overall_score_interval)
            if not reason
            else None,
            absence="not ranked",
            basis=reason or None,
        ),
        Stat(
            "Quality",
            score_figure(scores.quality_score, scores.quality_score_interval),
            absence="no score" if judged else NOT_RUN,
            basis=f"{passed_of([trial.outcome for trial in judged])} trials passed"
            if judged
            else None,
        ),
        Stat(
            "Speed",
            score_figure(scores.speed_score, scores.speed_score_interval),
            absence="no score" if header.speed else NOT_RUN,
            basis=_speed_basis(header.speed),
        ),
        Stat(
            "Reliability",
            score_figure(scores.reliability_score, scores.reliability_score_interval),
            basis=_reliability_basis(judged),
        ),
        Stat(
            "Value",
            score_figure(scores.value_score, scores.value_score_interval),
            absence="no score",
            basis="quality × speed × reliability",
        ),
        _answers_stat(header),
    )


def _answers_stat(header: RunHeader) -> Stat:
    rate = header.aggregates.answers_per_minute
    return Stat(
        "Right answers",
        None if rate is None else figures.rate(rate, None),
        unit="/min",
        basis=None
        if header.total_runtime_s is None
        else f"{figures.duration(header.total_runtime_s)} in all",
    )


def _speed_basis(speed: Speed | None) -> str | None:
    generation, ttft = generation_figure(speed), ttft_figure(speed)
    parts = [
        f"{generation} tok/s" if generation else None,
        f"TTFT {ttft.value} s" if ttft else None,
        "too few trials for a score" if speed and speed.plan == "minimum" else None,
    ]
    return ", ".join(filter(None, parts)) or None


def _reliability_basis(judged: Sequence[Trial]) -> str | None:
    """What reliability lost to, each reason with its share of the scored trials."""
    scored = [trial for trial in judged if is_scored(trial)]
    if not scored:
        return None
    losses = reliability_losses(scored).items()
    words = (f"{one_line(reason)} {figures.percent(share / 100)}" for reason, share in losses)
    return ", ".join(words) or "every answer could be read"


def signal_path(result: RunHeader, judged: Sequence[Trial]) -> tuple[PathNode, ...]:
    """From the weights to the verdict, with the points where BenchLoop's clock sits."""
    subject, machine = result.subject, result.machine
    if result.imported:
        tool = PathNode("another tool's clock", harness_label(result), (), is_probe=False)
        return (_weights_node(subject), _device_node(machine), tool)
    kinds = sorted({trial.verifier_type for trial in judged if trial.verifier_type})
    verdicts = sum(OUTCOMES[trial.outcome].is_verdict for trial in judged if trial.outcome)
    verifier = PathNode(
        kind="verifier",
        name=", ".join(kinds) or "none",
        readings=(f"{figures.count(verdicts)} verdicts", "0 judged by a model"),
        is_probe=True,
    )
    return (
        _weights_node(subject),
        _device_node(machine),
        _server_node(result),
        *_harness_nodes(result, judged),
        verifier,
    )


def _harness_nodes(result: RunHeader, judged: Sequence[Trial]) -> Iterator[PathNode]:
    """`raw`, which records by itself, or the gateway and the program that it stands before."""
    subject, program = result.subject, result.settings.harness
    requests = _request_readings(judged)
    if program is not None:
        yield PathNode("gateway", "recording proxy", requests, is_probe=True)
        requests = (WHERE[program.place],)
    yield PathNode(
        kind="harness, recording" if subject.harness == "raw" else "harness",
        name=harness_label(result),
        readings=requests,
        is_probe=subject.harness == "raw",
        harness_shape=harness_shape(subject.harness),
    )


def _weights_node(subject: Subject) -> PathNode:
    size = f"{figures.significant(subject.parameters_b)} B" if subject.parameters_b else None
    digest = subject.weights_digest
    return PathNode(
        kind="weights",
        name=one_line(subject.model_id),
        readings=_texts(
            ", ".join(filter(None, (subject.quantization, size))) or None,
            f"sha256 {digest[7:11]}\N{HORIZONTAL ELLIPSIS}{digest[-4:]}" if digest else "no digest",
        ),
    )


def _device_node(machine: Machine) -> PathNode:
    memory = machine.system_memory_gb
    return PathNode(
        kind="device",
        name=device(machine),
        readings=_texts(
            f"{figures.memory(memory)} GB memory" if memory else None,
            machine.backend,
        ),
    )


def _server_node(result: RunHeader) -> PathNode:
    subject, context = result.subject, result.subject.context
    loaded = context.loaded if context else None
    return PathNode(
        kind="server",
        name=one_line(subject.provider_version or subject.provider),
        readings=_texts(
            f"window {figures.count(loaded)} read back" if loaded else "window not read back",
            ", ".join(
                filter(
                    None,
                    (
                        f"KV {subject.kv_cache_type}" if subject.kv_cache_type else None,
                        _slots(result.settings.parallel_slots),
                    ),
                )
            )
            or None,
        ),
    )


def _slots(slots: int | None) -> str | None:
    return None if slots is None else f"{slots} slot" if slots == 1 else f"{slots} slots"


def _request_readings(judged: Sequence[Trial]) -> tuple[str, ...]:
    turns = sum(trial.turns for trial in judged)
    retries = sum(trial.retries for trial in judged)
    known = [trial.tokens.prompt for trial in judged if trial.tokens.prompt is not None]
    return _texts(
        f"{figures.count(turns)} replies, {figures.count(retries)} retried",
        f"{figures.count(sum(known))} prompt tokens" if known else None,
    )


def settings_readings(result: RunHeader) -> tuple[Reading, ...]:
    """The core settings: equal, or two runs are not comparable."""
    settings, sampling, subject = result.settings, result.settings.sampling, result.subject
    context = subject.context
    loaded, declared = (context.loaded, context.declared) if context else (None, None)
    return _readings(
        ("temperature", f"{sampling.temperature:g}" if sampling else None),
        (
            "top_p, top_k, min_p",
            f"{sampling.top_p:g}, {sampling.top_k}, {sampling.min_p:g}" if sampling else None,
        ),
        ("seeds", settings.seed_rule),
        ("fresh instances", _seed(settings.fresh_seed)),
        ("trials a task", None if settings.trials is None else str(settings.trials)),
        *((f"trials, sampling of {own.suite}", own_way(own)) for own in settings.by_suite),
        ("answer budget", settings.answer_budget_rule),
        ("wall limit", settings.wall_limit_rule),
        *_harness_settings(result),
        ("window asked, loaded", _windows(settings.context_window, loaded)),
        ("window declared", figures.count(declared) if declared else None),
        ("window usable", usable(context) if result.imported is None else None),
        ("thinking", _thinking(result)),
        ("prompt cache", _cache(settings.use_prompt_cache)),
        ("flash attention", _switch(settings.flash_attention)),
        ("parallel slots", _known(settings.parallel_slots)),
        ("threads", _known(settings.threads)),
        ("KV cache", subject.kv_cache_type or "unknown"),
        ("speculative decoding", subject.speculative or "unknown"),
        ("on the GPU", _offload(subject)),
        ("same answer twice", determinism(result.determinism) if not result.imported else None),
        *(result.imported.stated.items() if result.imported else ()),
    )


def _harness_settings(result: RunHeader) -> tuple[tuple[str, str | None], ...]:
    """How the program of a harness was run; empty: it is none."""
    harness = result.settings.harness
    if harness is None:
        return ()
    options = ", ".join(f"{name} {value}" for name, value in harness.options.items())
    forced = ", ".join(need.replace("_", " ") for need in harness.forced)
    return (
        ("harness ran", PLACES[harness.place]),
        ("configuration of the harness", harness_configuration(result)),
        ("limits in the harness", harness.limit_rule),
        ("options of the harness", options or None),
        ("needs overridden", forced or None),
    )


def _windows(asked: int | None, loaded: int | None) -> str | None:
    read_back = figures.count(loaded) if loaded else "not read back"
    return None if asked is None else f"{figures.count(asked)}, {read_back}"


def _seed(seed: int | None) -> str | None:
    return None if seed is None else f"seed {seed}"


def _thinking(result: RunHeader) -> str | None:
    words = {True: "on", False: "off", None: None if result.imported else "no such switch"}
    return words[result.subject.thinking]


def _cache(is_used: bool | None) -> str | None:
    return {True: "allowed", False: "off", None: None}[is_used]


def _offload(subject: Subject) -> str:
    if subject.offloaded_share is not None:
        return f"{figures.percent(subject.offloaded_share)} of the model"
    layers = subject.offloaded_layers
    return "unknown" if layers is None else f"{layers} layers"


def machine_readings(machine: Machine) -> tuple[Reading, ...]:
    """The computer, as far as it is known."""
    return _readings(
        ("device class", machine.device_class),
        ("processor", machine.cpu_model or "unknown"),
        ("GPU", device(machine) if machine.gpus else "none found"),
        (
            "memory",
            f"{figures.memory(machine.system_memory_gb)} GB"
            if machine.system_memory_gb
            else "unknown",
        ),
        ("backend", machine.backend or "unknown"),
        ("system", machine.os or "unknown"),
        ("label", machine.machine_label),
    )


def provenance(result: RunHeader) -> tuple[Reading, ...]:
    """What a sceptic needs to trace the run."""
    subject, imported, software = result.subject, result.imported, result.software
    return _readings(
        *(_import_readings(imported) if imported else ()),
        ("run", result.run_id),
        ("fingerprint", result.fingerprint.removeprefix("sha256:")[:16]),
        ("started", figures.moment(result.started_at)),
        ("took", figures.known_duration(result.total_runtime_s)),
        ("run index", str(result.run_index)),
        ("bench-loop", result.benchmark_version),
        ("scoring", result.scoring_version),
        ("engine", subject.provider_version or "unknown"),
        ("file", subject.file_name),
        ("weights", subject.weights_digest or "no digest offered"),
        ("chat template", subject.chat_template_hash or "not offered"),
        ("python", software.python if software else None),
        ("platform", software.platform if software else None),
    )


def _import_readings(imported: Imported) -> tuple[tuple[str, str], ...]:
    tool = " ".join(filter(None, (imported.tool, imported.tool_version)))
    began = imported.measured_at
    return (
        ("imported from", f"{tool}: {imported.file_name}"),
        ("file hash", imported.file_hash),
        ("imported", figures.moment(imported.at)),
        ("measured", figures.moment(began) if began else "at a time not stated"),
    )


def command_line(result: RunHeader) -> str:
    """The command that measures the same stack again, quoted for a POSIX shell.

    For an import it is the one that measures the same model here.
    """
    import shlex

    subject, settings = result.subject, result.settings
    if result.imported:
        words = ["bench-loop", "run", "--model", subject.model_id, "--profile", "quick"]
        return one_line(shlex.join(words), limit=1000)
    words = ["bench-loop", "run", "--model", subject.model_id, "--provider", subject.provider]
    words += _harness_words(result)
    if result.profile == "custom":
        words += ["--suites", ",".join(suite.suite for suite in result.suites)]
    else:
        words += ["--profile", result.profile]
    if settings.fresh_seed is not None:
        words += ["--fresh-seed", str(settings.fresh_seed)]
    if any(suite.is_private for suite in result.suites):
        words += ["--packs", "DIR"]
    if (settings.trials or 0) > 1 or any(
        own.trials == settings.trials for own in settings.by_suite
    ):
        words += ["--trials", str(settings.trials)]
    packs = [load_pack(suite.suite) for suite in result.suites if suite.suite in _known_packs()]
    if settings.context_window != window_of(packs):
        words += ["--context-window", str(settings.context_window)]
    return one_line(shlex.join(words), limit=1000)


@cache
def _known_packs() -> frozenset[str]:
    """Asked for once: a report of a thousand runs would look into the folder a thousand times."""
    return frozenset(pack_names())


def _harness_words(result: RunHeader) -> list[str]:
    """The options that run the same harness in the same way; none for raw."""
    if result.subject.harness == "raw":
        return []
    words = ["--harness", result.subject.harness]
    settings = result.settings.harness
    if settings is None:
        return words
    for name, value in settings.options.items():
        words += ["--harness-option", f"{name}={value}"]
    if settings.forced:
        words.append("--force")
    if settings.place == "direct":
        words += ["--sandbox", "subprocess", "--allow-unsafe"]
    return words


def _texts(*texts: str | None) -> tuple[str, ...]:
    return tuple(one_line(text) for text in texts if text)


def _readings(*pairs: tuple[str, str | None]) -> tuple[Reading, ...]:
    return tuple(Reading(name, one_line(value)) for name, value in pairs if value is not None)


def _switch(value: bool | None) -> str:
    return {True: "on", False: "off", None: "unknown"}[value]


def _known(value: int | None) -> str:
    return "unknown" if value is None else str(value)
