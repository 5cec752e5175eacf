"""Cassettes: what passed once is played again, to the same requests in the same order alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bench_loop.errors import FileError, SetupError
from bench_loop.gateway.cassette import (
    HUNG_UP,
    CassetteMismatchError,
    CassetteUpstream,
    RecordingUpstream,
)
from bench_loop.gateway.faults import FaultPlan, FaultyUpstream
from bench_loop.gateway.upstream import Asked, UpstreamFailedError
from tests.gateway.upstreams import CALLS, JSON, TEXT, Canned, CannedUpstream, Got, chat, get

USER = {"role": "user", "content": "go"}
ASSISTANT = {"role": "assistant", "content": "It is done."}


def recorded(
    file: Path,
    requests: Sequence[Asked],
    answers: Sequence[Canned | UpstreamFailedError] = (Canned(TEXT),),
    **words: str,
) -> list[Got]:
    upstream = RecordingUpstream(CannedUpstream(answers), file, words)
    return [get(upstream, asked) for asked in requests]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "cassette.jsonl"


def test_what_was_recorded_is_played_byte_by_byte_in_the_same_pieces(file: Path) -> None:
    requests = [chat(), chat(messages=[USER, ASSISTANT, USER])]
    stream = "data: naïve 🙂\n\n".encode()
    split = [stream[:9], stream[9:14], stream[14:]]
    first, second = recorded(file, requests, [Canned(CALLS), Canned(split)])
    cassette = CassetteUpstream(file)
    played = [get(cassette, asked) for asked in requests]
    assert [one.pieces for one in played] == [list(CALLS), split]
    assert [(one.status, one.content_type) for one in played] == [
        (one.status, one.content_type) for one in (first, second)
    ]
    cassette.check()


def test_recording_changes_nothing_of_what_passes(file: Path) -> None:
    inner = CannedUpstream([Canned(CALLS)])
    asked = chat()
    got = get(RecordingUpstream(inner, file), asked)
    assert got.pieces == list(CALLS)
    assert inner.asked == [asked]


def test_an_error_of_the_model_server_is_played_too(file: Path) -> None:
    refused = Canned([b'{"error": 1}'], JSON, status=500)
    cut = Canned(TEXT[:2], failed="it went away")
    recorded(file, [chat()] * 3, [refused, cut, UpstreamFailedError("nobody is there")])
    cassette = CassetteUpstream(file)
    played = [get(cassette, chat()) for _ in range(3)]
    assert [(one.status, one.failed) for one in played] == [
        (500, None),
        (200, "it went away"),
        (None, "nobody is there"),
    ]
    assert played[1].pieces == list(TEXT[:2])


def test_an_answer_that_nobody_waited_for_ends_where_it_did(file: Path) -> None:
    upstream = RecordingUpstream(CannedUpstream([Canned(TEXT)]), file)
    get(upstream, chat(), most_pieces=2)
    played = get(CassetteUpstream(file), chat())
    assert (played.pieces, played.failed) == (list(TEXT[:2]), HUNG_UP)


def test_what_differs_from_run_to_run_may_differ(file: Path) -> None:
    recorded(file, [chat(user="at /tmp/a/work on 2026-11-29")], work="/tmp/a/work")
    cassette = CassetteUpstream(file, {"work": "/srv/b"})
    assert get(cassette, chat(user="at /srv/b on 2027-01-02")).failed is None
    cassette.check()


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (chat(seed=2), "cassette.jsonl: request 1: body.seed is 2, recorded was 1"),
        (
            chat(path="/v1/responses", seed=1),
            "cassette.jsonl: request 1: path at character 4 is '/v1/responses', "
            "recorded was '/v1/chat/completions'",
        ),
        (
            Asked("GET", "/v1/models", {}, b""),
            "cassette.jsonl: request 1: method at character 0 is 'GET', recorded was 'POST'",
        ),
    ],
)
def test_a_request_that_differs_is_refused_and_named(
    file: Path, asked: Asked, sentence: str
) -> None:
    recorded(file, [chat(seed=1)])
    cassette = CassetteUpstream(file)
    assert get(cassette, asked).failed == sentence
    with pytest.raises(CassetteMismatchError) as caught:
        cassette.check()
    assert str(caught.value) == sentence


def test_after_a_difference_nothing_is_answered(file: Path) -> None:
    recorded(file, [chat(seed=1)])
    cassette = CassetteUpstream(file)
    first = get(cassette, chat(seed=2)).failed
    assert first is not None
    assert get(cassette, chat(seed=1)).failed == first


def test_the_order_of_requests_counts(file: Path) -> None:
    recorded(file, [chat(seed=1), chat(seed=2)])
    failed = get(CassetteUpstream(file), chat(seed=2)).failed
    assert failed == "cassette.jsonl: request 1: body.seed is 2, recorded was 1"


def test_a_request_too_many_is_refused(file: Path) -> None:
    recorded(file, [chat()])
    cassette = CassetteUpstream(file)
    get(cassette, chat())
    sentence = "cassette.jsonl: request 2 is POST /v1/chat/completions, recorded was none"
    assert get(cassette, chat()).failed == sentence


def test_a_request_too_few_is_told_at_the_end(file: Path) -> None:
    recorded(file, [chat(), chat()])
    cassette = CassetteUpstream(file)
    get(cassette, chat())
    with pytest.raises(CassetteMismatchError, match=r"1 of 2 requests never came, .* POST /v1/"):
        cassette.check()


def test_a_conversation_is_not_repeated_in_the_file(file: Path) -> None:
    tools = [{"type": "function", "function": {"name": "read", "description": "x" * 5000}}]
    messages: list[dict[str, Any]] = [USER]
    requests = []
    for _ in range(4):
        requests.append(chat(tools=tools, messages=list(messages)))
        messages += [ASSISTANT, USER]
    recorded(file, requests)
    *_, last = file.read_text().splitlines()
    line = json.loads(last)
    assert file.read_text().count("<text of 5,000 characters, ") == 1
    assert (line["request"], line["messages_as_before"]) == ({"messages": [ASSISTANT, USER]}, 5)
    cassette = CassetteUpstream(file)
    assert [get(cassette, asked).failed for asked in requests] == [None] * 4


def test_a_request_without_a_body_in_between_makes_nothing_be_repeated(file: Path) -> None:
    tools = [{"type": "function", "function": {"name": "read", "description": "x" * 5000}}]
    asked = chat(tools=tools, messages=[USER])
    requests = [asked, Asked("GET", "/v1/models", {}, b""), asked]
    recorded(file, requests)
    assert file.read_text().count("<text of 5,000 characters, ") == 1
    cassette = CassetteUpstream(file)
    assert [get(cassette, one).failed for one in requests] == [None] * 3


def test_a_conversation_may_change_in_its_middle_or_begin_anew(file: Path) -> None:
    requests = [
        chat(messages=[USER, ASSISTANT, USER]),
        chat(messages=[USER, USER], tools=[]),
        chat(messages=[ASSISTANT]),
        Asked("GET", "/v1/models", {}, b""),
        chat(messages=[USER, ASSISTANT]),
    ]
    recorded(file, requests)
    cassette = CassetteUpstream(file)
    assert [get(cassette, asked).failed for asked in requests] == [None] * 5
    cassette.check()


def test_line_ends_of_unicode_break_no_line(file: Path) -> None:
    asked = chat(user="a\u2028b\x85c\x0bd")
    recorded(file, [asked])
    assert get(CassetteUpstream(file), asked).failed is None


def test_a_cassette_keeps_the_rules_that_it_was_recorded_with(file: Path) -> None:
    recorded(file, [chat(user="run 17")])
    head, exchange = file.read_text().splitlines()
    changed = json.loads(head) | {"rules": {"run": r"run \d+"}}
    file.write_text(f"{json.dumps(changed)}\n{exchange.replace('run 17', '<run>')}\n")
    assert get(CassetteUpstream(file), chat(user="run 18")).failed is None


def test_a_cassette_is_recorded_once(file: Path) -> None:
    recorded(file, [])
    with pytest.raises(SetupError, match="There is a cassette already"):
        recorded(file, [])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]\n",
        '{"cassette": 2}\n',
        '{"cassette": 1, "words": ["work"], "rules": {}}\n',
        '{"cassette": 1, "words": [], "rules": {"bad": "("}}\n',
        '{"cassette": 1, "words": [], "rules": {}}\n{"method": "GET"}\n',
    ],
)
def test_a_file_that_cannot_be_played_is_refused(file: Path, text: str) -> None:
    file.write_text(text)
    with pytest.raises(FileError, match="it cannot be played"):
        CassetteUpstream(file)


def test_faults_can_be_put_into_a_cassette(file: Path) -> None:
    recorded(file, [chat(), chat()])
    upstream = FaultyUpstream(CassetteUpstream(file), FaultPlan("cut_stream", request=2))
    assert [get(upstream, chat()).fault for _ in range(2)] == [None, "cut_stream"]
