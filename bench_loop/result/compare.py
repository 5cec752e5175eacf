"""Why two runs are not comparable, as sentences for a person.

What is being compared may differ: model, quantization, machine. The core settings may not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bench_loop.contracts.chat import Sampling
from bench_loop.result.records import ImportFormat, RunHeader, SuiteResult

WINDOW_CLASSES = (2048, 4096, 8192, 16384, 32768, 40960, 65536, 131072, 262144, 1048576)
"""Context windows, in tokens, between which a loaded window is counted as the lower one."""

Read = Callable[[RunHeader], Any]


def is_thinking_on(run: RunHeader) -> bool:
    """Whether the model was told to think; one without that switch is as one told not to."""
    return run.subject.thinking is True


CORE_SETTINGS: tuple[tuple[str, Read], ...] = (
    ("scoring version", lambda run: run.scoring_version),
    ("profile", lambda run: run.profile),
    ("number of trials", lambda run: run.settings.trials),
    ("seed rule", lambda run: run.settings.seed_rule),
    ("answer budget", lambda run: run.settings.answer_budget_rule),
    ("thinking mode", is_thinking_on),
    ("thinking budget", lambda run: run.settings.thinking_budget),
    ("wall limit", lambda run: run.settings.wall_limit_rule),
    ("use of the prompt cache", lambda run: run.settings.use_prompt_cache),
    ("sandbox", lambda run: run.sandbox and run.sandbox.kind),
)
"""Core settings that must simply be equal; instances, suites, sampling, window and template have
rules."""

INSTANCES = "seed of fresh instances"
"""Core setting: the tasks are those of the packs' files (none), or were drawn by this seed."""

HARNESS_SETTINGS: tuple[tuple[str, Read], ...] = (
    ("harness", lambda run: run.subject.harness),
    ("harness version", lambda run: run.subject.harness_version),
    ("harness configuration", lambda run: run.subject.harness_config_hash),
)
"""Core settings that a comparison of harnesses is about."""

PROGRAM_SETTINGS: tuple[tuple[str, Read], ...] = (
    ("place of the harness", lambda run: run.settings.harness and run.settings.harness.place),
    ("limits of the harness", lambda run: run.settings.harness and run.settings.harness.limit_rule),
    (
        "needs of the harness that were overridden",
        lambda run: run.settings.harness and (", ".join(run.settings.harness.forced) or "none"),
    ),
)
"""Core settings of a harness that is a program: equal in any two of them, be they the same or not.
"""

SPEED_SETTINGS: tuple[tuple[str, Read], ...] = (
    ("engine", lambda run: run.subject.provider_version or run.subject.provider),
    ("KV cache type", lambda run: run.subject.kv_cache_type),
    ("flash attention", lambda run: run.settings.flash_attention),
    ("speculative decoding", lambda run: run.subject.speculative),
    ("offloaded layers", lambda run: run.subject.offloaded_layers),
    ("offloaded share", lambda run: run.subject.offloaded_share),
    ("parallel slots", lambda run: run.settings.parallel_slots),
)
"""Settings that must be equal for speed only."""


IMPORT_TITLES: dict[ImportFormat, str] = {
    "llama_bench": "llama-bench",
    "lm_eval": "lm-evaluation-harness",
    "speed_jsonl": "a speed experiment",
}
"""What a file of each format is called in a sentence."""


def not_comparable(
    a: RunHeader,
    b: RunHeader,
    *,
    may_harness_differ: bool = False,
    may_instances_differ: bool = False,
) -> tuple[str, ...]:
    """Why the quality of two runs is not comparable; empty: it is.

    `may_harness_differ` is for a comparison of harnesses: then the harness is what is compared,
    and the model must be the same. `may_instances_differ` asks for everything but the tasks.
    """
    if foreign := _import_reasons(a, b):
        return foreign
    is_of_harnesses = may_harness_differ and is_same_model(a, b)
    return (
        *(() if may_instances_differ else _task_differences(a, b)),
        *_differences(CORE_SETTINGS, a, b),
        *_sampling_differences(a.settings.sampling, b.settings.sampling),
        *_own_settings_differences(a, b),
        *_window_difference(a, b),
        *_template_difference(a, b),
        *(() if is_of_harnesses else _differences(HARNESS_SETTINGS, a, b)),
        *_program_differences(a, b),
    )


