"""The check of an installed harness, with a harness of the tests' own."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench_loop.contracts.harness import HarnessRunResult
from bench_loop.programs.check import COPY, FILE, LAST_WORDS, MENDED, Checked, check, faults
from tests.components import need_bubblewrap
from tests.fakes.small_harness import Adapter, lay_down

GOOD = HarnessRunResult(
    final_text=LAST_WORDS,
    files={FILE: MENDED.encode(), COPY: MENDED.encode()},
    files_changed=(FILE, COPY),
)


def wrong(made: HarnessRunResult, *, passed: int = 4, asked: int = 4) -> list[str]:
    return list(faults(Adapter(), made, passed=passed, asked=asked))


def test_a_task_that_is_done_has_no_faults() -> None:
    assert wrong(GOOD) == []


def test_requests_that_went_another_way_are_a_fault() -> None:
    assert wrong(GOOD, passed=3) == ["The gateway passed 3 requests, and the model got 4."]


def test_a_file_that_holds_something_else_is_told_from_one_left_alone() -> None:
    other = HarnessRunResult(
        final_text=LAST_WORDS, files={FILE: b"other", COPY: b""}, files_changed=(FILE,)
    )
    alone = HarnessRunResult(final_text=LAST_WORDS, files={FILE: b"other", COPY: b""})
    assert wrong(other) == [f"It wrote something else to {FILE} than the model said."]
    assert wrong(alone) == [f"It left {FILE} as it was."]


def test_a_limit_is_told() -> None:
    assert "It reached the limit of the check (wall)." in wrong(
        HarnessRunResult(final_text="", limit="wall")
    )


def checked(tmp_path: Path, ways: str = "none") -> Checked:
    return check(Adapter(ways), lay_down(tmp_path / "small"), "direct")


@pytest.mark.real
def test_a_harness_that_works_has_no_faults(tmp_path: Path) -> None:
    done = checked(tmp_path)
    assert done.faults == ()
    assert done.requests == 4
    assert done.prompt_tokens is not None
    assert done.prompt_tokens > 0
    assert 0 < done.wall_s < 30


@pytest.mark.real
def test_it_works_in_a_sandbox_too(tmp_path: Path) -> None:
    need_bubblewrap()
    done = check(Adapter(), lay_down(tmp_path / "small"), "bubblewrap")
    assert (done.faults, done.place) == ((), "bubblewrap")


@pytest.mark.real
@pytest.mark.parametrize(
    ("ways", "fault"),
    [
        ("crash", "It says that it failed: small ended badly: it crashed"),
        ("idle", "It asked the model nothing."),
        ("deaf", f"It left {FILE} as it was."),
        ("mute", "It did not hand back the model's last words."),
    ],
)
def test_a_harness_that_does_not_work_is_found_out(ways: str, fault: str, tmp_path: Path) -> None:
    assert fault in checked(tmp_path, ways).faults
