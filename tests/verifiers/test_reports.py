"""The answer line of a tool loop: what stands on it, however it is dressed."""

from __future__ import annotations

import pytest

from bench_loop.verifiers.reports import Report, broken_report

FILE = Report(parts=("local/overrides.ini",))
ONE_OF_TWO = Report(parts=("shows.py",), among=("shows.py", "board.py"))
NUMBER = Report(parts=("55",), among=("55", "140"))


@pytest.mark.parametrize(
    "line",
    [
        "local/overrides.ini",
        "./local/overrides.ini",
        "`local/overrides.ini`.",
        '"Local/Overrides.ini"',
        "<local/overrides.ini>",
    ],
)
def test_a_part_may_be_dressed(line: str) -> None:
    assert broken_report(FILE, f"It is done.\nANSWER: {line}") is None


@pytest.mark.parametrize("line", ["overrides.ini", "local/overrides.ini, show.py", "local", "<>"])
def test_another_part_is_wrong(line: str) -> None:
    assert broken_report(FILE, f"ANSWER: {line}") is not None


@pytest.mark.parametrize("line", ["55", "55 minutes", "<55>", "it was 55 before", "**55**"])
def test_among_known_words_the_rest_of_the_line_is_not_read(line: str) -> None:
    assert broken_report(NUMBER, f"ANSWER: {line}") is None


@pytest.mark.parametrize("line", ["./shows.py", "`shows.py`", "the file ./shows.py.", "Shows.py"])
def test_a_path_among_others_may_be_dressed(line: str) -> None:
    assert broken_report(ONE_OF_TWO, f"ANSWER: {line}") is None


@pytest.mark.parametrize("line", ["../shows.py", "old/shows.py", ".//shows.py", "./board.py"])
def test_another_path_among_others_is_wrong(line: str) -> None:
    assert broken_report(ONE_OF_TWO, f"ANSWER: {line}") is not None


@pytest.mark.parametrize("line", ["140", "55 or 140", "155", "5.55", "the old one"])
def test_another_known_word_or_none_is_wrong(line: str) -> None:
    assert broken_report(NUMBER, f"ANSWER: {line}") is not None
