"""What a run was set to, on which machine, and where it comes from: a line for each."""

from __future__ import annotations

from bench_loop.report import figures
from bench_loop.report.printable import one_line
from bench_loop.report.probes import determinism, usable
from bench_loop.report.records import Reading
from bench_loop.report.stack import (
    PLACES,
    device,
    harness_configuration,
    own_way,
)
from bench_loop.result.records import (
    Imported,
    Machine,
    RunHeader,
    Subject,
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


def _readings(*pairs: tuple[str, str | None]) -> tuple[Reading, ...]:
    return tuple(Reading(name, one_line(value)) for name, value in pairs if value is not None)


def _switch(value: bool | None) -> str:
    return {True: "on", False: "off", None: "unknown"}[value]


def _known(value: int | None) -> str:
    return "unknown" if value is None else str(value)
