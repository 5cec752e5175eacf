"""Tests of both kinds of place with real programs in them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from bench_loop.contracts.place import Command
from bench_loop.contracts.sandbox import SandboxLimits
from bench_loop.errors import SandboxError, UsageError
from bench_loop.programs import _running, leftovers
from bench_loop.programs.place import open_place
from bench_loop.sandboxes._marker import marker
from tests.processes import ROOT
from tests.programs.places import (
    KINDS,
    PAUSE_S,
    a_place,
    is_running,
    is_soon_gone,
    python,
    shell,
    small_gateway,
)

pytestmark = [pytest.mark.real, pytest.mark.parametrize("kind", KINDS)]

WORD = f"831.{os.getpid()}"
"""Seconds that only the tests of this process sleep for, to find the sleepers by."""

LONG_AGO = -1000.0


@pytest.fixture(autouse=True)
def nothing_is_left() -> None:
    assert not is_running(WORD)


def test_a_program_starts_in_the_workspace_with_the_files_of_the_task(
    kind: str, tmp_path: Path
) -> None:
    with a_place(kind, tmp_path / "program", files={"a/b.txt": "as given"}) as place:
        ended = shell(place, "pwd; cat a/b.txt; git status --short; cat")
    assert ended.stdout.decode() == f"{place.workspace.inside}\nas given"
    assert ended.exit_status == 0


@pytest.mark.parametrize(("script", "status"), [("exit 3", 3), ("kill -TERM $$", -15)])
def test_the_exit_status_is_the_programs(
    kind: str, script: str, status: int, tmp_path: Path
) -> None:
    with a_place(kind, tmp_path / "program") as place:
        assert shell(place, script).exit_status == status


def test_the_word_program_stands_for_the_executable_of_the_installation(
    kind: str, tmp_path: Path
) -> None:
    """Also where its first line names an interpreter by the path outside, as pip writes it."""
    program = tmp_path / "program"
    (program / "bin").mkdir(parents=True)
    (program / "bin" / "interpreter").symlink_to("/bin/sh")
    executable = program / "bin" / "agent"
    executable.write_text(f'#!{program}/bin/interpreter\necho "agent $1"\n')
    executable.chmod(0o755)
    with a_place(kind, program, executable=executable) as place:
        ended = place.run(Command(("program", "now"), 20))
    assert ended.stdout == b"agent now\n"


def test_a_program_that_is_not_there_is_no_answer_of_a_harness(kind: str, tmp_path: Path) -> None:
    with (
        a_place(kind, tmp_path / "program") as place,
        pytest.raises(SandboxError, match="no-such-program"),
    ):
        place.run(Command(("no-such-program",), 20))


def test_a_program_reaches_the_gateway(kind: str, tmp_path: Path) -> None:
    source = "import urllib.request; print(urllib.request.urlopen('{url}').read())"
    with small_gateway() as gateway, a_place(kind, tmp_path / "p", gateway=gateway) as place:
        ended = python(place, source.format(url=f"http://127.0.0.1:{gateway.port}/"))
    assert ended.stdout == b"b'hello\\n'\n"


def test_what_the_gateway_says_arrives_as_it_comes(kind: str, tmp_path: Path) -> None:
    source = (
        "import time, urllib.request\n"
        "answer = urllib.request.urlopen('http://127.0.0.1:{port}/slow')\n"
        "first, at = answer.readline(), time.monotonic()\n"
        "second = answer.readline()\n"
        "print(first + second, time.monotonic() - at)\n"
    )
    with small_gateway() as gateway, a_place(kind, tmp_path / "p", gateway=gateway) as place:
        ended = python(place, source.format(port=gateway.port))
    said, pause_s = ended.stdout.decode().rsplit(maxsplit=1)
    assert said == repr(b"hello\nagain\n")
    assert float(pause_s) > PAUSE_S / 2


def test_an_answer_that_the_gateway_cuts_is_seen_cut(kind: str, tmp_path: Path) -> None:
    source = (
        "import http.client, urllib.request\n"
        "try: urllib.request.urlopen('http://127.0.0.1:{port}/cut').read()\n"
        "except http.client.IncompleteRead as cut: print(cut.partial)\n"
    )
    with small_gateway() as gateway, a_place(kind, tmp_path / "p", gateway=gateway) as place:
        ended = python(place, source.format(port=gateway.port))
    assert ended.stdout == b"b'hello\\n'\n"


def test_the_gateway_sees_that_a_program_hangs_up(kind: str, tmp_path: Path) -> None:
    source = (
        "import time, urllib.request\n"
        "answer = urllib.request.urlopen('http://127.0.0.1:{port}/endless')\n"
        "answer.readline(); answer.close(); time.sleep(20)\n"
    )
    with small_gateway() as gateway, a_place(kind, tmp_path / "p", gateway=gateway) as place:
        running = threading.Thread(target=python, args=(place, source.format(port=gateway.port), 4))
        running.start()
        assert gateway.hung_up.wait(3)
        running.join()


def test_output_is_read_while_it_comes_and_kept_to_a_limit(kind: str, tmp_path: Path) -> None:
    source = "import sys\nfor stream in (sys.stdout, sys.stderr): stream.write('x' * 20_000_000)"
    with a_place(kind, tmp_path / "program") as place:
        ended = python(place, source)
    assert ended.exit_status == 0
    assert len(ended.stdout) == len(ended.stderr) == _running.OUTPUT_BYTES


def test_the_deadline_ends_a_program(kind: str, tmp_path: Path) -> None:
    with a_place(kind, tmp_path / "program") as place:
        ended = shell(place, f"echo begun; sleep {WORD}", wall_s=0.5)
    assert (ended.is_timed_out, ended.exit_status, ended.stdout) == (True, None, b"begun\n")
    assert 0.5 <= ended.wall_s < _running.GRACE_S
    assert not is_running(WORD)


def test_the_deadline_ends_a_program_that_ignores_sigterm(kind: str, tmp_path: Path) -> None:
    script = f"trap '' TERM; sleep {WORD}; sleep {WORD}"
    with a_place(kind, tmp_path / "program") as place:
        ended = shell(place, script, wall_s=0.5)
    assert ended.is_timed_out
    assert _running.GRACE_S <= ended.wall_s < 2 * _running.GRACE_S
    assert not is_running(WORD)


@pytest.mark.parametrize(
    "leave",
    [
        "sleep LONG &",
        "setsid sleep LONG &",
        "setsid sh -c 'sleep LONG & exit' &",
        "env -i setsid sh -c 'trap \"\" TERM HUP; sleep LONG & exit' &",
        "set -m; (trap '' TERM; exec sleep LONG) &",
    ],
)
def test_nothing_that_a_program_started_outlives_it(kind: str, leave: str, tmp_path: Path) -> None:
    with a_place(kind, tmp_path / "program") as place:
        ended = shell(place, f"{leave.replace('LONG', WORD)} sleep 0.3; echo done")
    assert not is_running(WORD)
    assert (ended.exit_status, ended.stdout) == (0, b"done\n")
    assert ended.leftovers == 1


def test_a_program_that_ends_cleanly_has_left_nothing_over(kind: str, tmp_path: Path) -> None:
    with a_place(kind, tmp_path / "program") as place:
        assert shell(place, "sleep 0.1 & wait; echo | cat").leftovers == 0


def test_a_program_dies_with_bench_loop(kind: str, tmp_path: Path) -> None:
    source = (
        "import sys; from pathlib import Path; from tests.programs.places import *\n"
        "with a_place(sys.argv[1], Path(sys.argv[2])) as place:\n"
        f"    shell(place, 'setsid sleep {WORD} & exec sleep {WORD}')\n"
    )
    bench_loop = subprocess.Popen(
        [sys.executable, "-c", source, kind, str(tmp_path / "program")],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    end = time.monotonic() + 20
    while not is_running(WORD) and time.monotonic() < end:
        time.sleep(0.05)
    assert is_running(WORD)
    bench_loop.kill()
    bench_loop.wait()
    assert is_soon_gone(WORD)


def test_personal_configuration_is_not_found(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "user"
    (home / ".config" / "goose").mkdir(parents=True)
    (home / ".config" / "goose" / "config.yaml").write_text("planted")
    (home / ".aider.conf.yml").write_text("planted")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    monkeypatch.setenv("OPENAI_API_KEY", "planted")
    with a_place(kind, tmp_path / "program") as place:
        ended = shell(place, 'env; find "$HOME" "$XDG_CONFIG_HOME/.." ~ -type f; touch ~/mine')
        assert (place.state.here / "home" / "mine").exists()
    assert str(home) not in ended.stdout.decode()
    assert b"planted" not in ended.stdout
    assert sorted(path.name for path in home.iterdir()) == [".aider.conf.yml", ".config"]


def test_the_environment_is_that_of_the_place_and_the_command(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PERSONAL", "1")
    source = "import json, os; print(json.dumps(dict(os.environ)))"
    with a_place(kind, tmp_path / "program") as place:
        command = Command(("python", "-c", source), 20, env={"MORE": "2", "TZ": "EST"})
        seen = json.loads(place.run(command).stdout)
    state = place.state.inside
    assert (seen["HOME"], seen["MORE"], seen["TZ"]) == (f"{state}/home", "2", "EST")
    assert seen["XDG_CACHE_HOME"].startswith(state)
    assert "PERSONAL" not in seen


def test_a_place_leaves_no_folder(kind: str, tmp_path: Path) -> None:
    with a_place(kind, tmp_path / "program") as place:
        root = place.state.here.parent
        shell(place, "mkdir -p x/y; chmod 0 x; ln -s / root; mkfifo pipe; chmod 500 .")
        assert root.is_dir()
    assert not root.exists()


def test_an_overdue_folder_is_removed(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    old, fresh = tmp_path / marker(LONG_AGO), tmp_path / marker(60)
    for folder in (old, fresh):
        (folder / "state").mkdir(parents=True)
    with a_place(kind, tmp_path / "program"):
        assert not old.exists()
        assert fresh.exists()


def test_an_overdue_process_is_ended(kind: str, tmp_path: Path) -> None:
    env = {**os.environ, leftovers.VARIABLE: marker(LONG_AGO)}
    with subprocess.Popen(["sleep", WORD], env=env) as sleeper, a_place(kind, tmp_path / "program"):
        assert sleeper.wait(5) == -signal.SIGKILL


def test_an_unknown_kind_is_refused_by_its_name(kind: str, tmp_path: Path) -> None:
    with (
        pytest.raises(UsageError, match=f"{kind}s"),
        open_place(f"{kind}s", program=tmp_path, gateway_port=1, gateway_socket=tmp_path),
    ):
        pass


def test_a_program_that_fills_the_disk_is_ended(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_running, "LOOK_S", 0.2)
    script = "for n in 1 2 3; do head -c 9000000 /dev/zero >~/$n; done; exec sleep 15"
    limits = SandboxLimits(disk_mb=16)
    with a_place(kind, tmp_path / "program", limits=limits) as place:
        ended = shell(place, script)
    assert (ended.used_up, ended.exit_status, ended.is_timed_out) == ("disk", None, False)
    assert ended.wall_s < 10


def test_a_program_that_hides_what_it_writes_too_deep_is_ended(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_running, "LOOK_S", 0.2)
    source = (
        "import os, time\n"
        "for _ in range(50): os.mkdir('d' * 200); os.chdir('d' * 200)\n"
        "for n in range(3): open(str(n), 'wb').write(bytes(9_000_000))\n"
        "time.sleep(15)"
    )
    with a_place(kind, tmp_path / "program", limits=SandboxLimits(disk_mb=16)) as place:
        ended = python(place, source)
    assert (ended.used_up, ended.is_timed_out) == ("disk", False)


def test_a_program_that_fills_the_disk_by_files_without_a_name_is_ended(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_running, "LOOK_S", 0.2)
    monkeypatch.setattr(_running, "LEAST_FREE_MB", 1e12)
    source = (
        "import os, time\n"
        "files = [open(str(n), 'wb') for n in range(10)]\n"
        "for n, file in enumerate(files):\n"
        "    os.unlink(str(n)); file.write(os.urandom(15_000_000)); file.flush()\n"
        "    os.fsync(file.fileno())\n"
        "time.sleep(15)"
    )
    with a_place(kind, tmp_path / "program", limits=SandboxLimits(disk_mb=16)) as place:
        ended = python(place, source)
    assert (ended.used_up, ended.is_timed_out) == ("disk", False)


def test_no_single_file_is_larger_than_the_disk_may_hold(kind: str, tmp_path: Path) -> None:
    limits = SandboxLimits(disk_mb=4)
    with a_place(kind, tmp_path / "program", limits=limits) as place:
        ended = shell(place, "head -c 9000000 /dev/zero >file; wc -c <file")
    assert int(ended.stdout) == 4 << 20


def test_an_installation_that_is_gone_is_an_error_of_the_place(kind: str, tmp_path: Path) -> None:
    program = tmp_path / "program"
    with a_place(kind, program, executable=program / "agent") as place:
        program.rmdir()
        with pytest.raises(SandboxError, match="program"):
            place.run(Command(("program",), 20))
