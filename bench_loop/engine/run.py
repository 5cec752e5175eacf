"""Runs a plan: speed first, then the quality tasks in turn, then the result on disk."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from bench_loop.contracts.chat import Message
from bench_loop.contracts.harness import HarnessAdapter, HarnessConfig
from bench_loop.contracts.provider import ModelFacts, OwnServer, Provider, ServerFacts
from bench_loop.contracts.sandbox import Sandbox
from bench_loop.engine.assemble import Conditions, assemble, missing_suites, run_index
from bench_loop.engine.context import PROBE_SHARE, refuse_cut_task
from bench_loop.engine.events import (
    Event,
    Listener,
    Noted,
    RunFinished,
    RunStarted,
    SpeedPlanned,
    SuitesLeftOut,
    TrialFinished,
)
from bench_loop.engine.forecast import Forecast, forecast, most_prompt_tokens, wanted_curve
from bench_loop.engine.ledger import Ledger
from bench_loop.engine.packs import PackSuite
from bench_loop.engine.plan import FIRST_SEED, RunOptions, RunPlan
from bench_loop.engine.probes import Probes
from bench_loop.engine.recorder import Recorder, TrialSettings
from bench_loop.engine.speed import SpeedRun
from bench_loop.engine.speed_plans import Rates, wall_limit_s
from bench_loop.engine.speed_suite import SpeedSuite
from bench_loop.engine.telemetry import Telemetry
from bench_loop.engine.toolbox import make_toolbox
from bench_loop.engine.trial import run_trial
from bench_loop.errors import ContextCutError, ProviderError, SandboxError, UsageError
from bench_loop.machine.sampling import make_sampler
from bench_loop.result.records import Machine, RunResult, RunStatus, SpeedPlan
from bench_loop.result.store import new_run_id, save
from bench_loop.scoring.load import CURVE_WINDOWS

NO_SANDBOX = "There is no sandbox for code that a model wrote."
SANDBOX_REMEDY = "Start Docker or Podman, or install bubblewrap (apt install bubblewrap)."


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


class StopEarly(Exception):  # noqa: N818 - not an error
    """A listener ends the run, because the rest would tell nothing; the message says why."""


class Run:
    """One run of one plan. `go()` may be called once."""

    def __init__(
        self,
        plan: RunPlan,
        setup: Setup,
        output: Path,
        listen: Listener,
        options: RunOptions | None = None,
        telemetry: Telemetry | None = None,
    ) -> None:
        self._plan, self._left_out = _runnable(plan, setup.sandbox)
        self._setup = setup
        self._output = output
        self._listen = listen
        self._options = options or RunOptions()
        self._recorder = Recorder(setup.provider)
        self._ledger = Ledger(self._hear)
        self._telemetry = telemetry or _telemetry(setup)
        self._conditions = Conditions(setup.model, setup.server, setup.machine, setup.thinking)
        self._speed_plan: SpeedPlan | None = None
        self._speed_budget_s: float | None = None
        self._rates: Rates | None = None
        self._probes = Probes(self._recorder, self._settings(FIRST_SEED + 1))

    def go(self) -> RunResult:
        """Run, save and give the result. Ctrl-C keeps what is finished and then raises on, and so
        does a server that cuts prompts, or a listener by StopEarly.

        Raises ProviderError when the server fails before anything was measured, UsageError when the
        options do not fit the plan, the server or the time.
        """
        run_id, started_at = new_run_id(), datetime.now(UTC)
        self._refuse_options()
        load_s = self._load()
        before = self._conditions = self._read_conditions(load_s)
        index = run_index(self._output, before, self._setup.harness, self._plan)
        self._listen(RunStarted(run_id, self._setup.model.model_id, len(self._plan.quality_trials)))
        if self._left_out:
            self._listen(SuitesLeftOut(self._left_out, NO_SANDBOX, SANDBOX_REMEDY))
        stopped: KeyboardInterrupt | ContextCutError | StopEarly | None = None
        try:
            with self._telemetry:
                self._measure()
            status, reason = self._status(before)
        except (KeyboardInterrupt, ContextCutError, StopEarly) as stop:
            if not self._ledger.trials:
                raise
            stopped, status, reason = stop, "aborted", _why_stopped(stop)
        result = assemble(
            run_id=run_id,
            plan=self._plan,
            conditions=self._conditions,
            harness=self._setup.harness,
            trials=self._ledger.trials,
            speed_plan=self._speed_plan,
            speed_budget_s=self._speed_budget_s,
            status=status,
            status_reason=reason,
            started_at=started_at,
            run_index=index,
            left_out=self._left_out,
            sandbox=self._setup.sandbox,
            power=self._telemetry.power(self._speed_plan),
            peak_memory=self._telemetry.peak_memory(),
        )
        file = save(result, self._output)
        self._listen(RunFinished(result, file))
        if stopped is not None:
            raise stopped
        return result

    def _hear(self, event: Event) -> None:
        """Tell the listener, and the telemetry when a trial has ended."""
        if isinstance(event, TrialFinished):
            self._telemetry.note(event.trial, self._recorder.log.started)
        self._listen(event)

    def _refuse_options(self) -> None:
        """Raises UsageError for options that this plan or this server has no use for."""
        if self._options.need_speed and self._plan.speed_suite is None:
            raise UsageError(
                "These options rest on the speed suite, which is not in this run.",
                remedy="Add it: --suites speed,...",
            )
        slots, most = self._setup.server.parallel_slots, max(self._options.concurrency, default=0)
        if slots is not None and most > slots:
            raise UsageError(
                f"{most} streams at once need as many slots; the server has {slots}.",
                remedy=f"Start it with more (llama.cpp: --parallel {most}), or ask for fewer.",
            )

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

    def _read_conditions(self, load_s: float | None) -> Conditions:
        """What server and model say of themselves now, with the model loaded."""
        server = self._setup.provider.server()
        return Conditions(
            model=self._setup.provider.model(self._setup.model.model_id),
            server=server if load_s is None else server.model_copy(update={"load_s": load_s}),
            machine=self._setup.machine,
            thinking=self._setup.thinking,
        )

    def _measure(self) -> None:
        """Speed, probes and quality in their order; a load of minutes last, lest it warm them."""
        speed = self._measure_speed() if self._plan.speed_suite is not None else None
        is_probed = self._options.probes_determinism or self._plan.profile.is_ranked
        if is_probed and not self._ledger.is_server_gone:
            self._listen(Noted("Asking the same things twice"))
            found = self._probes.determinism()
            self._conditions = replace(self._conditions, determinism=found)
        if not self._ledger.is_server_gone:
            self._measure_quality()
        if speed is not None and self._options.sustained_s and not self._ledger.is_server_gone:
            speed.sustain(self._options.sustained_s)

    def _measure_speed(self) -> SpeedSuite:
        """Everything of the speed suite but the sustained load."""
        assert self._plan.speed_suite is not None
        began = time.monotonic()
        timer = SpeedRun(
            self._plan.speed_suite.pack,
            self._setup.provider,
            self._recorder,
            self._settings(FIRST_SEED + 1),
        )
        rates = self._rates = timer.calibrate()
        if self._telemetry.has_power and self._plan.profile.is_ranked:
            self._listen(Noted("Reading the idle power"))
            self._telemetry.rest()
        spent_s = time.monotonic() - began
        expected = forecast(self._plan, self._options, rates, self._window, spent_s)
        self._speed_plan, self._speed_budget_s = expected.speed_plan, expected.speed_budget_s
        curve = wanted_curve(self._plan, self._options, rates, self._window)
        if self._options.has_context_curve and not curve:
            raise UsageError(
                f"The loaded window of {self._window:,} tokens has no point of the context curve.",
                remedy=f"Load at least {CURVE_WINDOWS[0]:,} tokens, or leave --context-curve out.",
            )
        suite = SpeedSuite(
            timer, self._ledger, expected.speed_plan, rates, curve, self._options.concurrency
        )
        self._listen(self._speed_planned(suite, expected))
        if self._options.probes_context:
            self._listen(Noted("Probing the context window"))
            limit_s = PROBE_SHARE * expected.total_s
            usable = self._probes.usable(timer.prompts, self._window, rates, limit_s)
            self._conditions = replace(self._conditions, usable=usable)
        suite.measure(expected.speed_budget_s)
        return suite

    def _speed_planned(self, suite: SpeedSuite, expected: Forecast) -> SpeedPlanned:
        seconds = {"speed": tuple(suite.expected_seconds()), **expected.quality_s}
        total = sum(map(len, seconds.values()))
        return SpeedPlanned(
            expected.speed_plan, expected.speed_s, total, seconds, expected.determinism_s
        )

    @property
    def _window(self) -> int:
        """The loaded window; where it could not be read back, the one that was asked for."""
        return self._conditions.model.context_loaded or self._plan.context_window

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
                    self._ledger.announce(suite.pack.name, task.id, is_timed=False)
                    budget = self._plan.answer_budget(task)
                    settings = replace(
                        self._settings(FIRST_SEED + number),
                        max_tokens=budget,
                        wall_limit_s=wall_limit_s(self._rates, most_prompt_tokens(task), budget),
                    )
                    trial = run_trial(
                        suites[suite.pack.name], task, number, harness, self._recorder, settings
                    )
                    self._ledger.keep(trial)
                    refuse_cut_task(task, trial, self._conditions.model.context_loaded)
                    if self._ledger.is_server_gone:
                        return
            finally:
                harness.teardown()

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

    def _status(self, before: Conditions) -> tuple[RunStatus, str | None]:
        """`complete` only when every trial of the plan was measured on one unchanged server."""
        outages = sum(trial.outcome == "infrastructure_error" for trial in self._ledger.trials)
        if outages:
            return (
                "incomplete",
                f"The server failed in {outages} of {len(self._ledger.trials)} trials.",
            )
        if self._left_out:
            return "incomplete", f"{NO_SANDBOX} Not run: {', '.join(self._left_out)}."
        missing = missing_suites(self._plan, self._ledger.trials)
        if missing:
            return "incomplete", f"Not all tasks were run: {', '.join(missing)}."
        try:
            after = self._read_conditions(before.server.load_s)
        except ProviderError as error:
            return "incomplete", f"The server could not be read back at the end: {error.message}"
        if (after.server, after.model) != (before.server, before.model):
            return "incomplete", "The server's settings changed during the run."
        return "complete", None


def _telemetry(setup: Setup) -> Telemetry:
    server = setup.provider
    pid = server.server_pid if isinstance(server, OwnServer) else None
    return Telemetry(make_sampler(setup.machine, pid))


def _why_stopped(stop: KeyboardInterrupt | ContextCutError | StopEarly) -> str:
    return "Stopped by the user." if isinstance(stop, KeyboardInterrupt) else str(stop)


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
