"""A server that lies on a usual port: no command hangs, breaks, is steered, or gives it a key."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from bench_loop import cli
from bench_loop.doctor import chat_test
from bench_loop.providers.discover import _places
from tests.fakes.liars import LIARS

KEY = "sk-this-key-is-for-my-own-server-only"
PATIENT_S = 60.0
"""Far more than the limits, on a machine that is busy; far less than the waits of the liars."""

COMMANDS = (
    ("info",),
    ("doctor", "--report"),
    ("recommend", "--for", "chat", "--budget", "1s"),
    ("run", "--suites", "reasonmath", "--budget", "2s"),
)


@pytest.fixture
def only_ollamas_port(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Of the usual ports only Ollama's is looked at, wherever OLLAMA_HOST says that it is."""
    monkeypatch.setattr(_places, "USUAL_PORTS", ())
    monkeypatch.setattr(chat_test, "WALL_LIMIT_S", 1.0)
    monkeypatch.setenv("BENCHLOOP_API_KEY", KEY)
    return monkeypatch


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("kind", LIARS)
def test_a_lying_server_does_no_harm(
    kind: str,
    command: tuple[str, ...],
    only_ollamas_port: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    with LIARS[kind]() as server:
        only_ollamas_port.setenv("OLLAMA_HOST", server.url)
        started = time.monotonic()
        with pytest.raises(SystemExit):
            cli.main(list(command))
        took_s = time.monotonic() - started
        assert not [one for one in server.requests if KEY in str(one.headers)]
    printed = "".join(capfd.readouterr())
    assert took_s < PATIENT_S
    assert "Traceback" not in printed
    assert not {"\x1b", "\x07", "\u202e", "\x00"} & set(printed)
    assert len(printed) < 20_000
    assert not Path("/tmp/pwned").exists()
