"""The command line before any work is done: quick, helpful, and orderly when it stops."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import click
import pytest

from bench_loop import errors
from bench_loop.cli import COMMANDS, group, main

HEAVY = tuple("django pydantic httpx rich yaml ruamel numpy jsonschema psutil cryptography".split())

LOADED = """
import json, sys
from bench_loop.cli import main
try:
    main(sys.argv[1:])
finally:
    loaded = {name.partition(".")[0] for name, module in sys.modules.items() if module}
    print(json.dumps(sorted(loaded)), file=sys.stderr)
"""


def bench_loop(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command line as a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "bench_loop", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | environment,
    )


def loaded_by(arguments: Sequence[str], **environment: str) -> set[str]:
    """The top-level modules that these arguments load."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | environment,
    )
    return set(json.loads(done.stderr.splitlines()[-1]))


def complete(words: str, count: int) -> dict[str, str]:
    """What a bash shell is told when it completes word number `count` of `words`."""
    return {
        "_BENCH_LOOP_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(count),
    }


def test_a_run_loads_nothing_for_signing_until_it_has_something_to_sign() -> None:
    assert "cryptography" not in loaded_by(["run", "--model", "m", "--resume", "nosuch"])
    code = "import sys, bench_loop.engine.run; print('cryptography' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], *([name, "--help"] for name in COMMANDS)]
)
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    assert not loaded_by(arguments) & set(HEAVY)


def test_help_lists_every_command_with_a_sentence() -> None:
    shown = bench_loop("--help").stdout
    for name, sentence in COMMANDS.items():
        assert f"  {name}" in shown
        assert sentence in shown


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(name: str) -> None:
    command = group.get_command(click.Context(group), name)
    assert command is not None
    assert command.help
    assert f"bench-loop {name}" in (command.epilog or "")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_prints_its_help(name: str) -> None:
    done = bench_loop(name, "--help")
    assert done.returncode == 0
    assert done.stdout.startswith(f"Usage: bench-loop {name}")


def test_version_is_printed() -> None:
    assert bench_loop("--version").stdout == "bench-loop, version 0.1.0\n"


def test_an_unknown_command_names_the_similar_one() -> None:
    done = bench_loop("sutes")
    assert done.returncode == 2
    assert "No such command 'sutes'." in done.stderr
    assert "Did you mean suites" in done.stderr


def test_an_unknown_option_names_the_similar_one() -> None:
    done = bench_loop("suites", "--jsn")
    assert done.returncode == 2
    assert "--json" in done.stderr


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.BenchLoopError("x"), 1),
        (errors.UsageError("x"), 2),
        (errors.SetupError("x"), 3),
        (errors.SandboxError("x"), 3),
        (errors.PackError("pack.yaml", "name", "x"), 4),
        (errors.ResultError("a.json", None, "x"), 4),
        (errors.ProviderError("x"), 5),
        (errors.ModelNotFoundError("x"), 5),
        (errors.EngineRejectedError("x", reason="engine_crashed"), 5),
        (errors.SubmitError("x", code="invalid"), 6),
        (errors.HarnessError("x"), 7),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else str(value),
)
def test_every_error_ends_the_program_with_its_own_code(
    error: errors.BenchLoopError, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert exit_code_of(error, monkeypatch) == code


def test_an_error_is_a_sentence_and_a_remedy_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    exit_code_of(errors.SetupError("No sandbox.", remedy="Install bubblewrap."), monkeypatch)
    captured = capsys.readouterr()
    assert captured.err == "Error: No sandbox.\n  Try: Install bubblewrap.\n"
    assert captured.out == ""


def test_what_an_error_quotes_cannot_steer_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    exit_code_of(errors.ProviderError("It said \x1b[2J\x07."), monkeypatch)
    assert capsys.readouterr().err == "Error: It said \\x1b[2J\\x07.\n"


def test_debug_shows_the_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(errors.SetupError):
        exit_code_of(errors.SetupError("No sandbox."), monkeypatch, "--debug")


def exit_code_of(
    error: BaseException, monkeypatch: pytest.MonkeyPatch, *options: str
) -> str | int | None:
    """How the program ends when one of its commands raises `error`."""

    @click.command()
    def boom() -> None:
        raise error

    monkeypatch.setattr(type(group), "get_command", lambda self, ctx, name: boom)
    with pytest.raises(SystemExit) as ended:
        main([*options, "boom"])
    return ended.value.code


def test_an_interrupt_ends_with_130(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code_of(KeyboardInterrupt(), monkeypatch) == 130
    assert capsys.readouterr().err.endswith("Interrupted.\n")


def test_ctrl_c_while_a_server_is_silent_ends_with_130_and_no_traceback() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}"
        server = ["--provider", "openai_compat", "--endpoint", endpoint]
        run = subprocess.Popen(
            [sys.executable, "-m", "bench_loop", "run", "--model", "m", *server],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        silent.settimeout(30)
        connection, _ = silent.accept()
        run.send_signal(signal.SIGINT)
        _, complaint = run.communicate(timeout=30)
        connection.close()
    assert run.returncode == 130
    assert complaint.strip() == "Interrupted."


def test_a_reader_that_goes_away_is_no_traceback() -> None:
    writer = subprocess.Popen(
        [sys.executable, "-m", "bench_loop", "schema"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert writer.stdout is not None
    assert writer.stderr is not None
    writer.stdout.close()
    complaint = writer.stderr.read()
    writer.stderr.close()
    assert writer.wait(timeout=30) == 1
    assert complaint == ""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_script_of_a_shell_is_printed(shell: str) -> None:
    done = bench_loop(_BENCH_LOOP_COMPLETE=f"{shell}_source")
    assert done.returncode == 0
    assert "_BENCH_LOOP_COMPLETE" in done.stdout


@pytest.mark.parametrize(
    ("words", "count", "found"),
    [
        ("bench-loop su", 1, ["suites", "submit"]),
        ("bench-loop --de", 1, ["--debug"]),
        ("bench-loop suites reas", 2, ["reasonmath"]),
        ("bench-loop run --profile sm", 3, ["smoke"]),
        ("bench-loop run --provider o", 3, ["ollama", "openai_compat"]),
        ("bench-loop run --harness ra", 3, ["raw"]),
    ],
)
def test_commands_options_and_values_are_completed(
    words: str, count: int, found: list[str]
) -> None:
    done = bench_loop(**complete(words, count))
    assert sorted(line.partition(",")[2] for line in done.stdout.split()) == sorted(found)


@pytest.mark.parametrize(
    ("words", "count"),
    [("bench-loop s", 1), ("bench-loop suites r", 2), ("bench-loop run --profile s", 3)],
)
def test_completion_loads_nothing_heavy(words: str, count: int) -> None:
    assert not loaded_by([], **complete(words, count)) & set(HEAVY)


def test_the_module_and_the_script_are_one_program(tmp_path: Path) -> None:
    assert bench_loop("suites", "nosuch").returncode == 2
    assert bench_loop("compare", str(tmp_path / "a"), str(tmp_path / "b")).returncode == 4
