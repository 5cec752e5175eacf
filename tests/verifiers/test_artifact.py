"""Artifacts: hidden calls, hidden tests and workspaces, judged outside of what they judge."""

from __future__ import annotations

import time
from typing import Any

import pytest

from bench_loop.contracts.sandbox import Sandbox
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.contracts.verifier import Output, TaskScore
from bench_loop.errors import PackError, SandboxError
from bench_loop.verifiers.artifact import check, trusted
from bench_loop.verifiers.judging import judge, needs_sandbox
from tests.verifiers.cases import code_task, make_task

ONE = [{"args": [[1, 2]], "value": 3}]


def run(code: str, sandbox: Sandbox, **expected: Any) -> TaskScore:
    output = Output(text=f"```python\n{code}\n```", convention="fenced_code")
    return judge(output, code_task(**(expected or {"cases": ONE})), sandbox)


GOOD = {
    "a future import": """
from __future__ import annotations
def total(numbers: list[int]) -> int:
    return sum(numbers)
""",
    "io.StringIO": """
import io
def total(numbers):
    out = io.StringIO()
    print(sum(numbers), file=out)
    return int(out.getvalue())
""",
    "threads and the monotonic clock": """
import threading, time
def total(numbers):
    time.monotonic()
    found = []
    thread = threading.Thread(target=lambda: found.append(sum(numbers)))
    thread.start()
    thread.join()
    return found[0]
""",
    "its own name, and prints": """
def total(numbers):
    print(total.__name__, "FAIL")
    return sum(numbers)
""",
    "recursion": """
import sys
sys.setrecursionlimit(5000)
def total(numbers):
    return numbers[0] + total(numbers[1:]) if numbers else 0
""",
    "an object that can be called": """
class Adder:
    def __call__(self, numbers):
        return sum(numbers)
total = Adder()
""",
    "a dataclass": """
from dataclasses import dataclass
@dataclass
class Numbers:
    all: list
def total(numbers):
    return sum(Numbers(numbers).all)
""",
    "a main block": """
def total(numbers):
    return sum(numbers)

if __name__ == "__main__":
    raise SystemExit(1)
""",
}


@pytest.mark.parametrize("code", GOOD.values(), ids=GOOD.keys())
def test_normal_good_code_passes(code: str, sandbox: Sandbox) -> None:
    verdict = run(code, sandbox)
    assert (verdict.outcome, verdict.reason) == ("pass", None)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("def total(numbers):\n    return '3'", "wrong_value"),
        ("def total(numbers):\n    return True", "wrong_value"),
        ("def total(numbers):\n    return [3]", "wrong_value"),
        ("def total(numbers):\n    yield 3", "wrong_value"),
        ("def total(numbers):\n    return 1 / 0", "exception"),
        ("import missing\ndef total(numbers):\n    return 3", "exception"),
        ("def total(numbers)\n    return 3", "syntax_error"),
        ("def total(numbers):\n    while True: pass", "time_limit"),
        ("def total(numbers):\n    return 9**9**9", "time_limit"),
        ("def total(numbers):\n    return [0] * 10**10", "exception"),
        ("import os\ndef total(numbers):\n    os._exit(0)", "crashed"),
        ("def total(numbers):\n    a = []\n    a.append(a)\n    return a", "wrong_value"),
        ("def total(numbers):\n    return list(range(10**6))", "wrong_value"),
        ("def total(numbers):\n    return chr(0xd800)", "wrong_value"),
        ("def total(numbers):\n    return float('nan')", "wrong_value"),
    ],
)
def test_wrong_code_fails_for_its_reason(code: str, reason: str, sandbox: Sandbox) -> None:
    verdict = run(code, sandbox)
    assert (verdict.outcome, verdict.reason, verdict.score) == ("fail", reason, 0.0)
    assert verdict.answer is not None


def test_a_shell_command_of_the_code_reaches_nothing(sandbox: Sandbox, tmp_path: Any) -> None:
    target = tmp_path / "marker"
    code = f"import os\nos.system('touch {target}')\ndef total(numbers):\n    return sum(numbers)"
    assert run(code, sandbox).outcome == "pass"
    assert not target.exists()


