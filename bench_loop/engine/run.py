"""Runs a plan: speed first, then the quality tasks in turn, then the result on disk."""

from __future__ import annotations

import json
import tempfile
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from bench_loop.contracts.chat import Message
from bench_loop.contracts.harness import HarnessAdapter, HarnessConfig
from bench_loop.contracts.provider import ModelFacts, Provider, ServerFacts
from bench_loop.contracts.sandbox import Sandbox
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.assemble import Conditions, assemble, missing_suites, run_index
from bench_loop.engine.events import (
    Listener,
    RunFinished,
    RunStarted,
    SpeedPlanned,
    SuitesLeftOut,
    TrialFinished,
    TrialStarted,
)
from bench_loop.engine.packs import PackSuite
from bench_loop.engine.plan import FIRST_SEED, RunPlan
from bench_loop.engine.recorder import Recorder, TrialSettings
from bench_loop.engine.speed import (
    Rates,
    SpeedRun,
    Timing,
    choose_plan,
    expected_s,
    wall_limit_s,
)
from bench_loop.engine.toolbox import definitions_of, make_toolbox
from bench_loop.engine.trial import run_trial
from bench_loop.errors import ProviderError, SandboxError
from bench_loop.result.records import Machine, RunResult, RunStatus, SpeedPlan, Trial
from bench_loop.result.store import new_run_id, save
from bench_loop.scoring.constants import HEADLINE_TRIALS, MAX_SPEED_TRIALS, TARGET_HALF_WIDTH
from bench_loop.scoring.rates import Shape, generation_rate
from bench_loop.scoring.speed import FAST_HEADLINE, is_too_fast, measure_speed, usual_headline

NO_SANDBOX = "There is no sandbox for code that a model wrote."
SANDBOX_REMEDY = "Install bubblewrap or start Docker; bench-loop run --sandbox says what failed."

MOST_OUTAGES = 2
"""Trials in a row that may end as infrastructure_error before the run stops."""


@dataclass(frozen=True, slots=True)
class Setup:
    """The parts that a run puts to work, and what is known of them before it starts."""

    provider: Provider
    harness: HarnessAdapter
    server: ServerFacts
    model: ModelFacts
    machine: Machine
    thinking: bool | None = None
    """Thinking on or off; None where the model has no such switch."""
    sandbox: Sandbox | None = None
    """Where code that a model wrote is run; None: suites that need it are left unrun."""


