"""An imported result on a site: a person looks at it, it is shown, and it has no rank."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from bench_loop.importers import import_file
from bench_loop.importers.building import Wishes
from bench_loop.result.records import RunResult
from bench_loop.result.store import to_bytes
from leaderboard.publish import publish
from runs.models import Run
from submissions import checks, intake

FILES = Path(__file__).parent.parent / "importers" / "files"


def imported(name: str = "llama-bench-new.json") -> RunResult:
    return import_file(FILES / name, Wishes())[0]


@pytest.mark.parametrize(
    "name",
    [
        "llama-bench-new.json",
        "llama-bench-old.jsonl",
        "results_2026-03-02T18-40-11.json",
        "lm-eval-old.json",
        "speed.jsonl",
    ],
)
def test_every_import_comes_through_the_intake_for_a_person_to_see(name: str) -> None:
    result = intake.parse(to_bytes(imported(name)))
    found = checks.findings(result, datetime.now(UTC))
    assert [(one.severity, one.code) for one in found] == [("needs_review", "imported")]
    assert found[0].sentence.startswith("Not ranked, imported:")
    assert checks.level(found) == "reported"


def test_a_contradiction_in_the_file_is_for_the_moderator_to_read() -> None:
    _, second = import_file(FILES / "speed.jsonl", Wishes())
    found = checks.findings(second, datetime.now(UTC))
    assert [one.code for one in found] == ["imported", "import_contradiction"]


def test_a_changed_figure_no_longer_has_its_fingerprint() -> None:
    result = imported()
    assert result.speed is not None
    faster = result.speed.model_copy(update={"generation_half_width": 0.0})
    changed = result.model_copy(update={"speed": faster})
    found = checks.findings(changed, datetime.now(UTC))
    assert "fingerprint_mismatch" in [one.code for one in found]


@pytest.mark.django_db
def test_an_import_is_shown_without_a_rank() -> None:
    result = imported()
    run = Run.of(result, to_bytes(result), Run.Source.UPLOAD)
    run.save()
    entry = publish(run, level="reported", is_local=False)
    assert not entry.is_ranked
    assert entry.not_ranked_reason == "Imported from llama-bench."
    assert entry.generation_tps == pytest.approx(130.6, abs=0.5)
    assert entry.band_low is None
