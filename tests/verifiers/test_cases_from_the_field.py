"""Outputs that real scorers misjudged: each gets the right verdict here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench_loop.contracts.task import Convention
from bench_loop.contracts.verifier import Output, TaskScore
from bench_loop.verifiers.exact import bullets, words
from bench_loop.verifiers.judging import judge
from tests.verifiers.cases import make_task

FILE = Path(__file__).parents[1] / "fixtures" / "cases" / "outputs.jsonl"
CASES = {case["id"]: case for case in map(json.loads, FILE.read_text("utf-8").splitlines())}

OBJECT_WITH_A = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


def output_of(case: dict[str, Any], convention: Convention) -> Output:
    if case["input_format"] == "text":
        return Output(text=case["input"], convention=convention)
    choice = case["input"]["choices"][0]
    return Output(
        text=choice["message"]["content"] or "",
        thinking=choice["message"].get("reasoning_content", ""),
        finish_reason=choice["finish_reason"],
        convention=convention,
    )


NUMBERS: dict[str, tuple[float, str | None]] = {
    "C001": (18, None),
    "C003": (18, None),
    "C007": (18, None),
    "C009": (18, "thinking_unclosed"),
    "C011": (18, "empty_answer"),
    "C074": (29, None),
    "C076": (9500, None),
    "C078": (11, "wrong_value"),
    "C080": (-5, "wrong_value"),
    "C082": (42, None),
    "C084": (460, None),
    "C086": (28, None),
    "C088": (4, None),
    "C090": (12345, None),
    "C092": (18, None),
    "C094": (18, "no_answer"),
}


@pytest.mark.parametrize("case_id", NUMBERS)
def test_a_number_is_read_as_it_was_meant(case_id: str) -> None:
    value, reason = NUMBERS[case_id]
    expected = {"value": value, "tolerance": 0, "units": {"": 1, "$": 1, "percent": 1}}
    verdict = judge(output_of(CASES[case_id], "answer_line"), make_task("tolerance", expected))
    assert verdict.reason == reason
    extracted = CASES[case_id]["right_answer"]["extracted"]
    assert verdict.answer == extracted


DOCUMENTS: dict[str, tuple[dict[str, Any], Convention, str | None]] = {
    "C016": (OBJECT_WITH_A, "json_object", None),
    "C018": (OBJECT_WITH_A, "json_object", None),
    "C020": (OBJECT_WITH_A, "json_object", None),
    "C022": (OBJECT_WITH_A, "json_object", None),
    "C024": (OBJECT_WITH_A, "json_object", "empty_answer"),
    "C026": (OBJECT_WITH_A, "json_object", "invalid_json"),
    "C028": (OBJECT_WITH_A, "document", "extra_text"),
    "C030": (OBJECT_WITH_A, "json_object", "non_finite"),
    "C032": (OBJECT_WITH_A, "document", None),
    "C034": (OBJECT_WITH_A, "json_object", "schema"),
    "C036": (OBJECT_WITH_A, "document", None),
    "C038": ({**OBJECT_WITH_A, "additionalProperties": False}, "json_object", "schema"),
    "C040": (OBJECT_WITH_A, "json_object", "invalid_json"),
    "C042": (OBJECT_WITH_A, "document", None),
}


@pytest.mark.parametrize("case_id", DOCUMENTS)
def test_json_is_read_strictly_and_never_repaired(case_id: str) -> None:
    schema, convention, reason = DOCUMENTS[case_id]
    task = make_task("json_schema", {"schema": schema})
    verdict = judge(output_of(CASES[case_id], convention), task)
    assert verdict.reason == reason
    assert_parsed(verdict, CASES[case_id]["right_answer"]["parsed"])


YAML: dict[str, tuple[dict[str, Any], str | None]] = {
    "C043": ({"country": {"const": "NO"}}, None),
    "C045": ({"start": {"const": "12:30:45"}}, None),
    "C047": ({"version": {"type": "string"}}, "schema"),
    "C049": ({"a": {"type": "object"}}, "invalid_yaml"),
    "C051": ({"x": {"type": "string"}}, "unsafe_tag"),
    "C053": ({"a": {"type": "integer"}}, "multiple_values"),
}


@pytest.mark.parametrize("case_id", YAML)
def test_yaml_follows_the_core_schema_of_version_1_2(case_id: str) -> None:
    properties, reason = YAML[case_id]
    expected = {"format": "yaml", "schema": {"type": "object", "properties": properties}}
    verdict = judge(output_of(CASES[case_id], "document"), make_task("json_schema", expected))
    assert verdict.reason == reason
    assert_parsed(verdict, CASES[case_id]["right_answer"]["parsed"])


def assert_parsed(verdict: TaskScore, parsed: Any) -> None:
    read = None if verdict.answer is None else json.loads(verdict.answer)
    assert read == parsed


INSTRUCTIONS: dict[str, tuple[dict[str, Any], str | None]] = {
    "C005": ({"equals": ["18"]}, None),
    "C100": ({"forbidden": ["art"]}, "forbidden_word"),
    "C102": ({"bullets": 3}, "bullet_count"),
    "C104": ({"bullets": 3}, None),
    "C106": ({"bullets": 3}, "bullet_count"),
    "C108": ({"equals": ["YES"]}, None),
    "C110": ({"lines": 3, "line_equals": {"1": "alpha", "2": "beta", "3": "gamma"}}, None),
    "C112": ({"sentences": 3, "equal_sentences": True, "distinct_words": True}, "repeated_word"),
}


@pytest.mark.parametrize("case_id", INSTRUCTIONS)
def test_a_form_is_checked_to_the_letter(case_id: str) -> None:
    expected, reason = INSTRUCTIONS[case_id]
    verdict = judge(output_of(CASES[case_id], "whole_reply"), make_task("exact", expected))
    assert verdict.reason == reason


@pytest.mark.parametrize("case_id", ["C096", "C098"])
def test_words_are_counted_by_white_space(case_id: str) -> None:
    assert len(words(CASES[case_id]["input"])) == CASES[case_id]["right_answer"]["words"]


@pytest.mark.parametrize("case_id", ["C102", "C104", "C106"])
def test_bullets_are_counted_exactly(case_id: str) -> None:
    assert bullets(CASES[case_id]["input"]) == CASES[case_id]["right_answer"]["bullets"]


def test_every_case_in_the_file_is_run() -> None:
    run = {*NUMBERS, *DOCUMENTS, *YAML, *INSTRUCTIONS, "C096", "C098"}
    assert run == CASES.keys()
