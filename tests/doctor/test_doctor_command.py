"""`bench-loop doctor` as a whole: what it prints, how it ends, and what its report keeps back."""

from __future__ import annotations

import getpass
import json
import re
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench_loop import cli
from bench_loop.doctor.examine import Examination, examine_harnesses, no_server, not_ready
from bench_loop.doctor.finding import Finding, worst
from bench_loop.machine.facts import MachineFacts
from bench_loop.privacy import redacted
from bench_loop.providers.discover import FoundServer
from bench_loop.providers.discover.endpoints import save_endpoint
from bench_loop.report.doctor import examination_report
from bench_loop.result.records import Gpu
from tests.fakes.ollama import FakeModel, FakeOllama

TEMPLATE = "{{ if .System }}{{ .System }}{{ end }}{{ .Prompt }}"
CHAT = FakeModel("qwen3:8b", capabilities=("completion", "tools"), template=TEMPLATE)


def doctor(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        cli.main(["doctor", *arguments])
    assert isinstance(ended.value.code, int)
    return ended.value.code


@pytest.fixture
def examined(capfd: pytest.CaptureFixture[str]) -> Any:
    """Runs the command on an Ollama with these models: exit status, findings by code."""

    def run(*models: FakeModel, arguments: tuple[str, ...] = ()) -> tuple[int, dict[str, Any]]:
        with FakeOllama(models, answer=lambda body: "Hello.") as server:
            server.loaded = {models[0].name: 8192} if models else {}
            status = doctor("--endpoint", server.url, "--json", *arguments)
        document = json.loads(capfd.readouterr().out)
        assert document["is_serious"] == (status == 1)
        return status, {finding["code"]: finding for finding in document["findings"]}

    return run


def test_a_good_server_is_told_with_every_area(examined: Any) -> None:
    _, by_code = examined(CHAT)
    assert {"models_ok", "engine_ok", "window_ok", "template_ok", "tools_ok", "chat_ok"} <= set(
        by_code
    )
    assert {one["area"] for one in by_code.values()} == {"server", "model", "machine", "setup"}
    assert {one["severity"] for one in by_code.values() if one["area"] == "model"} <= {"ok", "note"}
    assert "harness_ok" in by_code
    assert any(code.startswith("sandbox_") for code in by_code)
    for area in ("power", "heat", "load", "clock", "disk"):
        assert any(area in code or code == "cpu_busy" for code in by_code)


def test_a_server_with_nothing_to_run_is_serious(examined: Any) -> None:
    status, by_code = examined(FakeModel("nomic-embed-text:latest", capabilities=("embedding",)))
    assert status == 1
    assert by_code["models_missing"]["remedy"] == "ollama pull qwen3:4b"


def test_a_model_that_the_server_lacks_is_serious(examined: Any) -> None:
    status, by_code = examined(CHAT, arguments=("--model", "nope"))
    assert status == 1
    assert by_code["model_fails"]["remedy"] == "Get it with: ollama pull nope"


def test_no_model_is_loaded_only_to_look_at_it(capfd: pytest.CaptureFixture[str]) -> None:
    with FakeOllama([CHAT]) as server:
        doctor("--endpoint", server.url, "--json")
        assert server.asked("/api/chat") == []
    codes = [one["code"] for one in json.loads(capfd.readouterr().out)["findings"]]
    assert "model_not_loaded" in codes


def test_what_is_found_is_printed_with_its_remedy(capfd: pytest.CaptureFixture[str]) -> None:
    bare = FakeModel("gemma3:4b", template="{{ .Prompt }}")
    with FakeOllama([bare], answer=lambda body: "Hello.") as server:
        server.loaded = {"gemma3:4b": 8192}
        doctor("--endpoint", server.url)
    shown = capfd.readouterr().out
    assert f"ollama 0.33.0 at {server.url}\n" in shown
    assert "~ chat template" in shown
    assert "ollama show --modelfile gemma3:4b" in shown
    assert max(map(len, shown.splitlines())) <= 88


def test_without_a_server_the_embedded_engine_is_named_or_a_server_is_missing() -> None:
    assert (no_server(has_engine=True).severity, no_server(has_engine=False).severity) == (
        "note",
        "error",
    )
    assert no_server(has_engine=True).remedy == "bench-loop quickstart"


@pytest.mark.parametrize(
    ("state", "code", "remedy"),
    [
        ("loading", "server_loading", "Wait until it is loaded"),
        ("locked", "server_locked", "export BENCHLOOP_API_KEY="),
        ("silent", "endpoint_silent", "bench-loop endpoints remove lab"),
        ("not_a_model_server", "endpoint_wrong", "bench-loop endpoints add lab URL"),
    ],
)
def test_a_server_that_cannot_be_asked_is_told(state: Any, code: str, remedy: str) -> None:
    server = FoundServer("http://127.0.0.1:1", "openai_compat", "jan", None, state, "lab")
    finding = not_ready(server)
    assert (finding.code, finding.severity) == (code, "warning")
    assert remedy in (finding.remedy or "")


def test_every_harness_is_told_with_its_version() -> None:
    assert "raw 1.1" in [one.evidence for one in examine_harnesses()]


def test_json_and_report_exclude_each_other() -> None:
    assert doctor("--json", "--report") == 2


SECRETS = {
    "home folder": "/home/wilhelmine/models/tiny.gguf",
    "home on macOS": "/Users/wilhelmine/x",
    "home on Windows": r"C:\Users\wilhelmine\x",
    "root's home": "/root/models/x.gguf",
    "address": "192.168.178.20",
    "public address": "203.0.113.77",
    "address of version 6": "2001:db8::17",
    "link-local address": "fe80::1ff:fe23:4567:890a",
    "hardware address": "00:1B:44:11:3A:B7",
    "serial of a GPU": "GPU-8c0f5a1e-1b2c-4d3e-9f40-123456789abc",
    "token": "sk-abcdefghijklmnopqrstuvwxyz0123456789",
    "bearer": "Bearer abcdefghijklmnopqrstuvwxyz",
    "password in a URL": "http://wilhelmine:hunter2@127.0.0.1:8080",
    "host": socket.gethostname(),
    "home of somebody with two names": r"C:\Users\Wilhelmine Muster\x",
    "home in JSON": r"C:\\Users\\wilhelmine\\x",
    "home in an address": "file:///%2Fhome%2Fwilhelmine%2Fx",
    "home under WSL": "/mnt/c/Users/wilhelmine/x",
    "disk of a user": "/run/media/wilhelmine/disk",
    "home by name": "~wilhelmine/x",
    "e-mail": "wilhelmine@muster.example",
    "address inside one of version 6": "::ffff:192.168.178.20",
    "address with its interface": "fe80::1ff:fe23:4567:890a%eth0",
    "hardware address on Windows": "00-1B-44-11-3A-B7",
    "hardware address of a switch": "001b.4411.3ab7",
    "short token": "hf_abcdefghij",
    "token of a repository": "ghp_abcdefghijkl",
    "short bearer": "Bearer abcdefgh12",
    "what is called a key": "api_key=hunter2hunter2",
    "what is called a password": "password: hunter2",
    "serial": "Serial Number: C02XK1ABJG5J",
    "id of a board": "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
    "id of a machine": "0123456789abcdef0123456789abcdef",
    "account on Windows": "S-1-5-21-1004336348-1177238915-682003330-512",
    "host at home": "http://wilhelmines-nas.local:8080",
    "host of Windows": "DESKTOP-AB12CD3",
    "share": r"\\wilhelmine-pc\models",
}

PLACES: dict[str, Callable[[str], tuple[MachineFacts, Finding]]] = {
    "evidence": lambda text: (MachineFacts(), error(evidence=f"seen: {text}.")),
    "remedy": lambda text: (MachineFacts(), error(remedy=f"do {text}")),
    "subject": lambda text: (MachineFacts(), error(subject=f"{text} at http://127.0.0.1:8080")),
    "processor": lambda text: (MachineFacts(cpu_model=f"CPU {text}"), error()),
    "GPU": lambda text: (MachineFacts(gpus=(Gpu(model=text, vendor=text),)), error()),
    "system": lambda text: (MachineFacts(os=f"Linux {text}", platform=f"Linux {text}"), error()),
}


def error(
    evidence: str = "nothing", remedy: str | None = None, subject: str | None = None
) -> Finding:
    return Finding("c", "server", "error", "server", evidence, remedy, subject)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", SECRETS)
def test_the_report_keeps_back(kind: str, place: str) -> None:
    secret = SECRETS[kind]
    facts, finding = PLACES[place](secret)
    report = examination_report(Examination(facts, (finding,)))
    shared = {"serial", "number", "password", "api_key", "users", "home", "models", "media"}
    words = {word for word in re.findall(r"\w{6,}", secret.lower()) if word not in shared}
    for word in (secret, "wilhelmine", "muster", "hunter2", *words):
        assert word.lower() not in report.lower()
    assert "BenchLoop" in report
    assert "`c`" in report


def test_the_report_names_no_server_elsewhere_and_nothing_that_was_saved() -> None:
    save_endpoint("wilhelmine-box", "http://gpu-cellar.lan:8080")
    found = FoundServer(
        "http://gpu-cellar.lan:8080", "openai_compat", "unknown", None, "silent", "wilhelmine-box"
    )
    report = examination_report(Examination(MachineFacts(), (not_ready(found),)))
    assert "gpu-cellar" not in report
    assert "wilhelmine" not in report
    assert ":8080" in report


def test_the_user_is_never_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "Max")
    assert getpass.getuser() == "Max"
    assert redacted("max reads /srv/max/x; maximum") == "<name> reads /srv/<name>/x; maximum"


