"""Tests of one trial of a harness alone, with a harness of the tests' own."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench_loop.gateway.http import HttpUpstream
from bench_loop.programs.attempt import Attempt, Bounds, attempt
from bench_loop.programs.check import FILE, MENDED, TASK, script_for
from bench_loop.simulator.scripted import scripted_model
from tests.fakes.small_harness import Adapter, lay_down

pytestmark = pytest.mark.real


def tried(folder: Path, ways: str = "none", requests: int = 30) -> Attempt:
    adapter = Adapter(ways)
    with scripted_model(script_for(adapter)) as model:
        bounds = Bounds(model.model_id, 30.0, requests=requests)
        upstream = HttpUpstream(model.address)
        return attempt(adapter, lay_down(folder / "small"), TASK, upstream, bounds, "direct")


def test_it_holds_the_result_and_every_request(tmp_path: Path) -> None:
    done = tried(tmp_path)
    assert (done.result.files or {})[FILE] == MENDED.encode()
    assert [request.status for request in done.sent] == [200] * 4
    assert done.prompt_tokens == sum(request.tokens.prompt or 0 for request in done.sent)
    assert all(request.changes for request in done.sent), "temperature and seed are pinned"


def test_a_request_beyond_the_bound_is_not_among_those_sent(tmp_path: Path) -> None:
    done = tried(tmp_path, requests=2)
    assert [request.refused for request in done.requests[:3]] == [None, None, "turns"]
    assert len(done.sent) == 2


def test_without_any_request_no_tokens_are_known(tmp_path: Path) -> None:
    done = tried(tmp_path, "idle")
    assert (done.requests, done.prompt_tokens) == ((), None)


def test_a_harness_that_breaks_has_its_failure_for_a_result(tmp_path: Path) -> None:
    done = tried(tmp_path, "crash")
    assert done.result.failure is not None
    assert done.result.files is None
