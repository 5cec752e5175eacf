"""What is sent of a result file: its own bytes, or those of a copy without private text."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from bench_loop.contracts.sandbox import Sandbox
from bench_loop.errors import ResultError
from bench_loop.privacy import Person, PrivateFinding
from bench_loop.result.fingerprint import fingerprint
from bench_loop.result.records import RunResult
from bench_loop.result.signature import BadSignatureError, signer_of
from bench_loop.result.store import from_bytes, read, to_bytes
from bench_loop.submit.scrub import ChangedVerdict, Scrubbed, scrub


@dataclass(frozen=True, slots=True)
class Source:
    """A result file that may be submitted."""

    path: Path
    data: bytes
    result: RunResult


@dataclass(frozen=True, slots=True)
class Payload:
    """What would be sent of it."""

    source: Source
    data: bytes
    """The exact bytes."""
    result: RunResult
    """What they hold."""
    scrubbed: Scrubbed
    is_as_found: bool
    """Private text included, by explicit wish."""

    @property
    def findings(self) -> tuple[PrivateFinding, ...]:
        """Private text that is in the bytes."""
        found = self.scrubbed
        return (*found.taken, *found.left) if self.is_as_found else found.left

    @property
    def obstacles(self) -> tuple[ChangedVerdict, ...]:
        """Verdicts that would change: the bytes may not be sent."""
        return () if self.is_as_found else self.scrubbed.changed


def read_source(path: Path) -> Source:
    """The result in the file `path`. Raises ResultError where no site would take it."""
    try:
        data = read(path)
    except ResultError as error:
        raise ResultError(
            str(path),
            None,
            error.reason,
            remedy="Give the path of a result file; `bench-loop run` writes one.",
        ) from error
    result = from_bytes(data, str(path))
    _refuse_unfit(result, str(path))
    _refuse_changed(result, data, str(path))
    return Source(path, data, result)


def payload_of(
    source: Source, person: Person, sandbox: Sandbox | None, *, is_as_found: bool
) -> Payload:
    """What would be sent; with `is_as_found` the file as it is, whatever it holds."""
    found = scrub(source.result, source.data, person, sandbox)
    if is_as_found or not found.taken:
        return Payload(source, source.data, source.result, found, is_as_found)
    return Payload(source, to_bytes(found.result), found.result, found, is_as_found=False)


def _refuse_unfit(result: RunResult, name: str) -> None:
    for index, suite in enumerate(result.suites):
        if suite.is_private:
            raise ResultError(
                name,
                f"suites.{index}.is_private",
                f"{suite.suite} is a private pack: its results stay on this machine",
                remedy="Run official suites to have something to submit.",
            )
    if result.status != "complete":
        raise ResultError(
            name,
            "status",
            f"the run is {result.status}; only complete runs can be submitted",
            remedy=f"Bring it to its end: bench-loop run --resume {result.run_id}",
        )


def _refuse_changed(result: RunResult, data: bytes, name: str) -> None:
    remedy = "Submit the file as the run wrote it."
    if fingerprint(result) != result.fingerprint:
        reason = "does not fit the trials: the file was changed after the run"
        raise ResultError(name, "fingerprint", reason, remedy=remedy)
    try:
        signer_of(json.loads(data))
    except BadSignatureError as error:
        reason = "does not belong to this content: the file was changed after it was signed"
        raise ResultError(name, "signature", reason, remedy=remedy) from error
