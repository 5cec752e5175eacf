"""An artifact: right when what it does is right, found by hidden checks on code or on a workspace.

Code is run in a fresh sandbox of its own, made for the verdict, which never holds an expected
value: calls go in, values come out and are compared here (`values_out`); tests that need more than
plain values run in a second sandbox (`rpc_stub`); tests that must import the code run beside it
(`in_process`), hardened with canaries, and are labelled so. What the code prints, returns as its
exit status or says of itself counts for nothing.

A workspace is right by its files at the end, and within the calls that the prompt allows, where it
sets a bound; how they came to be so decides the diagnostic score, and what had to be looked at
first and was not makes a right outcome partial.
"""

from __future__ import annotations

import ast
import configparser
import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from pydantic import Field

from bench_loop.contracts.record import Count, Record
from bench_loop.contracts.sandbox import Sandbox
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.contracts.verifier import Output, TaskScore, VerifierRecord
from bench_loop.errors import SandboxError
from bench_loop.verifiers.code import MESSAGES, find_code, find_files, parsed
from bench_loop.verifiers.conduct import (
    blind_change,
    credit,
    is_efficient,
    is_sober,
    over_bound,
)
from bench_loop.verifiers.documents import parse_object
from bench_loop.verifiers.expectation import failed, passed, read_expected, refuse
from bench_loop.verifiers.inside.wire import NotPlainError
from bench_loop.verifiers.remote import Answer, TestRun, run_beside, run_outside, worker
from bench_loop.verifiers.reports import Broken, Report, broken_report, check_report, read_report
from bench_loop.verifiers.scripted import is_same
from bench_loop.verifiers.values import TOLERANCE, is_equal, meant

MODULE = "solution"
"""The module that the code of one fence becomes."""

ROOM = 2
"""A bound of calls is at least this many times the shortest way: harnesses make calls of their own,
and a detour is no fault."""

_PLANTED = re.compile(
    r"(?:^|/)(?:conftest\.py|pytest\.ini|tox\.ini|setup\.cfg|sitecustomize\.py|usercustomize\.py"
    r"|[^/]+\.pth)$"
)
"""Files that change how tests run; only those that the task itself has are kept."""

_SENTENCES = {
    "crashed": "The code ended or broke the protocol before it answered.",
    "time_limit": "The code took longer than it may.",
    "memory_limit": "The code used more memory than it may.",
    "syntax_error": "The code is not valid Python.",
    "exception": "The code raised an exception where a value is expected.",
    "no_exception": "The code gave a value where an exception is expected.",
    "wrong_exception": "The code raised another exception than the one that is expected.",
    "wrong_value": "The code gives another value than the one that is expected.",
    "changed_arguments": "The code changed its arguments.",
    "tampered": "The code interfered with the tests that judge it.",
}


class Case(Record):
    """One hidden call and what must come of it."""

    call: str = Field("", description="module.function; left out: the function asked for.")
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = {}
    value: Any = None
    raises: str | None = Field(None, description="Builtin exception that it raises instead.")
    tolerance: float = Field(TOLERANCE, ge=0, description="For floats, relative and absolute.")
    leaves_arguments: bool = Field(False, description="The arguments must stay as they were.")


class Tests(Record):
    """Hidden tests, as Python functions without parameters."""

    __test__ = False

    source: str
    ids: tuple[str, ...] = Field(min_length=1, description="The functions that must pass.")
    modules: tuple[str, ...] = Field(
        (MODULE,), min_length=1, description="Modules of the code that the tests import."
    )
    in_process: bool = Field(False, description="They can't be kept apart from the code.")
    canaries: tuple[str, ...] = Field((), description="In-process: functions that must fail.")


class Probe(Record):
    """Hidden calls with a text put at the end of one file: what they give tells what they use."""

    path: str
    text: str = Field(min_length=1, description="Like another body for a function of the file.")
    cases: tuple[Case, ...] = Field(min_length=1)


class Settings(Record):
    """What configuration files say, read one over the other as `configparser` does."""

    files: tuple[str, ...] = Field(min_length=1)
    values: dict[str, str] = Field(min_length=1, description="section.key to value.")
    exactly: bool = Field(False, description="And nothing else.")


class Table(Record):
    """The rows of a file. White space around cells is left out; numbers are compared as numbers."""

    separator: str = Field(",", min_length=1)
    rows: tuple[tuple[str | float, ...], ...] = Field(min_length=1)


