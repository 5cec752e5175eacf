"""Energy of a synthetic trace whose integral is known exactly."""

from __future__ import annotations

import pytest

from bench_loop.scoring.energy import Reading, Trace


def ramp(seconds: float, beat_s: float = 0.125) -> list[Reading]:
    """Watts that rise by 8 each second from 100."""
    beats = range(int(seconds / beat_s) + 1)
    return [Reading(beat * beat_s, 100 + 8 * beat * beat_s) for beat in beats]


def steady_counter(seconds: int, watts: float, beat_s: float = 0.125) -> list[Reading]:
    beats = range(int(seconds / beat_s) + 1)
    return [Reading(beat * beat_s, 5000 + watts * beat * beat_s) for beat in beats]


def test_a_rising_power_gives_the_area_under_it() -> None:
    # The integral of 100 + 8 t over 0..10 is 1000 + 4 x 100.
    found = Trace.of_watts(ramp(10)).energy([(0.0, 10.0)])
    assert (found.joules, found.coverage) == (pytest.approx(1400.0), 1.0)


def test_a_window_between_two_readings_gets_its_share() -> None:
    # A steady 120 W from 2.03 s to 5.08 s: 3.05 s.
    found = Trace.of_counter(steady_counter(10, 120.0)).energy([(2.03, 5.08)])
    assert found.joules == pytest.approx(366.0)


def test_windows_are_added() -> None:
    found = Trace.of_counter(steady_counter(10, 120.0)).energy([(1.0, 2.0), (4.0, 6.5)])
    assert found.joules == pytest.approx(420.0)


def test_what_a_small_gap_hides_is_taken_at_the_mean_of_the_rest() -> None:
    readings = [one for one in steady_counter(20, 50.0) if not 4.0 < one.at < 5.0]
    found = Trace.of_counter(readings).energy([(0.0, 20.0)])
    assert (found.joules, found.coverage) == (pytest.approx(1000.0), pytest.approx(0.95))


def test_energy_that_is_covered_too_little_is_unknown_and_not_zero() -> None:
    readings = [one for one in steady_counter(20, 50.0) if not 4.0 < one.at < 7.0]
    found = Trace.of_counter(readings).energy([(0.0, 20.0)])
    assert (found.joules, found.coverage) == (None, pytest.approx(0.85))


def test_a_window_outside_of_all_readings_is_unknown() -> None:
    assert Trace.of_watts(ramp(10)).energy([(20.0, 30.0)]).joules is None


def test_no_window_and_no_reading_are_unknown() -> None:
    assert Trace.of_watts(ramp(10)).energy([]).joules is None
    assert Trace.of_watts([]).energy([(0.0, 1.0)]).joules is None


def test_a_counter_that_was_reset_covers_nothing_there() -> None:
    trace = Trace.of_counter([Reading(0.0, 900.0), Reading(0.2, 3.0), Reading(0.4, 13.0)])
    assert [piece.joules for piece in trace.pieces] == [10.0]


def test_the_idle_power_is_the_median_second() -> None:
    # A burst of 500 W in one second of thirty is not idle power.
    readings = [Reading(beat / 8, 500.0 if 80 <= beat < 88 else 30.0) for beat in range(30 * 8 + 1)]
    assert Trace.of_watts(readings).idle_w((0.0, 30.0)) == pytest.approx(30.0)


def test_a_counter_that_moves_in_steps_has_an_idle_power_too() -> None:
    # 40 W, read eight times a second from a counter that moves every quarter of a second.
    readings = [Reading(beat / 8, 40.0 * (beat // 2) / 4) for beat in range(30 * 8 + 1)]
    assert Trace.of_counter(readings).idle_w((0.0, 30.0)) == pytest.approx(40.0)


def test_a_few_seconds_are_too_few_for_an_idle_power() -> None:
    assert Trace.of_watts(ramp(30)).idle_w((0.0, 9.5)) is None


def test_the_interval_is_the_median_time_between_readings() -> None:
    assert Trace.of_watts(ramp(10)).interval_s == pytest.approx(0.125)
    assert Trace.of_watts([]).interval_s is None