def _program_differences(a: RunHeader, b: RunHeader) -> list[str]:
    """Of two programs; beside `raw`, which is none, what differs is the harness itself."""
    if a.settings.harness is None or b.settings.harness is None:
        return []
    return _differences(PROGRAM_SETTINGS, a, b)


def _import_reasons(a: RunHeader, b: RunHeader) -> tuple[str, ...]:
    """That another tool measured one of them, or both: its way of measuring is not known enough."""
    found = {run.imported.format: None for run in (a, b) if run.imported}
    if not found:
        return ()
    titles = " and ".join(IMPORT_TITLES[name] for name in found)
    which = "Both were" if a.imported and b.imported else "One of them was"
    return (f"{which} imported from {titles}: shown, and never compared with a verdict.",)


def core_settings(run: RunHeader) -> dict[str, Any]:
    """What must be equal in runs that are ranked together, as JSON: what `not_comparable` asks.

    The chat template is left out, since it belongs to the model.
    """
    fields = {what: read(run) for what, read in (*CORE_SETTINGS, *HARNESS_SETTINGS)}
    sampling, window = run.settings.sampling, _loaded_window(run)
    own = sorted(run.settings.by_suite, key=lambda one: one.suite)
    is_program = run.settings.harness is not None
    return {
        **fields,
        **({what: read(run) for what, read in PROGRAM_SETTINGS} if is_program else {}),
        **({"suites' own settings": [one.model_dump(mode="json") for one in own]} if own else {}),
        INSTANCES: run.settings.fresh_seed,
        "suites": [[suite.suite, suite.version, suite.pack_hash] for suite in _by_name(run)],
        "sampling": sampling.model_dump(mode="json") if sampling else None,
        "context window": None if window is None else window_class(window),
    }


def _by_name(run: RunHeader) -> list[SuiteResult]:
    return sorted(run.suites, key=lambda one: (one.suite, one.version, one.pack_hash or ""))


def speed_not_comparable(a: RunHeader, b: RunHeader) -> tuple[str, ...]:
    """Why the speed of two runs is not comparable, beside the reasons of `not_comparable`."""
    if foreign := _import_reasons(a, b):
        return foreign
    if a.speed is None or b.speed is None:
        return ("The speed suite was not run in both.",)
    reasons = list(_differences(SPEED_SETTINGS, a, b))
    if (a.speed.plan == "minimum") != (b.speed.plan == "minimum"):
        reasons.append(
            "One run took its headline speed from the plan minimum, which has other shapes."
        )
    return tuple(reasons)


def times_not_comparable(a: RunHeader, b: RunHeader) -> tuple[str, ...]:
    """Why the seconds of two runs say nothing beside each other, beside `not_comparable`.

    Arms of one matrix took turns on one server; other runs must have had the same machine and the
    same settings of speed.
    """
    if is_one_matrix(a, b):
        return ()
    reasons = _differences(SPEED_SETTINGS, a, b)
    if a.machine.machine_id is None or a.machine.machine_id != b.machine.machine_id:
        reasons.insert(0, "They were measured on different machines.")
    return tuple(reasons)


def is_one_matrix(a: RunHeader, b: RunHeader) -> bool:
    """Whether both are arms of one matrix, by their own word."""
    return (
        a.matrix is not None and b.matrix is not None and a.matrix.matrix_id == b.matrix.matrix_id
    )


def settings_beside_harness(run: RunHeader) -> dict[str, Any]:
    """The core settings that runs of one matrix share, whatever their harness; the tasks are left
    out, since each is known by its prompt."""
    own = {what for what, _ in (*HARNESS_SETTINGS, *PROGRAM_SETTINGS)} | {"suites"}
    return {what: value for what, value in core_settings(run).items() if what not in own}


def window_class(tokens: int) -> int:
    """The class of a loaded context window: the largest usual window that fits in it, or itself."""
    fitting = [size for size in WINDOW_CLASSES if size <= tokens]
    return max(fitting, default=tokens)


def _task_differences(a: RunHeader, b: RunHeader) -> list[str]:
    """Other instances are other tasks, whatever their packs."""
    first, second = a.settings.fresh_seed, b.settings.fresh_seed
    if first == second:
        return _suite_differences(a, b)
    if first is not None and second is not None:
        return [
            f"Their fresh instances were drawn with different seeds, {first} and {second}: these "
            "are other tasks, and nothing pairs them."
        ]
    seed = second if first is None else first
    return [
        f"One of them ran the official tasks, the other fresh instances of them (seed {seed}): "
        "what may be known by heart is not compared with what cannot be."
    ]


