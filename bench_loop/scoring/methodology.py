"""The methodology page, made of the scoring code's own docstrings and constants.

`python -m bench_loop.scoring.methodology > docs/methodology.md` writes it anew.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from bench_loop.contracts.chat import Sampling
from bench_loop.result import compare
from bench_loop.scoring import (
    against_raw,
    aggregates,
    asking,
    bands,
    blocks,
    capabilities,
    constants,
    energy,
    estimates,
    gap,
    harness_costs,
    intervals,
    load,
    paired,
    plausibility,
    rates,
    sequential,
    speed,
    suites,
    variance,
)

_NAME = re.compile(r"\b[A-Z][A-Z0-9_]+\b")
_PERCENT = ("_SHARE", "_HALF_WIDTH", "_GAP", "_AGREEMENT", "CONFIDENCE")
"""Endings of the names of constants that are shown in percent."""

_INTRODUCTION = (
    "Every published number can be recomputed from the raw records of a run, carries its "
    "uncertainty, and stands beside its ingredients. A site recomputes every score of an upload "
    "and never believes the ones in the file.",
    f"This page is made from the scoring code itself, version {constants.SCORING_VERSION}. The "
    "version is stored with every score; scores of two versions are never ranked together. "
    "Null means that something cannot be told, and is never the same as zero.",
)


@dataclass(frozen=True, slots=True)
class Table:
    """A table: the heads of its columns, and rows of as many cells."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """One rule; `text` is in paragraphs and lists of plain Markdown."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Section:
    """One part of the page."""

    title: str
    introduction: str
    entries: tuple[Entry, ...] = ()
    table: Table | None = None


_SCORES: tuple[tuple[str, Callable[..., object]], ...] = (
    ("Suite score", suites.suite_score),
    ("Diagnostic score", suites.diagnostic_score),
    ("Score of finished", suites.score_of_finished),
    ("pass^3", suites.pass_cubed),
    ("Capabilities", capabilities.capability_scores),
    ("Quality", aggregates.quality_score),
    ("Speed", aggregates.speed_score),
    ("Reliability", aggregates.reliability_score),
    ("Overall", aggregates.overall_score),
    ("Value", aggregates.value_score),
    ("Answers per minute", aggregates.answers_per_minute),
)
_SPEED: tuple[tuple[str, Callable[..., object]], ...] = (
    ("Headline figures", speed.measure_speed),
    ("Time to the first token", rates.ttft_s),
    ("Time to the first token of the answer", rates.ttfa_s),
    ("Generation speed of a trial", rates.generation_rate),
    ("On the engine's clock", rates.engine_rate),
    ("On the client's clock", rates.client_rate),
    ("Prompt speed of a trial", rates.prompt_rate),
    ("Cold and warm prompts", rates.is_cold),
    ("Spread and half-width", speed.half_width),
    ("Pauses between arrivals", load.token_gaps),
    ("Context curve", load.context_curve),
    ("Several streams at once", load.concurrency),
    ("Sustained load", load.sustained),
)
_CEILINGS: tuple[tuple[str, Callable[..., object]], ...] = (
    ("Requests above what is possible", plausibility.implausible),
    ("Generation speed, memories read at once", plausibility.parallel_generation_ceiling),
    ("Generation speed, one memory after another", plausibility.split_generation_ceiling),
    ("Prompt speed", plausibility.prompt_ceiling),
)
_ENERGY: tuple[tuple[str, Callable[..., object]], ...] = (
    ("Readings", energy.Trace),
    ("Energy of a stretch of time", energy.Trace.energy),
    ("Idle power", energy.Trace.idle_w),
)
_INTERVALS: tuple[tuple[str, Callable[..., object]], ...] = (
    ("Suite", suites.suite_interval),
    ("Wilson's interval", intervals.wilson),
    ("Quality", aggregates.quality_interval),
    ("Wilson's interval of a stratified sample", intervals.strata_interval),
    ("Variance of a suite", intervals.stratum_variance),
    ("Adding variances", intervals.combined),
    ("Speed", aggregates.speed_interval),
    ("Reliability", aggregates.reliability_interval),
    ("Overall and value", aggregates.formula_interval),
    ("Correlation of quality and reliability", aggregates.task_correlation),
)
_COMPARISONS: tuple[tuple[str, Callable[..., object]], ...] = (
    ("Difference of two runs", paired.paired_difference),
    ("p-value", paired.sign_flip_p),
    ("Verdict", paired.verdict),
    ("How many more tasks", paired.more_tasks),
    ("How many more trials", paired.more_trials),
    ("Chance of single trials", paired.trial_noise),
    ("McNemar's test", paired.mcnemar_p),
    ("Speed of two runs", paired.speed_ratio),
    ("Frozen tasks against fresh instances", gap.fresh_gap),
    ("Rank bands", bands.bands_of),
    ("Two rows of a board", bands.unpaired_p),
    ("Holm's adjustment", bands.holm),
    ("Evidence in a race of models", sequential.evidence_of),
    ("Clearly better in a race", sequential.evidence_needed),
)
_HARNESSES: tuple[tuple[str, Callable[..., object]], ...] = (
    ("Better or worse in a matrix", against_raw.surely_apart),
    ("What a harness adds", harness_costs.harness_costs),
    ("First request of a task", asking.first_request),
    ("Prompt tokens of a task", asking.prompt_tokens),
    ("Requests of a task", asking.request_count),
    ("Malformed calls", asking.malformed_calls),
    ("Useless calls", asking.useless_calls),
    ("Mean over tasks", estimates.mean_estimate),
    ("Ratio over tasks", estimates.ratio_estimate),
    ("Share over tasks", estimates.share_estimate),
    ("Median over models", estimates.median_estimate),
    ("Largest complete block", blocks.largest_block),
    ("Where the variance comes from", variance.variance_table),
)


