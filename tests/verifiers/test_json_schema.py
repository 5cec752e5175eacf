"""Documents are read strictly, checked by the schema and compared field by field."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bench_loop.errors import PackError
from bench_loop.verifiers.json_schema import check
from tests.verifiers.cases import judged, make_task

ANYTHING: dict[str, Any] = {"schema": {}}
PLAN: dict[str, Any] = {
    "schema": {
        "type": "object",
        "additionalProperties": False,
        "required": ["at", "say", "n"],
        "properties": {"at": {"type": "string"}, "say": {"type": "string"}, "n": {}},
    },
    "value": {"at": "2026-05-04T05:45:00+02:00", "say": "All done", "n": 6},
    "compare": {"at": "datetime", "say": "sentence"},
}


def plan(**changes: Any) -> str:
    return json.dumps({**PLAN["value"], **changes})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{}", None),
        ("[1]", None),
        ('"text"', None),
        ("null", None),
        ("\ufeff {} \n", None),
        ("```\n{}\n```", None),
        ("~~~json\n{}\n~~~", None),
        ("````json\n{}\n````", None),
        ("  ```json\n  {}\n  ```", None),
        ("``` json\r\n{}\r\n```\r\n", None),
        ("-0", None),
        ("1e400", "non_finite"),
        ("\u200b{}", "extra_text"),
        ("{}\x00", "extra_text"),
        ('{"a": "\x00"}', "invalid_json"),
        ('{"a": "\\u0000"}', None),
        ('{"a": "\\ud800"}', None),
        ('{"a": tru}', "invalid_json"),
        ('{"a": True}', "invalid_json"),
        ('{"a": .5}', "invalid_json"),
        ('{"a": +1}', "invalid_json"),
        ('{"a": 0x10}', "invalid_json"),
        ('{/* x */ "a": 1}', "no_json"),
        ('{"a": 1} {"b": 2}', "multiple_values"),
        ('{"A": 1, "a": 1}', None),
        ('{"a": 1, "\\u0061": 2}', "duplicate_key"),
        ("```json\n{}", "extra_text"),
        ("Here: {}", "extra_text"),
        ("{} // done", "extra_text"),
        ("{}{}", "multiple_values"),
        ("{}\n[]", "multiple_values"),
        ("```\n{}\n```\n```\n{}\n```", "multiple_values"),
        ("no document", "no_json"),
        ("[1, 2", "no_json"),
        ('{"a": 1', "invalid_json"),
        ('{"a": 1,}', "invalid_json"),
        ("{'a': 1}", "invalid_json"),
        ('{"a": {"b": 1}, }', "invalid_json"),
        ('{"a": 01}', "invalid_json"),
        ('{"a": 1 "b": 2}', "invalid_json"),
        ('{"a": 1, "a": 1}', "duplicate_key"),
        ('{"x": {"a": 1, "a": 2}}', "duplicate_key"),
        ("NaN", "non_finite"),
        ('{"a": -Infinity}', "non_finite"),
        ('{"a": 1e999}', "non_finite"),
        ('{"a": ' + "9" * 5000 + "}", "too_large"),
        ("[" * 42 + "]" * 42, "too_large"),
        ("[" * 50_000, "no_json"),
        ('{"a":' * 50_000, "invalid_json"),
        (json.dumps(list(range(100))), "too_large"),
    ],
)
def test_json_that_must_stand_alone(text: str, reason: str | None) -> None:
    assert judged("json_schema", ANYTHING, text).reason == reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Here: {} - fine", None),
        ("Set {name} to {} please", None),
        ("Note [1]: {}", None),
        ("First {} and then {}", "multiple_values"),
        ('{"a": {"b": 1}, "c": ', "invalid_json"),
        ("A {broken} brace", "no_json"),
        ("Sure:\n```json\n{}\n```\nThat is all.", None),
        ("```json\n{}\n```\nOr, shorter:\n```json\n{}\n```", "multiple_values"),
        ('Here: {"a": {"b": 1}, "c": [', "invalid_json"),
        ('Here: [{"a": 1}, {"b": ', "invalid_json"),
    ],
)
def test_json_that_may_stand_in_prose(text: str, reason: str | None) -> None:
    assert judged("json_schema", ANYTHING, text, "json_object").reason == reason


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: NO\nb: yes\nc: on", {"a": "NO", "b": "yes", "c": "on"}),
        ("a: 12:30\nb: 2026-05-04", {"a": "12:30", "b": "2026-05-04"}),
        ("a: 1.10\nb: 010\nc: 0o10\nd: 0x10", {"a": 1.1, "b": 10, "c": 8, "d": 16}),
        ("a: 1_000\nb: 1e3\nc: +5", {"a": "1_000", "b": 1000.0, "c": 5}),
        ("a: 0o7\nb: 07\nc: 0b1\nd: 1:30:00", {"a": 7, "b": 7, "c": "0b1", "d": "1:30:00"}),
        ("a: y\nb: off\nc: Yes\nd: TRUE", {"a": "y", "b": "off", "c": "Yes", "d": True}),
        ("a: -0\nb: 1e-3\nc: .5\nd: 5.", {"a": 0, "b": 0.001, "c": 0.5, "d": 5.0}),
        ("a: 2026-05-04T05:45:00Z", {"a": "2026-05-04T05:45:00Z"}),
        ("\ufeffa: 1\r\nb: 2\r\n", {"a": 1, "b": 2}),
        ("a: >-\n  one\n  two", {"a": "one two"}),
        ("%YAML 1.2\n---\na: 1", {"a": 1}),
        ("  ```yaml\n  a: 1\n  ```", {"a": 1}),
        ("a:\nb: ~\nc: null\nd: ''", {"a": None, "b": None, "c": None, "d": ""}),
        ("a: true\nb: 'true'\nc: !!str true", {"a": True, "b": "true", "c": "true"}),
        ("- 1\n- [2, {a: 3}]", [1, [2, {"a": 3}]]),
        ("a: |\n  one\n  two\n", {"a": "one\ntwo\n"}),
        ("a: &x [1]\nb: *x", {"a": [1], "b": [1]}),
        ("<<: 1", {"<<": 1}),
        ("1: a\ntrue: b", {"1": "a", "True": "b"}),
        ('{"a": [1, null]}', {"a": [1, None]}),
        ("```yaml\na: 1\n```", {"a": 1}),
        ("--- \na: 1\n...", {"a": 1}),
        ("just text", "just text"),
    ],
)
def test_yaml_values_follow_the_core_schema(text: str, value: Any) -> None:
    verdict = judged("json_schema", {**ANYTHING, "format": "yaml"}, text)
    assert verdict.answer is not None
    assert json.loads(verdict.answer) == value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: 1\na: 2", "duplicate_key"),
        ("a: 1\n---\na: 2", "multiple_values"),
        ("a: [1", "invalid_yaml"),
        ("a:\n\tb: 1", "invalid_yaml"),
        ("a: b: c", "invalid_yaml"),
        ("a: *nobody", "invalid_yaml"),
        ("a: &x [*x]", "invalid_yaml"),
        ("? [a]\n: 1", "invalid_yaml"),
        ("a: !!int text", "invalid_yaml"),
        ("a: !!python/name:os.system x", "unsafe_tag"),
        ("a: !mine 1", "unsafe_tag"),
        ("a: !!set {x, y}", "unsafe_tag"),
        ("a: .inf", "non_finite"),
        ("a: .nan", "non_finite"),
        ("a: -.INF", "non_finite"),
        ("a: 1\n---\n", "multiple_values"),
        ("a: 1\n...\nb: 2", "multiple_values"),
        ("a: @x", "invalid_yaml"),
        ("a: `x`", "invalid_yaml"),
        ("Here it is: one\na: 1\nDone", "invalid_yaml"),
        ("a: &x 1\n<<: *y", "invalid_yaml"),
        ("a: !!binary aGk=", "unsafe_tag"),
        ("a: 1\n'a': 2", "duplicate_key"),
        ("a: 1e999", "non_finite"),
        ("# only a comment", "invalid_yaml"),
        ("[" * 900, "invalid_yaml"),
        ("a: " + "x" * 5000, "too_large"),
    ],
)
def test_yaml_that_is_refused(text: str, reason: str) -> None:
    assert judged("json_schema", {**ANYTHING, "format": "yaml"}, text).reason == reason


def test_aliases_of_aliases_do_not_grow_without_bound() -> None:
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 15)]
    verdict = judged("json_schema", {**ANYTHING, "format": "yaml"}, "\n".join(lines))
    assert verdict.reason == "too_large"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (plan(), None),
        (plan(n=6.0), None),
        (plan(at="2026-05-04T05:45:00.000+02:00"), None),
        (plan(say=" all  done. "), None),
        (plan(n=True), "wrong_value:n"),
        (plan(n="6"), "wrong_value:n"),
        (plan(n=None), "wrong_value:n"),
        (plan(at="2026-05-04T03:45:00+00:00"), "wrong_value:at"),
        (plan(at="2026-05-04T05:45:00"), "wrong_value:at"),
        (plan(at="early"), "wrong_value:at"),
        (plan(say="all done now"), "wrong_value:say"),
        (plan(more=1), "schema"),
        ("{}", "schema"),
        ("[]", "schema"),
    ],
)
def test_fields_are_compared_as_the_task_says(text: str, reason: str | None) -> None:
    assert judged("json_schema", PLAN, text).reason == reason


def test_true_is_not_the_number_one() -> None:
    expected = {"schema": {}, "value": {"a": 1}}
    assert judged("json_schema", expected, '{"a": true}').reason == "wrong_value:a"


def test_a_list_is_compared_in_order_unless_it_is_a_set() -> None:
    ordered = {"schema": {}, "value": {"a": [1, 2, 2]}}
    unordered = {**ordered, "compare": {"a": "set"}}
    assert judged("json_schema", ordered, '{"a": [2, 1, 2]}').reason == "wrong_value:a"
    assert judged("json_schema", unordered, '{"a": [2, 1, 2]}').reason is None
    assert judged("json_schema", unordered, '{"a": [1, 1, 2]}').reason == "wrong_value:a"


def test_a_star_stands_for_any_list_index() -> None:
    expected = {
        "schema": {},
        "value": {"a": [{"say": "Yes"}, {"say": "No"}]},
        "compare": {"a.*.say": "sentence"},
    }
    text = '{"a": [{"say": "yes."}, {"say": "no."}]}'
    assert judged("json_schema", expected, text).reason is None


def test_a_document_that_is_no_object_has_its_own_reason() -> None:
    assert judged("json_schema", {"schema": {}, "value": [1]}, "[2]").reason == "wrong_value"


def test_credit_is_the_share_of_right_fields_where_the_schema_holds() -> None:
    assert judged("json_schema", PLAN, plan(n=7)).score == pytest.approx(2 / 3)
    assert judged("json_schema", PLAN, plan(n=7, more=1), "document").score == 0


@pytest.mark.parametrize(
    ("text", "score"),
    [
        (plan(), 1.0),
        (plan(n=7), 2 / 3),
        (plan(n=7, more=1), 2 / 4),
        (plan(more=1), 3 / 4),
        (json.dumps({"say": "All done", "n": 6}), 2 / 3),
        (plan(at=5, say=None, n=7), 0.0),
        ("{}", 0.0),
        ("[]", 0.0),
        (json.dumps([PLAN["value"]]), 0.0),
    ],
)
def test_an_object_in_prose_has_credit_for_each_right_field(text: str, score: float) -> None:
    verdict = judged("json_schema", PLAN, text, "json_object")
    assert verdict.score == pytest.approx(score)
    assert verdict.outcome == ("pass" if score == 1 else "fail")


@pytest.mark.parametrize("text", ["[{}]", "Here: [{}]", "Here:\n```json\n[\n  {}\n]\n```"])
def test_a_list_of_one_object_is_not_that_object(text: str) -> None:
    expected = {"schema": {"type": "object"}}
    assert judged("json_schema", expected, text, "json_object").reason == "schema"


def test_a_schema_without_a_right_value_gives_no_credit() -> None:
    verdict = judged("json_schema", {"schema": {"type": "array"}}, "{}", "json_object")
    assert (verdict.reason, verdict.score) == ("schema", 0.0)


@pytest.mark.parametrize(
    ("expected", "field"),
    [
        ({}, "expected.schema"),
        ({"schema": {"type": "thing"}}, "expected.schema"),
        ({"schema": {"type": "array"}, "value": {}}, "expected.value"),
        ({"schema": {}, "value": {"a": 1}, "compare": {"b": "set"}}, "expected.compare.b"),
        ({"schema": {}, "value": {"a": 1}, "compare": {"a": "roughly"}}, "expected.compare.a"),
        ({"schema": {}, "format": "toml"}, "expected.format"),
    ],
)
def test_an_expectation_that_cannot_hold_is_refused(expected: dict[str, Any], field: str) -> None:
    with pytest.raises(PackError) as caught:
        check(make_task("json_schema", expected))
    assert caught.value.field == field