def test_values_keep_their_types(sandbox: Sandbox) -> None:
    code = (
        "import datetime\ndef total(kind):\n    return {'t': (1, 2), 's': {1, 2}, 'b': b'ab',\n"
        "        'd': datetime.date(2025, 1, 31), 'm': {1: 'x'}, 'n': None, 'f': 0.1 + 0.2}[kind]"
    )
    right = {
        "t": {"$tuple": [1, 2]},
        "s": {"$set": [2, 1]},
        "b": {"$bytes": "6162"},
        "d": {"$date": "2025-01-31"},
        "n": None,
        "f": 0.3,
    }
    cases = [{"args": [kind], "value": value} for kind, value in right.items()]
    assert run(code, sandbox, cases=cases).outcome == "pass"
    for kind, value in {"t": [1, 2], "s": [1, 2], "b": "ab", "d": "2025-01-31", "n": 0}.items():
        assert run(code, sandbox, cases=[{"args": [kind], "value": value}]).reason == "wrong_value"
    assert run(code, sandbox, cases=[{"args": ["m"], "value": {"1": "x"}}]).reason == "wrong_value"


def test_exceptions_are_known_by_builtin_class(sandbox: Sandbox) -> None:
    cases = [{"args": [[]], "raises": "ValueError"}]
    codes = {
        "def total(n): raise ValueError": None,
        "import json\ndef total(n): json.loads('x')": None,
        "class ValueError(Exception): pass\ndef total(n): raise ValueError": "wrong_exception",
        "def total(n): raise KeyError": "wrong_exception",
        "def total(n): return ValueError": "no_exception",
    }
    assert {code: run(code, sandbox, cases=cases).reason for code in codes} == codes


def test_arguments_may_have_to_stay_as_they_were(sandbox: Sandbox) -> None:
    cases = [{"args": [[2, 1]], "value": 3, "leaves_arguments": True}]
    code = "def total(numbers):\n    numbers.sort()\n    return sum(numbers)"
    assert run(code, sandbox, cases=cases).reason == "changed_arguments"


STATEFUL = """
import pytest
from solution import total, Counter

def test_objects_generators_and_errors():
    counter = Counter(2)
    counter.add(3)
    assert counter.value == 5
    assert [n for n in counter.each()] == [2, 3]
    assert total(list(counter.each())) == 5
    with pytest.raises(ValueError):
        counter.add(-1)

def test_objects_are_equal_to_themselves_only():
    assert Counter(1) != Counter(1)
"""
COUNTER = """
class Counter:
    def __init__(self, start):
        self.seen = [start]
    @property
    def value(self):
        return sum(self.seen)
    def add(self, n):
        if n < 0:
            raise ValueError(n)
        self.seen.append(n)
    def each(self):
        yield from self.seen
    def __eq__(self, other):
        return True
    __hash__ = None
def total(numbers):
    return sum(numbers)
"""


def test_tests_that_need_objects_run_outside_against_a_stub(sandbox: Sandbox) -> None:
    ids = ["test_objects_generators_and_errors", "test_objects_are_equal_to_themselves_only"]
    verdict = run(COUNTER, sandbox, tests={"source": STATEFUL, "ids": ids})
    assert verdict.outcome == "pass"
    assert verdict.verifier is not None
    assert verdict.verifier.kind == "rpc_stub"
    broken = COUNTER.replace("self.seen.append(n)", "pass")
    verdict = run(broken, sandbox, tests={"source": STATEFUL, "ids": ids})
    assert verdict.reason == "hidden_test"


def test_a_crash_is_no_exception_that_a_test_may_expect(sandbox: Sandbox) -> None:
    source = (
        "import pytest\nfrom solution import total\n"
        "def test_it():\n    with pytest.raises(BaseException):\n        total([])\n"
    )
    code = "import os\ndef total(n): os._exit(1)"
    verdict = run(code, sandbox, tests={"source": source, "ids": ["test_it"]})
    assert (verdict.outcome, verdict.reason) == ("fail", "crashed")


def test_without_a_sandbox_code_is_never_run(tmp_path: Any) -> None:
    target = tmp_path / "marker"
    code = f"open({str(target)!r}, 'w').close()\ndef total(n): return 3"
    output = Output(text=f"```python\n{code}\n```", convention="fenced_code")
    task = code_task(cases=ONE)
    assert needs_sandbox(task)
    with pytest.raises(SandboxError, match="sandbox"):
        judge(output, task)
    with pytest.raises(SandboxError):
        judge(output.model_copy(update={"text": ""}), task)
    assert not target.exists()


def test_endless_output_of_the_code_changes_nothing(sandbox: Sandbox) -> None:
    code = (
        "import os\ndef total(numbers):\n    for _ in range(200):\n"
        "        print('PASS' * 10000); os.write(2, b'x' * 10000)\n    return sum(numbers)"
    )
    started = time.monotonic()
    assert run(code, sandbox).outcome == "pass"
    assert time.monotonic() - started < 10


