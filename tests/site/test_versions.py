"""Runs of other versions: newer ones are refused, earlier ones kept apart from the ranking."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from bench_loop.engine.packs import Pack, load_pack
from bench_loop.engine.ranking import league_of, not_ranked_reason, version_of
from bench_loop.engine.shelf import Shelf
from bench_loop.result.fingerprint import fingerprinted
from bench_loop.result.records import RunResult
from bench_loop.result.upgrades import Upgrades
from bench_loop.scoring.constants import EARLIER_SCORING_VERSIONS, SCORING_VERSION
from leaderboard.models import Entry
from submissions import checks, intake
from submissions.models import Submission
from tests.site.make_result import make_result, to_bytes
from tests.site.uploads import Uploader, refused_fields

OLD_HASH = "sha256:" + "9" * 64


def found(result: RunResult) -> dict[str, str]:
    """Field to severity."""
    return {one.field: one.severity for one in checks.findings(result, timezone.now())}


@pytest.mark.parametrize("version", EARLIER_SCORING_VERSIONS)
def test_a_run_of_earlier_formulas_is_stored_and_not_ranked(
    version: str, uploader: Uploader, moderator: User
) -> None:
    old = make_result(profile="quick").model_copy(update={"scoring_version": version})
    response = uploader.post(to_bytes(old))
    assert response.status_code == 201, response.content
    submission = Submission.objects.get()
    submission.approve(moderator)
    entry = Entry.objects.get()
    assert not entry.is_ranked
    assert entry.not_ranked_reason == (
        f"Scored by version {version}; only version {SCORING_VERSION} is ranked."
    )


def test_scores_of_earlier_formulas_are_not_believed_either() -> None:
    old = make_result().model_copy(update={"scoring_version": EARLIER_SCORING_VERSIONS[0]})
    edited = old.aggregates.model_copy(update={"reliability_score": 12.5})
    forged = old.model_copy(update={"aggregates": edited})
    assert "aggregates.reliability_score" not in found(old)
    assert found(forged)["aggregates.reliability_score"] == "needs_review"


@pytest.mark.parametrize("version", ["1.2", "2.0", "0.1", "", "latest"])
def test_formulas_that_are_not_known_are_refused_with_those_that_are(
    version: str, uploader: Uploader
) -> None:
    result = make_result().model_copy(update={"scoring_version": version})
    response = uploader.post(to_bytes(result))
    [sentence] = refused_fields(response)["scoring_version"]
    assert SCORING_VERSION in sentence
    assert EARLIER_SCORING_VERSIONS[0] in sentence


def test_a_run_of_an_earlier_benchloop_is_not_ranked() -> None:
    old = make_result(profile="quick").model_copy(update={"benchmark_version": "0.0.9"})
    assert "benchmark_version" not in found(old)
    assert not_ranked_reason(old) == "Measured by BenchLoop 0.0.9; only 0.1.0 and later are ranked."


@pytest.mark.parametrize("text", ["", "1", "0.1.x", "1.²", "1." + "9" * 9])
def test_only_numbers_are_a_version(text: str) -> None:
    assert version_of(text) == ((1,) if text == "1" else ())


class OlderShelf(Shelf):
    """The packs as they will be once reasonmath has had a version before this one."""

    def pack(self, name: str) -> Pack:
        pack = load_pack(name)
        return replace(pack, earlier={"0.9": OLD_HASH}) if name == "reasonmath" else pack


def with_suite(result: RunResult, **changes: Any) -> RunResult:
    suites = tuple(
        one.model_copy(update=changes) if one.suite == "reasonmath" else one
        for one in result.suites
    )
    return fingerprinted(result.model_copy(update={"suites": suites}))


@pytest.fixture
def _older_shelf(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("submissions.checks.upload.Shelf", OlderShelf)


@pytest.mark.usefixtures("_older_shelf")
def test_a_run_of_an_earlier_pack_is_stored_for_a_person_and_not_ranked() -> None:
    honest = make_result(profile="quick")
    old = with_suite(honest, version="0.9", pack_hash=OLD_HASH)
    index = [one.suite for one in old.suites].index("reasonmath")
    severities = found(old)
    assert severities[f"suites[{index}].version"] == "needs_review"
    assert "refused" not in severities.values()
    assert not_ranked_reason(honest) == ""
    assert not_ranked_reason(old) == "Made with earlier tasks: reasonmath 0.9."
    assert league_of(old) != league_of(honest)


@pytest.mark.usefixtures("_older_shelf")
@pytest.mark.parametrize(
    "changes",
    [
        {"version": "0.9"},
        {"pack_hash": OLD_HASH},
        {"version": "0.8", "pack_hash": OLD_HASH},
        {"version": "1.1"},
        {"version": "2.0", "pack_hash": OLD_HASH},
    ],
)
def test_a_pack_that_never_was_is_refused(changes: dict[str, str]) -> None:
    forged = with_suite(make_result(), **changes)
    refusals = [one for one in checks.findings(forged, timezone.now()) if one.severity == "refused"]
    assert "unknown_pack" in {one.code for one in refusals}
    if changes.get("version") == "2.0":
        assert any("takes in 0.9" in one.sentence for one in refusals)


def test_an_older_file_comes_through_the_intake_and_one_that_no_step_reads_does_not() -> None:
    def from_before(old: dict[str, Any]) -> dict[str, Any]:
        old["subject"]["model_id"] = old["subject"].pop("model")
        return old

    upgrades = Upgrades({0: from_before}, newest=1)
    new = json.loads(to_bytes(make_result()))
    old = json.loads(to_bytes(make_result())) | {"schema_version": 0}
    with pytest.raises(intake.IntakeError) as caught:
        intake.parse(json.dumps(old).encode(), upgrades)
    assert caught.value.status == 422
    old["subject"]["model"] = old["subject"].pop("model_id")
    read = intake.parse(json.dumps(old).encode(), upgrades)
    assert read.subject.model_id == new["subject"]["model_id"]
