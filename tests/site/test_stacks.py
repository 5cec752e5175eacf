"""Runs of one stack: which of them stands for it, and what is told beside it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.models import Entry, LanguageModel, Stack
from leaderboard.publish import publish, withdraw
from leaderboard.rebuild import is_needed
from leaderboard.stacks import Candidate, quantization_key, summary
from tests.site.published import show_run, store_run

NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)


def run(pk: int, overall: float | None, owner: int | None = 1, *, ranked: bool = True) -> Candidate:
    return Candidate(pk, owner, overall, ranked, NEW_YEAR.replace(minute=pk))


def only_stack() -> Stack:
    return Stack.objects.select_related("shown").get()


def shown_score() -> float | None:
    shown = only_stack().shown
    assert shown is not None
    return shown.overall_score


@pytest.mark.parametrize(
    ("runs", "shown"),
    [
        ([run(1, 60.0)], 1),
        ([run(1, 60.0), run(2, 70.0)], 1),
        ([run(1, 70.0), run(2, 60.0)], 2),
        ([run(1, 60.0), run(2, 70.0), run(3, 50.0)], 1),
        ([run(1, 50.0), run(2, 50.0)], 1),
        ([run(1, 90.0, owner=1), run(2, 50.0, owner=2), run(3, 60.0, owner=3)], 3),
        ([run(1, 90.0, owner=1), run(2, 50.0, owner=None)], 2),
        # Twenty lucky runs of one owner weigh as one.
        ([*(run(pk, 90.0, owner=1) for pk in range(1, 21)), run(30, 50.0, owner=2)], 30),
        ([run(1, None), run(2, 40.0), run(3, None)], 2),
        ([run(1, None), run(2, None)], 2),
        ([run(1, 90.0, ranked=False), run(2, 40.0)], 2),
        ([run(1, 90.0, ranked=False), run(2, 40.0, ranked=False)], 2),
        ([replace(run(1, 60.0), is_withdrawn=True)], None),
        ([replace(run(1, 60.0), is_withdrawn=True), run(2, 70.0)], 2),
    ],
)
def test_the_shown_run_is_the_lower_median_of_the_owners(
    runs: list[Candidate], shown: int | None
) -> None:
    assert summary(runs).shown_id == shown
    assert summary(runs[::-1]).shown_id == shown


def test_accounts_of_one_installation_weigh_as_one_owner() -> None:
    puppets = [replace(run(pk, 90.0 + pk, owner=pk), installation="k1") for pk in (1, 2, 3)]
    found = summary([*puppets, run(4, 50.0, owner=4)])
    assert (found.shown_id, found.owner_count, found.run_count) == (4, 2, 4)
    # A chain of keys too, and one that only a withdrawn run tells of.
    chained = [
        replace(run(1, 90.0, owner=1), installation="k1"),
        replace(run(2, 91.0, owner=2), installation="k2"),
        replace(run(3, 1.0, owner=1), installation="k2", is_withdrawn=True),
        run(4, 50.0, owner=4),
    ]
    for order in (chained, chained[::-1]):
        assert (summary(order).shown_id, summary(order).owner_count) == (4, 2)


def test_runs_without_a_signature_tell_of_no_installation() -> None:
    assert summary([run(pk, 60.0, owner=pk) for pk in (1, 2, 3)]).owner_count == 3


def the_rule(runs: list[Candidate]) -> int | None:
    """METHODOLOGY's rule again, by counting: no other value has as few below and at most half."""
    published = [one for one in runs if not one.is_withdrawn]
    counted = [one for one in published if one.is_ranked and one.overall is not None] or published

    def lower_median(own: list[Candidate]) -> Candidate:
        scored = [one for one in own if one.overall is not None]
        if not scored:
            return max(own, key=lambda one: (one.finished_at, one.pk))
        least = (len(scored) + 1) // 2
        for one in scored:
            below = sum(other.place <= one.place for other in scored)
            if below == least:
                return one
        raise AssertionError

    owners = {one.owner for one in counted}
    picked = [lower_median([one for one in counted if one.owner == who]) for who in owners]
    return lower_median(picked).pk if picked else None


@given(
    st.lists(
        st.tuples(
            st.none() | st.sampled_from([0.0, 40.0, 50.0, 50.5, 60.0]),
            st.none() | st.integers(1, 4),
            st.booleans(),
            st.booleans(),
        ),
        max_size=12,
    )
)
def test_any_runs_are_stood_for_by_the_rule(
    drawn: list[tuple[float | None, int | None, bool, bool]],
) -> None:
    runs = [
        replace(run(pk, overall, owner, ranked=is_ranked), is_withdrawn=is_withdrawn)
        for pk, (overall, owner, is_ranked, is_withdrawn) in enumerate(drawn, 1)
    ]
    assert summary(runs).shown_id == the_rule(runs)


def test_counts_and_range_are_those_of_the_runs_that_count() -> None:
    found = summary(
        [
            run(1, 60.0, owner=1),
            run(2, 70.0, owner=2),
            run(3, 99.0, owner=3, ranked=False),
            replace(run(4, 1.0, owner=4), is_withdrawn=True),
        ]
    )
    assert (found.run_count, found.owner_count) == (2, 2)
    assert (found.uncounted_count, found.withdrawn_count) == (1, 1)
    assert (found.overall_low, found.overall_high) == (60.0, 70.0)


