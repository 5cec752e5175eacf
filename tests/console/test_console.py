"""The console: what it shows on which terminal, and what it refuses to let through."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.console import Console
from rich.text import Text

from bench_loop.console import (
    ASCII,
    THEME,
    UNICODE,
    clean,
    console,
    in_signs,
    program,
    signs,
    width,
)

OUTCOMES = {
    "pass",
    "partial",
    "fail",
    "truncated",
    "harness_error",
    "infrastructure_error",
    "not_applicable",
}


class Stream(io.StringIO):
    """A text stream that says what it is."""

    def __init__(self, encoding: str = "utf-8", *, is_tty: bool = True) -> None:
        super().__init__()
        self._encoding = encoding
        self._is_tty = is_tty

    @property
    def encoding(self) -> str:
        return self._encoding

    def isatty(self) -> bool:
        return self._is_tty


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("\x9b2J", r"\x9b2J"),
        ("abc\u202etxt.exe", r"abc\u202etxt.exe"),
        ("a\ud800b", r"a\ud800b"),
        ("a\u200bb", r"a\u200bb"),
        ("\x00\x7f\x08", r"\x00\x7f\x08"),
        ("one\r\ntwo\n\nthree\tfour\u2028five", "one two three four five"),
    ],
)
def test_text_from_outside_becomes_one_line_without_controls(hostile: str, shown: str) -> None:
    assert clean(hostile) == shown


@pytest.mark.parametrize(
    "harmless", ["ANSWER: 12.5 L", "größer als 3 €", "日本語", "می\u200cخواهم"]
)
def test_ordinary_text_of_any_language_stays_as_it_is(harmless: str) -> None:
    assert clean(harmless) == harmless


def test_markup_emoji_codes_and_links_in_data_are_printed_as_they_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    console().print("[bold red]x[/] :smile: [link=http://example.org]y[/link]")
    assert capsys.readouterr().out == ("[bold red]x[/] :smile: [link=http://example.org]y[/link]\n")


def test_a_pipe_gets_no_escape_sequences(capsys: pytest.CaptureFixture[str]) -> None:
    console().print(Text("x", style="fail"))
    assert capsys.readouterr().out == "x\n"


def test_no_color_keeps_the_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    stream = Stream()
    screen = Console(file=stream, theme=THEME, markup=False)
    screen.print(Text(signs(screen).outcomes["fail"], style="fail"))
    assert stream.getvalue() == "×\n"


def test_a_pipe_is_laid_out_for_88_columns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert width(console()) == 88


def test_colour_forced_on_a_pipe_does_not_make_it_a_display(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    screen = console()
    screen.print(Text("x", style="fail"))
    assert capsys.readouterr().out == "\x1b[31mx\x1b[0m\n"
    assert not screen.is_interactive


def test_columns_in_the_environment_set_the_width_of_a_pipe(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    assert width(console()) == 50


def test_a_wide_terminal_is_used_up_to_88_columns() -> None:
    assert width(Console(file=Stream(), width=200)) == 88


@pytest.mark.parametrize(
    ("stream", "term", "expected"),
    [
        (Stream(), "xterm-256color", UNICODE),
        (Stream(is_tty=False), "xterm-256color", ASCII),
        (Stream("cp1252"), "xterm-256color", ASCII),
        (Stream(), "dumb", ASCII),
    ],
    ids=["terminal", "pipe", "old code page", "dumb terminal"],
)
def test_signs_are_drawn_only_where_they_can_be_shown(
    monkeypatch: pytest.MonkeyPatch, stream: Stream, term: str, expected: object
) -> None:
    monkeypatch.setenv("TERM", term)
    assert signs(Console(file=stream)) is expected


@pytest.mark.parametrize("drawn", [UNICODE, ASCII])
def test_every_outcome_has_a_sign_of_its_own(drawn: object) -> None:
    found = drawn.outcomes  # type: ignore[attr-defined]
    assert set(found) == OUTCOMES
    assert len(set(found.values())) == len(OUTCOMES)


def test_all_ascii_signs_are_ascii() -> None:
    shown = "".join((*ASCII.outcomes.values(), ASCII.wire, ASCII.bar, ASCII.value, ASCII.zero))
    assert re.fullmatch(r"[ -~]+", shown)


def test_our_wording_loses_its_typography_on_a_pipe_and_keeps_its_styles() -> None:
    line = Text("40.3 ±0.3").append(" (−11 to −2)", style="basis").append(" 67–77", style="bold")
    found = in_signs(line, ASCII)
    assert found.plain == "40.3 +-0.3 (-11 to -2) 67-77"
    end = [span for span in found.spans if span.style == "bold"]
    assert "".join(found.plain[span.start : span.end] for span in end) == " 67-77"


def test_a_character_that_the_code_page_lacks_is_escaped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(raw, encoding="ascii"))
    console().print("größer")
    assert raw.getvalue() == b"gr\\xf6\\xdfer\n"


@pytest.mark.parametrize(
    ("called", "on_path", "typed"),
    [
        (".venv/bin/bench-loop", False, ".venv/bin/bench-loop"),
        (".venv/bin/bench-loop", True, "bench-loop"),
        ("/usr/bin/bench-loop", False, "/usr/bin/bench-loop"),
        ("bench_loop/__main__.py", True, "python -m bench_loop"),
        ("bench_loop/__main__.py", False, "python3.14 -m bench_loop"),
        ("pytest", False, "bench-loop"),
    ],
)
def test_the_program_is_called_as_it_can_be_typed_here(
    called: str, on_path: bool, typed: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [str(tmp_path / called)])
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.executable", str(tmp_path / ("python" if on_path else "python3.14")))
    if on_path:
        (tmp_path / "bench-loop").touch(0o755)
        (tmp_path / "python").touch(0o755)
    assert program() == typed
