"""One trial of a harness alone: in a place and behind a gateway of its own, whatever answers there.

For the check of an installation, and for trying a harness out; a run of the benchmark has its own
way, with suites and verdicts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bench_loop.contracts.chat import ChatReply, Message
from bench_loop.contracts.harness import (
    HarnessAdapter,
    HarnessConfig,
    HarnessRunResult,
    ModelAccess,
)
from bench_loop.contracts.place import Place, PlaceKind
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.errors import HarnessError
from bench_loop.gateway.limits import Limits
from bench_loop.gateway.pinning import Pins
from bench_loop.gateway.upstream import Upstream
from bench_loop.programs.gated_place import open_gated_place
from bench_loop.programs.installed import Installed
from bench_loop.programs.workspace import renew
from bench_loop.result.records import RequestRecord

TEMPERATURE, SEED = 0.0, 1001
"""Pinned in every request."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What the harness has for its task."""

    model_id: str
    wall_s: float
    """Until it is ended from outside."""
    context_window: int = 131_072
    answer_tokens: int = 4096
    requests: int = 100


@dataclass(frozen=True, slots=True)
class Attempt:
    """What came of it, as the harness and as the gateway saw it."""

    result: HarnessRunResult
    """Of a harness that broke: its failure and nothing else."""
    requests: tuple[RequestRecord, ...]
    """For replies of the model, refused ones included."""
    wall_s: float
    """All of the harness's work, until its result was there."""

    @property
    def sent(self) -> tuple[RequestRecord, ...]:
        """The requests that were sent on."""
        return tuple(request for request in self.requests if request.refused is None)

    @property
    def prompt_tokens(self) -> int | None:
        """Of all requests, as the model server counted them; None: it did not."""
        told = [one.tokens.prompt for one in self.sent if one.tokens.prompt is not None]
        return sum(told) if told else None


def attempt(
    adapter: HarnessAdapter,
    program: Installed,
    task: BenchmarkTask,
    upstream: Upstream,
    bounds: Bounds,
    kind: PlaceKind = "bubblewrap",
) -> Attempt:
    """Let the harness do `task`; the gateway's requests go to `upstream`.

    Raises SetupError and SandboxError when it cannot be tried here.
    """
    with open_gated_place(upstream, program, kind) as (gateway, place):
        renew(place, task.files if task.tools == "workspace" else {})
        pins = Pins(
            bounds.model_id,
            bounds.answer_tokens,
            {"temperature": TEMPERATURE, "seed": SEED},
            bounds.context_window,
        )
        trial = gateway.open(pins, Limits(bounds.requests))
        access = ModelAccess(
            gateway.base_url,
            trial.key,
            bounds.model_id,
            bounds.context_window,
            bounds.answer_tokens,
            bounds.wall_s,
        )
        started = time.monotonic()
        result = _done(adapter, place, lambda: access, task)
        wall_s = time.monotonic() - started
        trial.close()
        return Attempt(result, trial.requests(), wall_s)


def _done(
    adapter: HarnessAdapter,
    place: Place,
    access: Callable[[], ModelAccess],
    task: BenchmarkTask,
) -> HarnessRunResult:
    """What the harness made of the task; what breaks it is its failure."""
    adapter.setup(
        HarnessConfig(chat=_no_chat, state_folder=place.state.here, access=access, place=place)
    )
    try:
        return adapter.run_task(task)
    except HarnessError as error:
        return HarnessRunResult(final_text="", failure=error.message)
    finally:
        adapter.teardown()


def _no_chat(messages: Sequence[Message], tools: Sequence[dict[str, Any]] = ()) -> ChatReply:
    raise HarnessError("A program reaches the model through the gateway.")
