"""Runs a plan: speed first, then the quality tasks in turn, then the result on disk."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager as Context
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from bench_loop.config import runs_folder
from bench_loop.contracts.chat import Message
from bench_loop.contracts.harness import HarnessAdapter
from bench_loop.contracts.provider import (
    Addressed,
    ModelFacts,
    OwnServer,
    Provider,
    ServerFacts,
)
from bench_loop.contracts.sandbox import Sandbox
from bench_loop.engine.assemble import finished, planned_settings, run_index, software
from bench_loop.engine.blocks import Turn
from bench_loop.engine.budget import (
    Fit,
    Outset,
    fit,
    refit,
    unmeasured,
    wanted_curve,
)
from bench_loop.engine.context import PROBE_SHARE, WindowGuard
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
from bench_loop.engine.journal import VERSION as JOURNAL_VERSION
from bench_loop.engine.journal import (
    Conditions,
    DeterminismProbed,
    PartBegan,
    PartEnded,
    Planned,
    Request,
    ResultSaved,
    SpeedChosen,
    SustainedLoad,
    TrialsDone,
    UsableProbed,
)
from bench_loop.engine.ledger import Ledger
from bench_loop.engine.packs import Pack
from bench_loop.engine.plan import FIRST_SEED, RunOptions, RunPlan
from bench_loop.engine.probes import Probes
from bench_loop.engine.quality_suites import QualitySuites
from bench_loop.engine.recorder import Recorder, TrialSettings
from bench_loop.engine.resume import refuse_changes
from bench_loop.engine.run_folder import OpenRun
from bench_loop.engine.speed import SpeedRun
from bench_loop.engine.speed_plans import wall_limit_s
from bench_loop.engine.speed_suite import SpeedSuite
from bench_loop.engine.stopping import OUT_OF_TIME, StopEarly, why_stopped
from bench_loop.engine.telemetry import Telemetry
from bench_loop.engine.trials import (
    Outside,
    Trials,
    behind_gateway,
    in_process,
    raw_behind_gateway,
)
from bench_loop.errors import ContextCutError, ProviderError, SandboxError, UsageError
from bench_loop.machine.boot import boot_mark
from bench_loop.machine.sampling import make_sampler
from bench_loop.result.records import Machine, RunResult, RunStatus, Trial
from bench_loop.result.store import save
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
    outside: Outside | None = None
    """Where the harness's program runs, and which needs of it were overridden; None: it is none."""
    gated: Addressed | None = None
    """The server, where a harness that is no program asks it through the gateway all the same."""
    asked_model: str | None = None
    """The model as the user named it; None: by the name that the server gives it."""


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
        resumed: OpenRun | None = None,
        run_id: str | None = None,
        turn: Turn | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`resumed` is a run that was begun before, with this plan, and is to be gone on with; the
        budget in its options is for what is left. `run_id` is the id of a new one, None: any.
        `turn` is the block of a matrix that is run now, None: the whole plan.

        `clock` gives the seconds that the forecast and the budget of the run go by.
        """
        self._whole_plan = plan
        self._plan, self._left_out = _runnable(plan, setup.sandbox)
        self._setup = setup
        self._output = output
        self._listen = listen
        self._options = options or RunOptions()
        self._recorder = Recorder(setup.provider)
        self._telemetry = telemetry or _telemetry(setup)
        self._resumed = resumed
        self._run_id = run_id
        self._turn = turn
        self._clock = clock
        self._began = clock()
        self._probes = Probes(self._recorder, self._settings(FIRST_SEED + 1))

    def go(self) -> RunResult:
        """Run, save and give the result. Ctrl-C keeps what is finished and then raises on, and so
        does a server that cuts prompts, or a listener by StopEarly.

        Every finding is in the journal before the next is asked for; the result is made of the
        journal. Raises ProviderError when the server fails before anything was measured, UsageError
        when the options do not fit the plan, the server or the time, SetupError when a resumed run
        meets other conditions than it began with, JournalError when the disk is full.
        """
        self._refuse_options()
        self._began = self._clock()
        began, started_at = time.monotonic(), datetime.now(UTC)
        self._conditions = self._read_conditions(self._load())
        with self._opened() as self._journal:
            self._journal.start_clock(began)
            self._begin_part(started_at)
            stopped = None
            try:
                with self._telemetry:
                    self._measure()
                status, reason = self._status()
            except (KeyboardInterrupt, ContextCutError, StopEarly) as stop:
                stopped, status, reason = stop, "aborted", why_stopped(stop)
            except BaseException:
                self._forget_if_empty()
                raise
            if stopped is not None and self._forget_if_empty():
                raise stopped
            result, file = self._finish(status, reason)
        self._listen(RunFinished(result, file))
        if stopped is not None:
            raise stopped
        return result

    def _opened(self) -> OpenRun:
        """The journal of a new run with its plan in it, or that of the one that goes on."""
        if self._resumed is not None:
            refuse_changes(self._resumed.read().conditions, self._conditions)
            return self._resumed
        index = run_index(self._output, self._conditions, self._plan)
        journal = OpenRun.new(runs_folder(), self._run_id)
        journal.append(self._planned(journal.run_id, index))
        return journal

    def _planned(self, run_id: str, index: int) -> Planned:
        setup, server = self._setup, self._conditions.server
        return Planned(
            journal_version=JOURNAL_VERSION,
            run_id=run_id,
            run_index=index,
            profile=self._plan.profile.name,
            suites=tuple(suite.key() for suite in self._whole_plan.suites),
            settings=planned_settings(self._plan),
            request=Request(
                provider=server.provider,
                endpoint=server.endpoint,
                model=setup.asked_model or setup.model.model_id,
                thinking=setup.thinking,
                sandbox=setup.sandbox.kind if setup.sandbox else None,
                options=self._options,
                packs=private_folder(self._whole_plan),
            ),
            output=str(self._output.resolve()),
            is_cut_short=self._plan.is_cut_short,
            matrix=self._turn.matrix if self._turn else None,
        )

    def _begin_part(self, started_at: datetime) -> None:
        """Write down on what the run (again) runs, and tell what is known already."""
        self._journal.append(
            PartBegan(
                started_at=started_at,
                conditions=self._conditions,
                left_out=self._left_out,
                boot=boot_mark(),
                block=self._turn.block.number if self._turn else None,
            )
        )
        self._known = self._journal.read()
        self._rates = self._known.rates
        total, kept = len(self._plan.quality_trials), self._known.trials
        if self._turn is not None:
            total, kept = len(self._turn.block.task_ids), self._turn.block.of(kept)
        self._ledger = Ledger(
            self._hear, self._keep, self._known.trials, self._clock, announced=len(kept)
        )
        if self._turn is None:
            self._ledger.forecast = unmeasured(self._plan, self._known.trials, self._program)
        if self._options.budget_s is not None:
            self._ledger.deadline = self._began + self._options.budget_s
        self._listen(
            RunStarted(self._journal.run_id, self._setup.model.model_id, total, kept=tuple(kept))
        )
        if self._left_out:
            self._listen(SuitesLeftOut(self._left_out, NO_SANDBOX, SANDBOX_REMEDY))

    def _keep(self, trials: Sequence[Trial]) -> None:
        """Have finished trials on disk before anything else is done."""
        peak = self._telemetry.peak_memory()
        self._journal.append(TrialsDone(trials=tuple(trials), peak_memory=peak))

    def _forget_if_empty(self) -> bool:
        """Leave nothing of a run in which nothing was measured."""
        is_empty = not self._ledger.trials and len(self._known.parts) == 1
        if is_empty:
            self._journal.discard()
        return is_empty

    def _finish(self, status: RunStatus, reason: str | None) -> tuple[RunResult, Path]:
        """Close the part and write the result that its journal tells of."""
        self._journal.append(
            PartEnded(
                status=status,
                status_reason=reason,
                power=self._telemetry.power(self._journal.read().speed_plan),
                peak_memory=self._telemetry.peak_memory(),
            )
        )
        result = finished(self._journal.read())
        file = save(result, self._output)
        self._journal.append(ResultSaved())
        return result, file

    def _hear(self, event: Event) -> None:
        """Tell the listener, and the telemetry when a trial has ended."""
        if isinstance(event, TrialFinished):
            self._telemetry.note(event.trial, self._recorder.log.started)
        self._listen(event)

    def _refuse_options(self) -> None:
        """Raises UsageError for options that this plan or this server has no use for."""
        options = self._options
        if self._plan.is_cut_short:  # Its budget ends it, whatever was predicted.
            options = replace(options, budget_s=None)
        if options.need_speed and self._plan.speed_suite is None:
            named = ",".join(suite.pack.name for suite in self._plan.suites)
            raise UsageError(
                "These options rest on the speed suite, which is not in this run.",
                remedy=f"Add it: --suites speed,{named}",
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
        settings = self._settings(FIRST_SEED)
        if self._options.budget_s is not None:
            limit_s = min(settings.wall_limit_s, max(self._options.budget_s, 0.1))
            settings = replace(settings, wall_limit_s=limit_s)
        self._recorder.begin(replace(settings, max_tokens=1))
        reply = self._recorder.chat((Message(role="user", content="Hello."),))
        if not is_cold or reply.engine_timings is None:
            return None
        return reply.engine_timings.load_s

    def _read_conditions(self, load_s: float | None) -> Conditions:
        """What server and model say of themselves now, with the model loaded."""
        provider = self._setup.provider
        server = provider.server()
        if load_s is not None:
            server = server.model_copy(update={"load_s": load_s})
        model = provider.model(self._setup.model.model_id)
        return conditions_of(self._setup, self._plan, server, model)

    def _measure(self) -> None:
        """Speed, probes and quality in their order; a load of minutes last, lest it warm them.

        What an earlier part of the run has found is not asked for again.
        """
        known, options = self._known, self._options
        wants_load = bool(options.sustained_s) and not known.is_load_done
        wants_speed = known.has_lost_speed or not known.has_begun_quality
        suite: SpeedSuite | None = None
        if self._plan.speed_suite is not None and (wants_speed or wants_load):
            suite = self._measure_speed(self._plan.speed_suite.pack, is_due=wants_speed)
        is_probed = options.probes_determinism or self._plan.profile.is_ranked
        if is_probed and known.determinism is None and not self._ledger.is_over:
            self._listen(Noted("Asking the same things twice"))
            self._journal.append(DeterminismProbed(found=self._probes.determinism()))
        if not self._ledger.is_over:
            self._quality_suites().measure()
        if self._plan.is_cut_short and self._ledger.is_out_of_time:
            raise StopEarly(self._cut_at_budget())
        if suite is None or not wants_load or self._ledger.is_over:
            return
        if self._ledger.has_time(options.sustained_s or 0.0):
            self._sustain(suite, options.sustained_s or 0.0)

    def _cut_at_budget(self) -> str:
        done = sum(trial.suite != "speed" for trial in self._ledger.trials)
        of = f"{done} of {len(self._plan.quality_trials)}"
        return f"Stopped after {of} trials: its share of the time was spent."

    def _sustain(self, suite: SpeedSuite, seconds: float) -> None:
        """One measurement of minutes: cut off, it begins again."""
        self._journal.append(SustainedLoad(is_done=False))
        suite.sustain(seconds)
        if not self._ledger.is_over:
            self._journal.append(SustainedLoad(is_done=True))

    def _measure_speed(self, pack: Pack, *, is_due: bool) -> SpeedSuite:
        """Everything of the speed suite but the sustained load; of a suite that is not due, only
        the calibration, which any timing has before it."""
        settings = self._settings(FIRST_SEED + 1)
        timer = SpeedRun(
            pack, self._setup.provider, self._recorder, settings, self._ledger.within_budget
        )
        now = timer.calibrate()
        rates = self._rates = self._rates or now
        if self._telemetry.has_power and self._plan.profile.is_ranked and not self._resumed:
            self._listen(Noted("Reading the idle power"))
            self._telemetry.rest()
        outset = Outset(
            self._plan, self._options, rates, self._window, timer.schedule, self._program
        )
        found = self._fit(outset)
        curve = wanted_curve(self._plan, self._options, rates, self._window)
        if self._options.has_context_curve and not curve:
            raise UsageError(
                f"The loaded window of {self._window:,} tokens has no point of the context curve.",
                remedy=f"Load at least {CURVE_WINDOWS[0]:,} tokens, or leave --context-curve out.",
            )
        streams = self._options.concurrency
        suite = SpeedSuite(timer, self._ledger, found.speed_plan, rates, curve, streams)
        self._ledger.forecast = found.forecast
        total = len(self._ledger.trials) + len(found.forecast.to_come)
        self._listen(SpeedPlanned(found.speed_plan, found.speed_s, total, rates))
        self._ledger.tell_time_left()
        if self._options.probes_context and self._known.usable is None:
            self._listen(Noted("Probing the context window"))
            limit_s = PROBE_SHARE * found.left.expected
            usable = self._probes.usable(timer.prompts, self._window, rates, limit_s)
            self._journal.append(UsableProbed(tokens=usable.tokens, why_not=usable.why_not))
        if is_due:
            suite.measure()
        return suite

    def _fit(self, outset: Outset) -> Fit:
        """What the run will take, its speed plan in the journal: chosen once and then kept."""
        chosen = self._known.speed
        if chosen is not None:
            return refit(outset, chosen.plan, chosen.budget_s, self._ledger.trials)
        found = fit(outset, self._clock() - self._began)
        self._journal.append(
            SpeedChosen(
                plan=found.speed_plan,
                budget_s=found.speed_budget_s,
                prompt_tps=outset.rates.prompt_tps,
                generation_tps=outset.rates.generation_tps,
            )
        )
        return found

    @property
    def _program(self) -> HarnessAdapter | None:
        """The harness, where it is a program."""
        return self._setup.harness if self._setup.outside is not None else None

    @property
    def _window(self) -> int:
        """The loaded window; where it could not be read back, the one that was asked for."""
        return self._conditions.model.context_loaded or self._plan.context_window

    def _quality_suites(self) -> QualitySuites:
        loaded = self._conditions.model.context_loaded
        return QualitySuites(
            self._plan,
            self._trials(),
            self._setup.sandbox,
            self._ledger,
            self._settings,
            WindowGuard(self._count_tokens, self._probes.sample, loaded),
            loaded,
            self._turn,
        )

    def _trials(self) -> Context[Trials]:
        setup = self._setup
        if setup.gated is not None:
            return raw_behind_gateway(
                setup.harness, self._recorder, setup.gated, setup.sandbox, self._rates
            )
        if setup.outside is None:
            return in_process(setup.harness, self._recorder, setup.sandbox, self._rates)
        return behind_gateway(setup.harness, self._recorder, setup.outside, self._rates)

    def _count_tokens(self, text: str) -> int | None:
        return self._setup.provider.count_tokens(self._setup.model.model_id, text)

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

    def _status(self) -> tuple[RunStatus, str | None]:
        """`complete` only when every trial of the plan was measured on one unchanged server."""
        before = self._conditions
        outages = sum(trial.outcome == "infrastructure_error" for trial in self._ledger.trials)
        if outages:
            return (
                "incomplete",
                f"The server failed in {outages} of {len(self._ledger.trials)} trials.",
            )
        if self._left_out:
            return "incomplete", f"{NO_SANDBOX} Not run: {', '.join(self._left_out)}."
        missing = self._journal.read().missing_suites()
        if self._ledger.is_out_of_time:
            return "incomplete", _out_of_time(missing)
        if missing:
            return "incomplete", f"Not all tasks were run: {', '.join(missing)}."
        try:
            after = self._read_conditions(before.server.load_s)
        except ProviderError as error:
            return "incomplete", f"The server could not be read back at the end: {error.message}"
        if (after.server, after.model) != (before.server, before.model):
            return "incomplete", "The server's settings changed during the run."
        return "complete", None


def _out_of_time(missing: Sequence[str]) -> str:
    """Why a run stopped at its budget, and what it lacks."""
    if not missing:
        return f"{OUT_OF_TIME} before the sustained load."
    return f"{OUT_OF_TIME}. Not all tasks were run: {', '.join(missing)}."


def conditions_of(
    setup: Setup, plan: RunPlan, server: ServerFacts, model: ModelFacts
) -> Conditions:
    """What a run of `plan` runs on; the sandbox only where a suite needs one."""
    return Conditions(
        model=model,
        server=server,
        machine=setup.machine,
        thinking=setup.thinking,
        harness=setup.harness.name,
        harness_version=setup.harness.version,
        harness_config_hash=setup.harness.config_hash,
        harness_settings=setup.outside.settings if setup.outside else None,
        sandbox=setup.sandbox.record() if setup.sandbox and plan.needs_sandbox else None,
        software=software(),
    )


def private_folder(plan: RunPlan) -> str | None:
    """Where the plan's private packs lie, for a journal or a queue; None: it has none."""
    folders = [suite.pack.folder for suite in plan.private_suites]
    if not folders:
        return None
    return str(folders[0].parent if len(folders) > 1 else folders[0])


def _telemetry(setup: Setup) -> Telemetry:
    server = setup.provider
    pid = server.server_pid if isinstance(server, OwnServer) else None
    return Telemetry(make_sampler(setup.machine, pid))


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