class Workspace(Record):
    """What must be true of the files at the end."""

    unchanged: tuple[str, ...] = ()
    only_files: tuple[str, ...] = Field((), description="All files; left out: those of the task.")
    any_files: bool = Field(
        False, description="Files may come and go: whether the hidden calls work is what counts."
    )
    settings: tuple[Settings, ...] = ()
    json_: dict[str, Any] = Field({}, alias="json", description="Path to the value of the file.")
    lines: dict[str, tuple[str, ...]] = Field(
        {}, description="Path to its lines, white space at their ends left out."
    )
    tables: dict[str, Table] = Field({}, description="Path to its rows.")
    functions: dict[str, tuple[str, ...]] = Field(
        {}, description="Function to the Python files that define one of that name, and no others."
    )


class Expected(Record):
    """What an artifact task expects. One of `function`, `editable` and `workspace` is given."""

    function: str | None = Field(None, description="Name that the reply's code defines.")
    editable: tuple[str, ...] = Field((), description="Files that the reply may change.")
    workspace: Workspace | None = Field(None, description="Rules for a tool loop's files.")
    visible: Case | None = Field(None, description="What the prompt shows to be wrong.")
    cases: tuple[Case, ...] = Field((), description="Hidden calls.")
    probes: tuple[Probe, ...] = Field((), description="Workspace: what the code must use.")
    tests: Tests | None = Field(None, description="Hidden tests.")
    answer: Report | None = Field(None, description="The line ANSWER: ... of the final text.")
    look_first: tuple[str, ...] = Field(
        (), description="Workspace: files to be looked at in a turn before the first change."
    )
    least_calls: Count = Field(0, description="Workspace: calls of the shortest way.")
    most_calls: Count | None = Field(
        None, description="Workspace: calls that the prompt allows; those that are known count."
    )


def check(task: BenchmarkTask) -> None:
    """Raises PackError when the expectation is not one that can be judged."""
    expected = read_expected(task, Expected)
    kinds = [bool(expected.function), bool(expected.editable), expected.workspace is not None]
    if sum(kinds) != 1:
        raise refuse(task, "*", "give one of function, editable and workspace")
    if not expected.workspace and not (expected.cases or expected.tests):
        raise refuse(task, "cases", "at least one hidden check is needed")
    if expected.editable and expected.visible is None:
        raise refuse(task, "visible", "say what the original gets wrong")
    if (expected.workspace is not None) != (task.tools == "workspace"):
        raise refuse(task, "workspace", "is for a task with `tools: workspace`")
    if expected.workspace and expected.workspace.any_files and not expected.cases:
        raise refuse(task, "workspace.any_files", "needs hidden calls that decide")
    if (expected.workspace is not None) != (expected.least_calls > 0):
        raise refuse(task, "least_calls", "say it for a workspace, and only there")
    if expected.most_calls is not None:
        if expected.workspace is None:
            raise refuse(task, "most_calls", "say it for a workspace only")
        if expected.most_calls < ROOM * expected.least_calls:
            raise refuse(task, "most_calls", f"leave room: {ROOM} times the shortest way or more")
    if expected.probes and not (expected.workspace and expected.cases):
        raise refuse(task, "probes", "are for a workspace with cases")
    if expected.answer is not None:
        check_report(task, expected.answer)
    _check_paths(task, expected)
    for where, case in _named_cases(expected):
        _check_case(task, expected, where, case)
    if expected.tests is not None:
        _check_tests(task, expected.tests)


def _check_paths(task: BenchmarkTask, expected: Expected) -> None:
    rules = expected.workspace or Workspace()
    for field, paths in (
        ("editable", expected.editable),
        ("unchanged", rules.unchanged),
        ("look_first", expected.look_first),
    ):
        if unknown := [path for path in paths if path not in task.files]:
            raise refuse(task, field, f"{unknown[0]!r} is none of the task's files")
    if both := set(expected.editable) & set(task.protected):
        raise refuse(task, "editable", f"{min(both)!r} is protected")


def _check_case(task: BenchmarkTask, expected: Expected, where: str, case: Case) -> None:
    if ("value" in case.model_fields_set) == (case.raises is not None):
        raise refuse(task, where, "give either value or raises")
    if not case.call and not expected.function:
        raise refuse(task, f"{where}.call", "say what is called")
    try:
        meant([case.value, list(case.args), case.kwargs])
    except NotPlainError as error:
        raise refuse(task, where, "holds a $-value that means nothing") from error


