"""What a command line may call a run: a file, `latest`, a run's id, or an address on a site."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from bench_loop.http import is_url

if TYPE_CHECKING:
    from bench_loop.result.records import RunResult

_RUN_ID = re.compile(r"\d{8}T\d{6}Z-[a-z2-7]{10}", re.ASCII)
_SHORT_ID = re.compile(r"[a-z2-7]{4,10}", re.ASCII)


def read_result(source: str) -> RunResult:
    """The result that `source` means; a file of that name is meant before anything else.

    Raises ResultError when it is missing, cannot be fetched or is no result, UsageError when
    a part of an id means no run, or several.
    """
    from bench_loop.result.store import load

    if is_url(source):
        from bench_loop.download import fetch_result

        return fetch_result(source)
    return load(result_file(source))


def read_bytes(source: str) -> tuple[str, bytes]:
    """Name and exact bytes of what `source` means. Raises as `read_result` does."""
    from bench_loop.result.store import read

    if is_url(source):
        from bench_loop.download import fetch

        return fetch(source)
    file = result_file(source)
    return str(file), read(file)


def result_file(source: str) -> Path:
    """The file that `source` means, which is no address; it need not be there.

    Raises UsageError when a part of an id means no run, or several.
    """
    from bench_loop.config import results_folder
    from bench_loop.result.store import newest_result

    if _RUN_ID.fullmatch(source) and not Path(source).exists():
        return results_folder() / f"{source}.json"
    if _SHORT_ID.fullmatch(source) and source != "latest" and not Path(source).exists():
        return _of_short_id(source)
    return newest_result(source)


def _of_short_id(source: str) -> Path:
    """The result file of the run whose id has this part, as `runs list` shows it."""
    from bench_loop.engine.stored import stored_run
    from bench_loop.errors import UsageError

    found = stored_run(source)
    if found.file is None:
        raise UsageError(
            f"The run {found.run_id} has no result file yet.",
            remedy=f"bench-loop run --resume {found.run_id}",
        )
    return found.file
