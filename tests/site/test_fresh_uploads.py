"""Uploads of fresh and of private runs: drawn again and compared, or refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bench_loop.engine.ranking import league_of, not_ranked_reason
from bench_loop.report.ranks import rank_runs
from bench_loop.result.fingerprint import fingerprinted
from bench_loop.result.records import RunResult
from submissions import checks
from submissions.checks import Finding
from submissions.intake import IntakeError, parse
from tests.engine.fresh_packs import official_packs
from tests.site.make_result import make_document, make_result, rescored

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
DONE = NOW - timedelta(hours=1)


@pytest.fixture(autouse=True)
def packs(tmp_path: Path) -> Iterator[Path]:
    with official_packs(tmp_path / "packs") as folder:
        yield folder


def refusals(result: RunResult) -> dict[str, Finding]:
    return {one.field: one for one in checks.findings(result, NOW) if one.severity == "refused"}


def fresh(seed: int = 7, **changes: Any) -> RunResult:
    return make_result(finished_at=DONE, profile="quick", fresh_seed=seed, **changes)


def with_seed(result: RunResult, seed: int | None) -> RunResult:
    settings = result.settings.model_copy(update={"fresh_seed": seed})
    return fingerprinted(result.model_copy(update={"settings": settings}))


def with_trial(result: RunResult, **changes: Any) -> RunResult:
    """`result` with its last trial changed and every score made to fit."""
    trials = (*result.trials[:-1], result.trials[-1].model_copy(update=changes))
    return rescored(result.model_copy(update={"trials": trials}))


@pytest.mark.parametrize("profile", ["quick", "core"])
def test_an_honest_fresh_run_has_no_finding(profile: str) -> None:
    result = make_result(finished_at=DONE, profile=profile, fresh_seed=7)
    assert {suite.suite for suite in result.suites} == {"speed", "sums"}
    assert [one for one in checks.findings(result, NOW) if one.severity != "note"] == []
    assert result.aggregates.quality_score == 100


def test_an_honest_fresh_run_of_picked_suites_has_no_finding() -> None:
    result = make_result(finished_at=DONE, suites=["sums"], fresh_seed=7)
    assert [one for one in checks.findings(result, NOW) if one.severity != "note"] == []


@pytest.mark.parametrize("seed", [8, None])
def test_a_seed_that_does_not_fit_the_tasks_is_refused(seed: int | None) -> None:
    found = refusals(with_seed(fresh(), seed))
    at = next(i for i, suite in enumerate(fresh().suites) if suite.suite == "sums")
    assert f"suites[{at}].pack_hash" in found
    assert any(one.code == "unknown_task" for one in found.values())
    if seed is not None:
        assert "not what the seed 8 draws" in found[f"suites[{at}].pack_hash"].sentence


def test_official_tasks_under_a_seed_are_refused() -> None:
    frozen = make_result(finished_at=DONE, suites=["sums"])
    assert "suites[0].pack_hash" in refusals(with_seed(frozen, 7))


@pytest.mark.parametrize("seed", [-1, 2**31, 2**53 - 1, "7", 7.5])
def test_what_is_no_seed_does_not_come_in(seed: object) -> None:
    document = make_document(finished_at=DONE, suites=["sums"], fresh_seed=7)
    document["settings"]["fresh_seed"] = seed
    with pytest.raises(IntakeError) as refused:
        parse(json.dumps(document).encode())
    assert "settings.fresh_seed" in "".join(refused.value.fields)


def test_an_altered_task_is_refused() -> None:
    result = with_trial(fresh(), prompt_hash="sha256:" + "1" * 64)
    (found,) = refusals(result).values()
    assert (found.code, found.field.rpartition(".")[2]) == ("task_mismatch", "prompt_hash")


def test_an_altered_hash_of_the_pack_is_refused() -> None:
    result = fresh()
    suites = tuple(
        suite.model_copy(update={"pack_hash": "sha256:" + "1" * 64}) for suite in result.suites
    )
    found = refusals(fingerprinted(result.model_copy(update={"suites": suites})))
    assert {one.code for one in found.values()} == {"unknown_pack"}


@pytest.mark.parametrize("family", [None, "large", "another"])
def test_a_family_that_is_not_the_tasks_is_refused(family: str | None) -> None:
    """It would make the run look surer than it is."""
    found = refusals(with_trial(fresh(), family=family))
    assert [one.field.rpartition(".")[2] for one in found.values()] == ["family"]


def test_a_frozen_task_has_no_family() -> None:
    frozen = make_result(finished_at=DONE, profile="quick")
    found = refusals(with_trial(frozen, family="small"))
    assert [one.field.rpartition(".")[2] for one in found.values()] == ["family"]


def test_a_wrong_answer_to_a_fresh_task_stays_wrong() -> None:
    result = with_trial(fresh(), output="ANSWER: 317")
    codes = {one.code for one in refusals(result).values()}
    assert codes == {"verdict_mismatch", "score_mismatch"}


def test_a_count_of_left_out_tasks_is_computed_again() -> None:
    result = fresh()
    suites = tuple(
        suite.model_copy(update={"left_out_count": 0}) if suite.suite == "sums" else suite
        for suite in result.suites
    )
    found = refusals(fingerprinted(result.model_copy(update={"suites": suites})))
    assert [field.rpartition(".")[2] for field in found] == ["left_out_count"]


def test_a_family_that_gives_nothing_is_a_refusal_and_no_failure(packs: Path) -> None:
    result = fresh()
    with official_packs(packs.parent / "there") as there:
        file = there / "sums" / "families" / "small.py"
        file.write_text(file.read_text().replace("    value =", "    return None\n    value ="))
        found = refusals(result)
    assert found["settings.fresh_seed"].sentence == "This seed gives no fresh instances of sums."


@pytest.mark.parametrize("name", ["sums", "chores"])
def test_a_private_pack_is_refused_whatever_its_name(name: str) -> None:
    result = make_result(finished_at=DONE, suites=["sums"])
    suite = result.suites[0].model_copy(update={"suite": name, "is_private": True})
    found = refusals(fingerprinted(result.model_copy(update={"suites": (suite,)})))
    assert found["suites[0].is_private"].code == "private_pack"


def test_a_private_pack_without_its_mark_is_unknown() -> None:
    result = make_result(finished_at=DONE, suites=["sums"])
    suite = result.suites[0].model_copy(update={"suite": "chores"})
    found = refusals(fingerprinted(result.model_copy(update={"suites": (suite,)})))
    assert found["suites[0].suite"].code == "unknown_suite"


def test_fresh_and_private_runs_stand_on_no_board() -> None:
    assert "seed 7" in not_ranked_reason(fresh())
    frozen = make_result(finished_at=DONE, profile="quick")
    suites = tuple(suite.model_copy(update={"is_private": True}) for suite in frozen.suites)
    private = frozen.model_copy(update={"suites": suites})
    assert not_ranked_reason(private) == "Private packs are never ranked."
    assert not_ranked_reason(frozen) != not_ranked_reason(fresh())


def test_runs_of_one_seed_are_ranked_among_themselves_only() -> None:
    runs = [
        make_result(finished_at=DONE, profile="quick"),
        fresh(),
        fresh(model_id="other:8b"),
        fresh(8),
    ]
    assert len({league_of(run) for run in runs}) == 3
    ranks = rank_runs(runs)
    together = [sorted(place.index for place in league.places) for league in ranks.leagues]
    assert sorted(together) == [[0], [1, 2], [3]]