def workspace_task(**rules: Any) -> BenchmarkTask:
    return make_task(
        "artifact",
        {"workspace": rules, "least_calls": 1},
        tools="workspace",
        files={"a.ini": "[s]\nk = 1\n", "b.txt": "one\ntwo\n", "tests/test_a.py": "x = 1\n"},
        protected=("tests/test_a.py",),
    )


def workspace(task: BenchmarkTask, **changed: str | None) -> TaskScore:
    files: dict[str, str | None] = {**task.files}
    for path, text in changed.items():
        name = path.replace("_dot_", ".")
        files[name] = text
        if text == "gone":
            del files[name]
    output = Output(text="Done.", files=files, convention="workspace")
    return judge(output, task)


def test_files_are_judged_without_a_sandbox() -> None:
    task = workspace_task(lines={"b.txt": ["one", "two"]}, unchanged=["a.ini"])
    assert not needs_sandbox(task)
    reasons = [
        workspace(task).reason,
        workspace(task, b_dot_txt="one\r\ntwo  \n\n").reason,
        workspace(task, b_dot_txt="one\ntwo\nthree\n").reason,
        workspace(task, b_dot_txt=None).reason,
        workspace(task, b_dot_txt="gone").reason,
        workspace(task, a_dot_ini="[s]\nk = 2\n").reason,
        workspace(task, c_dot_txt="").reason,
    ]
    assert reasons == [
        None,
        None,
        "wrong_content:b.txt",
        "wrong_content:b.txt",
        "file_missing:b.txt",
        "protected_file_changed",
        "extra_file",
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[s]\nk = 2\n", None),
        ("# 2\n[s]\nk: 2", None),
        ("[s]\nk = 1\n; k = 2\n", "setting:s.k"),
        ("[t]\nk = 2\n", "setting:s.k"),
        ("[s]\nk = 2\nl = 3\n", "extra_setting"),
        ("k = 2", "unreadable_settings"),
        ("[s]\nk = 2\nk = 2\n", "unreadable_settings"),
        ("[s]\nk = %(x)s\n", "setting:s.k"),
    ],
)
def test_settings_are_parsed_and_never_searched_for(text: str, reason: str | None) -> None:
    rule = {"files": ["a.ini"], "values": {"s.k": "2"}, "exactly": True}
    assert workspace(workspace_task(settings=[rule]), a_dot_ini=text).reason == reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("id;litres\n1;12.5\n", None),
        ("id ; litres\n1; 12.50\n\n", None),
        ("id;litres\n1;+12.5", None),
        ("id;litres\n1;12,5\n", "wrong_content:b.txt"),
        ("id;litres\n1;12.51\n", "wrong_content:b.txt"),
        ("id;litres\n1;1.25e1\n", "wrong_content:b.txt"),
        ("id;litres\n01;12.5\n", "wrong_content:b.txt"),
        ("id;litres\n1;12.5;\n", "wrong_content:b.txt"),
        ("id;litres\n", "wrong_content:b.txt"),
        ("id;litres\n1;12.5\n1;12.5\n", "wrong_content:b.txt"),
        (None, "wrong_content:b.txt"),
    ],
)
def test_the_numbers_of_a_table_are_compared_as_numbers(
    text: str | None, reason: str | None
) -> None:
    table = {"separator": ";", "rows": [["id", "litres"], ["1", 12.5]]}
    task = workspace_task(tables={"b.txt": table})
    assert workspace(task, b_dot_txt=text).reason == reason


@pytest.mark.parametrize(
    ("own", "shared", "reason"),
    [
        ("from shared import area\n", "def area(a):\n    return a\n", None),
        ("import shared\narea = shared.area\n", "area = lambda a: a\n", None),
        ("area = 3\n", "async def area(a): ...\n", None),
        ("# def area(a):\ntext = 'def area(a):'\n", "def area(a): ...\n", None),
        ("def area(a):\n    return a\n", "def area(a): ...\n", "function:area"),
        ("class A:\n    def area(self): ...\n", "def area(a): ...\n", "function:area"),
        ("area: object = lambda a: a\n", "def area(a): ...\n", "function:area"),
        ("def area(a): ...\n", "", "function:area"),
        ("", "def areas(a): ...\n", "function:area"),
        ("def f(:\n", "def area(a): ...\n", "syntax_error"),
        ("\0", "def area(a): ...\n", "syntax_error"),
        ("(" * 5000, "def area(a): ...\n", "syntax_error"),
        (None, "def area(a): ...\n", None),
    ],
)
def test_a_function_is_defined_in_the_named_files_alone(
    own: str | None, shared: str, reason: str | None
) -> None:
    task = workspace_task(
        functions={"area": ["shared.py"]},
        only_files=["a.ini", "b.txt", "tests/test_a.py", "own.py", "shared.py"],
    )
    assert workspace(task, own_dot_py=own, shared_dot_py=shared).reason == reason


