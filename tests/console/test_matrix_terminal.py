"""A matrix in a terminal: everything that the page tells, in the columns that there are."""

from __future__ import annotations

import io
import re

import pytest
from rich.cells import cell_len
from rich.console import Console

from bench_loop.console import THEME
from bench_loop.report.matrix_terminal import print_matrix
from bench_loop.scoring.estimates import Estimate
from bench_loop.scoring.matrix import Cell, Matrix
from tests.look import matrix_samples
from tests.look.matrix_parts import costs, difference, harness, one_pair, pair

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def coloured(made: Matrix, *, width: int = 88, is_terminal: bool = True) -> str:
    stream = io.StringIO()
    screen = Console(
        file=stream,
        theme=THEME,
        width=width,
        force_terminal=is_terminal,
        color_system="standard" if is_terminal else None,
        markup=False,
        _environ={"TERM": "xterm"},
    )
    print_matrix(made, screen)
    return stream.getvalue()


def text(made: Matrix, *, width: int = 88, is_terminal: bool = True) -> str:
    return ESCAPE.sub("", coloured(made, width=width, is_terminal=is_terminal))


@pytest.fixture(scope="module")
def large() -> Matrix:
    return matrix_samples.large()


def test_a_pair_stands_as_the_page_has_it() -> None:
    seconds, ratio = Estimate(7.3, 6.9, 7.7, 12), Estimate(1.8, 1.6, 2.0, 12)
    made = one_pair(pair(difference(), of_costs=costs(seconds, ratio)))
    assert text(made).splitlines()[1:18] == [
        "Model × harness × suite  1 model, 2 harnesses, 1 suite, 2 runs, 72 trials scored",
        "",
        "aider is better than raw with qwen3:8b +10.0 (+2 to +18). aider adds 7.3 (6.9–7.7) s to",
        "a warm task that both pass and sends 1.80× (1.60–2.00) the prompt tokens of raw.",
        "",
        "change against raw  paired by task, points of 100, 95\u202f%, arms took turns",
        "",
        "loop_code_fix",
        "                              aider",
        "qwen3:8b                      +10.0",
        "Q4_K_M                    +2 to +18",
        "",
        "score  share of trials passed, 12 tasks and 36 trials a field",
        "",
        "loop_code_fix",
        "                                raw        aider",
        "qwen3:8b                         50           50",
    ]


def test_costs_go_down_and_harnesses_across() -> None:
    made = one_pair(pair(difference(), of_costs=costs(Estimate(7.3, 6.9, 7.7, 12))))
    lines = text(made).splitlines()
    place = lines.index(next(line for line in lines if line.startswith("Quality against raw")))
    assert lines[place : place + 5] == [
        "Quality against raw         baseline         +10.0",
        "points                                   +2 to +18",
        "                                            better",
        "Warm                               –          +7.3",
        "s, both pass                          +6.9 to +7.7",
    ]


def test_what_excludes_zero_has_its_colour_and_keeps_its_interval_without() -> None:
    assert "\x1b[32m+10.0\x1b[0m" in coloured(one_pair(pair(difference(10, 2, 18))))
    assert "\x1b[31m-10.0\x1b[0m".replace("-", "−") in coloured(
        one_pair(pair(difference(-10, -18, -2, "worse")))
    )
    assert "\x1b[1m+10.0\x1b[0m" in coloured(one_pair(pair(difference(10, -2, 22))))
    assert "-2 to +22" in text(one_pair(pair(difference(10, -2, 22))), is_terminal=False)


def test_signs_are_explained_with_their_reasons() -> None:
    told = text(one_pair(cell=Cell("window_too_small", "It needs 65,536 tokens.")))
    assert "win window too small" in told
    assert "win  aider: It needs 65,536 tokens" in told


@pytest.mark.parametrize("width", [40, 60, 72, 88, 200])
@pytest.mark.parametrize("is_terminal", [True, False])
def test_no_line_is_wider_than_the_terminal(large: Matrix, width: int, is_terminal: bool) -> None:
    lines = text(large, width=width, is_terminal=is_terminal).splitlines()
    assert max(map(cell_len, lines)) <= min(width, 88)


@pytest.mark.parametrize("width", [40, 88])
def test_a_pipe_gets_plain_ascii(large: Matrix, width: int) -> None:
    assert text(large, width=width, is_terminal=False).isascii()


def test_no_figure_is_cut_off(large: Matrix) -> None:
    told = text(large)
    assert "…" not in told
    assert len(re.findall(r"[+−\d]+ to [+−]\d", told)) >= 3 * 15


def test_hostile_text_steers_nothing() -> None:
    evil = harness("\x1b[2Jevil\u202e", "1")
    told = coloured(one_pair(pair(reasons=["\x1b]0;title\x07"]), of=evil), is_terminal=False)
    assert "\x1b" not in told
    assert "\u202e" not in told
    assert "\\x1b[2Jevil" in told


def test_the_smallest_says_that_it_is_too_small() -> None:
    told = text(matrix_samples.smallest())
    assert "3 tasks are too few to tell what aider gains or loses against raw." in told
    assert "sums of squares of these trials" in told
