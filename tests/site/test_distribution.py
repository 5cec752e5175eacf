"""Where a run stands among others: how many they are, their median, and which are left out."""

from __future__ import annotations

from leaderboard.models import Entry
from leaderboard.publish import withdraw
from submissions.distribution import same_stack, strips
from tests.site.published import show_run, store_run


def test_n_and_median_are_those_of_the_other_shown_runs(db: None) -> None:
    entries = [show_run(60.0, number=number) for number in range(5)]
    for entry, rate in zip(entries, (10.0, 20.0, 30.0, 50.0, 1000.0), strict=True):
        Entry.objects.filter(pk=entry.pk).update(generation_tps=rate, quality_score=rate / 10)
    show_run(60.0, number=7, model_id="gemma3:4b")
    withdraw(entries[4].run, "mistake")
    run = store_run(60.0, number=6)
    _, others = same_stack(run)
    found = {strip.name: strip for strip in strips(run, others)}
    generation = found["generation"]
    assert (generation.n, generation.median) == (4, "25.0")
    assert (generation.low, generation.high) == ("10.0", "50.0")
    assert found["quality"].n == 4


def test_quality_stands_beside_the_same_work_only(db: None) -> None:
    first, second = show_run(60.0), show_run(60.0, number=1)
    Entry.objects.update(generation_tps=10.0, quality_score=50.0)
    Entry.objects.filter(pk=second.pk).update(league="another", quality_score=99.0)
    run = store_run(60.0, number=2)
    found = {strip.name: strip for strip in strips(run, same_stack(run)[1])}
    assert (found["generation"].n, found["quality"].n) == (2, 1)
    assert found["quality"].median == "50.0"
    assert first.league != "another"
