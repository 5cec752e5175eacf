"""Log lines that nobody can forge, and that hold no key.

Names of files and addresses of requests are hostile text; people paste keys into the wrong places.
"""

from __future__ import annotations

import logging
import re
from types import TracebackType

from bench_loop.report.printable import one_line, printable

LONGEST_LINE = 2000
# What lets somebody in: of an API key only its first part, which its owner sees in their list.
_API_KEY = re.compile(r"(bl_[a-z2-7]{8})_[A-Za-z0-9_-]{20,}")


class LineFormatter(logging.Formatter):
    """One line a record, control characters and escape sequences as escapes; then its traceback."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - named by the base
        return one_line(_without_keys(super().formatMessage(record)), LONGEST_LINE)

    def formatException(  # noqa: N802 - named by the base
        self,
        ei: tuple[type[BaseException], BaseException, TracebackType | None]
        | tuple[None, None, None],
    ) -> str:
        return printable(_without_keys(super().formatException(ei)))


def _without_keys(text: str) -> str:
    return _API_KEY.sub(r"\1_...", text)