def test_d109_a_better_later_run_is_a_version_and_the_median_is_shown(
    db: None, owner: User
) -> None:
    for number, overall in enumerate((60.0, 70.0, 50.0)):
        show_run(overall, number=number, owner=owner)
    stack = only_stack()
    assert shown_score() == 60.0
    assert (stack.run_count, stack.owner_count) == (3, 1)
    assert (stack.overall_low, stack.overall_high) == (50.0, 70.0)


def test_withdrawing_the_shown_run_lets_another_stand_for_the_stack(db: None) -> None:
    low, high = (show_run(overall, number=at) for at, overall in enumerate((60.0, 70.0)))
    withdraw(low.run, "mistake")
    assert shown_score() == 70.0
    assert only_stack().withdrawn_count == 1
    withdraw(high.run, "mistake")
    assert only_stack().shown is None
    publish(low.run, level="consistent", is_local=True)
    assert shown_score() == 60.0


def test_every_owner_weighs_once(db: None, owner: User, stranger: User) -> None:
    for number in range(3):
        show_run(90.0 + number, number=number, owner=owner)
    show_run(40.0, number=9, owner=stranger)
    assert shown_score() == 40.0
    assert only_stack().owner_count == 2


def test_uploads_and_the_installations_own_runs_have_different_owners(
    db: None, owner: User
) -> None:
    show_run(40.0)
    show_run(50.0, number=1, owner=owner)
    assert only_stack().owner_count == 2


@pytest.mark.parametrize(
    "changes",
    [
        {"model_id": "qwen3:14b"},
        {"model_id": "llama3.2:3b"},
        {"gpu": "RTX 3090"},
        {"subject": {"quantization": "Q8_0"}},
        {"subject": {"quantization": None}},
        {"subject": {"thinking": True}},
        {"subject": {"harness": "aider"}},
        {"subject": {"harness_version": "2"}},
    ],
)
def test_what_differs_in_a_stack_is_another_one(db: None, changes: dict[str, object]) -> None:
    show_run(60.0)
    show_run(60.0, number=1, **changes)
    assert Stack.objects.count() == 2


@pytest.mark.parametrize(
    "changes",
    [
        {"model_id": "hf.co/unsloth/Qwen3-8B-GGUF:Q4_K_M"},
        {"model_id": "Qwen3-8B-Q4_K_M.gguf"},
        {"model_id": "qwen/qwen3-8b"},
        {"model_id": "QWEN3:8B"},
        {"subject": {"parameters_b": 8.19}},
        {"subject": {"quantization": "q4_k_m"}},
        {"subject": {"provider": "llamacpp"}},
    ],
)
def test_spellings_of_one_stack_never_split_it(db: None, changes: dict[str, object]) -> None:
    show_run(60.0)
    show_run(70.0, number=1, **changes)
    assert only_stack().run_count == 2


def test_a_stack_with_runs_that_are_not_ranked_only_is_still_a_row(db: None) -> None:
    entry = show_run(60.0, status="incomplete")
    assert not entry.is_ranked
    assert [row.pk for row in Entry.objects.rows()] == [entry.pk]


def test_only_shown_runs_have_a_band(db: None) -> None:
    first = show_run(60.0)
    show_run(70.0, number=1)
    show_run(90.0, number=2, model_id="gemma3:4b")
    first.refresh_from_db()
    assert (first.band_low, first.band_high) == (2, 2)
    assert Entry.objects.filter(band_low__isnull=False).count() == 2


def test_only_the_best_rows_of_a_league_have_a_band(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaderboard.bands.BAND_ROWS", 3)
    for number in range(5):
        show_run(10.0 + number, number=number, model_id=f"qwen3-{number + 1}b")
    without = Entry.objects.filter(band_low__isnull=True).values_list("overall_score", flat=True)
    assert sorted(score or 0 for score in without) == [10.0, 11.0]


def test_runs_by_other_formulas_neither_stand_nor_weigh(db: None) -> None:
    old = show_run(90.0)
    Entry.objects.filter(pk=old.pk).update(scoring_version="0.9")
    show_run(50.0, number=1)
    assert shown_score() == 50.0
    assert only_stack().uncounted_count == 1


def test_publishing_takes_as_many_queries_in_a_large_league(db: None) -> None:
    taken = []
    for number in range(24):
        run = store_run(10.0 + number, number=number, model_id=f"qwen3-{number + 1}b")
        with CaptureQueriesContext(connection) as queries:
            publish(run, level="consistent", is_local=True)
        taken.append(len(queries))
    assert max(taken[1:]) == min(taken[1:]) <= taken[0]


@pytest.mark.parametrize(
    ("label", "key"),
    [("Q4_K_M", "Q4_K_M"), ("q4_K_M", "Q4_K_M"), (None, ""), ("weird thing", "WEIRD THING")],
)
def test_a_quantization_has_one_spelling(label: str | None, key: str) -> None:
    assert quantization_key(label) == key


def test_entries_of_a_version_without_stacks_come_back_by_the_command(
    db: None, owner: User, capsys: pytest.CaptureFixture[str]
) -> None:
    for number, overall in enumerate((60.0, 70.0, 50.0)):
        show_run(overall, number=number, owner=owner)
    Entry.objects.update(stack=None, alias=None, owner=None, band_low=None, band_high=None)
    Stack.objects.all().delete()
    assert is_needed()
    for expected in (3, 0):
        call_command("rebuild_stacks")
        assert f"3 entries in 1 stack and 1 league; {expected} moved." in capsys.readouterr().out
        assert shown_score() == 60.0
        assert only_stack().owner_count == 1
        assert Entry.objects.filter(band_low=1).count() == 1
    assert LanguageModel.objects.count() == 1
    assert not is_needed()