SHARED = "def area(a):\n    return a * a\n"


@pytest.mark.parametrize(
    ("own", "shared", "reason"),
    [
        ("from shared import area\ndef wall(a):\n    return area(a)\n", SHARED, None),
        ("import shared\ndef wall(a):\n    return shared.area(a)\n", SHARED, None),
        (
            "from shared import roof as wall\n",
            f"{SHARED}def roof(a, *more):\n    return area(a)",
            None,
        ),
        ("def wall(a):\n    return a * a\n", SHARED, "unused:shared.py"),
        ("from shared import area\ndef wall(a):\n    return a * a\n", SHARED, "unused:shared.py"),
        ("from shared import area\ndef wall(a):\n    return area(a) + 1\n", SHARED, "wrong_value"),
        ("from shared import area\n", SHARED, "exception"),
    ],
)
def test_a_probe_tells_what_code_uses_by_what_it_gives(
    own: str, shared: str, reason: str | None, sandbox: Sandbox
) -> None:
    task = make_task(
        "artifact",
        {
            "workspace": {"only_files": ["own.py", "shared.py"]},
            "cases": [{"call": "own.wall", "args": [3], "value": 9}],
            "probes": [
                {
                    "path": "shared.py",
                    "text": "def area(a):\n    return -1\n",
                    "cases": [{"call": "own.wall", "args": [3], "value": -1}],
                }
            ],
            "least_calls": 1,
        },
        tools="workspace",
        files={"own.py": "def wall(a):\n    return a * a\n"},
    )
    files = {"own.py": own, "shared.py": shared}
    output = Output(text="Done.", files=files, convention="workspace")
    assert judge(output, task, sandbox).reason == reason


def test_what_could_change_how_tests_run_is_left_out_of_verification() -> None:
    task = workspace_task(unchanged=["a.ini"])
    files: dict[str, str | None] = {
        "a.ini": "x",
        "tests/test_a.py": "bent",
        "tests/conftest.py": "planted",
        "sitecustomize.py": "planted",
        "x.pth": "planted",
        "pytest.ini": "planted",
        "new.py": "kept",
    }
    assert trusted(files, task) == {
        "a.ini": b"x",
        "tests/test_a.py": b"x = 1\n",
        "new.py": b"kept",
    }


@pytest.mark.parametrize(
    "expected",
    [
        {},
        {"function": "f"},
        {"function": "f", "cases": [{"args": [], "value": 1, "raises": "ValueError"}]},
        {"function": "f", "cases": [{"args": []}]},
        {"function": "f", "cases": [{"args": [{"$date": "soon"}], "value": 1}]},
        {"function": "f", "tests": {"source": "def test_a(): (", "ids": ["test_a"]}},
        {"function": "f", "tests": {"source": "def test_a(): pass", "ids": ["test_b"]}},
        {"function": "f", "tests": {"source": "def t(): pass", "ids": ["t"], "in_process": True}},
        {"function": "f", "cases": [{"args": [], "value": 1}], "editable": ["a"]},
        {"editable": ["missing.py"], "visible": {"call": "a.f", "value": 1}, "cases": []},
        {"workspace": {}, "least_calls": 1},
        {
            "function": "f",
            "cases": [{"args": [], "value": 1}],
            "probes": [{"path": "a.py", "text": "x", "cases": [{"args": [], "value": 1}]}],
        },
        {"function": "f", "cases": [{"args": [], "value": 1}], "least_calls": 1},
        {"function": "f", "cases": [{"args": [], "value": 1}], "most_calls": 9},
        {"function": "f", "cases": [{"args": [], "value": 1}], "look_first": ["a.txt"]},
        {"function": "f", "cases": [{"args": [], "value": 1, "surplus": 1}]},
    ],
)
def test_an_expectation_that_can_not_be_judged_is_refused(expected: dict[str, Any]) -> None:
    with pytest.raises(PackError):
        check(make_task("artifact", expected))


def test_a_bound_of_calls_leaves_room_for_a_detour() -> None:
    def bound(most_calls: int) -> BenchmarkTask:
        expected = {"workspace": {}, "least_calls": 3, "most_calls": most_calls}
        return make_task("artifact", expected, tools="workspace", files={"a.txt": "a"})

    check(bound(6))
    with pytest.raises(PackError, match="leave room: 2 times"):
        check(bound(5))
