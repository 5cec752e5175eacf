"""Checks the forecast of the time left against runs that were recorded.

    python -m scripts.forecast TRACE...                        predicted total against the true one
    python -m scripts.forecast --record TRACE MODEL PROFILE [BUDGET_S]

The second form records a run of the embedded engine; MODEL may also be the address of a server with
one model. A trace holds when each trial began and ended and what the forecast learns from, and
nothing of what the model wrote.
"""

from __future__ import annotations

import json
import platform
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from bench_loop.engine.budget import quality_work, wanted_curve
from bench_loop.engine.events import Event, RunFinished, SpeedPlanned, TrialFinished, TrialStarted
from bench_loop.engine.forecast import Forecast, TimeLeft
from bench_loop.engine.pace import Work
from bench_loop.engine.plan import RunOptions, RunPlan
from bench_loop.engine.speed_plans import PLANS, Rates
from bench_loop.result.records import SpeedPlan, Trial

MOMENTS = (0.05, 0.1, 0.2, 0.5, 0.8)
"""Shares of the true total at which the prediction is looked at."""
_KEPT = (
    "suite task_id prompt_hash trial seed is_warmup outcome score finish_reason turns latency_s "
    "t_first_byte_s t_first_thinking_s t_first_answer_s t_last_s engine_timings stream tokens"
)


class Timed(NamedTuple):
    """One trial, and when it began and ended in seconds of the run."""

    began_s: float
    ended_s: float
    trial: Trial


@dataclass(slots=True)
class Trace:
    """What a forecast saw of one run. Times are seconds since the run began."""

    about: dict[str, str]
    rates: Rates
    speed_plan: SpeedPlan
    speed_budget_s: float
    is_probed: bool
    work: list[Work]
    forecast_s: float
    """When the calibration was done and the first forecast stood."""
    ended_s: float = 0.0
    trials: list[Timed] = field(default_factory=list)

    @classmethod
    def read(cls, file: Path) -> Trace:
        value: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        trials = [Timed(b, e, _trial(t)) for b, e, t in value.pop("trials")]
        work = [Work(*one) for one in value.pop("work")]
        rates = Rates(*value.pop("rates"))
        return cls(rates=rates, work=work, trials=trials, **value)

    def write(self, file: Path) -> None:
        """One line for each trial, for a readable diff."""
        head = {
            "about": self.about,
            "rates": [self.rates.prompt_tps, self.rates.generation_tps],
            "speed_plan": self.speed_plan,
            "speed_budget_s": self.speed_budget_s,
            "is_probed": self.is_probed,
            "forecast_s": self.forecast_s,
            "ended_s": self.ended_s,
        }
        work = [[w.suite, w.task_id, w.prompt_tokens, w.output_tokens] for w in self.work]
        trials = [[b, e, _slim(trial)] for b, e, trial in self.trials]
        lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in head.items()]
        lines += [f'"work": [\n{_rows(work)}\n]', f'"trials": [\n{_rows(trials)}\n]']
        file.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


class Prediction(NamedTuple):
    """What was predicted at a moment of a run."""

    at_s: float
    left: TimeLeft

    @property
    def total_s(self) -> float:
        return self.at_s + self.left.expected


def replay(trace: Trace) -> Iterator[Prediction]:
    """The forecast after the calibration and after every trial, each as it stood then."""
    forecast = Forecast(
        trace.rates,
        trace.work,
        speed_plan=trace.speed_plan,
        speed_budget_s=trace.speed_budget_s,
        is_probed=trace.is_probed,
    )
    yield Prediction(trace.forecast_s, _left(forecast))
    for began_s, ended_s, trial in trace.trials:
        forecast.begin(trial.suite)
        forecast.finish(trial, ended_s - began_s)
        yield Prediction(ended_s, _left(forecast))


def predicted_at(trace: Trace, share: float) -> Prediction | None:
    """What was said when `share` of the true total had gone by; None before the calibration."""
    moment = share * trace.ended_s
    said = None
    for prediction in replay(trace):
        if prediction.at_s <= moment:
            said = prediction
    if said is None:
        return None
    return Prediction(moment, said.left.after(moment - said.at_s))


