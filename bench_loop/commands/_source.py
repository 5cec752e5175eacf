"""What a command line may call a run: a file, `latest`, a run's id, or an address on a site."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from bench_loop.http import is_url

if TYPE_CHECKING:
    from bench_loop.result.records import RunResult

_RUN_ID = re.compile(r"\d{8}T\d{6}Z-[a-z2-7]{10}", re.ASCII)


def read_result(source: str) -> RunResult:
    """The result that `source` means; a file of that name is meant before anything else.

    Raises ResultError when it is missing, cannot be fetched or is no result.
    """
    from bench_loop.config import results_folder
    from bench_loop.result.store import load, newest_result

    if is_url(source):
        from bench_loop.download import fetch_result

        return fetch_result(source)
    if _RUN_ID.fullmatch(source) and not Path(source).exists():
        return load(results_folder() / f"{source}.json")
    return load(newest_result(source))
