"""No bytes of a server break the readers, and no way of cutting them up changes the reply."""

from __future__ import annotations

import itertools
import json
import math
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench_loop.contracts.chat import ChatReply
from bench_loop.errors import ProviderError
from bench_loop.providers import _ollama_chat, _ollama_facts, _openai_chat, _openai_facts
from bench_loop.providers._fingerprint import PATHS, Said, identify
from bench_loop.providers._lmstudio_facts import with_own_words
from bench_loop.providers._stream import ParseLine, StreamReader
from tests.providers.replay import read, recorded

PARSERS = {"sse": _openai_chat.parse_line, "ndjson": _ollama_chat.parse_line}

unhurried = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""The machine that runs the tests may be busy."""

NUMBERS_OF_ALL_KINDS = [0, 7, -1, 2**53, 10**400, 0.5, math.inf, math.nan, True]
THINGS_OF_ALL_KINDS = [
    None,
    "",
    "\ud83d",
    "\0",
    [],
    ["a"],
    {},
    [{"text": "b"}],
    [{"text": 5}],
    {"a": 1},
]
VALUES = st.sampled_from([*NUMBERS_OF_ALL_KINDS, *THINGS_OF_ALL_KINDS]) | st.text(max_size=4)
CALLS = st.fixed_dictionaries(
    {},
    optional={
        "index": VALUES,
        "id": VALUES,
        "function": st.fixed_dictionaries({}, optional={"name": VALUES, "arguments": VALUES}),
    },
)
DELTAS = st.fixed_dictionaries(
    {},
    optional={
        "content": VALUES,
        "thinking": VALUES,
        "reasoning_content": VALUES,
        "tool_calls": VALUES | st.lists(CALLS, max_size=3),
    },
)
NUMBERS = st.fixed_dictionaries(
    {},
    optional={
        "cache_n": VALUES,
        "prompt_n": VALUES,
        "prompt_ms": VALUES,
        "predicted_n": VALUES,
        "predicted_ms": VALUES,
        "prompt_tokens": VALUES,
        "completion_tokens": VALUES,
    },
)
CHOICES = st.fixed_dictionaries(
    {}, optional={"delta": DELTAS | VALUES, "message": DELTAS, "finish_reason": VALUES}
)
EVENTS = st.fixed_dictionaries(
    {},
    optional={
        "choices": VALUES | st.lists(CHOICES, max_size=2),
        "message": DELTAS | VALUES,
        "usage": NUMBERS | VALUES,
        "timings": NUMBERS | VALUES,
        "error": VALUES,
        "model": VALUES,
        "done": VALUES,
        "done_reason": VALUES,
        "eval_count": VALUES,
        "eval_duration": VALUES,
        "prompt_eval_count": VALUES,
    },
)


def outcome(parse_line: ParseLine, chunks: list[bytes]) -> ChatReply | str:
    """The reply, or the words of the ProviderError; nothing else may be raised."""
    try:
        return read(parse_line, [(0.5, chunk) for chunk in chunks])
    except ProviderError as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("form", PARSERS)
@unhurried
@given(data=st.binary(max_size=200))
def test_any_bytes_give_a_reply_or_a_provider_error(form: str, data: bytes) -> None:
    outcome(PARSERS[form], [data])


@unhurried
@given(events=st.lists(EVENTS, max_size=5), is_done=st.booleans())
def test_any_events_of_an_openai_server_give_a_reply_that_can_be_stored(
    events: list[object], is_done: bool
) -> None:
    lines = [f"data: {json.dumps(event)}\n\n" for event in events]
    lines += ["data: [DONE]\n\n"] if is_done else []
    result = outcome(_openai_chat.parse_line, ["".join(lines).encode()])
    if isinstance(result, ChatReply):
        result.model_dump_json().encode()


@unhurried
@given(events=st.lists(EVENTS, max_size=5))
def test_any_lines_of_an_ollama_give_a_reply_that_can_be_stored(events: list[object]) -> None:
    data = "".join(f"{json.dumps(event)}\n" for event in events).encode()
    result = outcome(_ollama_chat.parse_line, [data])
    if isinstance(result, ChatReply):
        result.model_dump_json().encode()


FACT_NAMES = (
    "id name model models data capabilities details meta n_params size ftype model_path "
    "chat_template family context_length remote_host modelfile template model_info owned_by"
)
FACTS = st.dictionaries(
    st.sampled_from(FACT_NAMES.split()),
    VALUES | st.lists(st.dictionaries(st.sampled_from(FACT_NAMES.split()), VALUES), max_size=2),
)


@unhurried
@given(one=FACTS, two=FACTS, three=FACTS)
def test_whatever_a_server_says_of_itself_and_its_models_can_be_stored(
    one: dict[str, Any], two: dict[str, Any], three: dict[str, Any]
) -> None:
    facts = [
        _openai_facts.model_facts(one, two, three),
        _ollama_facts.full_facts(_ollama_facts.entry(one, "a"), two, three),
    ]
    said = {path: Said(200, json.dumps(one).encode(), "BaseHTTP/0.6") for path in PATHS}
    assert identify(one, said).engine
    facts.append(with_own_words(facts[0], [one, two, three]))
    for fact in facts:
        fact.model_dump_json().encode()


@pytest.mark.parametrize(
    ("engine", "name", "form"),
    [
        ("llamacpp", "chat_stream_usage", "sse"),
        ("llamacpp", "tools_stream", "sse"),
        ("llamacpp", "reasoning_stream", "sse"),
        ("llamacpp", "err_stream_tool_output_not_parsable", "sse"),
        ("ollama", "think_true_stream", "ndjson"),
        ("ollama", "tools_stream", "ndjson"),
    ],
)
@unhurried
@given(data=st.data())
def test_any_cutting_of_a_recorded_stream_gives_the_same_reply(
    engine: str, name: str, form: str, data: st.DataObject
) -> None:
    whole = "".join(f"{line}\n" for _, line in recorded(engine, name)["lines_ms"]).encode()
    places = data.draw(st.lists(st.integers(0, len(whole)), max_size=8).map(sorted))
    bounds = [0, *places, len(whole)]
    pieces = [whole[start:end] for start, end in itertools.pairwise(bounds)]
    assert outcome(PARSERS[form], pieces) == outcome(PARSERS[form], [whole])


def test_line_ends_of_both_kinds_are_read() -> None:
    lines = [line for _, line in recorded("llamacpp", "chat_stream_usage")["lines_ms"]]
    unix, dos = ("".join(f"{line}{end}" for line in lines).encode() for end in ("\n", "\r\n"))
    assert outcome(_openai_chat.parse_line, [dos]) == outcome(_openai_chat.parse_line, [unix])


def test_halves_of_a_character_that_came_apart_are_joined() -> None:
    events = [f'data: {{"choices":[{{"delta":{{"content":"{half}"}}}}]}}' for half in HALVES]
    stream = "\n\n".join([*events, "data: [DONE]", ""]).encode()
    assert read(_openai_chat.parse_line, [(0.1, stream)]).text == "😀"


def test_a_lone_half_of_a_character_is_replaced() -> None:
    stream = b'{"message":{"content":"\\ud83d!"},"done":true}\n'
    assert read(_ollama_chat.parse_line, [(0.1, stream)]).text == "\ufffd!"


def test_brackets_nested_without_end_are_a_provider_error() -> None:
    line = b'{"message":' + b"[" * 100_000
    with pytest.raises(ProviderError):
        read(_ollama_chat.parse_line, [(0.1, line)])


def test_a_line_without_end_is_a_provider_error() -> None:
    reader = StreamReader(_ollama_chat.parse_line, 64)
    with pytest.raises(ProviderError, match="has no end"):
        reader.feed(b"x" * (16 * 2**20 + 1), 0.1)


HALVES = ("\\ud83d", "\\ude00")


def test_control_characters_are_replaced_and_line_breaks_stay() -> None:
    stream = b'{"message":{"content":"a\\u001b[2Jb\\u0000\\tc\\n"},"done":true}\n'
    assert read(_ollama_chat.parse_line, [(0.1, stream)]).text == "a\ufffd[2Jb\ufffd\tc\n"
