"""What a command line may call a run: a file, `latest`, a run's id, or the address of its page.

What a site sends is as untrusted as any file: it is bounded in size and time, and read strictly.
"""

from __future__ import annotations

import re
import time
from pathlib import Path
from urllib.parse import urlsplit

from bench_loop.config import results_folder
from bench_loop.errors import ResultError
from bench_loop.result.records import RunResult
from bench_loop.result.store import MAX_FILE_BYTES, from_bytes, load, newest_result

RUN_ID = re.compile(r"\d{8}T\d{6}Z-[a-z2-7]{10}", re.ASCII)
_PAGE = re.compile(r"(?P<site>.*)/runs/(?P<id>[a-z2-7]{12})/?", re.ASCII)
ANSWER_LIMIT_S = 30.0
LONGEST_S = 300.0
"""All of a download; the largest file over a slow line."""


def load_run(name: str) -> RunResult:
    """The run that `name` means. A file of that name is meant before anything else.

    Raises ResultError when it is missing, cannot be fetched, or is no result.
    """
    file = Path(name)
    if file.exists():
        return load(file)
    if name.startswith(("http://", "https://")):
        return from_bytes(_fetched(_file_address(name)), name)
    if RUN_ID.fullmatch(name):
        return load(results_folder() / f"{name}.json")
    return load(newest_result(name))


def _file_address(address: str) -> str:
    """The address of the result file where `address` is that of a run's page on a site."""
    parts = urlsplit(address)
    page = _PAGE.fullmatch(parts.path)
    if page is None:
        return address
    path = f"{page['site']}/api/v1/runs/{page['id']}/result.json"
    return parts._replace(path=path, query="", fragment="").geturl()


def _fetched(address: str) -> bytes:
    import httpx

    deadline = time.monotonic() + LONGEST_S
    data = bytearray()
    try:
        with httpx.stream("GET", address, timeout=ANSWER_LIMIT_S) as response:
            if response.status_code != httpx.codes.OK:
                remedy = "Open it in a browser: is it the page of a published run?"
                reason = f"the site answered {response.status_code}"
                raise ResultError(address, None, reason, remedy=remedy)
            for piece in response.iter_bytes():
                data += piece
                if len(data) > MAX_FILE_BYTES or time.monotonic() > deadline:
                    reason = f"is larger than {MAX_FILE_BYTES:,} bytes, or takes too long"
                    raise ResultError(address, None, reason)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        reason = f"cannot be fetched: {type(error).__name__}"
        raise ResultError(address, None, reason) from error
    return bytes(data)
