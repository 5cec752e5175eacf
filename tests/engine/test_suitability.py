"""Tests of what runs where."""

from __future__ import annotations

import pytest

from bench_loop.commands._setup import load_harness
from bench_loop.config import bundled
from bench_loop.engine.packs import load_pack, pack_names
from bench_loop.engine.suitability import refuse_unless_able, table, way_of, why_not
from bench_loop.errors import UsageError
from bench_loop.registry import names

PACKS = [load_pack(name) for name in pack_names()]
ADAPTERS = [load_harness(name) for name in names(bundled("harnesses"))]
TEXT_SUITES = ("reasonmath", "instructfollow", "dataextract", "loop_schema", "coding")


@pytest.mark.parametrize(
    ("suite", "way"),
    [
        *((suite, "question") for suite in TEXT_SUITES),
        ("agent", "workspace"),
        ("toolcall", "given_tools"),
    ],
)
def test_every_task_of_a_suite_is_put_in_one_way(suite: str, way: str) -> None:
    assert {way_of(task) for task in load_pack(suite).tasks} == {way}


def test_text_suites_run_in_every_harness() -> None:
    cells = [cell for cell in table(PACKS, ADAPTERS) if cell.suite in TEXT_SUITES]
    assert len(cells) == len(TEXT_SUITES) * len(ADAPTERS)
    assert not [cell for cell in cells if cell.why_not]


def test_raw_runs_everything() -> None:
    assert not [cell for cell in table(PACKS, ADAPTERS) if cell.harness == "raw" and cell.why_not]


def test_what_is_lacking_is_said() -> None:
    task = load_pack("toolcall").tasks[0]
    assert why_not(task, {"plain_answer", "multi_turn"}) == "it takes no tools but its own"


def test_the_first_capability_that_is_lacking_is_the_one_named() -> None:
    task = load_pack("agent").tasks[0]
    assert why_not(task, {"plain_answer"}) == "it has no tool that reads files"


def test_a_run_of_nothing_that_the_harness_can_do_is_refused() -> None:
    with pytest.raises(UsageError, match="aider can do none of these tasks: it takes no tools"):
        refuse_unless_able(load_harness("aider"), [load_pack("toolcall")])


def test_one_suite_that_it_can_do_is_enough() -> None:
    refuse_unless_able(load_harness("aider"), [load_pack("toolcall"), load_pack("reasonmath")])
