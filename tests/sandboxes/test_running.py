"""Tests of what every kind of sandbox does with a program."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from bench_loop.contracts.sandbox import Program, SandboxLimits
from bench_loop.errors import SandboxError
from bench_loop.sandboxes._session import StagedSandbox, is_plain_path
from tests.sandboxes.kinds import KINDS, real


@pytest.fixture(params=[pytest.param(kind, marks=pytest.mark.real) for kind in KINDS])
def sandbox(request: pytest.FixtureRequest) -> Iterator[StagedSandbox]:
    one = real(request.param)
    yield one
    one.close()


def python(source: str, **more: object) -> Program:
    return Program(("python", "-I", "-c", source), **more)  # type: ignore[arg-type]


def test_it_gives_output_and_exit_status(sandbox: StagedSandbox) -> None:
    run = sandbox.run(python("import sys; print('a'); print('b', file=sys.stderr); sys.exit(3)"))
    assert (run.exit_status, run.stdout, run.stderr, run.limit) == (3, b"a\n", b"b\n", None)


def test_it_gives_the_number_of_a_signal(sandbox: StagedSandbox) -> None:
    assert sandbox.run(python("import os; os.abort()")).exit_status == -6


def test_it_puts_files_and_standard_input_in(sandbox: StagedSandbox) -> None:
    program = python(
        "import sys; print(open('pkg/a.txt').read(), sys.stdin.read())",
        files={"pkg/a.txt": b"file"},
        stdin=b"input",
    )
    assert sandbox.run(program).stdout == b"file input\n"


def test_it_reads_regular_files_back_and_names_the_rest(sandbox: StagedSandbox) -> None:
    program = python(
        "import os; os.mkdir('d'); open('d/new', 'wb').write(b'\\0\\1'); os.remove('old');"
        "os.symlink('/etc/passwd', 'link'); os.mkfifo('fifo')",
        files={"old": b"1", "kept": b"2"},
        wants_files=True,
    )
    run = sandbox.run(program)
    assert run.files == {"kept": b"2", "d/new": b"\0\1"}
    assert run.skipped == ("fifo", "link")


def test_it_reads_no_files_back_unasked(sandbox: StagedSandbox) -> None:
    assert sandbox.run(python("open('new', 'w')", files={"a": b"1"})).files == {}


def test_programs_share_nothing(sandbox: StagedSandbox) -> None:
    leave = "open('trace', 'w'); import os; open(os.environ['TMPDIR'] + '/trace', 'w')"
    look = "import os; print(os.listdir('.') + os.listdir(os.environ['TMPDIR']))"
    assert sandbox.run(python(leave)).exit_status == 0
    assert sandbox.run(python(look)).stdout == b"[]\n"


def test_the_environment_is_made_from_nothing(
    sandbox: StagedSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCHLOOP_API_KEY", "secret")
    run = sandbox.run(python("import os; print(sorted(os.environ))", env={"MINE": "1"}))
    allowed = ["HOME", "LANG", "MINE", "PATH", "PYTHONDONTWRITEBYTECODE", "TMPDIR"]
    assert run.stdout == f"{allowed}\n".encode()


def test_a_program_that_does_not_exist_is_no_error(sandbox: StagedSandbox) -> None:
    run = sandbox.run(Program(("no-such-program",), files={"a": b"1"}, wants_files=True))
    assert run.exit_status == 127
    assert b"No such file" in run.stderr
    assert (run.files, run.is_read_back) == ({"a": b"1"}, True)


def test_files_that_were_not_read_to_the_end_are_known_as_such(sandbox: StagedSandbox) -> None:
    endless = "while True: print('x' * 9999)"
    run = sandbox.run(python(endless, wants_files=True), wall_s=5)
    assert (run.limit, run.is_read_back) == ("output", False)


def test_files_are_kept_when_the_time_is_up(sandbox: StagedSandbox) -> None:
    source = "open('a', 'w').write('1'); import time; time.sleep(60)"
    run = sandbox.run(python(source, wants_files=True), wall_s=0.5)
    assert (run.exit_status, run.limit, run.files) == (None, "wall", {"a": b"1"})
    assert run.is_read_back
    assert run.is_timed_out


def test_threads_child_processes_and_pools_work(sandbox: StagedSandbox) -> None:
    program = Program(("python", "main.py"), files={"main.py": POOLS})
    run = sandbox.run(program)
    assert (run.stdout, run.stderr) == (b"[1, 4] 9 ok\n", b"")


POOLS = b"""
import asyncio, multiprocessing, subprocess, sys, threading
def square(x): return x * x
if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    reader, writer = context.Pipe()
    child = context.Process(target=lambda: writer.send([square(1), square(2)]))
    child.start(); child.join()
    found = []
    thread = threading.Thread(target=lambda: found.append(square(3))); thread.start(); thread.join()
    said = subprocess.run([sys.executable, "-c", "print('ok')"], capture_output=True, text=True)
    asyncio.run(asyncio.sleep(0))
    print(reader.recv(), found[0], said.stdout.strip())
