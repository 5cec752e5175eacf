"""Runs of a harness that was not run as it is pinned: marked, and in no league of standard ones."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from bench_loop.engine.ranking import league_of
from bench_loop.programs.known import pinned
from bench_loop.result.records import HarnessSettings, RunResult
from bench_loop.result.store import to_bytes
from leaderboard.models import Entry
from leaderboard.publish import columns, publish
from runs.models import Run
from tests.site.make_result import make_harness_settings, make_result, rescored

AIDER = pinned()["aider"]
HOSTILE = "</title><script>alert(1)</script>\x1b[2J"


def made(settings: dict[str, Any] | None = None, **subject: Any) -> RunResult:
    """A run through aider as it is pinned, but for what is given."""
    plain = make_result(
        harness="aider",
        subject={
            "harness_version": AIDER.version,
            "harness_config_hash": AIDER.config_hash,
            **subject,
        },
    )
    told = plain.settings.model_copy(
        update={"harness": make_harness_settings("aider", **(settings or {}))}
    )
    return rescored(plain.model_copy(update={"settings": told}))


def published(result: RunResult) -> Entry:
    run = Run.of(result, to_bytes(result), Run.Source.UPLOAD)
    run.save()
    return publish(run, level="consistent", is_local=False)


CUSTOM = {
    "an option": made({"options": {"edit_format": "whole"}}, harness_config_hash=None),
    "a need overridden": made({"forced": ("context_window",)}),
    "another version": made(harness_version="0.1"),
    "another configuration": made(harness_config_hash=f"sha256:{'0' * 64}"),
}


def test_a_run_as_it_is_pinned_is_standard() -> None:
    assert columns(made())["custom_reason"] == ""
    assert columns(make_result())["custom_reason"] == ""


@pytest.mark.parametrize("result", CUSTOM.values(), ids=CUSTOM.keys())
def test_a_custom_run_is_in_no_league_of_a_standard_one(result: RunResult) -> None:
    assert columns(result)["custom_reason"]
    assert league_of(result) != league_of(made())


def test_a_copied_hash_beside_an_option_that_is_told_does_not_help() -> None:
    forged = made({"options": {"edit_format": "whole"}})
    assert columns(forged)["custom_reason"] == "The option edit_format is whole (pinned: diff)."


def test_who_copies_the_hash_and_hides_the_option_is_not_found_out_and_pages_say_so(
    client: Client, db: None
) -> None:
    entry = published(made())
    assert entry.custom_reason == ""
    page = client.get(entry.get_absolute_url()).content.decode()
    assert "a copied hash of the pinned configuration cannot be told" in page
    assert "a copied hash" in client.get("/submit/").content.decode()


def test_board_and_run_page_mark_a_custom_run_with_the_reason(client: Client, db: None) -> None:
    entry = published(CUSTOM["an option"])
    board = client.get("/").content.decode()
    assert 'title="The option edit_format is whole (pinned: diff)."' in board
    assert ">custom</span>" in board
    page = client.get(entry.get_absolute_url()).content.decode()
    assert "aider 0.86.2 (custom)" in page
    assert "custom: the option edit_format is whole (pinned: diff)." in page


def test_no_page_marks_a_standard_run(client: Client, db: None) -> None:
    entry = published(made())
    for address in ("/", entry.get_absolute_url()):
        page = client.get(address).content.decode()
        assert "(custom)" not in page
        assert ">custom</span>" not in page
    assert "standard" in client.get(entry.get_absolute_url()).content.decode()


def test_custom_runs_can_be_left_out_and_picked(client: Client, db: None) -> None:
    standard, custom = published(made()), published(CUSTOM["another version"])

    def found(query: str) -> list[str]:
        rows = client.get(f"/api/v1/leaderboard/?{query}").json()["results"]
        return [row["id"] for row in rows]

    assert found("custom=false") == [standard.run.public_id]
    assert found("custom=true") == [custom.run.public_id]
    assert len(found("")) == 2


def test_hostile_words_in_an_option_stay_words(client: Client, db: None) -> None:
    option = HarnessSettings(place="direct", limit_rule="x", options={"a<b>": HOSTILE})
    entry = published(made(option.model_dump(exclude={"limit_rule"})))
    for address in ("/", entry.get_absolute_url()):
        page = client.get(address).content.decode()
        assert "<script>alert" not in page
        assert "\x1b" not in page
