"""`bench-loop report`: one run as a page, Markdown, JSON, CSV, JUnit XML or for the Hub."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bench_loop.http import is_url

if TYPE_CHECKING:
    from bench_loop.result.records import RunResult

EXAMPLES = """
\b
Examples:
  bench-loop report latest
  bench-loop report latest --output run.html
  bench-loop report latest --format md | gh issue comment 12 --body-file -
  bench-loop report run.json --format junit --output junit.xml
  bench-loop report run.json --format hf --dataset OWNER/NAME

\b
html   one self-contained page, every trial with its output
md     Markdown for an issue or a model card, with intervals and settings
json   the whole result, as a result file of the newest schema holds it
csv    a line for each trial, unrounded, without outputs
junit  JUnit XML: a suite is a test suite, a trial a test case
hf     YAML for .eval_results/ of a model repository on the Hugging Face Hub
"""

NAMES = ("html", "md", "json", "csv", "junit", "hf")


@click.command(epilog=EXAMPLES)
@click.argument("run")
@click.option(
    "--format",
    "form",
    type=click.Choice(NAMES),
    help="What to write. Default: what the name of --output ends in; else a report to read here.",
)
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file to write. Default: standard output.",
)
@click.option(
    "--dataset",
    metavar="OWNER/NAME",
    help="With hf: the data set on the Hub that is registered as the benchmark.",
)
def command(run: str, form: str | None, output: Path | None, dataset: str | None) -> None:
    """Write the report of RUN, to read or to pass on.

    RUN is a result file, its id in the data folder or the part of it that `runs list` shows,
    `latest` (the newest there), or the address of its page on a site.
    """
    from bench_loop.commands._source import read_result

    form = form or _format_of(output)
    _check_dataset(form, dataset)
    result = read_result(run)
    if form is None:
        _print(result)
        return
    text = _text(result, form, dataset, run if is_url(run) else None)
    if output is None:
        # As bytes: a code page or a translated line break would damage what is read by programs.
        sys.stdout.buffer.write(text.encode())
        return
    _write(output, text, run)
    click.echo(str(output), err=True)


def _format_of(output: Path | None) -> str | None:
    """The format that the name of `output` ends in; None: there is no output.

    Raises UsageError for any other ending.
    """
    from bench_loop.errors import UsageError
    from bench_loop.report.formats import of_suffix

    if output is None:
        return None
    form = of_suffix(output.suffix)
    if form is None:
        raise UsageError(
            f"The name of {output} does not tell which format is wanted.",
            remedy=f"Add --format {'|'.join(NAMES)}",
        )
    return form


def _check_dataset(form: str | None, dataset: str | None) -> None:
    from bench_loop.errors import UsageError

    if form == "hf" and dataset is None:
        raise UsageError(
            "The Hub files every result under a data set, and none is named.",
            remedy="bench-loop report RUN --format hf --dataset OWNER/NAME",
        )
    if form != "hf" and dataset is not None:
        raise UsageError("--dataset belongs to --format hf.", remedy="Leave it out.")


def _print(result: RunResult) -> None:
    from bench_loop.console import console
    from bench_loop.engine.gap import find_gap
    from bench_loop.report.terminal import print_run

    print_run(result, console(), gap=find_gap(result))


def _text(result: RunResult, form: str, dataset: str | None, source: str | None) -> str:
    from bench_loop.report.formats import FORMATS
    from bench_loop.report.hugging_face import eval_results

    if form == "hf":
        assert dataset is not None  # by _check_dataset
        return eval_results(result, dataset, source)
    return FORMATS[form].write(result)


def _write(output: Path, text: str, run: str) -> None:
    """Write `output` whole or not at all; never over the result that it was made from."""
    from bench_loop import config
    from bench_loop.commands._source import result_file
    from bench_loop.errors import SetupError, UsageError

    if not is_url(run) and output.exists() and output.samefile(result_file(run)):
        raise UsageError(
            f"{output} is the result itself; a report would overwrite it.",
            remedy="Name another file with --output.",
        )
    try:
        config.replace_file(output, text.encode())
    except OSError as error:
        raise SetupError(
            f"{output} cannot be written: {error.strerror}.",
            remedy="Choose another file with --output.",
        ) from error
