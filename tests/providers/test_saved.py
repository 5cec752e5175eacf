"""Answers saved to a file are read as those that arrive over the network."""

from __future__ import annotations

import json

import pytest

from bench_loop.errors import EngineRejectedError
from bench_loop.providers.saved import SavedFormat, read_saved
from tests.providers.replay import case


def test_a_whole_answer_is_read_however_it_is_laid_out() -> None:
    data = json.dumps(case("C007"), indent=4).encode()
    reply = read_saved(data, "json")
    assert (reply.text, reply.thinking, reply.finish_reason) == ("18", "17? no, 18", "stop")


def test_a_whole_answer_of_ollama_is_known_by_its_fields() -> None:
    answer = {
        "message": {"content": "18", "thinking": "17?"},
        "done": True,
        "done_reason": "length",
    }
    reply = read_saved(json.dumps(answer).encode(), "json")
    assert (reply.text, reply.thinking, reply.finish_reason) == ("18", "17?", "length")


def test_both_kinds_of_stream_are_read() -> None:
    assert read_saved(case("C113").encode(), "sse").text == "18"
    assert read_saved(case("C119").encode(), "ndjson").text == "abc"


def test_tool_calls_are_read() -> None:
    (call,) = read_saved(json.dumps(case("C057")).encode(), "json").tool_calls
    assert (call.name, call.arguments) == ("list_files", "")


def test_a_count_of_tokens_is_never_taken_for_a_full_budget() -> None:
    assert read_saved(case("C121").encode(), "sse").finish_reason == "stop"


@pytest.mark.parametrize(
    ("data", "form"),
    [
        (b"", "json"),
        (b"", "sse"),
        (b"", "ndjson"),
        (b"18", "json"),
        (b"[]", "json"),
        (b"\xff", "json"),
        (b"{}", "json"),
        (b"[" * 100_000, "json"),
        (b'{"error": "model not loaded"}', "json"),
        (b'{"error": "model not loaded"}', "ndjson"),
        (b'data: {"error": {"message": "out of memory"}}', "sse"),
        (b'{"message": {"content": "1"}, "done": false}', "ndjson"),
        (b"just text", "ndjson"),
    ],
)
def test_what_is_no_answer_is_an_error(data: bytes, form: SavedFormat) -> None:
    with pytest.raises(EngineRejectedError):
        read_saved(data, form)
