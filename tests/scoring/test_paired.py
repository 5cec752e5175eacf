"""Two runs against each other."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench_loop.contracts.verifier import Outcome
from bench_loop.result.records import RunResult, Spread
from bench_loop.scoring.paired import (
    compare_runs,
    mcnemar_p,
    more_tasks,
    paired_difference,
    sign_flip_p,
    speed_ratio,
    verdict,
)
from tests.scoring.make_runs import run_result
from tests.scoring.make_trials import suite_trials


def run_of(*suites: Sequence[Outcome | Sequence[Outcome]]) -> RunResult:
    return run_result(
        [
            trial
            for number, outcomes in enumerate(suites)
            for trial in suite_trials(f"suite{number}", outcomes)
        ]
    )


@pytest.mark.parametrize(
    ("only_a", "only_b", "expected"),
    [
        # Fagerland, Lydersen and Laake 2013, airway hyper-responsiveness: 1 and 7 discordant.
        (1, 7, 0.0703),
        (7, 1, 0.0703),
        (0, 5, 0.0625),
        (0, 6, 0.03125),
        (2, 10, 0.0386),
        (4, 4, 1.0),
        (0, 0, 1.0),
    ],
)
def test_mcnemar_is_exact(only_a: int, only_b: int, expected: float) -> None:
    assert mcnemar_p(only_a, only_b) == pytest.approx(expected, abs=5e-5)


def test_sign_flips_find_the_exact_probability() -> None:
    # Six differences of one sign: 2 of the 64 sign patterns are as far from 0, 0.03125.
    assert sign_flip_p({"a": [1.0] * 6 + [0.0] * 20}) == pytest.approx(0.03125, abs=0.006)


def test_sign_flips_of_nothing_say_nothing() -> None:
    assert sign_flip_p({"a": [0.0, 0.0]}) == 1.0


def test_sign_flips_are_always_the_same() -> None:
    differences = {"a": [1.0, -1.0, 1.0, 1.0, 0.0, 1 / 3], "b": [2 / 3, 0.0, 1.0]}
    assert sign_flip_p(differences) == sign_flip_p(dict(reversed(differences.items())))


def test_a_paired_difference_is_the_mean_of_the_suites() -> None:
    # Suite a: 8 of 10 up; suite b: none of 10.
    result = paired_difference("quality", {"a": [1.0] * 8 + [0.0] * 2, "b": [0.0] * 10})
    assert result.difference == pytest.approx(40.0)
    assert (result.task_count, result.discordant_count) == (20, 8)
    assert result.verdict == "better"


def test_the_interval_of_a_difference_is_students() -> None:
    # One suite, five up, one down, four equal: d = 0.4, s^2 = (6 - 10 x 0.16) / 9 = 0.488889,
    # SE = 0.221108, t(0.975, 9) = 2.262157: 40 -+ 50.018 points.
    result = paired_difference("a", {"a": [1.0] * 5 + [-1.0] + [0.0] * 4})
    assert result.low == pytest.approx(-10.018, abs=2e-3)
    assert result.high == pytest.approx(90.018, abs=2e-3)


def test_equal_runs_are_not_certain_to_be_equal() -> None:
    # p = 0.5 / 11, SE = sqrt(p (1 - p) / 11) = 0.0628045, t(0.975, 9) = 2.262157.
    result = paired_difference("a", {"a": [0.0] * 10})
    assert (result.low, result.high) == (
        pytest.approx(-14.207, abs=2e-3),
        pytest.approx(14.207, abs=2e-3),
    )


def test_a_single_task_does_not_even_say_which_way() -> None:
    # p = 1.5 / 2, SE = sqrt(0.75) = 0.866, t(0.975, 1) = 12.706; no difference: p = 0.25, 0.5.
    for difference in (1.0, 0.0):
        result = paired_difference("a", {"a": [difference]})
        assert (result.low, result.high) == (-100.0, 100.0)
    # Two suites of one task, up and equal: SE = sqrt(0.75 + 0.25) / 2 = 0.5; df 1 / (0.5625 +
    # 0.0625) = 1.6, t(0.975, 1.6) above 4: the whole scale.
    result = paired_difference("quality", {"a": [1.0], "b": [0.0]})
    assert (result.low, result.high) == (-100.0, 100.0)


@pytest.mark.parametrize(
    ("d", "low", "high", "p", "discordant", "expected"),
    [
        (10.0, 2.0, 18.0, 0.01, 4, "floor or ceiling"),
        (10.0, 2.0, 18.0, 0.01, 5, "better"),
        (-10.0, -18.0, -2.0, 0.01, 5, "worse"),
        (0.5, -2.0, 2.9, 0.6, 5, "equal"),
        (2.0, -2.9, 6.0, 0.3, 5, "no worse"),
        (2.0, -3.0, 6.0, 0.3, 5, "too close to call"),
        (-2.0, -6.0, 2.0, 0.3, 5, "too close to call"),
        (10.0, 2.0, 18.0, 0.05, 5, "no worse"),
    ],
)
def test_the_verdicts_are_fixed_words(
    d: float, low: float, high: float, p: float, discordant: int, expected: str
) -> None:
    assert verdict(d, low, high, p, discordant) == expected


def test_more_tasks_shrink_the_interval_to_the_difference() -> None:
    # The half-width must halve: four times the tasks.
    assert more_tasks(5.0, 10.0, 100, 40) == 300


def test_one_more_task_that_differs_takes_more_than_one_task() -> None:
    # Where 5 of 20 differ, a sixth is expected after four more.
    assert more_tasks(10.0, 10.0, 20, 5) == 4


def test_advice_names_about_how_many_tasks_would_settle_it() -> None:
    result = paired_difference("a", {"a": [1.0] * 7 + [-1.0] * 3 + [0.0] * 40})
    # d = 8, s^2 = (10 - 50 x 0.0064) / 49 = 0.197551, SE = 6.28572, t(49) = 2.009575:
    # 12.6316; 50 x (12.6316 / 8)^2 - 50 = 74.65.
    assert result.verdict == "too close to call"
    assert result.more_tasks == 75
    assert result.advice == "about 75 more tasks would settle it, if the difference stays as it is"


def test_of_a_difference_inside_its_error_only_the_narrowing_is_told() -> None:
    # d = 0, s^2 = 10 / 49, SE = 6.3888, half-width 12.8388; 50 x (12.8388 / 3)^2 - 50 = 865.8.
    result = paired_difference("a", {"a": [1.0] * 5 + [-1.0] * 5 + [0.0] * 40})
    assert result.advice == (
        "the difference is smaller than its error; about 870 more tasks would narrow it to 3 "
        "points either way"
    )


def test_beyond_two_thousand_tasks_no_number_is_told() -> None:
    result = paired_difference("a", {"a": [1.0] * 6 + [-1.0] * 6})
    assert result.more_tasks is not None
    assert result.more_tasks > 2000
    assert result.advice == "no practical number of tasks would settle it"


def test_three_tasks_that_differ_give_no_number() -> None:
    found = compare_runs(run_of(["fail"] * 6), run_of(["pass", "pass", "fail"] + ["fail"] * 3))
    assert found.quality is not None
    assert found.quality.more_tasks is None
    assert found.quality.advice == (
        "only 2 of 6 tasks came out differently, too few to say what would settle it"
    )


def test_no_task_that_differs_is_told_in_words() -> None:
    outcomes = ["pass", "fail"] * 3
    found = compare_runs(run_of(outcomes), run_of(outcomes))
    assert found.quality is not None
    assert found.quality.advice == (
        "none of 6 tasks came out differently, so nothing says what would settle it"
    )


@pytest.mark.parametrize(
    ("outcome", "end", "says"),
    [("fail", "floor", "easier ones might"), ("pass", "ceiling", "harder ones might")],
)
def test_tasks_that_all_fail_or_all_pass_cannot_tell_two_runs_apart(
    outcome: Outcome, end: str, says: str
) -> None:
    found = compare_runs(run_of([outcome] * 15), run_of([outcome] * 15))
    assert found.quality is not None
    assert (found.quality.end, found.quality.more_tasks) == (end, None)
    assert found.quality.advice is not None
    assert says in found.quality.advice


def test_more_trials_are_named_where_the_trials_are_what_differs() -> None:
    # Every task is a coin in both runs: one of three against two of three, or the other way round.
    one, two = ["pass", "fail", "fail"], ["pass", "pass", "fail"]
    found = compare_runs(run_of([one] * 13 + [two] * 7), run_of([two] * 13 + [one] * 7)).quality
    assert found is not None
    # d = 0.1, s^2 = (20 / 9 - 20 x 0.01) / 19 = 0.106433, SE^2 = 0.00532164. A share has p (1 - p)
    # / 2 = 1 / 9 of noise, 2 / 9 a task and 0.0111111 in all: more than there is. t(19) = 2.093024:
    # needed (0.1 / 2.093024)^2 = 0.00228274 = noise x 3 / k: k = 14.6.
    assert (found.verdict, found.more_trials) == ("too close to call", 15)
    assert found.advice is not None
    assert "more tasks, or about 15 trials of each of these would settle it" in found.advice


def test_more_trials_are_no_help_where_each_task_always_comes_out_the_same() -> None:
    up, down, same = ["fail"] * 3, ["pass"] * 3, ["pass"] * 3
    a = run_of([up] * 7 + [down] * 3 + [same] * 10)
    b = run_of([down] * 7 + [up] * 3 + [same] * 10)
    found = compare_runs(a, b).quality
    assert found is not None
    assert found.more_tasks is not None
    assert found.more_trials is None


def test_a_settled_difference_needs_no_advice() -> None:
    result = paired_difference("a", {"a": [1.0] * 12})
    assert (result.verdict, result.more_tasks, result.advice) == ("better", None, None)


def test_a_run_that_passes_more_is_better_and_the_other_way_round_worse() -> None:
    weak = run_of(["fail"] * 10, ["pass"] * 10)
    strong = run_of(["pass"] * 8 + ["fail"] * 2, ["pass"] * 10)
    there, back = compare_runs(weak, strong), compare_runs(strong, weak)
    assert (there.verdict, back.verdict) == ("better", "worse")
    assert there.quality is not None
    assert there.quality.difference == 40.0
    assert [suite.name for suite in there.suites] == ["suite0", "suite1"]
    assert there.suites[1].verdict == "floor or ceiling"
    assert there.mcnemar_p == pytest.approx(0.0078125)


def test_a_run_against_itself_differs_in_nothing() -> None:
    run = run_of(["pass"] * 5 + ["fail"] * 5)
    comparison = compare_runs(run, run)
    assert comparison.verdict == "floor or ceiling"
    assert comparison.quality is not None
    assert (comparison.quality.difference, comparison.quality.p_value) == (0.0, 1.0)


def test_runs_with_other_settings_are_not_comparable() -> None:
    trials = suite_trials("suite0", ["pass"] * 10)
    comparison = compare_runs(run_result(trials), run_result(trials, profile="quick"))
    assert comparison.verdict == "not comparable"
    assert (comparison.quality, comparison.suites) == (None, ())
    assert comparison.reasons == ("They differ in profile: core against quick.",)


def test_mcnemar_is_for_single_trials_only() -> None:
    run = run_of([["pass", "fail", "pass"]] * 10)
    assert compare_runs(run, run).mcnemar_p is None


def test_tasks_without_a_scored_trial_in_both_are_left_out() -> None:
    a = run_of(["pass"] * 10)
    b = run_of(["fail"] * 9 + ["infrastructure_error"])
    comparison = compare_runs(a, b)
    assert comparison.quality is not None
    assert comparison.quality.task_count == 9


def test_runs_without_a_common_task_are_not_comparable() -> None:
    a = run_of(["pass", "infrastructure_error"])
    b = run_of(["infrastructure_error", "pass"])
    assert compare_runs(a, b).reasons == ("No task was scored in both.",)


pairs = st.lists(
    st.tuples(st.sampled_from(["pass", "fail"]), st.sampled_from(["pass", "fail"])),
    min_size=1,
    max_size=20,
)


@settings(max_examples=25)
@given(pairs)
def test_swapping_the_runs_turns_the_difference_round(pairs: list[tuple[Outcome, Outcome]]) -> None:
    a, b = run_of([first for first, _ in pairs]), run_of([second for _, second in pairs])
    there, back = compare_runs(a, b).quality, compare_runs(b, a).quality
    assert there is not None
    assert back is not None
    assert there.difference == pytest.approx(-back.difference)
    assert (there.low, there.high) == (pytest.approx(-back.high), pytest.approx(-back.low))
    assert there.p_value == back.p_value


def test_equal_models_are_told_apart_in_five_of_a_hundred_pairs_at_most() -> None:
    draw = random.Random(5)
    repeats = 120
    wrong = 0
    for _ in range(repeats):
        differences = {
            suite: [float(draw.random() < 0.5) - float(draw.random() < 0.5) for _ in range(10)]
            for suite in ("a", "b", "c")
        }
        wrong += paired_difference("quality", differences).verdict in ("better", "worse")
    assert wrong / repeats <= 0.1


def test_a_suite_without_a_common_task_leaves_no_quality_to_compare() -> None:
    first = [*suite_trials("coding", ["pass"] * 4), *suite_trials("reasonmath", ["pass"] * 4)]
    broken: Outcome = "infrastructure_error"
    second = [*suite_trials("coding", [broken] * 4), *suite_trials("reasonmath", ["fail"] * 4)]
    found = compare_runs(run_result(first), run_result(second))
    assert found.verdict == "not comparable"
    assert found.reasons == ("No task of coding was scored in both.",)


def test_the_tasks_that_differ_are_named_with_both_shares() -> None:
    found = compare_runs(run_of(["pass", "fail", "pass"]), run_of(["pass", "pass", "fail"]))
    assert [(task.task_id, task.a, task.b) for task in found.differing] == [
        ("suite0.t01", 0.0, 1.0),
        ("suite0.t02", 1.0, 0.0),
    ]


def test_tasks_left_out_of_the_pairs_are_counted() -> None:
    found = compare_runs(
        run_of(["pass", "pass", "infrastructure_error"]),
        run_of(["infrastructure_error"] * 2 + ["pass"]),
    )
    assert found.reasons == ("No task was scored in both.",)
    some = compare_runs(run_of(["pass"] * 3), run_of(["pass", "fail", "infrastructure_error"]))
    assert some.quality is not None
    assert (some.quality.task_count, some.unpaired_count) == (2, 1)


def test_one_name_with_two_prompts_is_not_one_task() -> None:
    a = run_of(["pass"] * 3)
    other = a.trials[0].model_copy(update={"prompt_hash": "sha256:" + "1" * 64})
    b = a.model_copy(update={"trials": (other, *a.trials[1:])})
    found = compare_runs(a, b)
    assert found.quality is not None
    assert (found.quality.task_count, found.unpaired_count) == (2, 1)


def test_unequal_trials_of_a_task_are_shares() -> None:
    a = run_of([["pass", "fail"], "pass"])
    b = run_of([["pass", "pass", "fail"], "pass"])
    (task,) = compare_runs(a, b).differing
    assert (task.a, task.b) == (0.5, pytest.approx(2 / 3))


def test_a_speed_is_compared_by_its_ratio_with_students_interval() -> None:
    # Relative errors 0.04 / sqrt(4) = 0.02 and 0.06 / sqrt(9) = 0.02: SE^2 = 0.0008;
    # df = 0.0008^2 / (0.0004^2 / 3 + 0.0004^2 / 8) = 8.72727, t = 2.272979: e^0.0642896 = 1.066401.
    a = Spread(peak=60, mean=50, median=50, stdev=2.0, n=4)
    b = Spread(peak=120, mean=100, median=100, stdev=6.0, n=9)
    ratio = speed_ratio("generation tok/s", a, b)
    assert ratio.value == 2.0
    assert ratio.high == pytest.approx(2.132802, abs=1e-6)
    assert ratio.low == pytest.approx(1.875467, abs=1e-6)


def test_a_speed_measured_once_has_a_ratio_without_an_interval() -> None:
    once = Spread(peak=50, mean=50, median=50, stdev=None, n=1)
    ratio = speed_ratio("TTFT", once, once)
    assert (ratio.value, ratio.low, ratio.high) == (1.0, None, None)
