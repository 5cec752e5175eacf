"""A run as pages and the terminal print it: the public face of this package's builders."""

from bench_loop.engine.ranking import not_ranked_reason
from bench_loop.report.command_line import command_line
from bench_loop.report.printable import one_line
from bench_loop.report.records import (
    LEVELS,
    OUTCOME_WORDS,
    OUTCOMES,
    Notice,
    RunView,
    Span,
    StackName,
    Stat,
    Trust,
)
from bench_loop.report.run import run_view, stats
from bench_loop.report.sentences import doubts, formula, notices, run_lede
from bench_loop.report.stack import (
    device,
    generation_figure,
    harness_shape,
    profile,
    score_figure,
    spread_figure,
    stack_name,
    title,
    trust,
    ttft_figure,
)
from bench_loop.report.trials import outcome_counts

__all__ = [
    "LEVELS",
    "OUTCOMES",
    "OUTCOME_WORDS",
    "Notice",
    "RunView",
    "Span",
    "StackName",
    "Stat",
    "Trust",
    "command_line",
    "device",
    "doubts",
    "formula",
    "generation_figure",
    "harness_shape",
    "not_ranked_reason",
    "notices",
    "one_line",
    "outcome_counts",
    "profile",
    "run_lede",
    "run_view",
    "score_figure",
    "spread_figure",
    "stack_name",
    "stats",
    "title",
    "trust",
    "ttft_figure",
]