@pytest.mark.parametrize(
    "text",
    [
        "http://127.0.0.1:8080",
        "http://[::1]:8080",
        "ollama 0.13.3",
        "b7783-abc1234",
        "4,096 of 8,192 tokens",
        "12:30:45",
        "sha256:872be49dbb63",
        "hf.co/unsloth/Qwen3-Coder-GGUF:Q4_K_M",
        "export BENCHLOOP_API_KEY=...",
        "basic understanding of serial links, 512 tokens",
        "Windows 11 10.0.26100.2314, macOS 15.1.1, driver 550.54.15",
        "https://github.com/ollama/ollama/issues/12345",
        "/v1/models lists no models",
    ],
)
def test_what_points_to_nobody_stays(text: str) -> None:
    assert redacted(text) == text


def test_the_whole_report_of_a_run_of_the_command_is_clean(
    capfd: pytest.CaptureFixture[str], benchloop_home: Path
) -> None:
    with FakeOllama([CHAT], answer=lambda body: "Hello.") as server:
        server.loaded = {"qwen3:8b": 8192}
        doctor("--endpoint", server.url, "--report")
    report = capfd.readouterr().out
    assert "`chat_ok`" in report
    assert socket.gethostname() not in report
    assert str(benchloop_home) not in report
    assert str(Path.home()) not in report


def test_the_most_serious_finding_decides() -> None:
    ok = Finding("a", "machine", "ok", "a", "a")
    error = Finding("b", "machine", "error", "b", "b")
    assert worst(()) == "ok"
    assert worst((ok, error, ok)) == "error"
