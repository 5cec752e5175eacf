"""Log lines that nobody can forge: names of files and addresses of requests are hostile text."""

from __future__ import annotations

import logging
from types import TracebackType

from bench_loop.report.printable import one_line, printable

LONGEST_LINE = 2000


class LineFormatter(logging.Formatter):
    """One line a record, control characters and escape sequences as escapes; then its traceback."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - named by the base
        return one_line(super().formatMessage(record), LONGEST_LINE)

    def formatException(  # noqa: N802 - named by the base
        self,
        ei: tuple[type[BaseException], BaseException, TracebackType | None]
        | tuple[None, None, None],
    ) -> str:
        return printable(super().formatException(ei))
