"""Every rule of the exact verifier, once kept and once broken."""

from __future__ import annotations

from typing import Any

import pytest

from bench_loop.contracts.task import Convention
from bench_loop.errors import PackError
from bench_loop.verifiers.exact import RULES, check, sentences, words
from tests.verifiers.cases import judged, make_task

PUZZLE = {
    "word_puzzle": {
        "line": 1,
        "words": ["back", "gun", "heat", "is", "the"],
        "phrases": ["the heat gun"],
        "before": [["is", "back"]],
    }
}

LABELLED = {"items": ["Ada", "Ben"], "item_labels": ["Monday", "Tuesday"]}


@pytest.mark.parametrize(
    ("expected", "kept", "broken", "reason"),
    [
        ({"answers": ["Oslo"]}, ' "oslo". ', "Bergen", "wrong_answer"),
        ({"answers": ["Oslo"]}, "**Oslo**", "Oslo or Bergen", "wrong_answer"),
        ({"items": ["Ada", "Ben"]}, "ada; ben.", "Ada", "item_count"),
        ({"items": ["Ada", "Ben"]}, "Ada and Ben", "Ben, Ada", "wrong_item:1"),
        ({"items": ["Ada", "Ben", "Cy"]}, "Ada, Ben, and Cy", "Ada, Ben", "item_count"),
        ({"items": ["Ada", "Ben"]}, "Ada Ben", "Ben Ada", "wrong_item:1"),
        ({"items": ["Ada", "Ben"]}, "Ada > Ben", "Ben > Ada", "wrong_item:1"),
        ({"items": ["Ada", "Ben"]}, "[Ada → Ben]", "Ada → Ben → Cy", "item_count"),
        ({"items": ["Ada", "Ben"]}, "1. Ada, 2. Ben", "2. Ben, 1. Ada", "wrong_item:1"),
        ({"items": ["Ada", "Ben"]}, "(Ada, Ben)", "(Ada), Cy", "wrong_item:2"),
        ({"items": ["Ada", "Ben"]}, "Ada / Ben (in this order)", "Ada or Ben", "item_count"),
        (LABELLED, "Monday: Ada, Tuesday: Ben", "Tuesday: Ada, Monday: Ben", "wrong_item:1"),
        (LABELLED, "Ada (Mon), Ben (Tue)", "Ada (Tue), Ben (Mon)", "wrong_item:1"),
        (LABELLED, "Ada on Monday and Ben on Tuesday", "Ada, Ben on Monday", "wrong_item:2"),
        ({"clock": "19:42"}, "19:42 h", "19:24", "wrong_answer"),
        ({"clock": "19:42"}, "7.42 p.m.", "7:42", "wrong_answer"),
        ({"date": "2026-04-14"}, "Tuesday, 14 April", "15 April", "wrong_answer"),
        ({"date": "2026-04-14"}, "April 14th, 2026", "14 April 2027", "wrong_answer"),
        ({"date": "2026-04-14"}, "due on 14.04.2026", "after 14 April", "no_single_answer"),
        ({"clock": "19:42"}, "It ends at 19:42 (pm).", "before 19:42", "no_single_answer"),
        ({"equals": ["YES"]}, " YES \n", "Yes", "wrong_answer"),
        ({"equals": ["a b"]}, "\ufeffa\u00a0\u200bb\u200b", "a  b", "wrong_answer"),
        ({"equals": ["caf\u00e9"]}, "cafe\u0301", "cafe", "wrong_answer"),
        ({"equals": ["harbour"]}, "har\u00adbour", "h\u0430rbour", "wrong_answer"),
        ({"lines": 2}, "a\rb", "a\u2028b\u2029c", "line_count"),
        (
            {"twisting": ["except", "no one"]},
            "exceptional one",
            "All except one",
            "changed_meaning",
        ),
        ({"forbidden": ["please"]}, "pleased", "ple\u200base", "forbidden_word"),
        ({"equals": ["YES"]}, "YES", "YES.", "wrong_answer"),
        ({"lines": 2}, "a\nb\n", "a\n\nb", "line_count"),
        ({"lines": 2}, "a\r\nb", "a b", "line_count"),
        ({"line_equals": {"2": "b"}}, "a\n b ", "a\nB", "wrong_line:2"),
        ({"line_equals": {"3": "b"}}, "a\n\nb", "a\nb", "wrong_line:3"),
        ({"bullets": 2}, "- a\n* b", "- a\n- b\n- c", "bullet_count"),
        ({"bullets": 0}, "---\n-5 degrees", "- a", "bullet_count"),
        ({"sentences": 2}, "One is 3.5. Two!", "One. Two. Three", "sentence_count"),
        (
            {"equal_sentences": True},
            "Cats sleep. Dogs bark.",
            "Cats sleep. Dogs bark loudly.",
            "unequal_sentences",
        ),
        ({"words": {"exactly": 3}}, "one two-fold three", "one two", "word_count"),
        ({"words": {"least": 2, "most": 3}}, "one two", "one", "word_count"),
        ({"words": {"most": 3}}, "one - two", "one two three four", "word_count"),
        ({"distinct_words": True}, "a b c", "A b a", "repeated_word"),
        ({"forbidden": ["art"]}, "a party", "Modern ART, explained.", "forbidden_word"),
        ({"forbidden": ["by hand"]}, "by my hand", "made by\nhand", "forbidden_word"),
        ({"forbidden_characters": "!,"}, "a. b.", "a, b.", "forbidden_character"),
        (
            {"required": [["gate"], ["shut", "locked"]]},
            "Gate locked.",
            "Gates shut",
            "missing_word",
        ),
        ({"in_order": ["a b", "c"]}, "a b, then c", "c, then a b", "wrong_order"),
        ({"in_order": ["a", "a"]}, "a and a", "a", "wrong_order"),
        ({"numbers": ["9:30", "4"]}, "4 at 9:30", "4 at 9:30, 5 later", "wrong_numbers"),
        ({"starts": "Dear"}, "Dear all", "Hello", "wrong_start"),
        ({"ends": "."}, "Done.\n", "Done", "wrong_end"),
        (PUZZLE, "The heat gun is back.", "The heat gun is here.", "wrong_words"),
        (PUZZLE, "The heat gun is back.", "The heat gun is back!", "wrong_end"),
        (PUZZLE, "The heat gun is back.", "The heat. Gun is back.", "wrong_end"),
        (PUZZLE, "The heat gun is back.", "Back is the heat gun.", "wrong_phrase"),
        (PUZZLE, "The heat gun is back.", "Heat the gun is back.", "wrong_phrase"),
        (PUZZLE, "The heat gun is back.", "The heat gun is back back.", "wrong_words"),
        (PUZZLE, "The heat gun, is back.", "The heat gun, is, back.", "wrong_end"),
    ],
)
def test_a_rule_passes_what_keeps_it_and_fails_what_breaks_it(
    expected: dict[str, Any], kept: str, broken: str, reason: str
) -> None:
    assert judged("exact", expected, kept).reason is None
    assert judged("exact", expected, broken).reason == reason