def _check_tests(task: BenchmarkTask, tests: Tests) -> None:
    try:
        ast.parse(tests.source)
    except SyntaxError as error:
        raise refuse(task, "tests.source", f"line {error.lineno}: {error.msg}") from error
    for name in (*tests.ids, *tests.canaries):
        if not re.search(rf"^def {re.escape(name)}\(\)", tests.source, re.MULTILINE):
            raise refuse(task, "tests.ids", f"there is no function {name}()")
    if tests.in_process != bool(tests.canaries):
        raise refuse(task, "tests.canaries", "needed for in_process tests, and only there")


def needs_sandbox(task: BenchmarkTask) -> bool:
    """Whether code is run; the state of files alone is judged without."""
    expected = read_expected(task, Expected)
    return bool(expected.visible or expected.cases or expected.tests)


def judge(output: Output, task: BenchmarkTask, sandbox: Sandbox | None = None) -> TaskScore:
    """The verdict on the code or the workspace of `output`.

    Raises SandboxError when code must be run and there is no sandbox, or it fails itself.
    """
    expected = read_expected(task, Expected)
    if expected.workspace is not None:
        return _judge_workspace(output, task, expected, sandbox)
    if expected.function is not None:
        code = find_code(output.text, expected.function)
        if code.text is None:
            return _unread(code.reason)
        return _judge_code({f"{MODULE}.py": _bytes(code.text)}, code.text, task, expected, sandbox)
    found = find_files(output.text, task.files, expected.editable)
    if found.reason is not None:
        return _unread(found.reason)
    files = {path: _bytes(text) for path, text in {**task.files, **found.files}.items()}
    answer = "\n".join(f"{path}\n{text}" for path, text in found.files.items())
    answer = answer or f"{', '.join(found.put_back)} put back"
    return _judge_code(files, answer, task, expected, sandbox)


def judge_original(task: BenchmarkTask, sandbox: Sandbox) -> TaskScore:
    """The verdict on the files of the task as they are: `visible_value`, or the task is no task."""
    expected = read_expected(task, Expected)
    files = {path: _bytes(text) for path, text in task.files.items()}
    return _judge_code(files, "", task, expected, sandbox)


def _unread(reason: str | None) -> TaskScore:
    reason = reason or "no_code"
    return failed(reason, MESSAGES[reason])


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _judge_code(
    files: Mapping[str, bytes],
    answer: str | None,
    task: BenchmarkTask,
    expected: Expected,
    sandbox: Sandbox | None,
) -> TaskScore:
    if sandbox is None:
        raise SandboxError(f"{task.id} can't be judged without a sandbox.")
    broken = _broken_case(files, task, expected, sandbox) or _broken_probe(
        files, task, expected, sandbox
    )
    record = VerifierRecord(kind="values_out")
    if broken is None and expected.tests is not None:
        tests = expected.tests
        record = VerifierRecord(
            kind="in_process" if tests.in_process else "rpc_stub", canaries=len(tests.canaries)
        )
        run = _run_tests(files, tests, task, sandbox)
        if run.is_tampered:
            record = record.model_copy(update={"tampered": True})
            broken = "tampered", _SENTENCES["tampered"]
        else:
            broken = _broken_test(run)
    score = failed(*broken, answer=answer) if broken else passed(answer or "")
    return score.model_copy(update={"verifier": record})


def _named_cases(expected: Expected) -> Iterator[tuple[str, Case]]:
    """All calls with their fields: the visible case, the hidden ones, those of probes."""
    yield from _plain_cases(expected)
    for at, probe in enumerate(expected.probes):
        for number, case in enumerate(probe.cases):
            yield f"probes.{at}.cases.{number}", case


def _plain_cases(expected: Expected) -> Iterator[tuple[str, Case]]:
    """The visible case and the hidden ones, with their fields."""
    if expected.visible is not None:
        yield "visible", expected.visible
    for number, case in enumerate(expected.cases):
        yield f"cases.{number}", case


def _broken_case(
    files: Mapping[str, bytes], task: BenchmarkTask, expected: Expected, sandbox: Sandbox
) -> Broken | None:
    """The first call that does not give what it must; None: all do."""
    broken = _first_wrong(list(_plain_cases(expected)), files, task, expected, sandbox)
    if broken is None:
        return None
    where, reason = broken
    sentence = f"{where}: {_SENTENCES[reason]}"
    if expected.visible is None or reason in ("syntax_error", "time_limit", "memory_limit"):
        return reason, sentence
    return ("visible_value" if where == "visible" else "hidden_value"), sentence


