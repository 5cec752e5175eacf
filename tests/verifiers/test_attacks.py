"""Thirteen ways to be judged right without being right, against each way to judge code.

"" is a fail as it should be, "caught" a fail that names the tampering, "fooled" a pass.
"""

from __future__ import annotations

import pytest

from bench_loop.contracts.sandbox import Sandbox
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.contracts.verifier import Output, TaskScore
from bench_loop.verifiers.judging import judge
from tests.verifiers.attacks import ATTACKS, RIGHT, WRONG
from tests.verifiers.cases import code_task

TESTS = """
from solution import total

def test_none():
    assert total([]) == 0

def test_some():
    assert total([1, 2]) == 3

def test_more():
    assert total([5, 4, 9]) == 18
"""
CANARIES = """
def test_canary_a():
    assert total([1, 2]) == 4

def test_canary_b():
    assert total([5, 4, 9]) == 17
"""
IDS = ["test_none", "test_some", "test_more"]

ARRANGEMENTS: dict[str, BenchmarkTask] = {
    "values_out": code_task(
        cases=[
            {"args": [[]], "value": 0},
            {"args": [[1, 2]], "value": 3},
            {"args": [[5, 4, 9]], "value": 18},
        ]
    ),
    "rpc_stub": code_task(tests={"source": TESTS, "ids": IDS}),
    "in_process": code_task(
        tests={
            "source": TESTS + CANARIES,
            "ids": IDS,
            "in_process": True,
            "canaries": ["test_canary_a", "test_canary_b"],
        }
    ),
}

IN_PROCESS = {
    "patches the runner of tests": "caught",
    "patches the reports to passed": "caught",
    "returns an object equal to everything": "caught",
    "takes the expected value from the caller's frame": "caught",
    "finds word and channel in memory, forges records": "caught",
    "the same, also reads the tests and spares the canaries": "fooled",
    "writes forged messages on the value channel": "caught",
}
"""What cannot be had in one process: hence the label, and the other two ways."""


def judged(code: str, arrangement: str, sandbox: Sandbox) -> TaskScore:
    output = Output(text=f"```python\n{code}```", convention="fenced_code")
    return judge(output, ARRANGEMENTS[arrangement], sandbox)


def column(verdict: TaskScore) -> str:
    assert verdict.verifier is not None
    if verdict.verifier.tampered:
        assert (verdict.outcome, verdict.reason) == ("fail", "tampered")
        return "caught"
    return "fooled" if verdict.outcome == "pass" else ""


@pytest.mark.parametrize("arrangement", ["values_out", "rpc_stub"])
@pytest.mark.parametrize("attack", ATTACKS)
def test_values_compared_outside_are_never_fooled(
    attack: str, arrangement: str, sandbox: Sandbox
) -> None:
    assert column(judged(ATTACKS[attack], arrangement, sandbox)) == ""


@pytest.mark.parametrize("attack", ATTACKS)
def test_beside_the_code_the_table_is_as_documented(attack: str, sandbox: Sandbox) -> None:
    found = column(judged(ATTACKS[attack], "in_process", sandbox))
    assert found == IN_PROCESS.get(attack, "")


@pytest.mark.parametrize("arrangement", ARRANGEMENTS)
def test_honest_programs_are_judged_rightly(arrangement: str, sandbox: Sandbox) -> None:
    right, wrong = (judged(code, arrangement, sandbox) for code in (RIGHT, WRONG))
    assert (right.outcome, wrong.outcome) == ("pass", "fail")
    assert [one.verifier.kind for one in (right, wrong) if one.verifier] == [arrangement] * 2


def test_the_number_of_canaries_is_recorded(sandbox: Sandbox) -> None:
    verdict = judged(RIGHT, "in_process", sandbox)
    assert verdict.verifier is not None
    assert (verdict.verifier.canaries, verdict.verifier.tampered) == (2, False)


def test_there_are_thirteen_attacks() -> None:
    assert len(ATTACKS) == 13