class Run:
    """One run of one plan. `go()` may be called once."""

    def __init__(
        self,
        plan: RunPlan,
        setup: Setup,
        output: Path,
        listen: Listener,
        speed_budget_s: float | None = None,
    ) -> None:
        self._plan, self._left_out = _runnable(plan, setup.sandbox)
        self._setup = setup
        self._output = output
        self._listen = listen
        self._speed_budget_s = (
            plan.profile.speed_budget_s if speed_budget_s is None else speed_budget_s
        )
        self._recorder = Recorder(setup.provider)
        self._trials: list[Trial] = []
        self._speed_plan: SpeedPlan | None = None
        self._rates: Rates | None = None
        self._number = 0

    def go(self) -> RunResult:
        """Run, save and give the result. Ctrl-C keeps what is finished and then raises on.

        Raises ProviderError when the server fails before anything was measured.
        """
        run_id, started_at = new_run_id(), datetime.now(UTC)
        load_s = self._load()
        conditions = self._conditions(load_s)
        index = run_index(self._output, conditions, self._setup.harness, self._plan)
        self._listen(RunStarted(run_id, self._setup.model.model_id, len(self._plan.quality_trials)))
        if self._left_out:
            self._listen(SuitesLeftOut(self._left_out, NO_SANDBOX, SANDBOX_REMEDY))
        interrupt: KeyboardInterrupt | None = None
        try:
            self._measure()
            status, reason = self._status(conditions)
        except KeyboardInterrupt as pressed:
            if not self._trials:
                raise
            interrupt, status, reason = pressed, "aborted", "Stopped by the user."
        result = assemble(
            run_id=run_id,
            plan=self._plan,
            conditions=conditions,
            harness=self._setup.harness,
            trials=self._trials,
            speed_plan=self._speed_plan,
            speed_budget_s=self._speed_budget_s if self._plan.speed_suite else None,
            status=status,
            status_reason=reason,
            started_at=started_at,
            run_index=index,
            left_out=self._left_out,
            sandbox=self._setup.sandbox,
        )
        file = save(result, self._output)
        self._listen(RunFinished(result, file))
        if interrupt is not None:
            raise interrupt
        return result

    def _load(self) -> float | None:
        """Have the model loaded, so that no timing holds its loading; the seconds it took.

        None where loading cannot be seen. Raises ProviderError when the server does not answer.
        """
        provider = self._setup.provider
        is_cold = self._plan.speed_suite is not None and provider.unload(self._setup.model.model_id)
        self._recorder.begin(replace(self._settings(FIRST_SEED), max_tokens=1))
        reply = self._recorder.chat((Message(role="user", content="Hello."),))
        if not is_cold or reply.engine_timings is None:
            return None
        return reply.engine_timings.load_s

    def _conditions(self, load_s: float | None) -> Conditions:
        """What server and model say of themselves now, with the model loaded."""
        server = self._setup.provider.server()
        return Conditions(
            model=self._setup.provider.model(self._setup.model.model_id),
            server=server if load_s is None else server.model_copy(update={"load_s": load_s}),
            machine=self._setup.machine,
            thinking=self._setup.thinking,
        )

    def _measure(self) -> None:
        if self._plan.speed_suite is not None:
            self._measure_speed()
        if not self._is_server_gone():
            self._measure_quality()

    def _measure_speed(self) -> None:
        assert self._plan.speed_suite is not None
        pack = self._plan.speed_suite.pack
        run = SpeedRun(pack, self._setup.provider, self._recorder, self._settings(FIRST_SEED + 1))
        self._rates = run.calibrate()
        self._speed_plan, _ = choose_plan(self._plan.profile, self._rates, self._speed_budget_s)
        schedule = run.schedule(self._speed_plan)
        seconds = expected_s(self._rates, (timing.shape for timing in schedule))
        total = len(schedule) + len(self._plan.quality_trials)
        self._listen(SpeedPlanned(self._speed_plan, seconds, total))
        end = time.monotonic() + self._speed_budget_s
        for timing in schedule:
            self._time(run, timing)
            if self._is_server_gone():
                return
        shape = usual_headline(self._speed_plan)
        if is_too_fast(self._trials_of(shape), self._speed_plan):
            shape = FAST_HEADLINE
        while self._wants_another(shape, self._speed_plan) and time.monotonic() < end:
            self._time(run, Timing(shape, 1 + len(self._trials_of(shape)), False))
            if self._is_server_gone():
                return

    def _time(self, run: SpeedRun, timing: Timing) -> None:
        self._announce("speed", timing.shape.task_id, is_timed=True)
        self._keep(run.measure(timing))

    def _measure_quality(self) -> None:
        harness = self._setup.harness
        sandbox = self._setup.sandbox
        suites = {
            suite.pack.name: PackSuite(suite.pack, sandbox) for suite in self._plan.quality_suites
        }
        with tempfile.TemporaryDirectory(prefix="bench-loop-") as folder:
            harness.setup(
                HarnessConfig(
                    chat=self._recorder.chat,
                    state_folder=Path(folder),
                    toolbox=lambda task: make_toolbox(task, sandbox),
                )
            )
            try:
                for suite, task, number in self._plan.quality_trials:
                    self._announce(suite.pack.name, task.id, is_timed=False)
                    budget = self._plan.answer_budget(task)
                    settings = replace(
                        self._settings(FIRST_SEED + number),
                        max_tokens=budget,
                        wall_limit_s=wall_limit_s(self._rates, _prompt_tokens(task), budget),
                    )
                    self._keep(
                        run_trial(
                            suites[suite.pack.name], task, number, harness, self._recorder, settings
                        )
                    )
                    if self._is_server_gone():
                        return
            finally:
                harness.teardown()

    def _announce(self, suite: str, task_id: str, *, is_timed: bool) -> None:
        self._number += 1
        self._listen(TrialStarted(self._number, suite, task_id, is_timed))

    def _keep(self, trial: Trial) -> None:
        self._trials.append(trial)
        rate = generation_rate(trial)
        self._listen(TrialFinished(self._number, trial, rate.tps if rate else None))

    def _settings(self, seed: int) -> TrialSettings:
        return TrialSettings(
            model_id=self._setup.model.model_id,
            sampling=self._plan.sampling,
            seed=seed,
            max_tokens=0,
            context_window=self._plan.context_window,
            wall_limit_s=wall_limit_s(None, 0, 0),
            thinking=self._setup.thinking,
        )

    def _trials_of(self, shape: Shape) -> list[Trial]:
        return [
            trial
            for trial in self._trials
            if trial.task_id == shape.task_id and not trial.is_warmup
        ]

    def _wants_another(self, shape: Shape, plan: SpeedPlan) -> bool:
        """Whether the headline needs more trials of `shape`, and may have them.

        It does while they are few, while their windows are too short together, and while their
        spread is too wide.
        """
        done = self._trials_of(shape)
        if plan == "minimum":
            return not done
        if len(done) < HEADLINE_TRIALS or len(done) >= MAX_SPEED_TRIALS:
            return len(done) < HEADLINE_TRIALS
        speed = measure_speed(self._trials, plan)
        if speed.generation_tps is None and any(map(generation_rate, done)):
            return True
        widths = (speed.generation_half_width, speed.ttft_half_width)
        return any(width is not None and width > TARGET_HALF_WIDTH for width in widths)

    def _is_server_gone(self) -> bool:
        """Whether the last trials all ended in an outage: then the rest would as well."""
        last = self._trials[-MOST_OUTAGES:]
        return len(last) == MOST_OUTAGES and all(
            trial.outcome == "infrastructure_error" for trial in last
        )

    def _status(self, before: Conditions) -> tuple[RunStatus, str | None]:
        """`complete` only when every trial of the plan was measured on one unchanged server."""
        outages = sum(trial.outcome == "infrastructure_error" for trial in self._trials)
        if outages:
            return "incomplete", f"The server failed in {outages} of {len(self._trials)} trials."
        if self._left_out:
            return "incomplete", f"{NO_SANDBOX} Not run: {', '.join(self._left_out)}."
        missing = missing_suites(self._plan, self._trials)
        if missing:
            return "incomplete", f"Not all tasks were run: {', '.join(missing)}."
        try:
            after = self._conditions(before.server.load_s)
        except ProviderError as error:
            return "incomplete", f"The server could not be read back at the end: {error.message}"
        if (after.server, after.model) != (before.server, before.model):
            return "incomplete", "The server's settings changed during the run."
        return "complete", None


def _runnable(plan: RunPlan, sandbox: Sandbox | None) -> tuple[RunPlan, tuple[str, ...]]:
    """`plan` without the suites that need a sandbox where there is none, and their names.

    Raises SandboxError when nothing else is left: the run would be empty.
    """
    if sandbox is not None:
        return plan, ()
    left_out = tuple(suite.pack.name for suite in plan.suites if suite.pack.needs_sandbox)
    kept = tuple(suite for suite in plan.suites if suite.pack.name not in left_out)
    if not kept:
        raise SandboxError(f"{NO_SANDBOX} Not run: {', '.join(left_out)}.", remedy=SANDBOX_REMEDY)
    return replace(plan, suites=kept), left_out


def _prompt_tokens(task: BenchmarkTask) -> int:
    """A generous guess at the prompt tokens of all turns: one for every two characters."""
    shown = sum(len(message.content) for message in task.messages)
    if not task.tools:
        return shown // 2
    shown += len(json.dumps(definitions_of(task))) + sum(map(len, task.files.values()))
    return task.turn_limit * shown // 2