def table(traces: Mapping[str, Trace]) -> Iterator[str]:
    """Predicted total by the true total, with the range, at each of MOMENTS."""
    wide = max(map(len, traces))
    yield f"{'':{wide}}  {'total':>8}" + "".join(f"{share:>22.0%}" for share in MOMENTS)
    for name, trace in traces.items():
        cells = "".join(f"{_cell(trace, share):>22}" for share in MOMENTS)
        yield f"{name:{wide}}  {trace.ended_s:>6.0f} s{cells}"


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--record"]:
        file, model, profile, *budget_s = arguments[1:]
        record(model, profile, float(budget_s[0]) if budget_s else None).write(Path(file))
        arguments = [file]
    for line in table({Path(name).stem: Trace.read(Path(name)) for name in arguments}):
        print(line)
    return 0


def record(model: str, profile: str, budget_s: float | None = None) -> Trace:
    """Run `profile` by the way of `bench-loop run`, and keep its times."""
    import tempfile
    from contextlib import closing

    from bench_loop.commands._setup import connect, load_harness, prepare, sandbox_for
    from bench_loop.engine.plan import make_plan
    from bench_loop.engine.run import Run

    plan = make_plan(profile=profile)
    is_server = model.startswith("http")
    provider = connect(None if is_server else "embedded", model if is_server else None, model, 8192)
    with closing(provider), tempfile.TemporaryDirectory() as folder:
        name = provider.models()[0].model_id if is_server else model
        setup = prepare(provider, name, load_harness("raw"), sandbox=sandbox_for(plan, "auto"))
        recorder = _Recorder(plan)
        result = Run(plan, setup, Path(folder), recorder, RunOptions(budget_s=budget_s)).go()
    print(f"{result.status} {result.status_reason or ''}".rstrip())
    about = {
        "model": result.subject.model_id,
        "profile": profile,
        "machine": f"{platform.machine()}, {result.machine.cpu_model or 'unknown CPU'}",
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
    }
    return recorder.trace(about, result.settings.speed_budget_s or 0.0)


class _Recorder:
    """Listens to a run and keeps its times."""

    def __init__(self, plan: RunPlan) -> None:
        self._plan = plan
        self._began = self._trial_began = time.monotonic()
        self._planned: SpeedPlanned | None = None
        self._planned_s = self._ended_s = 0.0
        self._trials: list[Timed] = []

    def __call__(self, event: Event) -> None:
        now = round(time.monotonic() - self._began, 3)
        match event:
            case SpeedPlanned():
                self._planned, self._planned_s = event, now
            case TrialStarted():
                self._trial_began = now
            case TrialFinished():
                self._trials.append(Timed(self._trial_began, now, event.trial))
            case RunFinished():
                self._ended_s = now

    def trace(self, about: dict[str, str], speed_budget_s: float) -> Trace:
        planned = self._planned
        assert planned is not None, "the run has a speed suite"
        assert planned.rates is not None
        plan, rates = self._plan, planned.rates
        curve = wanted_curve(plan, RunOptions(), rates, plan.context_window)
        shapes = [shape for one_round in PLANS[planned.plan] for shape in one_round]
        return Trace(
            about=about,
            rates=rates,
            speed_plan=planned.plan,
            speed_budget_s=speed_budget_s,
            is_probed=plan.profile.is_ranked,
            work=[*map(Work.of, (*shapes, *curve)), *quality_work(plan, plan.context_window)],
            forecast_s=self._planned_s,
            ended_s=self._ended_s,
            trials=self._trials,
        )


def _left(forecast: Forecast) -> TimeLeft:
    left = forecast.left()
    assert left is not None, "there was a calibration"
    return left


def _cell(trace: Trace, share: float) -> str:
    said = predicted_at(trace, share)
    if said is None:
        return "-"
    low, high = said.at_s + said.left.low, said.at_s + said.left.high
    true = trace.ended_s
    return f"{said.total_s / true - 1:+.0%} ({low / true - 1:+.0%} {high / true - 1:+.0%})"


def _slim(trial: Trial) -> dict[str, Any]:
    kept = set(_KEPT.split())
    return trial.model_dump(mode="json", include=kept, exclude_none=True)


def _trial(fields: Mapping[str, Any]) -> Trial:
    return Trial.model_validate_json(json.dumps(fields))


def _rows(rows: Iterable[object]) -> str:
    return ",\n".join(map(json.dumps, rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
