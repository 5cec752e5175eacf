"""Geometry of the small plots, against coordinates worked out by hand."""

from __future__ import annotations

from bench_loop.report import plots


def test_a_score_bar_is_drawn_from_zero_at_one_and_a_half_pixels_a_point() -> None:
    bar = plots.score_bar(79, (72, 86))
    assert bar.length == "118.5"
    assert bar.whisker == "M108 8H129M108 4v8M129 4v8"


def test_a_score_without_an_interval_has_no_whisker() -> None:
    assert plots.score_bar(0, None) == plots.ScoreBar("0", None)


def test_a_narrow_field_gets_an_axis_on_tens() -> None:
    axis = plots.shared_axis([(62, 75), (71, 79)])
    assert [tick.label for tick in axis.ticks] == ["50", "60", "70", "80", "90"]
    assert axis.x(70) == 75.0


def test_a_wide_field_gets_the_whole_scale() -> None:
    axis = plots.shared_axis([(3, 20), (70, 95)])
    assert [tick.label for tick in axis.ticks] == ["0", "25", "50", "75", "100"]


def test_an_axis_at_the_edge_stays_on_the_scale() -> None:
    axis = plots.shared_axis([(96, 100)])
    assert (axis.low, axis.high) == (70, 100)


def test_the_first_rows_interval_runs_down_the_column_as_a_band() -> None:
    axis = plots.Axis(0, 100, ())
    plot = plots.interval_plot(axis, 60, (50, 70), lead=(80, 90))
    assert (plot.lead_x, plot.lead_width) == ("120", "15")
    assert plot.dot == "M90 27.5h.01"


def test_a_tape_has_a_column_for_each_task_and_its_trials_below_each_other() -> None:
    tape = plots.tape("loop_schema", [("a", ["pass", "fail"]), ("b", ["pass"])])
    assert [(cell.x, cell.y, cell.outcome) for cell in tape.cells] == [
        (0, 0, "pass"),
        (0, 12, "fail"),
        (12, 0, "pass"),
    ]
    assert (tape.width, tape.height) == (22, 22)
    assert tape.label == "loop_schema: 2 of 3 trials passed"


def test_an_outcome_bar_shares_the_width_and_leaves_out_what_never_came() -> None:
    segments = plots.outcome_bar([("pass", 3), ("partial", 0), ("fail", 1)])
    assert [(one.outcome, one.x, one.width) for one in segments] == [
        ("pass", "0", "224"),
        ("fail", "225", "75"),
    ]


def test_a_trial_whose_clocks_make_no_sense_is_not_drawn() -> None:
    assert plots.timing(2.0, 1.0) is None
    assert plots.timing(0.0, 0.0) is None


def test_a_timing_shows_the_wait_and_the_generation() -> None:
    timing = plots.timing(1.0, 4.0)
    assert timing is not None
    assert (timing.wait, timing.generation_x, timing.generation) == ("225", "225", "675")


def test_a_difference_lies_on_an_axis_with_zero_in_its_middle() -> None:
    axis = plots.difference_axis([-12, 24], 120)
    assert [(tick.x, tick.label) for tick in axis.ticks] == [
        ("0.0", "−30"),
        ("30.0", "−15"),
        ("60.0", "0"),
        ("90.0", "+15"),
        ("120.0", "+30"),
    ]
    plot = plots.difference_plot(axis, 15, (6, 24))
    assert plot == plots.DifferencePlot("86.0", "M72.0 12H108.0M72.0 8v8M108.0 8v8", is_sure=True)


def test_a_difference_without_an_interval_is_never_sure() -> None:
    axis = plots.difference_axis([], 120)
    assert plots.difference_plot(axis, 40, None) == plots.DifferencePlot("116.0", None, False)
    assert not plots.difference_plot(axis, 4, (-1, 9)).is_sure
