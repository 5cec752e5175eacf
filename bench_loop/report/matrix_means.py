"""What each figure of a matrix means, in a sentence for whoever knows no statistics."""

from __future__ import annotations

from collections.abc import Iterator

from bench_loop.report.matrix_records import CostColumn
from bench_loop.scoring.variance import Source

CHANGE_MEANS = (
    "How many of 100 points the same model gains (+) or loses (−) by the harness, on the same"
    " tasks; the small range holds the true change, over all tasks of the kind, in 95 of 100 such"
    " measurements."
)
SCORE_MEANS = (
    "Of 100 tries at tasks of this kind, so many are done right; the small range holds the true"
    " number in 95 of 100 such measurements."
)
SURE_MEANS = (
    "called better or worse, with an interval without zero; of twenty fields without any change, up"
    " to one is so by chance."
)
QUALITY_COLUMN = CostColumn(
    "Quality against raw",
    "points",
    "What the same model gains (+) or loses (−) by the harness, of 100 points, over all suites"
    " that both did.",
)
COST_COLUMNS = (
    CostColumn(
        "Warm",
        "s, both pass",
        "Seconds that a task takes longer than in raw where both do it right, when the model has"
        " just worked for the same harness. Of raw it is the time of model and tools, of a program"
        " all from its start to its end.",
    ),
    CostColumn(
        "Warm",
        "s, both judged",
        "The same for each task that both bring to an end, right or wrong: a harness that gives up"
        " soon looks fast here. What a limit cut off took time too and is in neither.",
    ),
    CostColumn(
        "Cold",
        "s, both judged",
        "The same where another harness had the model just before, so that it reads the"
        " instructions of this one anew: the wait when you change to it. Only the first task of a"
        " suite tells it.",
    ),
    CostColumn(
        "Alone",
        "s, scripted model",
        "Seconds that the program takes for one small task when the model answers at once: its own"
        " part of the wait.",
    ),
    CostColumn(
        "First prompt",
        "tokens",
        "How much the model reads before its first word, the harness's own instructions and tools"
        " with the task; a small window is soon full of it.",
    ),
    CostColumn(
        "Whole task",
        "prompt tokens",
        "How much the model is sent over a whole task, what comes again in each request counted"
        " again, be it in the server's cache or not.",
    ),
    CostColumn("Requests", "per task", "How often the model is asked until a task is done."),
)
CONDUCT_COLUMNS = (
    CostColumn(
        "Malformed",
        "% of tool calls",
        "Of 100 tool calls, how many name a tool that is not there or do not fit it.",
    ),
    CostColumn(
        "Useless",
        "% of tool calls",
        "Of 100 tool calls, how many are malformed or only repeat the call before: the least that"
        " was wasted.",
    ),
    CostColumn(
        "Completion",
        "% with a verdict",
        "Of 100 tries, how many came to an end that could be judged; a limit cut the others off, or"
        " the program failed. Where it is low, the seconds are those of the lucky tries.",
    ),
    CostColumn(
        "pass^3",
        "% of tasks",
        "The chance that three tries at a task are all right: how far it can be left alone.",
    ),
    CostColumn(
        "Reliability",
        "0–100",
        "Of 100 tries, how many gave an answer that could be read and judged, right or wrong.",
    ),
    CostColumn(
        "Recovered",
        "injected faults",
        "Of the faults that were put in on purpose, each once, how many the program got over.",
    ),
)
SOURCE_MEANS: dict[Source, str] = {
    "model": "How much depends on which model works, whatever harness and task.",
    "harness": "How much depends on which harness it works in, whatever model and task.",
    "task": "Some tasks are harder than others for all.",
    "model x harness": "Some models gain by a harness by which others lose.",
    "model x task": "One model is good at tasks at which another is not.",
    "harness x task": "One harness is good at tasks at which another is not.",
    "rest": "What is left: one model in one harness at one task, and chance where each was tried"
    " once.",
    "trial to trial": "The same model in the same harness passes a task once and fails it once:"
    " chance.",
}


def all_means(words: dict[Source, str]) -> Iterator[tuple[str, str]]:
    """Each figure and its sentence, sources of variance by their `words`."""
    yield "Change against raw", CHANGE_MEANS
    yield "Score", SCORE_MEANS
    for column in (QUALITY_COLUMN, *COST_COLUMNS, *CONDUCT_COLUMNS):
        yield f"{column.label} ({column.unit})", column.means
    for source, means in SOURCE_MEANS.items():
        yield f"Variance: {words[source]}", means
