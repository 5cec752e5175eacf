"""How trials are run: `raw` in this process, other harnesses as programs behind the gateway."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from bench_loop.contracts.harness import HarnessAdapter, HarnessConfig
from bench_loop.contracts.place import Place
from bench_loop.contracts.provider import Address, Addressed
from bench_loop.contracts.sandbox import Sandbox
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.budget import most_prompt_tokens
from bench_loop.engine.gated import GatedRecorder
from bench_loop.engine.gated_raw import GatedRaw
from bench_loop.engine.harness_limits import harness_limits
from bench_loop.engine.packs import PackSuite
from bench_loop.engine.recorder import Recorder, TrialSettings
from bench_loop.engine.speed_plans import Rates, wall_limit_s
from bench_loop.engine.suitability import way_of, why_not
from bench_loop.engine.toolbox import make_toolbox
from bench_loop.engine.trial import inapplicable_trial, run_trial
from bench_loop.programs.installed import Installed
from bench_loop.programs.workspace import renew
from bench_loop.result.records import HarnessSettings, Trial

if TYPE_CHECKING:  # the gateway is loaded where it is used, and not before
    from bench_loop.gateway.upstream import Upstream


class Trials(Protocol):
    """Runs the trials of one run with one harness."""

    def wall_limit_s(self, task: BenchmarkTask, budget: int) -> float:
        """Seconds that a trial of `task` may take, whose answers may take `budget` tokens."""

    def run(
        self, suite: PackSuite, task: BenchmarkTask, number: int, settings: TrialSettings
    ) -> Trial:
        """One trial, judged."""


@dataclass(frozen=True, slots=True)
class Outside:
    """What a harness needs that is a program of its own."""

    program: Installed
    server: Addressed
    settings: HarnessSettings


@contextmanager
def in_process(
    harness: HarnessAdapter, recorder: Recorder, sandbox: Sandbox | None, rates: Rates | None
) -> Iterator[Trials]:
    """Trials of a harness that runs in this process."""
    with tempfile.TemporaryDirectory(prefix="bench-loop-") as folder:
        harness.setup(
            HarnessConfig(
                chat=recorder.chat,
                state_folder=Path(folder),
                toolbox=lambda task: make_toolbox(task, sandbox),
            )
        )
        try:
            yield _InProcess(harness, recorder, rates)
        finally:
            harness.teardown()


@dataclass(frozen=True, slots=True)
class _InProcess:
    harness: HarnessAdapter
    recorder: Recorder
    rates: Rates | None

    def wall_limit_s(self, task: BenchmarkTask, budget: int) -> float:
        return wall_limit_s(self.rates, most_prompt_tokens(task), budget)

    def run(
        self, suite: PackSuite, task: BenchmarkTask, number: int, settings: TrialSettings
    ) -> Trial:
        return run_trial(suite, task, number, self.harness, self.recorder, settings)


@contextmanager
def raw_behind_gateway(
    harness: HarnessAdapter,
    recorder: Recorder,
    server: Addressed,
    sandbox: Sandbox | None,
    rates: Rates | None,
) -> Iterator[Trials]:
    """Trials of a harness in this process that asks, and is limited, as a program is."""
    from bench_loop.gateway.server import Gateway

    address = server.address()
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-loop-"))
        gateway = stack.enter_context(Gateway(_upstream(address), is_ollama=address.is_ollama))
        gated = GatedRecorder(gateway, recorder, server.pinned_fields)
        stack.callback(gated.end)
        raw = GatedRaw(gated, recorder)
        stack.callback(raw.close)
        harness.setup(
            HarnessConfig(
                chat=raw.chat,
                state_folder=Path(folder),
                toolbox=lambda task: make_toolbox(task, sandbox),
            )
        )
        stack.callback(harness.teardown)
        yield _BehindGateway(harness, gated, None, rates)


@contextmanager
def behind_gateway(
    harness: HarnessAdapter, recorder: Recorder, outside: Outside, rates: Rates | None
) -> Iterator[Trials]:
    """Trials of a harness that is a program. Raises SandboxError where it has no place to run."""
    from bench_loop.programs.gated_place import open_gated_place

    address = outside.server.address()
    with ExitStack() as stack:
        gateway, place = stack.enter_context(
            open_gated_place(
                _upstream(address),
                outside.program,
                outside.settings.place,
                is_ollama=address.is_ollama,
            )
        )
        gated = GatedRecorder(gateway, recorder, outside.server.pinned_fields)
        stack.callback(gated.end)
        harness.setup(
            HarnessConfig(
                chat=recorder.chat, state_folder=place.state.here, access=gated.access, place=place
            )
        )
        stack.callback(harness.teardown)
        yield _BehindGateway(harness, gated, place, rates)


@dataclass(frozen=True, slots=True)
class _BehindGateway:
    harness: HarnessAdapter
    gated: GatedRecorder
    place: Place | None
    """Where its program runs; None: it is none."""
    rates: Rates | None

    def wall_limit_s(self, task: BenchmarkTask, budget: int) -> float:
        if self.place is None:  # nothing to start, and no prompt but the task's
            return wall_limit_s(self.rates, most_prompt_tokens(task), budget)
        return harness_limits(task, self.rates, budget).wall_s

    def run(
        self, suite: PackSuite, task: BenchmarkTask, number: int, settings: TrialSettings
    ) -> Trial:
        if (lack := why_not(task, self.harness.capabilities)) is not None:
            why = f"The harness {self.harness.name} cannot do the task: {lack}."
            return inapplicable_trial(task, number, settings, why)
        limits = harness_limits(task, self.rates, settings.max_tokens)
        # The time is that of the settings, which may end with the budget of the run.
        self.gated.limits = replace(limits, wall_s=settings.wall_limit_s)
        if self.place is not None:
            renew(self.place, task.files if way_of(task) == "workspace" else {})
        return run_trial(suite, task, number, self.harness, self.gated, settings)


def _upstream(address: Address) -> Upstream:
    from bench_loop.gateway.http import HttpUpstream

    return HttpUpstream(address.root, address.headers)
