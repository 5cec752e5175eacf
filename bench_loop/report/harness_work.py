"""What a harness's program did in a run: its requests, its prompt, its own time, what was set."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from bench_loop.report import figures
from bench_loop.report.printable import one_line
from bench_loop.report.records import Reading
from bench_loop.report.trials import quality_trials
from bench_loop.result.records import RunResult, Trial


def harness_readings(result: RunResult) -> tuple[Reading, ...]:
    """One line for the program's work and one for what the gateway set; none for `raw`."""
    worked = [trial for trial in quality_trials(result.trials) if trial.harness is not None]
    if not worked:
        return ()
    name = one_line(result.subject.harness)
    readings = [Reading(name, ", ".join(_work(worked)))]
    changed = dict.fromkeys(
        change.field for trial in worked for one in trial.requests or () for change in one.changes
    )
    if changed:
        readings.append(Reading("gateway set", ", ".join(map(one_line, changed))))
    return tuple(readings)


def _work(trials: Sequence[Trial]) -> list[str]:
    """Requests in all; prompt tokens and seconds outside the model, the median of the trials."""
    requests = sum(len(trial.requests or ()) for trial in trials)
    words = [f"{figures.counted(requests, 'request')} in {figures.counted(len(trials), 'trial')}"]
    prompts = [sum(one.tokens.prompt or 0 for one in trial.requests or ()) for trial in trials]
    if any(prompts):
        words.append(f"{figures.count(round(median(prompts)))} prompt tokens")
    own = [trial.harness.harness_s for trial in trials if trial.harness]
    known = [seconds for seconds in own if seconds is not None]
    if known:
        words.append(f"{figures.seconds(median(known))} s outside the model")
    if len(words) > 1:
        words[-1] += " (medians a trial)"
    return words