def _broken_probe(
    files: Mapping[str, bytes], task: BenchmarkTask, expected: Expected, sandbox: Sandbox
) -> Broken | None:
    """The first file that calls do not use as they must; None: all do."""
    for probe in expected.probes:
        probed = {**files, probe.path: files.get(probe.path, b"") + _bytes(f"\n\n{probe.text}")}
        cases = [(probe.path, case) for case in probe.cases]
        if _first_wrong(cases, probed, task, expected, sandbox) is not None:
            return f"unused:{probe.path}", f"The code does not use {probe.path} where it must."
    return None


def _first_wrong(
    cases: Sequence[tuple[str, Case]],
    files: Mapping[str, bytes],
    task: BenchmarkTask,
    expected: Expected,
    sandbox: Sandbox,
) -> tuple[str, str] | None:
    """The field and the reason of the first case that `files` get wrong; None: of none."""
    if not cases:
        return None
    with worker(sandbox, files, task.limits.wall_s, len(cases)) as there:
        for where, case in cases:
            path = case.call or f"{MODULE}.{expected.function}"
            args, kwargs = meant(list(case.args)), meant(case.kwargs)
            reason = _what_is_wrong(case, there.call(path, args, kwargs), args)
            if reason is not None:
                return where, reason
    return None


def _what_is_wrong(case: Case, answer: Answer, args: Sequence[Any]) -> str | None:
    """The reason why `answer` is not what `case` expects; None: it is."""
    if answer.gone is not None:
        return answer.gone
    if answer.raised is not None:
        if case.raises is not None:
            return None if case.raises in answer.raised else "wrong_exception"
        return "syntax_error" if "SyntaxError" in answer.raised else "exception"
    if case.raises is not None:
        return "no_exception"
    if not is_equal(answer.value, meant(case.value), case.tolerance):
        return "wrong_value"
    if case.leaves_arguments and not is_equal(["list", answer.args], list(args), 0.0):
        return "changed_arguments"
    return None


def _run_tests(
    files: Mapping[str, bytes], tests: Tests, task: BenchmarkTask, sandbox: Sandbox
) -> TestRun:
    wall_s = task.limits.wall_s
    if not tests.in_process:
        return run_outside(sandbox, files, tests.source, tests.ids, tests.modules, wall_s)
    return run_beside(
        sandbox, files, tests.source, tests.ids, tests.canaries, tests.modules, wall_s
    )


def _broken_test(run: TestRun) -> Broken | None:
    for name, outcome in run.outcomes.items():
        if outcome in _SENTENCES:
            return outcome, f"{name}: {_SENTENCES[outcome]}"
        if outcome != "passed":
            return "hidden_test", f"The hidden test {name} does not pass."
    return None


def _judge_workspace(
    output: Output, task: BenchmarkTask, expected: Expected, sandbox: Sandbox | None
) -> TaskScore:
    files = task.files if output.files is None else output.files
    answer = read_report(output.text) or _told_deeds(output, task)
    rules = expected.workspace or Workspace()
    if broken := _broken_rule(rules, files, task):
        return failed(*broken, answer=answer)
    if expected.answer is not None and (broken := broken_report(expected.answer, output.text)):
        return failed(*broken, answer=answer)
    if broken := over_bound(output.tool_calls, expected.most_calls):
        return failed(*broken, answer=answer)
    verdict = passed(answer or "")
    if needs_sandbox(task):
        verdict = _judge_code(trusted(files, task), answer, task, expected, sandbox)
    return verdict if verdict.outcome != "pass" else _credited(verdict, output, task, expected)


def _told_deeds(output: Output, task: BenchmarkTask) -> str | None:
    """What was done, where the text gives no answer; a harness may change files without a call."""
    if output.tool_calls:
        return f"{len(output.tool_calls)} calls"
    files = task.files if output.files is None else output.files
    changed = [path for path in {**task.files, **files} if files.get(path) != task.files.get(path)]
    return f"{len(changed)} files changed" if changed else None


def _credited(
    verdict: TaskScore, output: Output, task: BenchmarkTask, expected: Expected
) -> TaskScore:
    """A right outcome with the credit for how it was reached; `partial` where evidence lacks."""
    calls = output.tool_calls
    broken = blind_change(calls, expected.look_first, task.files)
    score = credit(
        is_efficient=is_efficient(len(calls), expected.least_calls),
        is_sober=is_sober(calls),
        has_evidence=broken is None,
    )
    if broken is None:
        return verdict.model_copy(update={"score": score})
    reason, message = broken
    lacking = {"outcome": "partial", "score": score, "reason": reason, "message": message}
    return verdict.model_copy(update=lacking)


