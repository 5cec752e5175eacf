"""What the report says of a harness's program."""

from __future__ import annotations

from bench_loop.contracts.chat import TokenCounts
from bench_loop.report.harness_work import harness_readings
from bench_loop.result.records import HarnessTrial, RequestChange, RequestRecord, Trial
from tests.console.make_run import make_run, make_trial


def worked(number: int, prompts: tuple[int, ...], own_s: float) -> Trial:
    change = RequestChange(field="seed", asked=None, sent=1001)
    requests = tuple(
        RequestRecord(
            sent_s=0.0,
            latency_s=1.0,
            status=200,
            tokens=TokenCounts(prompt=prompt, completion=3, basis="engine_timings"),
            changes=(change,),
        )
        for prompt in prompts
    )
    harness = HarnessTrial(way="question", harness_s=own_s)
    return make_trial("reasonmath", number, "pass", requests=requests, harness=harness)


def readings(*trials: Trial) -> dict[str, str]:
    made = make_run(trials=trials)
    subject = made.subject.model_copy(update={"harness": "goose"})
    found = harness_readings(made.model_copy(update={"subject": subject}))
    return {one.name: one.value for one in found}


def test_its_requests_are_counted_and_its_prompt_and_time_are_medians() -> None:
    trials = (worked(0, (1000,), 0.5), worked(1, (1000, 1400), 1.5), worked(2, (1200,), 1.0))
    found = readings(*trials)["goose"]
    assert found.startswith("4 requests in 3 trials, 1,200 prompt tokens, 1.0 s outside")


def test_what_the_gateway_set_is_named_once() -> None:
    assert readings(worked(0, (10, 10), 1.0))["gateway set"] == "seed"


def test_without_a_program_there_is_nothing_to_say() -> None:
    assert readings(make_trial("reasonmath", 0, "pass")) == {}
