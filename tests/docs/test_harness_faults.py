"""Tests of the table of harnesses and faults: what a row is read as, and what is committed."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bench_loop.gateway.faults import FAULTS
from bench_loop.programs.fault_table import (
    Measured,
    Row,
    Step,
    clean_s,
    fault_table,
    recoveries,
)
from bench_loop.programs.known import all_harnesses
from scripts.harness_faults import MEANING, deeds, page, with_row, written

WHOLE = Step(
    sent_s=0.0, latency_s=1.0, status=200, messages=4, is_answered=True, fault=None, refused=None
)
BROKEN = WHOLE.model_copy(
    update={"status": 500, "is_answered": False, "fault": "http_500", "latency_s": 0.5}
)
GOOD = Row(
    harness="small",
    version="1.0",
    mode=None,
    fault="http_500",
    at=datetime(2026, 1, 1, tzinfo=UTC),
    load=1.0,
    deadline_s=60.0,
    put_in_at=1,
    is_file_right=True,
    has_last_words=True,
    requests=2,
    first_prompt_tokens=100,
    prompt_tokens=1200,
    tools_offered=3,
    wall_s=5.0,
    model_s=1.5,
    tools_s=0.5,
    leftovers=0,
    is_ended=False,
    failure=None,
    final_text="Done",
    steps=(BROKEN,),
)


def row(**changes: object) -> Row:
    return GOOD.model_copy(update=changes)


def did(*steps: Step, **changes: object) -> list[str]:
    return list(deeds(row(steps=steps, **changes)))


def at(sent_s: float, messages: int) -> Step:
    return WHOLE.model_copy(update={"sent_s": sent_s, "messages": messages})


def test_a_wrong_file_or_missing_words_are_no_recovery() -> None:
    assert GOOD.is_recovered
    assert not row(is_file_right=False).is_recovered
    assert not row(has_last_words=False).is_recovered


def test_the_harnesses_own_time_is_that_without_model_and_tools() -> None:
    assert GOOD.harness_s == 3.0
    assert row(tools_s=None).harness_s == 3.5


def test_a_request_of_the_same_length_is_the_same_again() -> None:
    assert did(BROKEN, at(1.5, 4), at(3.0, 4)) == [
        "asked the same again 2 times, first after 1.0 s"
    ]


def test_a_longer_request_after_no_answer_is_asked_again_with_more() -> None:
    assert did(BROKEN, at(1.5, 5)) == ["asked again, 1 message longer, once, first after 1.0 s"]


def test_a_longer_request_after_an_answer_goes_on() -> None:
    stalled = WHOLE.model_copy(update={"fault": "stall"})
    assert did(stalled, at(1.5, 6)) == ["went on with the conversation"]


def test_its_end_is_told_unless_it_is_the_right_one() -> None:
    refused = at(9.0, 4).model_copy(update={"refused": "turns"})
    assert did(BROKEN, refused, final_text="", has_last_words=False) == [
        "asked no more",
        "was refused 1 requests",
        "ended without an answer",
    ]
    assert did(BROKEN, is_ended=True) == ["asked no more", "did not come to an end"]
    assert did(BROKEN, has_last_words=False)[-1] == "ended with the words: Done"


def test_one_that_was_ended_at_once_was_given_no_time() -> None:
    cut_off = row(is_ended=True, has_last_words=False, wall_s=60.0)
    late = BROKEN.model_copy(update={"sent_s": 55.0})
    assert cut_off.is_told
    assert not cut_off.model_copy(update={"steps": (WHOLE, late)}).is_told
    assert row(has_last_words=False, steps=(WHOLE, late)).is_told


def test_a_row_takes_the_place_of_the_older_one() -> None:
    first = with_row(None, GOOD)
    second = with_row(with_row(first, row(fault=None)), row(requests=9))
    assert [(one.fault, one.requests) for one in second.rows] == [(None, 2), ("http_500", 9)]


def test_what_is_written_is_read_back() -> None:
    measured = with_row(with_row(None, GOOD), row(fault=None))
    assert Measured.model_validate_json(written(measured)) == measured
    assert len(written(measured).splitlines()) == 4


def test_a_cell_says_recovery_and_seconds_or_that_there_was_no_fault() -> None:
    measured = with_row(None, GOOD)
    for other in (row(fault="stall", is_file_right=False), row(fault="tool_error", put_in_at=None)):
        measured = with_row(measured, other)
    line = next(one for one in page(measured).splitlines() if one.startswith("| small |"))
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells[2:4] == ["yes 5 s", "**no** 5 s"]
    assert cells[-1] == "n/a"


def test_every_fault_is_explained() -> None:
    assert set(MEANING) == set(FAULTS)


@pytest.mark.parametrize("fault", [None, *FAULTS])
def test_the_committed_table_has_every_harness_at_its_pinned_version(fault: str | None) -> None:
    measured = fault_table()
    assert measured is not None
    pinned = {
        one.adapter.name: one.adapter.version
        for one in all_harnesses()
        if one.adapter.installation is not None
    }
    assert {one.harness: one.version for one in measured.rows if one.fault == fault} == pinned


def test_the_version_that_was_measured_recovers_as_its_rows_say() -> None:
    measured = fault_table()
    assert measured is not None
    found = recoveries()
    for first in measured.rows:
        one = found[first.harness, first.version]
        rows = [row for row in measured.rows if row.harness == first.harness and row.fault]
        placed = [row for row in rows if row.put_in_at is not None and row.is_told]
        assert (one.recovered, one.tried) == (
            sum(row.is_recovered for row in placed),
            len(placed),
        )
    assert any(one.tried < len(FAULTS) for one in found.values())


def test_of_another_version_nothing_is_known() -> None:
    measured = fault_table()
    assert measured is not None
    first = next(row for row in measured.rows if row.fault is None)
    assert clean_s(first.harness, first.version) == first.wall_s
    assert clean_s(first.harness, f"{first.version}.1") is None
    assert (first.harness, f"{first.version}.1") not in recoveries()
    assert ("raw", "1") not in recoveries()
