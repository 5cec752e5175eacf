"""What a harness costs: small examples by hand, and simulations that must find the truth again."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from bench_loop.contracts.verifier import Outcome
from bench_loop.result.records import Machine, RunResult, Trial
from bench_loop.scoring.estimates import Estimate
from bench_loop.scoring.harness_costs import (
    Added,
    ArmFigures,
    HarnessCosts,
    arm_figures,
    harness_costs,
)
from tests.scoring.make_matrix import arm_run, arm_trials, asked_trial, call, passing, request
from tests.scoring.make_trials import suite_trials

DRAWS = 300


def costs(raw: list[Trial], harness: list[Trial], **fields: object) -> HarnessCosts:
    return harness_costs(arm_run(raw), arm_run(harness, "opencode", **fields))


def figures(trials: list[Trial]) -> ArmFigures:
    return arm_figures(arm_run(trials, "opencode"))


def told(found: Estimate | None) -> Estimate:
    assert found is not None
    return found


def amount(added: Added | None) -> Estimate:
    assert added is not None
    return added.amount


def ratio(added: Added | None) -> Estimate:
    assert added is not None
    return told(added.ratio)


# Overhead


def test_overhead_is_a_mean_over_tasks_of_means_over_trials() -> None:
    raw = [asked_trial("a", seconds=2.0), asked_trial("b", seconds=4.0)]
    harness = [
        asked_trial("a", trial=1, seconds=5.0),
        asked_trial("a", trial=2, seconds=7.0),
        asked_trial("b", seconds=16.0),
    ]
    found = costs(raw, harness).both_pass.warm
    # a: 6 - 2 = 4, b: 16 - 4 = 12; mean 8, SE 4, t(0.975, 1) = 12.706205. Ratios 3 and 4.
    assert amount(found).value == pytest.approx(8.0)
    assert amount(found).high == pytest.approx(8 + 4 * 12.706205)
    assert ratio(found).value == pytest.approx(12**0.5)
    assert ratio(found).n == 2


def test_identical_arms_have_no_overhead_at_all() -> None:
    trials = [
        asked_trial(f"t{n}", seconds=1.0 + n / 7, requests=[request(100 + n)]) for n in range(12)
    ]
    found = costs(trials, trials)
    for added in (found.both_pass.warm, found.both_judged.warm, found.first_prompt, found.prompt):
        assert amount(added) == Estimate(0.0, 0.0, 0.0, 12)
        assert ratio(added) == Estimate(1.0, 1.0, 1.0, 12)


def test_only_trials_that_passed_count_for_tasks_that_both_pass() -> None:
    raw = [asked_trial("a", seconds=1.0), asked_trial("b", "fail", seconds=1.0)]
    harness = [
        asked_trial("a", trial=1, seconds=3.0),
        asked_trial("a", "fail", trial=2, seconds=90.0),
        asked_trial("b", seconds=5.0),
    ]
    found = costs(raw, harness)
    assert amount(found.both_pass.warm) == Estimate(2.0, None, None, 1)
    # With a verdict: a 46.5 - 1, b 5 - 1.
    assert amount(found.both_judged.warm).value == pytest.approx((45.5 + 4.0) / 2)


def test_what_ended_without_a_verdict_has_no_overhead() -> None:
    raw = [asked_trial("a"), asked_trial("b")]
    harness = [asked_trial("a", "truncated", seconds=99.0), asked_trial("b", "harness_error")]
    found = costs(raw, harness)
    assert found.pair_count == 2
    assert found.both_judged.warm is None
    assert found.prompt is None


def test_cold_trials_are_held_against_cold_ones() -> None:
    def arm(cold_s: float, warm_s: float) -> list[Trial]:
        return [
            asked_trial("a", trial=1, seconds=cold_s, is_cold=True),
            asked_trial("a", trial=2, seconds=warm_s),
        ]

    found = costs(arm(10.0, 1.0), arm(40.0, 3.0))
    assert amount(found.both_pass.cold).value == 30.0
    assert amount(found.both_pass.warm).value == 2.0


def test_a_cold_trial_without_a_cold_partner_is_no_pair() -> None:
    found = costs([asked_trial("a")], [asked_trial("a", is_cold=True)])
    assert (found.both_pass.cold, found.both_pass.warm) == (None, None)


def test_the_first_after_a_block_of_the_same_arm_is_neither_cold_nor_warm() -> None:
    def arm(first_s: float, warm_s: float) -> list[Trial]:
        return [
            asked_trial("a", trial=1, seconds=first_s, is_cold=None),
            asked_trial("a", trial=2, seconds=warm_s),
        ]

    found = costs(arm(10.0, 1.0), arm(40.0, 3.0))
    assert found.both_judged.cold is None
    assert amount(found.both_judged.warm).value == 2.0
    own = arm_figures(arm_run(arm(10.0, 1.0))).wall_s
    assert own is not None
    assert own.value == 1.0


def test_a_task_asked_in_other_words_is_no_pair() -> None:
    other = asked_trial("b", prompt_hash="sha256:" + "9" * 64)
    found = costs([asked_trial("a"), asked_trial("b")], [asked_trial("a"), other])
    assert (found.pair_count, found.unpaired_count) == (1, 1)
    assert amount(found.both_pass.warm).n == 1


def test_instances_of_one_family_are_one_task() -> None:
    def arm(seconds: float) -> list[Trial]:
        own = [asked_trial(f"f{n}", seconds=seconds + n, family="sums") for n in range(3)]
        return [*own, asked_trial("z", seconds=seconds)]

    assert amount(costs(arm(1.0), arm(3.0)).both_pass.warm) == Estimate(2.0, 2.0, 2.0, 2)


def test_seconds_of_two_machines_say_nothing_beside_each_other() -> None:
    elsewhere = Machine(machine_id="1" * 16, device_class="cpu", is_local=True)
    other = arm_run([asked_trial()], "opencode", matrix_id=None, machine=elsewhere)
    found = harness_costs(arm_run([asked_trial()], matrix_id=None), other)
    assert found.time_reasons == ("They were measured on different machines.",)
    assert found.both_pass.warm is None
    here = arm_run([asked_trial()], "opencode", matrix_id=None, subject={"kv_cache_type": "q8_0"})
    found = harness_costs(arm_run([asked_trial()], matrix_id=None), here)
    assert found.time_reasons == ("Only one of them states its KV cache type: q8_0.",)


def test_runs_outside_a_matrix_are_taken_for_warm() -> None:
    one = asked_trial(is_cold=None)
    raw, run = arm_run([one], matrix_id=None), arm_run([one], "opencode", matrix_id=None)
    found = harness_costs(raw, run)
    assert amount(found.both_pass.warm).value == 0.0
    assert found.both_pass.cold is None


# Token tax


def test_the_token_tax_is_of_the_first_request_and_of_the_whole_task() -> None:
    raw = [asked_trial("a", requests=[request(100)]), asked_trial("b", requests=[request(200)])]
    harness = [
        asked_trial("a", requests=[request(1100), request(1300, sent_s=1.0)]),
        asked_trial("b", requests=[request(1200), request(1600, sent_s=1.0)]),
    ]
    found = costs(raw, harness)
    assert amount(found.first_prompt) == Estimate(1000.0, 1000.0, 1000.0, 2)
    assert ratio(found.first_prompt).value == pytest.approx((11 * 6) ** 0.5)
    assert amount(found.prompt).value == pytest.approx((2300 + 2600) / 2)
    assert ratio(found.prompt).value == pytest.approx((24 * 14) ** 0.5)


def test_missing_requests_leave_the_tax_unknown_and_are_counted() -> None:
    trials = [asked_trial("a", requests=None), asked_trial("b", requests=None)]
    assert costs(trials, trials).first_prompt is None
    found = figures(trials)
    assert (found.unrecorded_count, found.requests, found.prompt_tokens) == (2, None, None)
    assert told(found.completion).value == 100.0


# One arm


def test_the_figures_of_an_arm_by_hand() -> None:
    bad = call(is_well_formed=False)
    good, more = call(arguments='{"path": "a"}'), call(arguments='{"path": "b"}')
    found = figures(
        [
            asked_trial("a", trial=1, seconds=2.0, requests=[request(10, calls=[good, bad])]),
            asked_trial(
                "a", "fail", trial=2, seconds=4.0, requests=[request(20, calls=[more, more])]
            ),
            asked_trial(
                "a", "truncated", trial=3, seconds=99.0, requests=[request(30), request(40)]
            ),
            asked_trial("b", "harness_error", requests=[]),
            asked_trial("c", "infrastructure_error", requests=[]),
            asked_trial("d", "not_applicable", requests=[]),
        ]
    )
    assert (found.task_count, found.trial_count) == (2, 4)
    assert (found.infrastructure_count, found.not_applicable_count) == (1, 1)
    assert found.wall_s == Estimate(3.0, None, None, 1)
    assert found.first_prompt_tokens == Estimate(20.0, None, None, 1)
    assert found.prompt_tokens == Estimate(15.0, None, None, 1)
    # Task a (1 + 1 + 2) / 3, task b none.
    assert told(found.requests).value == pytest.approx(2 / 3)
    # One of a's four calls; two of them useless: the malformed one and the repeated one.
    assert (told(found.malformed).value, told(found.malformed).n) == (25.0, 1)
    assert (told(found.useless).value, found.call_count) == (50.0, 4)
    # Task a 2 of 3, task b 0 of 1.
    assert told(found.completion).value == pytest.approx(100 / 3)
    assert told(found.truncated).value == pytest.approx(100 / 6)
    assert told(found.harness_errors).value == pytest.approx(50.0)
    assert found.pass_cubed is None
    assert told(found.reliability).value == pytest.approx(50.0)


def test_many_calls_of_one_task_tell_no_more_than_one() -> None:
    noisy = [call(arguments=str(n), is_well_formed=False) for n in range(200)]
    found = figures([asked_trial("a", requests=[request(calls=noisy)]), asked_trial("b")])
    assert told(found.malformed).n == 1
    assert told(found.malformed).low == pytest.approx(20.65, abs=0.01)


def test_an_arm_of_harness_errors_has_no_verdict_and_no_time() -> None:
    found = figures(arm_trials(lambda task, trial: "harness_error", requests=[request()]))
    assert (told(found.completion).value, told(found.harness_errors).value) == (0.0, 100.0)
    assert (found.wall_s, found.prompt_tokens) == (None, None)
    assert told(found.reliability).value == 0.0
    assert told(found.pass_cubed).value == 0.0
    assert told(found.first_prompt_tokens).value == 100.0


def test_pass_cubed_is_over_the_suites_with_three_trials() -> None:
    single = suite_trials("question", ["pass"] * 4)
    found = figures([*passing(2), *single])
    assert (told(found.pass_cubed).value, told(found.pass_cubed).n) == (100.0, 2)


# Simulations: many arms of known truth


def held(estimates: list[Estimate], truth: float) -> float:
    """How often the interval holds the truth."""
    return sum(one.low <= truth <= one.high for one in estimates if one.low is not None) / len(
        estimates
    )


def simulated(draw: Callable[[random.Random], Estimate], seed: int = 1) -> list[Estimate]:
    return [draw(random.Random(seed * 10_000 + number)) for number in range(DRAWS)]


def mean_value(found: list[Estimate]) -> float:
    return sum(one.value for one in found) / len(found)


def mean_width(found: list[Estimate]) -> float:
    return sum((one.high or 0.0) - (one.low or 0.0) for one in found) / len(found)


def two_arms(draw: random.Random, tasks: int = 12) -> tuple[RunResult, RunResult]:
    """Raw and a harness that adds 6 s (give and take 2 s by the task) and 4,000 tokens at first."""
    raw, harness = [], []
    for task in range(tasks):
        own_s, own_tokens = draw.lognormvariate(1.5, 0.8), draw.randint(80, 900)
        extra_s, turns = draw.gauss(6.0, 2.0), draw.choice([2, 3, 4])
        for trial in (1, 2, 3):
            name = f"t{task:02}"
            raw.append(
                asked_trial(
                    name,
                    _coin(draw, 0.7),
                    trial=trial,
                    seconds=own_s + draw.uniform(0, 1),
                    requests=[request(own_tokens)],
                )
            )
            first = own_tokens + 4000 + draw.randint(-50, 50)
            harness.append(
                asked_trial(
                    name,
                    _coin(draw, 0.7),
                    trial=trial,
                    seconds=max(0.0, own_s + extra_s + draw.uniform(0, 1)),
                    requests=[request(first + 300 * turn, sent_s=turn) for turn in range(turns)],
                )
            )
    return arm_run(raw), arm_run(harness, "opencode")


def _coin(draw: random.Random, p: float) -> Outcome:
    return "pass" if draw.random() < p else "fail"


@pytest.fixture(scope="module")
def many() -> list[HarnessCosts]:
    arms = (two_arms(random.Random(seed)) for seed in range(DRAWS))
    return [harness_costs(raw, harness) for raw, harness in arms]


def test_the_overhead_is_found_again(many: list[HarnessCosts]) -> None:
    # 95 % give and take three standard errors of 300 draws, 1.26 % each.
    for found in (
        [amount(one.both_pass.warm) for one in many],
        [amount(one.both_judged.warm) for one in many],
    ):
        assert 0.912 <= held(found, 6.0) <= 0.988
        assert mean_value(found) == pytest.approx(6.0, abs=0.12)
        # SE of twelve tasks with s = 2 and a little noise: 2 x 2.2 x 2.05 / sqrt(12) = 2.6.
        assert mean_width(found) < 3.0


def test_the_token_tax_is_found_again(many: list[HarnessCosts]) -> None:
    first = [amount(one.first_prompt) for one in many]
    assert 0.912 <= held(first, 4000.0) <= 0.988
    # Two, three or four requests: 4,000 n - own (n - 1) ... with own of 490 on average; each
    # further request is the first and 300 more: mean over n of n (4490) + 300 n (n - 1) / 2 - 490.
    whole = [amount(one.prompt) for one in many]
    truth = sum(n * 4490 + 300 * n * (n - 1) / 2 - 490 for n in (2, 3, 4)) / 3
    assert 0.912 <= held(whole, truth) <= 0.988
    assert mean_value(whole) == pytest.approx(truth, rel=0.02)


def test_a_ratio_is_found_again() -> None:
    def draw(one: random.Random) -> Estimate:
        raw, harness = [], []
        for task in range(12):
            own_s, factor = one.lognormvariate(1, 1), one.lognormvariate(0.916291, 0.3)
            raw.append(asked_trial(f"t{task}", seconds=own_s))
            harness.append(asked_trial(f"t{task}", seconds=own_s * factor))
        return ratio(costs(raw, harness).both_pass.warm)

    found = simulated(draw, seed=2)
    assert 0.912 <= held(found, 2.5) <= 0.988
    assert mean_width(found) < 1.2


def test_pass_cubed_is_found_again() -> None:
    # Tasks of three kinds, as likely: never, 60 of 100, 90 of 100; all three pass by the cube.
    kinds = (0.0, 0.6, 0.9)
    truth = 100 * sum(p**3 for p in kinds) / 3

    def draw(one: random.Random) -> Estimate:
        chances = [one.choice(kinds) for _ in range(24)]
        trials = arm_trials(lambda task, trial: _coin(one, chances[task]), tasks=24)
        return told(figures(trials).pass_cubed)

    found = simulated(draw, seed=3)
    assert 0.912 <= held(found, truth) <= 0.992
    assert mean_value(found) == pytest.approx(truth, abs=2.0)
    # The share of passes, or its cube, would be far off: 50 and 12.5 points.
    assert truth == pytest.approx(31.5)


def test_shares_are_found_again() -> None:
    # Each task has its own chance of a malformed call, 10 of 100 on average.
    def draw(one: random.Random) -> ArmFigures:
        chances = [one.choice([0.0, 0.05, 0.25]) for _ in range(24)]
        trials = []
        for task, chance in enumerate(chances):
            for trial in (1, 2, 3):
                calls = [
                    call(arguments=str(n), is_well_formed=one.random() >= chance)
                    for n in range(one.randint(3, 9))
                ]
                outcome: Outcome = "truncated" if one.random() < 0.2 else "pass"
                trials.append(
                    asked_trial(f"t{task}", outcome, trial=trial, requests=[request(calls=calls)])
                )
        return figures(trials)

    found = [draw(random.Random(40_000 + number)) for number in range(DRAWS)]
    # Shares of single tasks vary less than passes do, so that Wilson's interval is a cautious one.
    assert held([told(one.malformed) for one in found], 10.0) >= 0.95
    assert held([told(one.completion) for one in found], 80.0) >= 0.95
    assert mean_value([told(one.malformed) for one in found]) == pytest.approx(10.0, abs=0.6)
    assert mean_value([told(one.completion) for one in found]) == pytest.approx(80.0, abs=0.8)
    assert mean_width([told(one.malformed) for one in found]) < 28
