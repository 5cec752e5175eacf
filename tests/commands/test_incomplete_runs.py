"""How `run` ends when not all of its plan was measured."""

from __future__ import annotations

from bench_loop.commands._benchmark import incomplete
from bench_loop.engine.plan import make_plan
from tests.result.documents import read

STOPPED = read(status="incomplete", status_reason="The server failed in 2 of 9 trials.")


def test_a_server_that_failed_is_a_provider_error_with_the_reason() -> None:
    error = incomplete(STOPPED, lacks_sandbox=False)
    assert error.exit_code == 5
    assert error.message == "The run is incomplete: The server failed in 2 of 9 trials."


def test_a_missing_sandbox_is_a_fault_of_the_machine_and_names_the_remedy() -> None:
    error = incomplete(STOPPED, lacks_sandbox=True)
    assert error.exit_code == 3
    assert error.remedy is not None
    assert "bubblewrap" in error.remedy


def test_only_suites_that_run_code_need_a_sandbox() -> None:
    assert make_plan(suites=["reasonmath", "coding"]).needs_sandbox
    assert not make_plan(suites=["reasonmath"]).needs_sandbox
