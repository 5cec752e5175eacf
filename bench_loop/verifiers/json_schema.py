"""A JSON or YAML document: right when it follows the schema and every field has the right value."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Literal

from pydantic import Field

from bench_loop.contracts.record import Record
from bench_loop.contracts.sandbox import Sandbox
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.contracts.verifier import Output, TaskScore
from bench_loop.verifiers.documents import Document, read_json, read_yaml
from bench_loop.verifiers.expectation import failed, passed, read_expected, refuse

Comparison = Literal["datetime", "sentence", "set"]
"""`datetime`: same instant and same offset, however written. `sentence`: but for case and full
stop. `set`: a list in any order. Everything else is compared exactly, 6 and 6.0 being equal."""

_MESSAGES = {
    "empty_answer": "The reply holds no document.",
    "invalid_json": "The document is not valid JSON.",
    "invalid_yaml": "The document is not valid YAML 1.2.",
    "duplicate_key": "The document names a key twice.",
    "non_finite": "The document holds a number that is not finite.",
    "extra_text": "There is other text around the document.",
    "multiple_values": "There is more than one document.",
    "no_json": "The reply holds no JSON object.",
    "unsafe_tag": "The document uses a tag outside the YAML core schema.",
    "too_large": "The document is far larger than the contract asks for.",
}


class Expected(Record):
    """What a json_schema task expects."""

    format: Literal["json", "yaml"] = "json"
    schema_: dict[str, Any] = Field(alias="schema", description="JSON Schema, draft 2020-12.")
    value: Any = Field(None, description="The right document; left out: the schema alone decides.")
    compare: dict[str, Comparison] = Field(
        {}, description="Dotted path to a looser comparison; * stands for any list index."
    )


def check(task: BenchmarkTask) -> None:
    """Raises PackError when the schema is no JSON Schema or the right value does not follow it."""
    import jsonschema

    expected = read_expected(task, Expected)
    try:
        jsonschema.Draft202012Validator.check_schema(expected.schema_)
    except jsonschema.SchemaError as error:
        raise refuse(task, "schema", error.message) from error
    if "value" not in expected.model_fields_set:
        return
    if _first_violation(expected.schema_, expected.value) is not None:
        raise refuse(task, "value", "the right value does not follow the schema")
    paths = {_pattern(path) for path, _ in _leaves_and_branches(expected.value, "")}
    unknown = [
        path for path in expected.compare if path not in paths and _pattern(path) not in paths
    ]
    if unknown:
        raise refuse(task, f"compare.{unknown[0]}", "no such path in the right value")


def needs_sandbox(task: BenchmarkTask) -> bool:
    """Never: nothing is run."""
    return False


def judge(output: Output, task: BenchmarkTask, sandbox: Sandbox | None = None) -> TaskScore:
    """The verdict on the document in `output.text`, from which thinking has been removed.

    With the convention `json_object` the object may stand in prose. Diagnostic credit of a fail:
    the share of right fields; with any other convention only where the document follows the schema,
    as no program loads it otherwise.
    """
    expected = read_expected(task, Expected)
    stands_in_prose = output.convention == "json_object"
    document = _read(output.text, expected, stands_in_prose=stands_in_prose)
    if document.reason is not None:
        return failed(document.reason, _MESSAGES[document.reason])
    answer = json.dumps(document.value, sort_keys=True)
    violation = _first_violation(expected.schema_, document.value)
    if violation is not None:
        message = f"The document breaks the contract at {violation}."
        credit = _share_of_fields(document.value, expected) if stands_in_prose else 0.0
        return failed("schema", message, answer=answer, credit=credit)
    if "value" not in expected.model_fields_set:
        return passed(answer)
    wrong = _wrong_fields(document.value, expected)
    if not wrong and _is_same(document.value, expected.value, expected.compare, ""):
        return passed(answer)
    if not wrong or wrong == [""]:
        return failed("wrong_value", "The document is not the expected one.", answer=answer)
    message = f"The field {wrong[0]} does not have the expected value."
    credit = _share_of_fields(document.value, expected)
    return failed(f"wrong_value:{wrong[0]}", message, answer=answer, credit=credit)


def _wrong_fields(value: Any, expected: Expected) -> list[str]:
    """The fields of the right document that `value` does not have, or has otherwise."""
    return [
        path
        for path, right in _fields(expected.value)
        if not _is_same(_at(value, path), right, expected.compare, path)
    ]


def _share_of_fields(value: Any, expected: Expected) -> float:
    """Right fields / all fields that were asked for or given."""
    if not isinstance(value, dict) or not isinstance(expected.value, dict):
        return 0.0
    right = len(expected.value) - len(_wrong_fields(value, expected))
    return right / max(1, len(expected.value.keys() | value.keys()))


def _read(text: str, expected: Expected, *, stands_in_prose: bool) -> Document:
    """The document, with bounds taken from the size of the right one."""
    size = len(json.dumps(expected.value))
    most_parts = 50 + 10 * sum(1 for _ in _leaves_and_branches(expected.value, ""))
    if expected.format == "yaml":
        return read_yaml(text, most_parts, longest=1000 + 4 * size)
    return read_json(text, "allowed" if stands_in_prose else "refused", most_parts)


@lru_cache(maxsize=256)
def _validator(schema: str) -> Any:
    import jsonschema

    return jsonschema.Draft202012Validator(json.loads(schema))


def _first_violation(schema: Mapping[str, Any], value: Any) -> str | None:
    """Where `value` breaks `schema`, as a dotted path ("the top" for the whole); None: nowhere."""
    violation = next(_validator(json.dumps(schema)).iter_errors(value), None)
    if violation is None:
        return None
    return ".".join(str(part) for part in violation.absolute_path)[:100] or "the top"


def _fields(value: Any) -> list[tuple[str, Any]]:
    """The top-level fields of a document, or the document itself where it is no object."""
    return list(value.items()) if isinstance(value, dict) else [("", value)]


def _at(value: Any, field: str) -> Any:
    return value.get(field, _MISSING) if field and isinstance(value, dict) else value


_MISSING = object()


def _is_same(got: Any, right: Any, compare: Mapping[str, Comparison], path: str) -> bool:
    """Whether `got` is `right`, with the comparison that `compare` names for `path`."""
    how = compare.get(path) or compare.get(_pattern(path))
    if how == "set":
        return _is_same_set(got, right)
    if how is not None:
        return _LOOSE[how](got, right)
    if isinstance(right, dict):
        return (
            isinstance(got, dict)
            and got.keys() == right.keys()
            and all(_is_same(got[key], right[key], compare, _join(path, key)) for key in right)
        )
    if isinstance(right, list):
        return (
            isinstance(got, list)
            and len(got) == len(right)
            and all(
                _is_same(got[index], part, compare, _join(path, index))
                for index, part in enumerate(right)
            )
        )
    if isinstance(got, bool) or isinstance(right, bool):
        return got is right
    return bool(got == right)


def _join(path: str, part: str | int) -> str:
    return f"{path}.{part}" if path else str(part)


def _pattern(path: str) -> str:
    """`steps.3.text` as `steps.*.text`."""
    return ".".join("*" if part.isdigit() else part for part in path.split("."))


def _is_same_set(got: Any, right: Any) -> bool:
    if not isinstance(got, list) or len(got) != len(right):
        return False
    left = list(got)
    for part in right:
        match = next((index for index, one in enumerate(left) if _is_same(one, part, {}, "")), None)
        if match is None:
            return False
        del left[match]
    return True


def _is_same_datetime(got: Any, right: Any) -> bool:
    try:
        a, b = dt.datetime.fromisoformat(got), dt.datetime.fromisoformat(right)
        return a.utcoffset() == b.utcoffset() and a == b
    except (TypeError, ValueError):
        return False


def _is_same_sentence(got: Any, right: Any) -> bool:
    return isinstance(got, str) and _bare_sentence(got) == _bare_sentence(right)


def _bare_sentence(text: str) -> str:
    return " ".join(text.split()).rstrip(".").casefold()


_LOOSE: dict[str, Callable[[Any, Any], bool]] = {
    "datetime": _is_same_datetime,
    "sentence": _is_same_sentence,
}


def _leaves_and_branches(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Every part of a document with its dotted path, the document itself first."""
    yield path, value
    parts: Any = ()
    if isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, list):
        parts = enumerate(value)
    for key, part in parts:
        yield from _leaves_and_branches(part, _join(path, key))
