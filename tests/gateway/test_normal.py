"""What two requests are compared by, and how their first difference is named."""

from __future__ import annotations

from typing import Any

import pytest

from bench_loop.gateway.normal import RULES, Rules, first_difference


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("Today's date: Mon Nov 30 2026", "Today's date: <written date>"),
        ("It is Monday, November 30, 2026.", "It is <written date>."),
        ("It is Monday.", "It is <weekday>."),
        ("2026-11-30T16:04:59.123Z", "<moment>"),
        ("2026-11-30 16:04 UTC", "<moment>"),
        ("[Mon 2026-11-30 16:04 UTC] go", "[<moment>] go"),
        ("Host: Linux (6.1.0-18-amd64)", "Host: <kernel>)"),
        ("Platform: Linux-6.1.0-18-amd64-x86_64-with-glibc2.36", "Platform: <kernel>"),
        ("2026-11-30", "<date>"),
        ("11/30/2026, 4:04 PM", "<date>, <clock>"),
        ("Ran 1 test in 0.003s", "Ran 1 test in <duration>"),
        ("took 12 ms", "took <duration>"),
        ("http://127.0.0.1:41234/v1", "http://127.0.0.1:<port>/v1"),
        ("session 160fc06a-c57d-42af-adfb-20ff01711ec7", "session <uuid>"),
        ("call_1795958553803", "<id>"),
        ("ses_dd87b2004ffebgDZFdgzu3H2Wm", "<id>"),
        ("commit 1080f78a39da9acc796e6d298c2743713e44ea10", "commit <hash>"),
        ("in /tmp/bench-x1/state/a.txt", "in <temporary>"),
    ],
)
def test_what_differs_between_runs_is_named(text: str, normal: str) -> None:
    assert Rules(RULES, {}).text(text) == normal


@pytest.mark.parametrize(
    "text",
    [
        "version 2.0.1",
        "run_tests or msg_type",
        "a 3:1 ratio",
        "may 5 times",
        "<work>/tmp/a",
        "Linux 3",
        "def f(x): return x[1:20]",
    ],
)
def test_what_a_task_says_stays(text: str) -> None:
    assert Rules(RULES, {}).text(text) == text


def test_known_words_come_first_and_the_longest_of_them_before_all() -> None:
    rules = Rules(RULES, {"home": "/tmp/x", "work": "/tmp/x/work", "host": "", "port": "41"})
    assert rules.text("/tmp/x/work/a.py in /tmp/x") == "<work>/a.py in <home>"


def test_texts_anywhere_in_a_body_are_made_comparable() -> None:
    body = b'{"messages": [{"content": [{"text": "2026-11-30"}]}], "n": 1, "ok": true}'
    normal = {"messages": [{"content": [{"text": "<date>"}]}], "n": 1, "ok": True}
    assert Rules(RULES, {}).body(body) == normal


@pytest.mark.parametrize(("body", "normal"), [(b"", None), (b"{", "{"), (b"\xff", "\ufffd")])
def test_a_body_that_is_no_json_is_text(body: bytes, normal: str | None) -> None:
    assert Rules(RULES, {}).body(body) == normal


def test_a_body_with_half_a_character_can_be_written() -> None:
    assert Rules(RULES, {}).body(b'{"a": "\\ud800"}') == {"a": "\ufffd"}


@pytest.mark.parametrize(
    ("wanted", "got", "sentence"),
    [
        ({"a": 1}, {"a": 1}, None),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, None),
        ({"a": 1}, {"a": True}, "body.a is True, recorded was 1"),
        ({"a": 1}, {"a": 1.0}, "body.a is 1.0, recorded was 1"),
        ({"a": 1}, {}, "body.a is missing, recorded was 1"),
        ({}, {"a": 1}, "body.a is 1, recorded was none"),
        ({"m": [1, 2]}, {"m": [1]}, "body.m has 1 items, recorded were 2: 2"),
        ({"m": [1, [2]]}, {"m": [1, [3]]}, "body.m[1][0] is 3, recorded was 2"),
        ({"t": "abc"}, {"t": "abd"}, "body.t at character 2 is 'abd', recorded was 'abc'"),
        ({"t": "ab"}, {"t": "abc"}, "body.t at character 2 is 'abc', recorded was 'ab'"),
        ({}, [], "body is [], recorded was {}"),
    ],
)
def test_the_first_difference_is_named_with_both_sides(
    wanted: Any, got: Any, sentence: str | None
) -> None:
    assert first_difference(wanted, got) == sentence


def test_long_texts_are_shown_around_their_difference() -> None:
    sentence = first_difference("a" * 5000 + "b", "a" * 5000 + "c")
    assert sentence is not None
    assert len(sentence) < 200
    assert sentence.endswith("aab'")
