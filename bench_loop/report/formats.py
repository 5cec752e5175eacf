"""The forms in which the report of one run can be written to a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bench_loop.result.records import RunResult

Writer = Callable[[RunResult], str]


@dataclass(frozen=True, slots=True)
class Format:
    """`suffixes`: how the names of such files end, by which `--output` tells what is wanted."""

    write: Writer
    suffixes: tuple[str, ...]


def _html(result: RunResult) -> str:
    from bench_loop.report.html import run_page

    return run_page(result)


def _markdown(result: RunResult) -> str:
    from bench_loop.report.markdown import run_markdown

    return run_markdown(result)


def _json(result: RunResult) -> str:
    """The whole result, byte for byte as a result file of the newest schema holds it."""
    from bench_loop.result.store import to_bytes

    return to_bytes(result).decode()


def _csv(result: RunResult) -> str:
    from bench_loop.report.trials_csv import trials_csv

    return trials_csv(result)


def _junit(result: RunResult) -> str:
    from bench_loop.report.junit import junit_xml

    return junit_xml(result)


FORMATS = {
    "html": Format(_html, (".html", ".htm")),
    "md": Format(_markdown, (".md", ".markdown")),
    "json": Format(_json, (".json",)),
    "csv": Format(_csv, (".csv",)),
    "junit": Format(_junit, (".xml",)),
}
"""All but that of the Hub, which needs the name of a data set besides: see `hugging_face`."""


def of_suffix(suffix: str) -> str | None:
    """Name of the format of files whose names end so; None: no such."""
    wanted = suffix.lower()
    return next((name for name, form in FORMATS.items() if wanted in form.suffixes), None)
