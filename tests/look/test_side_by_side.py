"""Runs side by side as text."""

from __future__ import annotations

from bench_loop.report.side_by_side import Comparison, side_by_side
from bench_loop.result.records import RunResult
from tests.look import samples


def compared(*results: RunResult) -> Comparison:
    return side_by_side([(f"/runs/{number}/", result) for number, result in enumerate(results)])


def strong(seed: int = 1) -> RunResult:
    return samples.result(["pass"] * 12, number=seed)


def weak() -> RunResult:
    return samples.result(["pass"] * 6 + ["fail"] * 6, number=2)


def test_the_first_run_is_the_baseline_and_has_no_verdict() -> None:
    heads = compared(strong(), weak()).heads
    assert [head.letter for head in heads] == ["A", "B"]
    assert heads[0].word is None
    assert (heads[1].word.text, heads[1].word.kind) == ("worse", "worse")


def test_a_paired_difference_is_signed_and_filled_when_it_excludes_zero() -> None:
    quality = compared(strong(), weak()).forest[0]
    assert quality.name == "quality, all suites"
    assert quality.figure.value == "−50.0"
    assert quality.plot.is_sure
    assert quality.tasks == "18 of 36"


def test_only_settings_that_differ_are_listed_and_the_odd_one_is_marked() -> None:
    other = samples.result(number=3, on=samples.machine(device_class="rtx-3060-12"))
    settings = compared(samples.result(), other).settings
    assert [(row.name, row.values) for row in settings] == [
        ("device class", (("rtx-4090-24", False), ("rtx-3060-12", True)))
    ]


def test_tasks_that_came_out_alike_are_left_out() -> None:
    tasks = compared(strong(), weak()).tasks
    assert len(tasks) == 18
    assert tasks[0].outcomes == (("pass",), ("fail",))


def test_a_run_that_is_not_comparable_keeps_its_column_and_its_reason() -> None:
    other = samples.result(number=3, profile="smoke")
    made = compared(samples.result(), other)
    assert made.heads[1].word.text == "not comparable"
    assert "profile" in made.heads[1].note
    assert made.forest == ()


def test_a_run_without_a_rank_has_a_word_in_place_of_its_overall_score() -> None:
    other = samples.result(number=3, profile="smoke")
    overall = compared(samples.result(), other).sides[0]
    assert overall.cells[1] is None
    assert overall.absence == "not ranked"


def test_removing_a_run_keeps_the_others() -> None:
    heads = compared(strong(), weak(), strong(3)).heads
    assert heads[1].remove == "?runs=0,2"


def test_speed_that_is_not_comparable_is_told_beside_the_quality() -> None:
    other = samples.result(about=samples.subject(kv_cache_type="q8_0"))
    found = side_by_side([("/runs/a/", samples.result()), ("/runs/b/", other)])
    assert "Speed is not comparable: They differ in KV cache type: f16 against q8_0." in (
        found.heads[1].note
    )
