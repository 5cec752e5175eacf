"""What comes past the parser, and what does not."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from io import BytesIO

import pytest
from django.http import HttpRequest
from django.test import RequestFactory

from submissions import intake
from submissions.intake import MAX_BYTES, IntakeError, parse, read_body
from tests.site.make_result import make_bytes, make_document


def refusal(body: bytes) -> IntakeError:
    with pytest.raises(IntakeError) as caught:
        parse(body)
    return caught.value


def document_with(**changes: object) -> bytes:
    return json.dumps({**make_document(), **changes}).encode()


def request(body: bytes, **headers: str) -> HttpRequest:
    return RequestFactory().post("/", data=body, content_type="application/json", **headers)


def test_a_valid_file_is_read() -> None:
    assert parse(make_bytes()).subject.model_id == "qwen3:8b"


def test_a_duplicate_key_is_named() -> None:
    body = make_bytes().replace(
        b'"schema_version":', b'"schema_version": 1,\n "schema_version":', 1
    )
    assert list(refusal(body).fields) == ["schema_version"]


@pytest.mark.parametrize("text", [b"NaN", b"Infinity", b"-Infinity", b"1e999"])
def test_a_number_beyond_json_is_refused(text: bytes) -> None:
    body = document_with(total_runtime_s=123.25).replace(b"123.25", text)
    assert refusal(body).status == 400


@pytest.mark.parametrize("text", [b"9007199254740992", b"-9007199254740992", b"9" * 20])
def test_an_integer_that_json_does_not_keep_exactly_is_refused(text: bytes) -> None:
    body = document_with(run_index=777666555).replace(b"777666555", text)
    assert "2^53" in refusal(body).message


def test_the_largest_exact_integer_is_read() -> None:
    body = document_with(run_index=777666555).replace(b"777666555", b"9007199254740991")
    assert parse(body).run_index == 2**53 - 1


def test_an_integer_of_five_thousand_digits_is_refused() -> None:
    body = document_with(run_index=777666555).replace(b"777666555", b"9" * 5000)
    assert refusal(body).status == 400


def test_true_is_no_version() -> None:
    assert list(refusal(document_with(schema_version=True)).fields) == ["schema_version"]


def test_true_is_no_number() -> None:
    assert list(refusal(document_with(total_runtime_s=True)).fields) == ["total_runtime_s"]


def test_a_whole_number_written_with_a_point_is_no_version() -> None:
    assert refusal(document_with(schema_version=1.0)).status == 422


def test_a_text_is_no_number() -> None:
    assert list(refusal(document_with(total_runtime_s="12")).fields) == ["total_runtime_s"]


def test_a_number_is_no_time() -> None:
    assert list(refusal(document_with(started_at=1764400000)).fields) == ["started_at"]


def test_a_time_without_zone_is_refused() -> None:
    assert list(refusal(document_with(started_at="2026-03-01T12:00:00")).fields) == ["started_at"]


def test_an_unknown_field_is_named_and_its_value_is_not_echoed() -> None:
    error = refusal(document_with(verified="secret-value"))
    assert list(error.fields) == ["verified"]
    assert "secret-value" not in str(error.fields)


def test_half_a_surrogate_pair_in_an_output_is_refused_with_its_path() -> None:
    document = make_document()
    document["trials"][0]["output"] = "ok \ud800"
    assert list(refusal(json.dumps(document).encode()).fields) == ["trials[0].output"]


@pytest.mark.parametrize("character", ["\x00", "\x1b", "\x08"])
def test_a_control_character_in_an_output_is_refused(character: str) -> None:
    document = make_document()
    document["trials"][0]["output"] = f"a{character}b"
    assert list(refusal(json.dumps(document).encode()).fields) == ["trials[0].output"]


@pytest.mark.parametrize("character", ["\x00", "\n", "\t", "\x7f", "\u202e", "\u200b", "\ufeff"])
def test_a_character_that_is_not_seen_in_a_name_is_refused(character: str) -> None:
    document = make_document()
    document["subject"]["model_id"] = f"qwen{character}3"
    assert list(refusal(json.dumps(document).encode()).fields) == ["subject.model_id"]


def test_line_breaks_and_emoji_in_an_output_are_read() -> None:
    document = make_document()
    document["trials"][0]["output"] = "a\r\n\tb 👩‍💻 ‮x"
    parse(json.dumps(document).encode())


def test_a_key_with_a_control_character_is_refused_in_ascii() -> None:
    error = refusal(document_with(**{"a\x00\u202e": 1}))
    assert all(name.isascii() for name in error.fields)


@pytest.mark.parametrize("depth", [25, 900, 20_000, 200_000])
def test_deep_nesting_is_refused(depth: int) -> None:
    nested = b"[" * depth + b"]" * depth
    assert refusal(b'{"sandbox": {"a": ' + nested + b"}}").status == 400


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"1", b'"text"', b"null", b"{", b"\xff\xfe", b"\xef\xbb\xbf{}"]
)
def test_what_is_no_object_is_refused(body: bytes) -> None:
    assert refusal(body).status == 400


def test_utf_16_is_refused() -> None:
    assert refusal(make_bytes().decode().encode("utf-16")).status == 400


def test_a_field_path_in_an_answer_is_short() -> None:
    error = refusal(document_with(**{"x" * 100_000: 1}))
    assert len(str(error.fields)) < 1000


def test_an_output_beyond_any_answer_budget_is_refused() -> None:
    document = make_document()
    document["trials"][0]["output"] = "x" * 200_001
    assert list(refusal(json.dumps(document).encode()).fields) == ["trials[0].output"]


def test_too_many_trials_are_refused_before_they_are_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(intake, "MAX_TRIALS", 3)
    assert list(refusal(make_bytes()).fields) == ["trials"]


def test_a_newer_schema_is_refused_with_the_known_one() -> None:
    assert "reads schema_version 1" in str(refusal(document_with(schema_version=2)).fields)


def test_a_plain_body_is_read_as_it_is() -> None:
    assert read_body(request(b" {} ")) == b" {} "


def test_a_gzip_body_is_unpacked() -> None:
    assert read_body(request(gzip.compress(b"{}"), HTTP_CONTENT_ENCODING="gzip")) == b"{}"


def test_a_large_body_is_refused_by_its_declared_length() -> None:
    made = request(b"{}")
    made.META["CONTENT_LENGTH"] = str(MAX_BYTES + 1)
    with pytest.raises(IntakeError) as caught:
        read_body(made)
    assert caught.value.status == 413


def test_a_body_longer_than_declared_is_refused_while_reading(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(intake, "MAX_BYTES", 1000)
    made = request(b"x" * 1001)
    made.META["CONTENT_LENGTH"] = ""
    made._stream = BytesIO(b"x" * 1001)  # type: ignore[attr-defined]
    with pytest.raises(IntakeError) as caught:
        read_body(made)
    assert caught.value.status == 413


def test_a_gzip_bomb_is_refused() -> None:
    bomb = gzip.compress(b"0" * 134_217_728)
    made = request(bomb, HTTP_CONTENT_ENCODING="gzip")
    tracemalloc.start()
    try:
        with pytest.raises(IntakeError) as caught:
            read_body(made)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert caught.value.status == 413
    assert peak < 64 * 1024 * 1024


@pytest.mark.parametrize(
    "body",
    [b"{}", gzip.compress(b"{}")[:-4], gzip.compress(b"{}") + b"more", b""],
    ids=["plain", "cut short", "more after its end", "empty"],
)
def test_a_body_that_is_not_gzip_as_it_says_is_refused(body: bytes) -> None:
    with pytest.raises(IntakeError) as caught:
        read_body(request(body, HTTP_CONTENT_ENCODING="gzip"))
    assert caught.value.status == 400


def test_another_encoding_is_refused() -> None:
    with pytest.raises(IntakeError) as caught:
        read_body(request(b"{}", HTTP_CONTENT_ENCODING="br"))
    assert caught.value.status == 415
