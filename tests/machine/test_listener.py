"""Who answers at a port of this machine, found out on real sockets."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from bench_loop.commands._setup import load_harness, prepare
from bench_loop.machine.forwarders import is_door, is_forwarder
from bench_loop.machine.listener import listener_at
from bench_loop.providers import ollama
from bench_loop.report.sentences import place_of_server
from tests.fakes.ollama import FakeModel, FakeOllama

# Hands every connection on to the port in its first argument; prints its own port.
RELAY = """
import socket, sys, threading
def pump(a, b):
    while data := a.recv(65536):
        b.sendall(data)
    b.shutdown(socket.SHUT_WR)
ear = socket.create_server(("127.0.0.1", 0))
print(ear.getsockname()[1], flush=True)
while True:
    near, _ = ear.accept()
    far = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    for pair in ((near, far), (far, near)):
        threading.Thread(target=pump, args=pair, daemon=True).start()
"""


@contextmanager
def relay(program: str, url: str, folder: Path) -> Iterator[str]:
    """A process of the name `program` that relays to the server at `url`; gives its own URL."""
    link = folder / program
    link.symlink_to(Path(sys.executable).resolve())
    command = [link, "-I", "-c", RELAY, str(urlsplit(url).port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.kill()


@pytest.mark.skipif(sys.platform == "win32", reason="A process is named by a link to its program.")
def test_a_tunnel_on_loopback_is_not_credited_to_this_machine(tmp_path: Path) -> None:
    with FakeOllama([FakeModel("tiny:1b")]) as server, relay("ssh", server.url, tmp_path) as url:
        provider = ollama.connect(url, None)
        machine = prepare(provider, "tiny:1b", load_harness("raw"), gpu="H200").machine
        provider.close()
    assert (machine.is_local, machine.listener) == (False, "ssh")
    assert (machine.cpu_model, machine.gpus, machine.system_memory_gb) == (None, (), None)
    assert machine.device_class == "h200-141gb"
    assert machine.declared is not None
    assert place_of_server(machine) == (
        "ssh hands the requests on: the hardware behind it is not known."
    )


def test_a_server_of_this_machine_is_credited_to_it() -> None:
    with FakeOllama([FakeModel("tiny:1b")]) as server:
        provider = ollama.connect(server.url, None)
        machine = prepare(provider, "tiny:1b", load_harness("raw")).machine
        provider.close()
    assert (machine.is_local, machine.listener) == (True, psutil.Process(os.getpid()).name())
    assert machine.cpu_model is not None
    assert place_of_server(machine) is None


def test_a_port_at_which_nobody_is_seen_has_an_unknown_listener() -> None:
    with FakeOllama() as server:
        url = server.url
    found = listener_at(url)
    assert found is not None
    assert (found.program, found.is_forwarder) == ("unknown", False)


def test_an_engine_without_a_port_has_no_listener() -> None:
    assert listener_at("scripted") is None


@pytest.mark.skipif(sys.platform == "win32", reason="A process is named by a link to its program.")
def test_a_server_in_a_container_is_credited_to_this_machine_and_said_to_be_in_one(
    tmp_path: Path,
) -> None:
    with (
        FakeOllama([FakeModel("tiny:1b")]) as server,
        relay("docker-proxy", server.url, tmp_path) as url,
    ):
        provider = ollama.connect(url, None)
        machine = prepare(provider, "tiny:1b", load_harness("raw")).machine
        provider.close()
    assert (machine.is_local, machine.listener) == (True, "docker-proxy")
    assert machine.cpu_model is not None
    assert place_of_server(machine) == (
        "The server runs in a container or virtual machine of this computer: how much of the "
        "hardware it may use is not known."
    )


@pytest.mark.parametrize(
    "program", ["ssh", "sshd", "cloudflared", "frpc", "tailscaled", "socat", "kubectl", "ncat.exe"]
)
def test_programs_that_hand_on_to_another_host(program: str) -> None:
    assert is_forwarder(program)
    assert not is_door(program)


@pytest.mark.parametrize("program", ["docker-proxy", "wslrelay.exe", "com.docker.backend"])
def test_programs_that_hand_on_into_this_computer(program: str) -> None:
    assert is_door(program)
    assert not is_forwarder(program)


@pytest.mark.parametrize(
    "program",
    [
        *("ollama", "ollama.exe", "llama-server", "python3"),
        *("llama-swap", "LM Studio", "unknown", ""),
    ],
)
def test_programs_that_answer_themselves(program: str) -> None:
    assert not is_forwarder(program)
    assert not is_door(program)
