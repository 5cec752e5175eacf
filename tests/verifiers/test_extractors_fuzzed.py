"""Every extractor by itself: nothing makes it raise, and 100 KB never take it 50 ms."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench_loop.verifiers.clock import read_clock
from bench_loop.verifiers.code import find_code, find_files
from bench_loop.verifiers.dates import read_date
from bench_loop.verifiers.documents import parse_object, read_json, read_yaml
from bench_loop.verifiers.exact import as_seen, bullets, sentences, words
from bench_loop.verifiers.extraction import answer_line, marked_line, plain, without_thinking
from bench_loop.verifiers.number_words import spelled_out
from bench_loop.verifiers.quantity import read_quantity
from tests.verifiers.test_hostile_outputs import HOSTILE, LIMIT_S, PIECES, SIZE
from tests.yardstick import idle_s

Extractor = Callable[[str], object]

UNITS = {"": Fraction(1), "km": Fraction(1000), "m": Fraction(1), "%": Fraction(1, 100)}
FILES = {"src/a.py": "a = 1\n", "b.txt": "b\n"}

ON_REPLIES: dict[str, Extractor] = {
    "without_thinking": without_thinking,
    "answer_line": answer_line,
    "marked_line": marked_line,
    "plain": plain,
    "spelled_out": spelled_out,
    "read_json alone": lambda text: read_json(text, "refused", 200),
    "read_json in prose": lambda text: read_json(text, "allowed", 200),
    "read_yaml": lambda text: read_yaml(text, 200, 2000),
    "parse_object": parse_object,
    "find_code": lambda text: find_code(text, "total"),
    "find_files": lambda text: find_files(text, FILES, list(FILES)),
    "as_seen": as_seen,
    "words": words,
    "bullets": bullets,
    "sentences": sentences,
}
ON_LINES: dict[str, Extractor] = {
    "read_quantity": lambda line: read_quantity(plain(line), UNITS),
    "read_clock": lambda line: read_clock(plain(line)),
    "read_date": lambda line: read_date(plain(line), 2026),
}
"""These see answer lines, which are short."""

LINE = 400
CODE = [
    "def total(",
    "):\n",
    "    return 0",
    "```python\n",
    "src/a.py",
    "# ",
    "class ",
    "...",
    "@@",
]

mixtures = st.lists(st.sampled_from(PIECES + CODE), max_size=40).map("".join)
patterns = st.lists(st.sampled_from(PIECES + CODE), min_size=1, max_size=4).map("".join)
extractors = pytest.mark.parametrize(
    "extract", [*ON_REPLIES.values(), *ON_LINES.values()], ids=[*ON_REPLIES, *ON_LINES]
)


@extractors
@given(st.one_of(mixtures, st.text(max_size=300)))
@settings(max_examples=60, deadline=None)
def test_no_text_raises(extract: Extractor, text: str) -> None:
    extract(text)


@pytest.mark.parametrize("name", [*ON_REPLIES, *ON_LINES])
@given(patterns)
@settings(max_examples=20, deadline=None)
def test_no_repeated_pattern_takes_long(name: str, pattern: str) -> None:
    assert fastest_s(name, pattern) < LIMIT_S


@pytest.mark.parametrize("name", [*ON_REPLIES, *ON_LINES])
def test_no_hostile_pattern_takes_long(name: str) -> None:
    slow = {case: fastest_s(name, piece) for case, piece in HOSTILE.items()}
    assert {case: took for case, took in slow.items() if took >= LIMIT_S} == {}


def fastest_s(name: str, pattern: str) -> float:
    """Processor time of the extractor on the pattern, repeated."""
    size = LINE if name in ON_LINES else SIZE
    data = pattern.encode("utf-8", "ignore") or b" "
    text = (data * (size // len(data) + 1))[:size].decode("utf-8", "ignore")
    extract = {**ON_REPLIES, **ON_LINES}[name]
    return idle_s(partial(extract, text), LIMIT_S, tries=3)


def test_twenty_thousand_thinking_tags_are_removed() -> None:
    final = without_thinking("<think>" * 20_000 + "17" + "</think>" * 20_000 + "18")
    assert (final.text, final.is_unclosed) == ("18", False)
