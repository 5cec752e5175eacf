"""`bench-loop import`: results of other tools as result files, marked as imported."""

from __future__ import annotations

from pathlib import Path

import click

FORMATS = ("llama_bench", "lm_eval", "speed_jsonl")

EPILOG = """
\b
Examples:
  bench-loop import llama-bench.json --gpu "RTX 4090" --gpu-memory-gb 24
  bench-loop import results_2026-11-29T20-00-00.json --samples samples_gsm8k_2026-11-29.jsonl
  bench-loop import phase1-draft-params.jsonl --model qwen3.6-27b

Not ranked, imported: such a result stands apart from BenchLoop's own runs, and nothing
compares it with them.
"""


@click.command(epilog=EPILOG)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "format_name",
    type=click.Choice(FORMATS),
    help="What wrote the file. [told from its content]",
)
@click.option("--model", metavar="NAME", help="The model, where the file does not name it.")
@click.option(
    "--samples",
    type=click.Path(path_type=Path),
    multiple=True,
    help="A samples_*.jsonl of lm_eval, to check its results by. May be given again.",
)
@click.option("--machine", "label", metavar="LABEL", help="A name for the machine it ran on.")
@click.option("--gpu", metavar="NAME", help="Declare the GPU where the file does not state it.")
@click.option("--gpu-memory-gb", type=click.FloatRange(0.1, 10_000), help="Declare its memory.")
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the result files. [results/ in the data folder]",
)
@click.option("--json", "as_json", is_flag=True, help="Print one result a line, and only that.")
def command(
    file: Path,
    format_name: str | None,
    model: str | None,
    samples: tuple[Path, ...],
    label: str | None,
    gpu: str | None,
    gpu_memory_gb: float | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Take in what another tool measured: FILE becomes one result file for each configuration.

    Reads the JSON of llama-bench (-o json or jsonl), results_*.json of lm-evaluation-harness, and
    JSON lines of speed experiments (kind run and kind summary). What the file does not state is
    null; where it contradicts itself the result says so.
    """
    from bench_loop.config import results_folder
    from bench_loop.importers import import_file
    from bench_loop.importers.building import Wishes
    from bench_loop.result.store import make_ready, save_beside

    folder = output or results_folder()
    make_ready(folder)
    wishes = Wishes(model, label, gpu, gpu_memory_gb, samples)
    results = import_file(file, wishes, format_name)
    files = save_beside(results, folder)
    if as_json:
        for result in results:
            click.echo(result.model_dump_json())
        return
    from bench_loop.console import console
    from bench_loop.report.imports import print_imports

    print_imports(list(zip(results, files, strict=True)), console())
