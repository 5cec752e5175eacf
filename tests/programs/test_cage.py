"""Tests that a program in a cage reaches nothing but its folders and the gateway."""

from __future__ import annotations

import json
import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from bench_loop.contracts.place import Command
from bench_loop.contracts.sandbox import SandboxLimits
from bench_loop.programs.place import free_port, open_place, usual_limits
from bench_loop.sandboxes import _control_group
from tests.components import need_bubblewrap, need_root
from tests.programs.places import a_place, can_connect, python, shell, small_gateway

pytestmark = pytest.mark.real

CONNECT = """
import json, socket, sys
reached = {}
for host, port in json.loads(sys.argv[1]):
    try:
        socket.create_connection((host, port), timeout=3).close()
        reached[host] = True
    except OSError as error:
        reached[host] = False
print(json.dumps(reached))
"""


@contextmanager
def _listening(address: str) -> Iterator[tuple[str, int]]:
    with socket.create_server((address, 0)) as listener:
        yield address, int(listener.getsockname()[1])


def _own_address() -> str:
    """One by which other machines reach this one."""
    for addresses in psutil.net_if_addrs().values():
        for one in addresses:
            if one.family == socket.AF_INET and not one.address.startswith("127."):
                return one.address
    return "127.0.0.2"


def test_no_service_of_this_machine_is_reached(tmp_path: Path) -> None:
    with (
        _listening("127.0.0.1") as loopback,
        _listening(_own_address()) as outer,
        a_place("bubblewrap", tmp_path / "program") as place,
    ):
        assert can_connect(loopback)
        source = CONNECT.replace("sys.argv[1]", repr(json.dumps([loopback, outer])))
        ended = python(place, source)
    assert set(json.loads(ended.stdout).values()) == {False}


def test_no_other_machine_is_reached(tmp_path: Path) -> None:
    """The address is one for documentation: the way there is what must be missing."""
    source = (
        "import socket\n"
        "try: socket.create_connection(('192.0.2.1', 80), timeout=3)\n"
        "except OSError as error: print(error.strerror)\n"
    )
    with a_place("bubblewrap", tmp_path / "program") as place:
        assert python(place, source).stdout == b"Network is unreachable\n"


def test_no_name_is_found_but_its_own(tmp_path: Path) -> None:
    source = (
        "import socket\n"
        "print(socket.gethostname(), socket.gethostbyname('localhost'))\n"
        "try: socket.getaddrinfo('example.org', 80)\n"
        "except socket.gaierror as error: print('none')\n"
    )
    with a_place("bubblewrap", tmp_path / "program") as place:
        assert python(place, source).stdout == b"bench 127.0.0.1\nnone\n"


def test_only_the_loopback_interface_is_there(tmp_path: Path) -> None:
    source = "import socket; print(socket.if_nameindex())"
    with a_place("bubblewrap", tmp_path / "program") as place:
        assert python(place, source).stdout == b"[(1, 'lo')]\n"


def test_an_abstract_socket_of_this_machine_is_not_reached(tmp_path: Path) -> None:
    name = f"\0bench-loop-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(name)
        listener.listen()
        source = (
            "import socket\n"
            f"try: socket.socket(socket.AF_UNIX).connect({name!r})\n"
            "except ConnectionRefusedError: print('refused')\n"
        )
        with a_place("bubblewrap", tmp_path / "program") as place:
            assert python(place, source).stdout == b"refused\n"


