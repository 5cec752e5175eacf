"""Hostile text, made safe to look at."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_loop.report.printable import one_line, printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x00", "\\x00"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\u202egnp.exe", "a\\u202egnp.exe"),
        ("\u2066isolated\u2069", "\\u2066isolated\\u2069"),
        ("\ud800", "\\ud800"),
        ("line\u2028separator", "line\\u2028separator"),
        ("\x9b31m", "\\x9b31m"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
    ],
)
def test_what_steers_or_hides_is_shown_as_an_escape(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_line_breaks_and_tabs_stay() -> None:
    assert printable("a\r\nb\tc\n") == "a\nb\tc\n"


def test_letters_of_all_scripts_and_joined_emoji_stay() -> None:
    text = "Größe, שלום, 你好, 👩\u200d💻"
    assert printable(text) == text


def test_a_name_is_one_line_of_bounded_length() -> None:
    assert one_line("a\nb\tc") == "a\\nb\\tc"
    assert one_line("x" * 300, limit=10) == "x" * 9 + "…"


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_can_be_written_as_utf_8_afterwards(text: str) -> None:
    assert b"\x00" not in printable(text).encode("utf-8")