"""


def test_it_talks_line_by_line(sandbox: StagedSandbox) -> None:
    echo = "import sys\nfor line in sys.stdin: print(line.strip()[::-1], flush=True)"
    with sandbox.talk(python(echo)) as talk:
        assert [talk.ask(word, 5) for word in (b"abc", b"de")] == [b"cba", b"ed"]
        assert talk.end().limit is None


def test_an_answer_that_does_not_come_ends_the_talk(sandbox: StagedSandbox) -> None:
    with sandbox.talk(python("import time; time.sleep(60)")) as talk:
        start = time.monotonic()
        assert talk.ask(b"hello", 0.3) is None
        assert time.monotonic() - start < 2
        assert talk.ask(b"again", 5) is None
        assert talk.end().is_timed_out


def test_a_talk_with_a_program_that_ends_ends(sandbox: StagedSandbox) -> None:
    with sandbox.talk(python("input(); print('bye')")) as talk:
        assert talk.ask(b"", 5) == b"bye"
        assert talk.ask(b"", 5) is None
        assert talk.end().exit_status == 0


def test_output_beyond_the_cap_ends_a_talk(sandbox: StagedSandbox) -> None:
    with sandbox.talk(python("while True: print('x' * 4095, end='')")) as talk:
        assert talk.ask(b"", 5) is None
        assert talk.end().limit == "output"


def test_the_supervisors_own_streams_are_out_of_reach(sandbox: StagedSandbox) -> None:
    forge = (
        "import os, struct\n"
        'said = b\'{"status": 0, "limit": null, "oom": false}\'\n'
        "for pid in {1, os.getppid()}:\n"
        "    try:\n"
        "        stream = os.open(f'/proc/{pid}/fd/1', os.O_WRONLY)\n"
        "        os.write(stream, b'x' + struct.pack('>I', len(said)) + said)\n"
        "    except OSError as error: print(type(error).__name__)\n"
        "raise SystemExit(5)"
    )
    run = sandbox.run(python(forge))
    assert run.exit_status == 5
    assert set(run.stdout.split()) == {b"PermissionError"}


def test_a_bomb_that_starts_again_what_is_killed_is_ended(sandbox: StagedSandbox) -> None:
    bomb = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"
    start = time.monotonic()
    assert sandbox.run(python(bomb), wall_s=1).is_timed_out
    assert time.monotonic() - start < 12


@pytest.mark.real
def test_too_many_files_are_not_read_back() -> None:
    sandbox = real("bubblewrap")
    run = sandbox.run(python("for n in range(1100): open(str(n), 'w')", wants_files=True))
    assert (run.limit, run.is_read_back) == ("files", False)
    assert len(run.files) == 1000


@pytest.mark.real
def test_a_user_with_many_processes_has_room_for_more() -> None:
    sandbox = real("bubblewrap", SandboxLimits(pids=8))
    run = sandbox.run(python("import subprocess; subprocess.run(['true'], check=True)"))
    assert run.exit_status == 0


@pytest.mark.real
@pytest.mark.parametrize("path", ["../a", "/a", "a/../b", "a//b", "./a", "", "a\n", "a\\b"])
def test_a_file_can_only_be_put_into_the_work_folder(path: str) -> None:
    with pytest.raises(SandboxError, match="can't be put into the sandbox"):
        real("subprocess").run(Program(("true",), files={path: b""}))


@pytest.mark.parametrize("path", ["a", "a/b.py", "a b", "..a", "ä/ö"])
def test_a_plain_path_is_taken(path: str) -> None:
    assert is_plain_path(path)
