"""Which hidden cases catch which near misses of a coding task; run here, as it is all our own."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from itertools import permutations
from typing import Any

from bench_loop.contracts.task import BenchmarkTask
from bench_loop.verifiers.code import find_code


def passes(code: str, name: str, case: Mapping[str, Any]) -> bool:
    """Whether the function `name` of `code` gives what the case expects."""
    space: dict[str, Any] = {}
    exec(code, space)
    args = deepcopy(list(case["args"]))
    try:
        value = space[name](*args)
    except Exception as error:
        return type(error).__name__ == case.get("raises")
    is_left = not case.get("leaves_arguments") or args == list(case["args"])
    return "raises" not in case and bool(value == case["value"]) and is_left


def faults(task: BenchmarkTask) -> list[str]:
    """Cases that catch nothing, and near misses that no case tells from some other one.

    A case with an empty first argument, whose value a prompt states, may catch nothing.
    """
    name, cases = task.expected["function"], task.expected["cases"]
    caught: dict[str, set[int]] = {}
    for miss in task.near_misses:
        assert isinstance(miss.output, str)
        code = find_code(miss.output, name).text
        if code is not None:
            caught[miss.why] = {at for at, case in enumerate(cases) if not passes(code, name, case)}
    filled = {at for at, case in enumerate(cases) if case["args"][0] or case["args"][0] == 0}
    idle = filled - set().union(*caught.values())
    return [f"case {at} catches nothing" for at in sorted(idle)] + [
        f"no case catches {one!r} and lets {other!r} pass"
        for one, other in permutations(caught, 2)
        if caught[one] <= caught[other]
    ]