@pytest.mark.parametrize(
    ("expected", "answer", "message"),
    [
        ({"lines": 3}, "a", "The reply has 1 line, not 3."),
        ({"bullets": 1}, "- a\n- b", "The reply has 2 bullets, not 1."),
        ({"sentences": 2}, "One. Two. Three.", "The reply has 3 sentences, not 2."),
        ({"words": {"most": 1}}, "one two", "The reply has 2 words."),
        ({"items": ["Ada", "Ben"]}, "Ada", "The answer lists 1 item."),
    ],
)
def test_a_wrong_number_is_told_in_a_sentence(
    expected: dict[str, Any], answer: str, message: str
) -> None:
    assert judged("exact", expected, answer).message == message


def test_every_rule_has_a_case_above() -> None:
    assert len(RULES) == 18


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Work.\nANSWER: 19:42", None),
        ("**ANSWER: <19:42>.**", None),
        ("The answer is 19:42.", None),
        ("$\\boxed{19:42}$", None),
        ("19:42 is when the other bus leaves", "no_answer"),
        ("ANSWER: 19:22", "wrong_answer"),
    ],
)
def test_with_an_answer_line_only_the_line_counts(text: str, reason: str | None) -> None:
    convention: Convention = "answer_line"
    assert judged("exact", {"answers": ["19:42"]}, text, convention).reason == reason


def test_the_first_broken_rule_gives_the_reason_whatever_the_order_in_the_file() -> None:
    expected = {"forbidden": ["b"], "lines": 2}
    assert judged("exact", expected, "b").reason == "line_count"


def test_the_answer_is_the_reply_without_outer_white_space() -> None:
    assert judged("exact", {"lines": 2}, "\n a  \nb \n").answer == "a\nb"


@pytest.mark.parametrize(
    ("expected", "field"),
    [
        ({}, "expected.*"),
        ({"rhymes": True}, "expected.rhymes"),
        ({"lines": 0}, "expected.lines"),
        ({"lines": 2, "line_equals": {"3": "c"}}, "expected.line_equals.3"),
        ({"line_equals": {"first": "c"}}, "expected.line_equals.first.[key]"),
        ({"answers": []}, "expected.answers"),
        ({"items": ["Ada, Ben"]}, "expected.items"),
        ({"items": ["Ada"], "item_labels": ["a", "b"]}, "expected.item_labels"),
        ({"clock": "7:42"}, "expected.clock"),
        ({"clock": "24:00"}, "expected.clock"),
        ({"date": "14 April"}, "expected.date"),
        ({"date": "2026-04-31"}, "expected.date"),
        (
            {"word_puzzle": {"line": 1, "words": ["a"], "phrases": ["a b"]}},
            "expected.word_puzzle.words",
        ),
        (
            {"word_puzzle": {"line": 1, "words": ["a"], "before": [["a", "b"]]}},
            "expected.word_puzzle.words",
        ),
    ],
)
def test_rules_that_cannot_be_meant_are_refused(expected: dict[str, Any], field: str) -> None:
    with pytest.raises(PackError) as caught:
        check(make_task("exact", expected))
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("text", "number"),
    [("", 0), ("one", 1), ("don't stop", 2), ("1 + 1", 2), ("— yes —", 1), ("a\u00a0b", 2)],
)
def test_words_are_what_white_space_separates(text: str, number: int) -> None:
    assert len(words(text)) == number


@pytest.mark.parametrize(
    ("text", "number"),
    [("", 0), ("One", 1), ("One.", 1), ("One. Two", 2), ('He said "No." Then?', 2), ("3.5 m.", 1)],
)
def test_sentences_end_with_a_mark(text: str, number: int) -> None:
    assert len(sentences(text)) == number