def _suite_differences(a: RunHeader, b: RunHeader) -> list[str]:
    ours = {suite.suite: suite for suite in a.suites if suite.dimension == "quality"}
    theirs = {suite.suite: suite for suite in b.suites if suite.dimension == "quality"}
    reasons = [
        f"The suite {name} was run in only one of them."
        for name in sorted(ours.keys() ^ theirs.keys())
    ]
    for name in sorted(ours.keys() & theirs.keys()):
        first, second = ours[name], theirs[name]
        if first.version != second.version:
            reasons.append(
                f"The suite {name} has version {first.version} against {second.version}: "
                "run again with the current pack."
            )
        elif first.pack_hash != second.pack_hash:
            reasons.append(
                f"The pack of {name} differs ({_short(first.pack_hash or 'unknown')} against "
                f"{_short(second.pack_hash or 'unknown')}): one of them was changed."
            )
    return reasons


def _differences(fields: tuple[tuple[str, Read], ...], a: RunHeader, b: RunHeader) -> list[str]:
    reasons = []
    for what, read in fields:
        first, second = read(a), read(b)
        if first != second:
            reasons.append(_sentence(what, first, second))
    return reasons


def _sampling_differences(a: Sampling | None, b: Sampling | None, of: str = "") -> list[str]:
    """`of` is put behind what differs, like ` of agent`."""
    if a is None or b is None:
        return [] if a is b else [_sentence(f"sampling{of}", a, b)]
    return [
        _sentence(f"{field.replace('_', ' ')}{of}", getattr(a, field), getattr(b, field))
        for field in Sampling.model_fields
        if getattr(a, field) != getattr(b, field)
    ]


def _own_settings_differences(a: RunHeader, b: RunHeader) -> list[str]:
    """Suites of both that only one of them ran in this way: by its own settings, or by all's."""
    common = {suite.suite for suite in a.suites} & {suite.suite for suite in b.suites}
    own = {one.suite for run in (a, b) for one in run.settings.by_suite}
    reasons = []
    for name in sorted(own & common):
        first, second = a.settings.trials_of(name), b.settings.trials_of(name)
        if first != second:
            reasons.append(_sentence(f"number of trials of {name}", first, second))
        reasons += _sampling_differences(
            a.settings.sampling_of(name), b.settings.sampling_of(name), of=f" of {name}"
        )
    return reasons


def _window_difference(a: RunHeader, b: RunHeader) -> list[str]:
    first, second = _loaded_window(a), _loaded_window(b)
    if first is None or second is None:
        return [] if first is second else [_sentence("context window", first, second)]
    if window_class(first) == window_class(second):
        return []
    found = f"The context windows differ: {first:,} against {second:,} tokens"
    if a.subject.harness == b.subject.harness:
        return [f"{found}."]
    wanted = max(first, second)
    return [f"{found}: run both with the larger one (--context-window {wanted})."]


def _loaded_window(run: RunHeader) -> int | None:
    """The window that was loaded; where it could not be read back, the one that was asked for.

    None in an imported run that states none.
    """
    loaded = run.subject.context.loaded if run.subject.context else None
    return run.settings.context_window if loaded is None else loaded


def _template_difference(a: RunHeader, b: RunHeader) -> list[str]:
    """Two models have two templates; two templates for one model are a difference in settings."""
    first, second = a.subject.chat_template_hash, b.subject.chat_template_hash
    if first is None or second is None or first == second or not is_same_model(a, b):
        return []
    return [
        f"The chat templates of the same model differ: {_short(first)} against {_short(second)}."
    ]


def is_same_model(a: RunHeader, b: RunHeader) -> bool:
    """By the digest of the weights; where one run has none, by the model's id."""
    ours, theirs = a.subject.weights_digest, b.subject.weights_digest
    if ours is not None and theirs is not None:
        return ours == theirs
    return a.subject.model_id == b.subject.model_id


def _sentence(what: str, first: object, second: object) -> str:
    if first is None or second is None:
        known = second if first is None else first
        return f"Only one of them states its {what}: {_word(known)}."
    return f"They differ in {what}: {_word(first)} against {_word(second)}."


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    text = str(value)
    return _short(text) if text.startswith("sha256:") else text


def _short(digest: str) -> str:
    return digest.removeprefix("sha256:")[:8]
