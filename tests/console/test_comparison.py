"""Runs side by side: every figure with its interval, and the fixed words about each pair."""

from __future__ import annotations

import io
import re

import pytest
from rich.cells import cell_len
from rich.console import Console

from bench_loop.console import THEME
from bench_loop.report.comparison import comparison_json, pairs_with_first, print_comparison
from bench_loop.result.records import RunResult
from tests.console.make_run import SMOKE, make_run

OTHER = "sha256:" + "cd" * 32
HALF = {"reasonmath": ("pf" * 20, 50.0, (35.2, 64.8))}
MOST = {"reasonmath": ("p" * 18 + "pf" + "p" * 20, 97.5, (87.1, 99.6))}


def text(*runs: RunResult, width: int = 88, across: bool = False, is_terminal: bool = True) -> str:
    """What is printed for these runs, without colours."""
    stream = io.StringIO()
    screen = Console(
        file=stream,
        theme=THEME,
        width=width,
        force_terminal=is_terminal,
        markup=False,
        _environ={"TERM": "xterm"},
    )
    names = [f"run-{number}.json" for number in range(len(runs))]
    pairs = pairs_with_first(runs, may_harness_differ=across)
    print_comparison(runs, names, pairs, screen)
    return re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue())


def other_run(
    suites: dict[str, tuple[str, float, tuple[float, float]]], **changes: object
) -> RunResult:
    return make_run(suites, fingerprint=OTHER, **changes)


def test_every_run_has_a_letter_a_name_and_its_file() -> None:
    shown = text(make_run(HALF), other_run(MOST))
    assert "A  qwen3.5:27b Q4_K_M in raw, RTX 4090 24 GB\n" in shown
    assert "   core profile, 2026-11-29 14:02 UTC, run-1.json\n" in shown


def test_hand_picked_suites_are_not_called_custom_as_a_harness_is() -> None:
    assert "   hand-picked suites, 2026" in text(make_run(HALF), other_run(MOST, profile="custom"))


def test_a_run_that_stopped_early_is_told_as_such() -> None:
    stopped = other_run(MOST, status="aborted", status_reason="Stopped by the user.")
    assert "   core profile, aborted, 2026-11-29 14:02 UTC, run-1.json\n" in text(
        make_run(HALF), stopped
    )


def test_aggregates_raw_speed_and_suites_stand_side_by_side_with_intervals() -> None:
    shown = text(make_run(HALF), other_run(MOST))
    assert "quality             72 67–77          72 67–77\n" in shown
    assert "tok/s             40.3 ±0.6         40.3 ±0.6\n" in shown
    assert "reasonmath          50 35–65          98 87–100\n" in shown


def test_what_a_run_does_not_have_is_a_word() -> None:
    smoke = other_run({}, profile="smoke", aggregates=SMOKE, speed=None)
    lines = text(make_run(HALF), smoke).splitlines()
    assert next(line for line in lines if line.startswith("overall")).endswith("not ranked")
    assert next(line for line in lines if line.startswith("tok/s")).endswith("not run")
    assert next(line for line in lines if line.startswith("reasonmath")).endswith("not run")


def test_a_pair_gets_a_verdict_a_difference_and_its_interval() -> None:
    # 19 of 40 tasks differ, all for B: d = 47.5, s = 0.5057, t(39) = 2.0227, so +-16.2.
    shown = text(make_run(HALF), other_run(MOST))
    assert "B against A: quality better   B minus A in points, 40 tasks, 95 %" in shown
    assert re.search(r"reasonmath +·+│·+├─+●─+┤·* +\+47\.5 \(\+31 to \+64\) +better", shown)


def test_a_worse_run_is_called_worse() -> None:
    assert "B against A: quality worse" in text(make_run(MOST), other_run(HALF))


def test_a_pair_that_cannot_be_told_apart_is_open_and_has_no_winner() -> None:
    one_less = {"reasonmath": ("pf" * 19 + "ff", 47.5, (33.0, 62.5))}
    shown = text(make_run(HALF), other_run(one_less))
    assert "quality floor or ceiling" in shown
    assert "○" in shown
    assert "●" not in shown


