"""A result without its texts: all that the statistics of a matrix ask for, in a few kilobytes."""

from __future__ import annotations

import hashlib
import json
import zlib

from bench_loop.contracts.chat import CallRecord
from bench_loop.result.records import RequestRecord, RunResult, Trial
from bench_loop.result.upgrades import UPGRADES

LONGEST_MESSAGE = 400
"""Characters of the sentence that says why a harness cannot do a task."""
DIGEST = 16


def outline(run: RunResult) -> RunResult:
    """`run` with its quality trials, each without what was said and made in it."""
    quality = {suite.suite for suite in run.suites if suite.dimension == "quality"}
    trials = tuple(_trial(trial) for trial in run.trials if trial.suite in quality)
    return run.model_copy(update={"trials": trials, "speed": None})


def to_bytes(run: RunResult) -> bytes:
    """The outline of `run`, compressed."""
    return zlib.compress(outline(run).model_dump_json(exclude_defaults=True).encode(), 6)


def from_bytes(data: bytes) -> RunResult:
    """The outline that `to_bytes` made, of this schema version or an earlier one."""
    text = zlib.decompress(data)
    document = json.loads(text)
    current = UPGRADES.upgraded(document)
    return RunResult.model_validate_json(text if current is document else json.dumps(current))


def _trial(trial: Trial) -> Trial:
    is_apart = trial.outcome == "not_applicable"
    return trial.model_copy(
        update={
            "answer": trial.answer and trial.answer.strip()[:1],
            "message": trial.message and trial.message[:LONGEST_MESSAGE] if is_apart else None,
            "output": None,
            "thinking": None,
            "artifacts": (),
            "transcript": None,
            "verifier": None,
            "harness": None,
            "stream": None,
            "engine_timings": None,
            "tool_calls": tuple(map(_call, trial.tool_calls)),
            "requests": trial.requests and tuple(map(_request, trial.requests)),
        }
    )


def _request(request: RequestRecord) -> RequestRecord:
    calls = tuple(map(_call, request.tool_calls))
    return request.model_copy(update={"tool_calls": calls, "changes": (), "error": None})


def _call(call: CallRecord) -> CallRecord:
    """With a digest in the place of long arguments: only whether two are the same is asked."""
    said = call.arguments.encode(errors="surrogatepass")
    if len(said) <= DIGEST:
        return call
    return call.model_copy(update={"arguments": hashlib.sha256(said).hexdigest()[:DIGEST]})
