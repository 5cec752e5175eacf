"""The tools of a workspace: files in memory, no way out, programs in a sandbox."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bench_loop.contracts.chat import CallRecord, ToolCall
from bench_loop.contracts.harness import Toolbox
from bench_loop.contracts.sandbox import Sandbox
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.toolbox import LONGEST_REPLY, WorkspaceToolbox, make_toolbox
from bench_loop.errors import HarnessError
from tests.engine.doubles import make_task

FILES = {"a.txt": "one\ntwo\n", "src/b.py": "print('two')\n"}


def workspace(**fields: Any) -> BenchmarkTask:
    return make_task(**{"tools": "workspace", "files": FILES, "limits": {"wall_s": 5.0}, **fields})


def use(toolbox: Toolbox, name: str, **args: Any) -> tuple[CallRecord, str]:
    return toolbox.call(ToolCall(id="1", name=name, arguments=json.dumps(args)), 1)


def box(**fields: Any) -> WorkspaceToolbox:
    return WorkspaceToolbox(workspace(**fields), None)


def test_files_are_listed_read_and_searched() -> None:
    assert use(box(), "list_files", path=".")[1] == "a.txt\nsrc/b.py"
    assert use(box(), "list_files", path="src/")[1] == "src/b.py"
    assert use(box(), "read_file", path="./src/b.py")[1] == FILES["src/b.py"]
    assert use(box(), "search_files", text="two")[1] == "a.txt:2: two\nsrc/b.py:1: print('two')"


def test_files_are_written_patched_and_deleted() -> None:
    made = box()
    use(made, "write_file", path="new/c.txt", content="c")
    use(made, "patch_file", path="a.txt", old="two", new="three")
    use(made, "delete_file", path="src/b.py")
    assert made.files() == {"a.txt": b"one\nthree\n", "new/c.txt": b"c"}


@pytest.mark.parametrize(
    ("name", "args", "reply"),
    [
        ("list_files", {"path": "nowhere"}, "error: no such folder: nowhere"),
        ("read_file", {"path": "nowhere.txt"}, "error: no such file: nowhere.txt"),
        ("read_file", {"path": "src"}, "error: no such file: src"),
        ("patch_file", {"path": "a.txt", "old": "x", "new": "y"}, "found 0 times"),
        ("patch_file", {"path": "a.txt", "old": "o", "new": "y"}, "found 2 times"),
        ("patch_file", {"path": "a.txt", "old": "", "new": "y"}, "found 0 times"),
        ("write_file", {"path": "src", "content": "x"}, "error: is a folder"),
        ("write_file", {"path": "a.txt/b", "content": "x"}, "error: no folder can be made"),
        ("write_file", {"path": "big", "content": "x" * 1_000_001}, "the workspace is full"),
        ("read_file", {}, "error: missing argument: path"),
        ("read_file", {"path": 5}, "error: argument not allowed: path"),
        ("read_file", {"path": "a.txt", "lines": "1"}, "error: unknown argument: lines"),
        ("open_file", {"path": "a.txt"}, "error: no such tool: open_file"),
    ],
)
def test_what_cannot_be_done_is_a_reply_and_changes_nothing(
    name: str, args: dict[str, Any], reply: str
) -> None:
    made = box()
    assert reply in use(made, name, **args)[1]
    assert made.files() == {path: text.encode() for path, text in FILES.items()}


@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "../x", "src/../../x", "a\0b", "C:\\x", "c:x", "a\\b", "a\nb", "x" * 300, ".."],
)
def test_no_path_leads_out_of_the_workspace(path: str) -> None:
    for name, args in (("read_file", {}), ("write_file", {"content": "x"}), ("delete_file", {})):
        made = box()
        assert use(made, name, path=path, **args)[1].startswith("error: ")
        assert len(made.files()) == 2


def test_a_long_reply_is_cut_and_says_so() -> None:
    shown = use(box(files={"long.txt": "x" * 20_000}), "read_file", path="long.txt")[1]
    assert shown == "x" * LONGEST_REPLY + "\n[12000 more characters]"


def test_a_repeated_call_is_known_only_while_nothing_changed() -> None:
    made = box()
    read = [use(made, "read_file", path="a.txt")[0].is_repeated for _ in range(2)]
    use(made, "patch_file", path="a.txt", old="two", new="three")
    assert [*read, use(made, "read_file", path="a.txt")[0].is_repeated] == [False, True, False]


def test_programs_are_offered_only_where_there_is_a_sandbox(sandbox: Sandbox) -> None:
    names = [
        {tool["function"]["name"] for tool in make_toolbox(workspace(), one).definitions}
        for one in (None, sandbox)
    ]
    assert names[1] - names[0] == {"run_command"}
    assert "no such tool" in use(box(), "run_command", command="python src/b.py")[1]


def test_a_program_sees_the_files_and_leaves_its_own(sandbox: Sandbox) -> None:
    code = "open('out.txt', 'w').write(open('a.txt').read().upper())\nprint('done')\n"
    made = make_toolbox(workspace(files={"a.txt": "one", "run.py": code}), sandbox)
    assert use(made, "run_command", command="python run.py")[1] == "done"
    files = made.files()
    assert files is not None
    assert files["out.txt"] == b"ONE"
    assert set(files) == {"a.txt", "run.py", "out.txt"}


@pytest.mark.parametrize(
    ("code", "reply"),
    [
        ("raise SystemExit(3)", "[exit status 3]"),
        ("import sys; sys.stderr.write('bad')", "bad"),
        ("pass", "[no output]"),
        ("while True: pass", "[ended by a limit: wall]"),
    ],
)
def test_how_a_program_ended_is_told(code: str, reply: str, sandbox: Sandbox) -> None:
    task = workspace(files={"run.py": code}, limits={"wall_s": 1.0})
    assert use(make_toolbox(task, sandbox), "run_command", command="python run.py")[1] == reply


@pytest.mark.parametrize("command", ["no-such-program", "python shout.py"])
def test_a_program_that_does_not_get_to_its_end_leaves_the_files_as_they_were(
    command: str, sandbox: Sandbox
) -> None:
    """It is not there, or says more than is read."""
    texts = {"a.txt": "one", "shout.py": "while True: print('x' * 9999)\n"}
    made = make_toolbox(workspace(files=texts), sandbox)
    use(made, "run_command", command=command)
    assert made.files() == {path: text.encode() for path, text in texts.items()}


def test_links_and_odd_files_of_a_program_do_not_come_back(sandbox: Sandbox) -> None:
    code = "import os\nos.symlink('/etc/passwd', 'link')\nos.mkfifo('pipe')\nopen('a\\nb', 'w')\n"
    made = make_toolbox(workspace(files={"run.py": code}), sandbox)
    use(made, "run_command", command="python run.py")
    assert set(made.files() or ()) == {"run.py"}


def test_a_task_without_tools_has_no_toolbox() -> None:
    with pytest.raises(HarnessError):
        make_toolbox(make_task())
