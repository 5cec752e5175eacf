"""Files of other tools as result files: speed or quality only, marked as imported, never ranked.

One module for each format, named as `--format` names it. Each has `is_mine(document)` and
`read(document, wishes)`, which gives the finished findings of one or more runs.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from bench_loop.errors import ResultError
from bench_loop.importers import llama_bench, lm_eval, speed_jsonl
from bench_loop.importers.building import Wishes, result_of
from bench_loop.importers.document import Document, open_document
from bench_loop.result.records import ImportFormat, RunResult
from bench_loop.result.store import field_path

FORMATS = {"llama_bench": llama_bench, "lm_eval": lm_eval, "speed_jsonl": speed_jsonl}


def import_file(file: Path, wishes: Wishes, format_name: str | None = None) -> list[RunResult]:
    """The runs that `file` holds: one for each configuration in it.

    Without `format_name` the format is told from the content. Raises ResultError with line, field
    and remedy when the file is missing, too large, broken or of no known format.
    """
    document = open_document(file)
    name = _format_of(document, format_name)
    try:
        return [
            result_of(found, document, name, wishes)
            for found in FORMATS[name].read(document, wishes)
        ]
    except ValidationError as error:
        # Rows are checked with their places; what is left is more than a result can hold.
        first = error.errors(include_url=False)[0]
        raise ResultError(
            document.name,
            field_path(first["loc"]),
            f"does not fit into a result: {first['msg']}",
            remedy="Import a part of it.",
        ) from error


def _format_of(document: Document, wanted: str | None) -> ImportFormat:
    for name, module in FORMATS.items():
        if module.is_mine(document) if wanted is None else name == wanted:
            return name  # type: ignore[return-value]  # the keys of FORMATS are its values
    raise ResultError(
        document.name,
        None,
        "is of no format that can be imported",
        remedy="Give the JSON of llama-bench (-o json or jsonl), a results_*.json of "
        "lm-evaluation-harness, or JSON lines with kind run and summary.",
    )
