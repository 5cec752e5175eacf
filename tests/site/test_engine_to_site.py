"""What the engine writes is what the site accepts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bench_loop.commands._setup import load_harness, prepare
from bench_loop.contracts.chat import ChatReply, ChatRequest
from bench_loop.contracts.sandbox import Sandbox
from bench_loop.engine.plan import make_plan
from bench_loop.engine.run import Run
from bench_loop.errors import EngineRejectedError
from bench_loop.result import store
from submissions import checks, intake
from tests.engine.doubles import ScriptedProvider, reply


def hasty(request: ChatRequest) -> ChatReply:
    """A model that always says the same."""
    return reply("ANSWER: 4")


def endless(request: ChatRequest) -> ChatReply:
    """A model that never comes to an end."""
    return reply("so, first of all", finish_reason="length")


def silent(request: ChatRequest) -> ChatReply:
    """A model that says nothing."""
    return reply("")


def breaking(request: ChatRequest) -> ChatReply:
    """An engine that loads and runs at speed, and refuses every task."""
    if request.force_length or request.max_tokens == 1:
        return reply("words", finish_reason="length")
    raise EngineRejectedError("It overflowed.", reason="context_overflow")


@pytest.mark.parametrize("answer", [hasty, endless, silent, breaking])
@pytest.mark.parametrize("profile", ["smoke", "quick"])
def test_a_result_of_the_engine_is_not_refused(
    tmp_path: Path,
    sandbox: Sandbox,
    answer: Callable[[ChatRequest], ChatReply],
    profile: str,
) -> None:
    provider = ScriptedProvider(default=answer)
    setup = prepare(provider, "tiny", load_harness("raw"), sandbox=sandbox)
    written = Run(make_plan(profile=profile), setup, tmp_path, lambda event: None).go()
    # The scripted server answers at once and says that it took seconds.
    result = written.model_copy(
        update={
            "total_runtime_s": 10_000.0,
            "finished_at": written.started_at + timedelta(seconds=10_000),
        }
    )
    found = checks.findings(
        intake.parse(store.to_bytes(result)), datetime.now(UTC) + timedelta(days=1)
    )
    assert [finding for finding in found if finding.severity == "refused"] == []
