"""What is said when the client of a registry fails."""

from __future__ import annotations

import sys

import pytest

from bench_loop.errors import SetupError
from bench_loop.programs._registry import QUOTED, failure, run


@pytest.mark.parametrize(
    ("said", "remedy"),
    [
        ("npm error code ENOSPC\nnpm error nospc no space left", "Make room on the disk"),
        ("ERROR: Could not install: [Errno 28] No space left on device", "Make room on the disk"),
        ("npm error code ECONNREFUSED\nnpm error errno ECONNREFUSED", "Look at the network"),
        (
            "Failed to establish: NewConnectionError\nERROR: No matching distribution found for x",
            "Look at the network",
        ),
        ("npm error code E404\nnpm error 404 Not Found", "Ask your registry or mirror"),
        ("ERROR: No matching distribution found for x==9", "Ask your registry or mirror"),
        ("Segmentation fault", "Do it again"),
    ],
)
def test_the_remedy_fits_what_the_client_said(said: str, remedy: str) -> None:
    assert (failure("aider", said).remedy or "").startswith(remedy)


def test_the_error_quotes_the_client_s_own_words_and_no_more() -> None:
    said = "fetching\nnpm warn old lockfile\nnpm error code E404\nnpm error 404 " + "x" * 9000
    message = failure("goose", said).message
    assert message.startswith("goose could not be installed: code E404 404 xxx")
    assert len(message) < QUOTED + 100


def test_a_client_that_says_nothing_still_gives_an_error() -> None:
    with pytest.raises(SetupError, match="aider could not be installed: it gave no reason"):
        run("aider", [sys.executable, "-c", "raise SystemExit(1)"], {})


def test_a_client_that_is_missing_is_an_error() -> None:
    with pytest.raises(SetupError, match="/no/such/npm cannot be started"):
        run("aider", ["/no/such/npm"], {})


def test_variables_are_put_on_the_environment_or_taken_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TAKEN_OUT", "1")
    script = "import os, sys; sys.exit('TAKEN_OUT' in os.environ or os.environ['PUT_ON'] != 'yes')"
    run("aider", [sys.executable, "-c", script], {"TAKEN_OUT": None, "PUT_ON": "yes"})
