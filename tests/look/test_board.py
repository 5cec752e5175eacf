"""Rows of a board in their groups."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from bench_loop.report import figures
from bench_loop.report.board import Board, Standing, board
from bench_loop.report.views import StackName

NOW = datetime(2026, 11, 29, 14, 2, tzinfo=UTC)


def standing(
    name: str,
    overall: float | None = None,
    *,
    band: tuple[int, int] | None = None,
    reason: str = "",
    profile: str = "core",
    league: str = "",
    age_h: int = 0,
) -> Standing:
    scores = {} if overall is None else {"overall": (overall, (overall - 3, overall + 3))}
    return Standing(
        href=f"/{name}",
        stack=StackName(name, "Q4_K_M", "raw", "1", "raw", "RTX 4090 24 GB"),
        profile=profile,
        league=league,
        finished_at=NOW - timedelta(hours=age_h),
        scores=scores,
        generation=(40.3, figures.rate(40.3, None)),
        band=band,
        not_ranked=reason,
    )


def layout(made: Board) -> list[tuple[str, list[str]]]:
    return [(group.caption, [row.stack.model for row in group.rows]) for group in made.groups]


def lede(made: Board) -> str:
    return "".join(span.text for span in made.lede)


def test_rows_that_share_first_place_stand_under_one_caption() -> None:
    made = board(
        [
            standing("c", 60, band=(3, 3)),
            standing("b", 74, band=(1, 2)),
            standing("a", 75, band=(1, 2)),
        ]
    )
    first, second = made.groups
    assert first.is_first_place
    assert [row.band for row in first.rows] == ["1–2", "1–2"]
    assert [row.stack.model for row in second.rows] == ["c"]
    assert second.caption == "Surely below at least one of the above"
    assert lede(made).startswith("2 stacks share first place. Highest overall: a Q4_K_M")


def test_a_single_leader_has_a_single_number() -> None:
    made = board([standing("a", 75, band=(1, 1)), standing("b", 60, band=(2, 2))])
    assert layout(made) == [("", ["a", "b"])]
    assert made.groups[0].rows[0].band == "1"


def test_rows_without_a_rank_stand_below_with_the_reason_and_no_overall_score() -> None:
    made = board(
        [
            standing("old", 99, reason="Runs of the profile smoke are never ranked.", age_h=2),
            standing("new", None, reason="The run is incomplete."),
            standing("ranked", 20),
        ]
    )
    assert layout(made) == [("", ["ranked"]), ("Not ranked, newest first", ["new", "old"])]
    old = made.groups[1].rows[1]
    assert (old.overall, old.plot, old.band) == (None, None, "–")
    assert old.reason == "Runs of the profile smoke are never ranked."


def test_profiles_are_never_ranked_together() -> None:
    made = board([standing("q", 90, profile="quick"), standing("c", 40)])
    assert layout(made) == [
        ("Core. Ranked by overall score", ["c"]),
        ("Quick. Ranked by overall score", ["q"]),
    ]
    assert "Highest overall: c " in lede(made)


def test_leagues_of_one_profile_are_never_ranked_together() -> None:
    made = board(
        [
            standing("new harness", 90, league="b", band=(1, 1)),
            standing("first", 60, league="a", band=(1, 1)),
            standing("second", 40, league="a", band=(2, 2)),
        ]
    )
    assert layout(made) == [
        ("Core. Ranked by overall score", ["first", "second"]),
        (
            "Core with other tasks, harness or thinking. Ranked by overall score",
            ["new harness"],
        ),
    ]
    assert "Highest overall: first " in lede(made)
    assert "share first place" not in lede(made)


def test_the_readers_own_order_is_kept() -> None:
    made = board([standing("b", 60, band=(1, 2)), standing("a", 75, band=(1, 2))], keep_order=True)
    assert layout(made) == [("", ["b", "a"])]


def test_an_empty_board_says_so() -> None:
    assert lede(board([])) == "No run yet. The first one will stand here."


def test_where_nothing_is_ranked_the_latest_run_speaks() -> None:
    made = board([standing("a", reason="Runs of the profile smoke are never ranked.")])
    assert lede(made) == (
        "Nothing is ranked yet. Latest run: a Q4_K_M, raw, RTX 4090 24 GB, 40.3 tok/s. "
        "Runs of the profile smoke are never ranked."
    )


def test_an_unknown_figure_is_a_dash_and_sorts_as_nothing() -> None:
    row = board([standing("a", 75)]).groups[0].rows[0]
    quality = row.cells[0]
    assert (quality.figure, quality.absence, quality.sort) == (None, "–", "")