def trusted(files: Mapping[str, str | None], task: BenchmarkTask) -> dict[str, bytes]:
    """The workspace for verification: protected files put back, planted ones left out."""
    kept = {
        path: _bytes(text)
        for path, text in files.items()
        if text is not None and (path in task.files or not _PLANTED.search(path))
    }
    return kept | {path: _bytes(task.files[path]) for path in task.protected}


def _broken_rule(
    rules: Workspace, files: Mapping[str, str | None], task: BenchmarkTask
) -> Broken | None:
    """The first rule that the files break; None: they keep all."""
    wanted = rules.only_files or tuple(task.files)
    missing = [] if rules.any_files else [path for path in wanted if path not in files]
    if missing:
        return f"file_missing:{missing[0]}", f"The file {missing[0]} is not there."
    if any(files.get(path) != task.files[path] for path in rules.unchanged):
        return "protected_file_changed", "A file was changed that had to stay as it was."
    if not rules.any_files and set(files) - set(wanted):
        return "extra_file", "A file is left that does not belong there."
    return (
        _broken_settings(rules, files)
        or _broken_json(rules, files)
        or next(
            (
                _wrong_content(path)
                for path, table in rules.tables.items()
                if not _has_rows(files.get(path), table)
            ),
            None,
        )
        or next(
            (
                _wrong_content(path)
                for path, lines in rules.lines.items()
                if _lines(files.get(path)) != list(lines)
            ),
            None,
        )
        or _broken_functions(rules, files)
    )


def _wrong_content(path: str) -> Broken:
    return f"wrong_content:{path}", f"The file {path} does not hold what it must."


def _has_rows(text: str | None, table: Table) -> bool:
    found = [[cell.strip() for cell in line.split(table.separator)] for line in _lines(text)]
    return len(found) == len(table.rows) and all(
        len(row) == len(wanted) and all(map(_is_cell, row, wanted))
        for row, wanted in zip(found, table.rows, strict=True)
    )


def _is_cell(cell: str, wanted: str | float) -> bool:
    if isinstance(wanted, str):
        return cell == wanted
    is_number = re.fullmatch(r"[+-]?\d{1,30}(?:\.\d{1,30})?", cell, re.ASCII)
    return is_number is not None and Fraction(cell) == Fraction(repr(wanted))


def _broken_settings(rules: Workspace, files: Mapping[str, str | None]) -> Broken | None:
    for rule in rules.settings:
        found = _settings([files.get(path) for path in rule.files])
        if found is None:
            return "unreadable_settings", "The settings can't be read."
        for key, value in rule.values.items():
            if found.get(key) != value:
                return f"setting:{key}", f"The setting {key} is not as it must be."
        if rule.exactly and found != rule.values:
            return "extra_setting", "There is a setting that does not belong there."
    return None


def _settings(texts: Sequence[str | None]) -> dict[str, str] | None:
    """section.key to value, later files over earlier ones; None: they are no such files."""
    parser = configparser.ConfigParser(interpolation=None)
    try:
        for text in texts:
            parser.read_string(text or "")
    except configparser.Error:
        return None
    return {
        f"{name}.{key}": parser[name][key] for name in parser.sections() for key in parser[name]
    }


def _broken_json(rules: Workspace, files: Mapping[str, str | None]) -> Broken | None:
    for path, value in rules.json_.items():
        if not is_same(parse_object(files.get(path) or ""), value):
            return _wrong_content(path)
    return None


def _broken_functions(rules: Workspace, files: Mapping[str, str | None]) -> Broken | None:
    if not rules.functions:
        return None
    defined: dict[str, set[str]] = {}
    for path, text in files.items():
        if not path.endswith(".py"):
            continue
        names = _function_names(text or "")
        if names is None:
            return "syntax_error", f"{path}: {_SENTENCES['syntax_error']}"
        for name in names:
            defined.setdefault(name, set()).add(path)
    for name, paths in rules.functions.items():
        if defined.get(name, set()) != set(paths):
            return f"function:{name}", f"The function {name} is not defined where it must be alone."
    return None


def _function_names(source: str) -> set[str] | None:
    """All functions that `source` defines, methods and named lambdas too; None: it is no Python."""
    tree = parsed(source)
    if tree is None:
        return None
    nodes = list(ast.walk(tree))
    named = {
        node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    values = [node for node in nodes if isinstance(node, ast.Assign | ast.AnnAssign)]
    for node in values:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if isinstance(node.value, ast.Lambda):
            named |= {target.id for target in targets if isinstance(target, ast.Name)}
    return named


def _lines(text: str | None) -> list[str]:
    return [line.rstrip() for line in (text or "").rstrip().splitlines()]