def test_no_file_of_the_user_is_seen(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    with a_place("bubblewrap", tmp_path / "program") as place:
        link = f"ln -s {secret} link; cat link {secret}; ls -A /home /root /etc/shadow /work /var"
        ended = shell(place, link)
    assert b"secret" not in ended.stdout
    assert ended.stdout == b"" or not any(Path("/home", n).exists() for n in _lines(ended.stdout))


def test_folders_beside_the_installation_are_read_by_their_own_paths(tmp_path: Path) -> None:
    need_bubblewrap()
    beside, program = tmp_path / "beside", tmp_path / "program"
    beside.mkdir()
    program.mkdir()
    (beside / "tool").write_text("#!/bin/sh\necho beside\n")
    (beside / "tool").chmod(0o755)
    with (
        small_gateway() as gateway,
        open_place(
            "bubblewrap",
            program=program,
            gateway_port=gateway.port,
            gateway_socket=gateway.socket,
            extra_readable=(beside,),
            path=(beside,),
        ) as place,
    ):
        place.workspace.here.mkdir(exist_ok=True)
        assert shell(place, "tool").stdout == b"beside\n"


@pytest.mark.parametrize(
    "path",
    [
        "/bench/program/x",
        "/bench/bin/x",
        "/bench/x",
        "/etc/x",
        "/usr/x",
        "/x",
        "/dev/x",
        "/proc/sys/kernel/core_pattern",
        "/proc/sysrq-trigger",
    ],
)
def test_nothing_is_written_outside_of_state_workspace_and_scratch(
    path: str, tmp_path: Path
) -> None:
    with a_place("bubblewrap", tmp_path / "program") as place:
        ended = shell(place, f"for at in ~ /tmp . $TMPDIR; do : >$at/y || exit 9; done; : >>{path}")
    assert ended.exit_status not in (0, 9)


def test_of_the_kernel_nothing_can_be_set_but_what_is_a_process_s_own(tmp_path: Path) -> None:
    own = " ".join(f"-not -path '/proc/{name}*'" for name in ("[0-9]", "self", "thread-self"))
    with a_place("bubblewrap", tmp_path / "program") as place:
        ended = shell(place, f"find /proc -type f {own} -writable 2>/dev/null")
        own_score = shell(place, "echo 500 >/proc/self/oom_score_adj")
    assert ended.stdout == b""
    assert (own_score.exit_status, own_score.stderr) == (0, b"")


def test_a_program_has_no_capability_and_gains_none(tmp_path: Path) -> None:
    with a_place("bubblewrap", tmp_path / "program") as place:
        ended = shell(place, "grep -E 'Cap(Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp:' /proc/self/status")
    seen = dict(line.split(":\t") for line in ended.stdout.decode().splitlines())
    assert {int(value, 16) for name, value in seen.items() if name.startswith("Cap")} == {0}
    assert (seen["NoNewPrivs"], seen["Seccomp"]) == ("1", "2")


def test_a_program_is_an_ordinary_user_with_a_name(tmp_path: Path) -> None:
    source = (
        "import os, pwd; me = pwd.getpwuid(os.getuid()); print(me.pw_uid, me.pw_name, me.pw_dir)"
    )
    with a_place("bubblewrap", tmp_path / "program") as place:
        assert python(place, source).stdout == b"1000 bench /bench/state/home\n"


def test_a_program_sees_no_process_but_its_own(tmp_path: Path) -> None:
    with a_place("bubblewrap", tmp_path / "program") as place:
        ended = shell(place, "ls -d /proc/[0-9]* | wc -l")
    assert int(ended.stdout) <= 4


def test_a_program_can_not_look_into_the_relay(tmp_path: Path) -> None:
    with a_place("bubblewrap", tmp_path / "program") as place:
        ended = shell(
            place, "readlink /proc/1/fd/*; cat /proc/1/environ; kill -9 1; sleep 0.2; echo lives"
        )
    assert ended.stdout == b"lives\n"


def test_the_memory_of_all_processes_together_is_limited(tmp_path: Path) -> None:
    need_root()
    limits = SandboxLimits(memory_mb=128, pids=64)
    hold = "python -c \"import time; x = bytearray(100 << 20); print('held'); time.sleep(2)\""
    with a_place("bubblewrap", tmp_path / "program", limits=limits) as place:
        ended = shell(place, f"{hold} & {hold} & wait")
    assert ended.stdout.count(b"held") < 2
    assert ended.used_up == "memory"


def test_the_number_of_processes_is_limited(tmp_path: Path) -> None:
    need_root()
    limits = SandboxLimits(memory_mb=512, pids=20)
    source = (
        "import subprocess\n"
        "for count in range(40):\n"
        "    try: subprocess.Popen(['sleep', '5'])\n"
        "    except OSError: print(count); break\n"
    )
    with a_place("bubblewrap", tmp_path / "program", limits=limits) as place:
        ended = python(place, source)
    assert 10 <= int(ended.stdout) <= 20


def test_without_a_control_group_the_number_of_processes_is_limited_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_control_group, "make", lambda *_, **__: None)
    with a_place("bubblewrap", tmp_path / "program") as place:
        ended = shell(place, "grep processes /proc/self/limits")
    limit = int(ended.stdout.split()[2])
    assert usual_limits().pids <= limit < usual_limits().pids + 2000


def test_a_service_is_reached_from_a_folder_with_a_long_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The path of a Unix socket may be no longer than about a hundred characters."""
    folder = tmp_path / ("long" * 30)
    folder.mkdir()
    port = free_port()
    command = Command(("python", "-m", "http.server", "-b", "127.0.0.1", str(port)), 60)
    with small_gateway() as gateway:
        monkeypatch.setattr(tempfile, "tempdir", str(folder))
        with (
            a_place("bubblewrap", tmp_path / "program", gateway=gateway) as place,
            place.serve(command, port) as service,
        ):
            assert service.request("GET", "/")[0] == 200


def test_many_connections_at_a_time_reach_the_gateway(tmp_path: Path) -> None:
    source = (
        "import urllib.request as r; from concurrent.futures import ThreadPoolExecutor as P\n"
        "ask = lambda _: r.urlopen('http://127.0.0.1:{port}/').read()\n"
        "print(set(P(16).map(ask, range(64))))\n"
    )
    with (
        small_gateway() as gateway,
        a_place("bubblewrap", tmp_path / "p", gateway=gateway) as place,
    ):
        ended = python(place, source.replace("{port}", str(gateway.port)))
    assert ended.stdout == b"{b'hello\\n'}\n"


def _lines(said: bytes) -> list[str]:
    return said.decode().splitlines()