def methodology_sections() -> tuple[Section, ...]:
    """The page in parts, for whoever lays it out otherwise."""
    return (
        Section(
            "Outcomes of a trial",
            "A trial is one task run once. Warm-up trials are kept and never scored. Every trial "
            "that is not a pass has a reason.",
            table=_outcome_table(),
        ),
        Section("Scores", "From 0 to 100.", _entries(_SCORES)),
        Section(
            "Speed figures",
            "Measured on the client's monotonic clock from the moment a request was sent, with the "
            "engine's own timings beside it. Every figure keeps its peak, mean, median, standard "
            "deviation, number of trials and basis.",
            _entries(_SPEED),
        ),
        Section(
            "Findings on speed",
            "What limits the trust in a speed figure is named in the result.",
            table=_finding_table(),
        ),
        Section(
            "What the hardware allows",
            "A request that was faster than the memory and the compute of its hardware allow is "
            "looked at by a person, and never refused. Nothing is checked where a device or a "
            "model's size is not known, or where the weights fit the last-level caches.",
            _entries(_CEILINGS),
        ),
        Section(
            "Energy",
            "Read beside the run, five times a second or more, where a sensor can be read. What "
            "the sensor covers is stored with the figures: all GPUs, or the processor packages.",
            _entries(_ENERGY),
        ),
        Section(
            "Intervals",
            f"All intervals have a coverage of {_shown('CONFIDENCE')}.",
            _entries(_INTERVALS),
        ),
        Section("Comparisons and ranks", _comparability(), _entries(_COMPARISONS)),
        Section(
            "Harnesses",
            "A harness is compared with raw, the same model without it, on the same tasks. What "
            "it costs is told apart from its quality, which is compared like that of any two runs. "
            "The task is the unit, with the mean of its trials, and all fresh instances of one "
            "family are one task. What is not applicable counts neither for nor against; suites of "
            "which one of the two has nothing are named and left out. Infrastructure errors are "
            "left out and counted.",
            _entries(_HARNESSES),
        ),
        Section(
            "Constants",
            "A change of any of them is a new scoring version.",
            table=_constant_table(),
        ),
    )


def methodology_markdown() -> str:
    """The whole page as Markdown, with a closing line break."""
    blocks = ["# How BenchLoop scores", *_INTRODUCTION]
    for section in methodology_sections():
        blocks += [f"## {section.title}", section.introduction]
        for entry in section.entries:
            blocks += [f"### {entry.title}", entry.text]
        if section.table is not None:
            blocks.append(_markdown_table(section.table))
    return "\n\n".join(blocks) + "\n"


def _entries(rules: tuple[tuple[str, Callable[..., object]], ...]) -> tuple[Entry, ...]:
    return tuple(Entry(title, _page_text(inspect.getdoc(rule) or "")) for title, rule in rules)


def _page_text(docstring: str) -> str:
    """The docstring with values for names, and every paragraph and list item on one line."""
    flowing = re.sub(r"(?<!\n)\n(?!\n|- )", " ", docstring)
    return _with_values(flowing)


def _with_values(text: str) -> str:
    """`text` with the names of constants replaced by their values."""
    known = vars(constants)
    return _NAME.sub(lambda name: _shown(name[0]) if name[0] in known else name[0], text)


def _shown(name: str) -> str:
    """The value of a constant as it is read: `1,024`, `0.55`, `2 %`."""
    value = getattr(constants, name)
    if name.endswith(_PERCENT):
        return f"{100 * value:g} %"
    if isinstance(value, frozenset | tuple):
        return ", ".join(sorted(value))
    return value if isinstance(value, str) else f"{value:,g}".removesuffix(".0")


def _comparability() -> str:
    settings = compare.CORE_SETTINGS + compare.HARNESS_SETTINGS
    of_programs = [name for name, _ in compare.PROGRAM_SETTINGS]
    equal = [compare.INSTANCES, *(name for name, _ in settings)]
    sampling = [field.replace("_", " ") for field in Sampling.model_fields]
    speed_only = [name for name, _ in compare.SPEED_SETTINGS]
    return (
        "Two runs are comparable when these are equal in both: versions and pack hashes of the "
        f"suites, {', '.join(equal + sampling)}, the class of the loaded context window and, for "
        "one model, its chat template; of two harnesses that are programs also "
        f"{', '.join(of_programs)}. Their speed is comparable when these are equal too: "
        f"{', '.join(speed_only)}. Whatever differs is told in a sentence."
    )


def _outcome_table() -> Table:
    rows = (
        (f"`{name}`", "yes" if rule.is_scored else "no", rule.meaning)
        for name, rule in constants.OUTCOMES.items()
    )
    return Table(("Outcome", "Scored", "Meaning"), tuple(rows))


def _finding_table() -> Table:
    rows = ((f"`{code}`", meaning) for code, meaning in constants.FINDINGS.items())
    return Table(("Code", "Meaning"), tuple(rows))


def _constant_table() -> Table:
    """Name, value and docstring of each single value in `constants.py`."""
    lines = ast.parse(inspect.getsource(constants)).body
    rows = []
    for line, following in pairwise(lines):
        if not isinstance(line, ast.Assign) or not isinstance(following, ast.Expr):
            continue
        name, text = ast.unparse(line.targets[0]), ast.literal_eval(following.value)
        rows.append((f"`{name}`", _shown(name), str(text)))
    return Table(("Constant", "Value", "Meaning"), tuple(rows))


def _markdown_table(table: Table) -> str:
    rule = tuple("---" for _ in table.heads)
    return "\n".join("| " + " | ".join(row) + " |" for row in (table.heads, rule, *table.rows))


if __name__ == "__main__":
    print(methodology_markdown(), end="")
