"""Everything that can stop BenchLoop, as one tree.

    BenchLoopError           a sentence for a person, a remedy, an exit code   1
      UsageError               a wrong argument, an unknown name               2
      SetupError               this machine cannot do it                       3
        NeedsError               the server is not enough for a harness        3
      PackError, ResultError   a file is wrong: file, field, reason            4
      JournalError             the same of a run's journal                     4
      ProviderError            the model server cannot or will not answer      5
        ModelNotFoundError       it answers, but does not have the model       5
        EngineRejectedError      it refused or lost this one request           5
          BrokenStreamError        what it sent is no whole answer             5
        ContextCutError          it read only a part of a prompt               5
      LimitReachedError        a trial has used up its tokens or its time      5
      HarnessError             the harness crashed or broke its protocol       7
      SandboxError             no sandbox, or a limit was exceeded             3
      SubmitError              the site refused an upload: code and fields     6

Inside a trial an error becomes an outcome on that trial (`engine/trial.py`); everywhere else the
command line prints it in one place (`cli.py`). Ctrl-C exits 130, SIGTERM 143.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal


class BenchLoopError(Exception):
    """BenchLoop cannot go on: `str(error)` says why, `remedy` what to do about it."""

    exit_code = 1

    def __init__(self, message: str, *, remedy: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy


class UsageError(BenchLoopError):
    """The command line names something that does not exist or does not fit together."""

    exit_code = 2


class SetupError(BenchLoopError):
    """This machine lacks something that the command needs."""

    exit_code = 3


class NeedsError(SetupError):
    """The model server does not meet what a harness `needs`: context_window, tool_calls."""

    def __init__(self, message: str, *, needs: Sequence[str], remedy: str | None = None) -> None:
        super().__init__(message, remedy=remedy)
        self.needs = tuple(needs)


class FileError(BenchLoopError):
    """A file is wrong. `field` is the dotted path inside it, or None for the whole file."""

    exit_code = 4

    def __init__(
        self, file: str, field: str | None, reason: str, *, remedy: str | None = None
    ) -> None:
        where = f"{file}: {field}" if field else file
        super().__init__(f"{where}: {reason}", remedy=remedy)
        self.file = file
        self.field = field
        self.reason = reason


class PackError(FileError):
    """A pack or a task in it does not follow the task schema."""


class ResultError(FileError):
    """A result file does not follow the result schema, or is of an unknown version."""


class JournalError(FileError):
    """A run's journal is damaged (the field is the line), or cannot be written."""


class ProviderError(BenchLoopError):
    """The model server is unreachable, too slow, or answers something that is no answer.

    `status` is the HTTP status where there was one; `is_transient` says that trying again later
    may help (connection refused, 429, 5xx, 503 while loading); `retry_after_s` is what the server
    asked for, in seconds, or None.
    """

    exit_code = 5

    def __init__(
        self,
        message: str,
        *,
        remedy: str | None = None,
        status: int | None = None,
        is_transient: bool = False,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message, remedy=remedy)
        self.status = status
        self.is_transient = is_transient
        self.retry_after_s = retry_after_s


class ModelNotFoundError(ProviderError):
    """The server works, but has no such model, or the model cannot chat."""


class EngineRejectedError(ProviderError):
    """The engine refused this request or lost its answer; `reason` is the trial's reason code.

    One of `engine_rejected_output`, `context_overflow`, `engine_crashed` (METHODOLOGY.md 1).
    """

    def __init__(self, message: str, *, reason: str, status: int | None = None) -> None:
        super().__init__(message, status=status)
        self.reason = reason


class BrokenStreamError(EngineRejectedError):
    """What the engine sent is no stream of a model, or not the whole of one."""

    def __init__(self, message: str) -> None:
        super().__init__(message, reason="engine_crashed")


class ContextCutError(ProviderError):
    """The server dropped a part of a prompt without a word: nothing measured on it is true."""


class LimitReachedError(BenchLoopError):
    """A trial has used up its `limit`, "tokens" or "wall"; nothing more is sent for it."""

    exit_code = 5

    def __init__(self, limit: Literal["tokens", "wall"]) -> None:
        super().__init__(f"The trial has used up its limit ({limit}).")
        self.limit: Literal["tokens", "wall"] = limit


class HarnessError(BenchLoopError):
    """The harness crashed, broke its protocol, or was given a task that it cannot do."""

    exit_code = 7


class SandboxError(SetupError):
    """No sandbox can be had, or the program inside exceeded a limit."""


class SubmitError(BenchLoopError):
    """The site refused an upload. `code` and `fields` are the site's own words.

    `can_wait`: nothing is wrong with the result itself, so that it may be taken at another time,
    or with another key.
    """

    exit_code = 6

    def __init__(
        self,
        message: str,
        *,
        code: str,
        fields: Mapping[str, Sequence[str]] | None = None,
        can_wait: bool = False,
        remedy: str | None = None,
    ) -> None:
        super().__init__(message, remedy=remedy)
        self.code = code
        self.fields = dict(fields or {})
        self.can_wait = can_wait
