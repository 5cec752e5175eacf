"""The attacks on verdicts once more, where code runs in containers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bench_loop.contracts.sandbox import Sandbox
from bench_loop.sandboxes.ladder import open_sandbox
from tests.components import need_docker
from tests.verifiers.attacks import ATTACKS, RIGHT, WRONG
from tests.verifiers.test_attacks import ARRANGEMENTS, IN_PROCESS, column, judged

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def docker() -> Iterator[Sandbox]:
    need_docker()
    opened = open_sandbox("docker")
    yield opened
    opened.close()


@pytest.mark.parametrize("arrangement", ["values_out", "rpc_stub"])
@pytest.mark.parametrize("attack", ATTACKS)
def test_values_compared_outside_cannot_be_forged(
    attack: str, arrangement: str, docker: Sandbox
) -> None:
    assert column(judged(ATTACKS[attack], arrangement, docker)) == ""


@pytest.mark.parametrize("attack", ATTACKS)
def test_beside_the_code_the_table_is_as_documented(attack: str, docker: Sandbox) -> None:
    assert column(judged(ATTACKS[attack], "in_process", docker)) == IN_PROCESS.get(attack, "")


@pytest.mark.parametrize("arrangement", ARRANGEMENTS)
def test_honest_programs_are_judged_rightly(arrangement: str, docker: Sandbox) -> None:
    right, wrong = (judged(code, arrangement, docker) for code in (RIGHT, WRONG))
    assert (right.outcome, wrong.outcome) == ("pass", "fail")