def test_the_axis_is_centred_on_nought() -> None:
    lines = text(make_run(HALF), other_run(MOST)).splitlines()
    bar = next(number for number, line in enumerate(lines) if "│" in line)
    axis = lines[bar - 1]
    assert axis.split() == ["−100", "−50", "0", "+50", "+100"]
    assert axis.index(" 0 ") + 1 == lines[bar].index("│") == 16 + 15


def test_the_reasons_why_not_stand_in_place_of_a_verdict() -> None:
    settings = make_run().settings.model_copy(update={"trials": 3})
    shown = text(make_run(HALF), other_run(MOST, settings=settings))
    assert "B against A: not comparable" in shown
    assert "   They differ in number of trials: 1 against 3.\n" in shown
    assert "better" not in shown


def test_speed_that_is_not_comparable_is_told_apart_from_quality() -> None:
    shown = text(make_run(HALF), other_run(MOST, speed=None))
    assert "quality better" in shown
    assert "Speed is not comparable:\n   The speed suite was not run in both." in shown


def test_another_harness_is_compared_only_when_asked_for() -> None:
    subject = make_run().subject.model_copy(update={"harness": "opencode"})
    runs = make_run(HALF), other_run(MOST, subject=subject)
    assert "B against A: not comparable" in text(*runs)
    assert "B against A: quality better" in text(*runs, across=True)


def test_the_same_run_twice_is_called_that() -> None:
    assert "B and A are the same run." in text(make_run(HALF), make_run(HALF))


def test_many_runs_are_laid_out_in_pieces_that_fit() -> None:
    runs = [other_run(HALF) for _ in range(6)]
    shown = text(*runs)
    assert shown.count("\noverall ") == 2
    assert max(map(cell_len, shown.splitlines())) <= 88


def test_a_narrow_terminal_keeps_figures_and_words() -> None:
    shown = text(make_run(HALF), other_run(MOST), width=56)
    assert "┤" not in shown
    assert re.search(r"reasonmath +\+47\.5 \(\+31 to \+64\) +better", shown)
    assert max(map(cell_len, shown.splitlines())) <= 56


def test_a_pipe_gets_ascii_in_straight_columns() -> None:
    shown = text(make_run(HALF), other_run(MOST), is_terminal=False)
    assert shown.isascii()
    assert "tok/s             40.3 +-0.6        40.3 +-0.6\n" in shown


@pytest.mark.parametrize("field", ["model_id", "quantization", "harness"])
def test_names_from_a_file_cannot_steer_the_terminal(field: str) -> None:
    subject = make_run().subject.model_copy(update={field: "x\x1b[2J\ny"})
    shown = text(make_run(HALF), other_run(HALF, subject=subject))
    assert "\x1b" not in shown
    assert r"x\x1b[2J" in shown


def test_the_json_holds_exact_figures_reasons_and_verdicts() -> None:
    runs = [make_run(HALF), other_run(MOST)]
    found = comparison_json(runs, ["a.json", "b.json"], pairs_with_first(runs))
    assert [run["letter"] for run in found["runs"]] == ["A", "B"]
    assert found["runs"][0]["aggregates"]["quality_score"] == 72.33
    pair = found["pairs"][0]
    assert (pair["a"], pair["b"], pair["verdict"], pair["reasons"]) == ("A", "B", "better", [])
    assert pair["quality"]["difference"] == pytest.approx(47.5)
    assert pair["quality"]["task_count"] == 40


def in_goose(**changes: object) -> RunResult:
    made = other_run(MOST, **changes)
    subject = made.subject.model_copy(update={"harness": "goose", "harness_version": "1.50.0"})
    return made.model_copy(update={"subject": subject})


def test_runs_that_differ_in_the_harness_alone_name_the_option_that_compares_them() -> None:
    assert "compare --across-harnesses" in text(make_run(HALF), in_goose())


def test_the_option_is_not_named_where_it_would_not_help() -> None:
    shown = text(make_run(HALF), in_goose(scoring_version="0.1"))
    assert "not comparable" in shown
    assert "--across-harnesses" not in shown
