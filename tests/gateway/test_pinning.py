"""Only what is the benchmark's to say is changed in a request, and each change is told."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench_loop.gateway.pinning import Pins, pin
from bench_loop.result.records import RequestChange

PINS = Pins("tiny", 100, {"temperature": 0.0, "seed": 1001})
AS_PINNED = {"model": "tiny", "temperature": 0.0, "seed": 1001, "max_tokens": 100}

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def changed(body: dict[str, Any], pins: Pins = PINS) -> dict[str, tuple[Any, Any]]:
    """What was asked and what is sent, by field."""
    return {one.field: (one.asked, one.sent) for one in pin(body, pins).changes}


def test_a_request_that_asks_for_just_that_is_not_changed() -> None:
    body = AS_PINNED | {"messages": [], "tools": [{"type": "function"}]}
    pinned = pin(body, PINS)
    assert (pinned.body, pinned.changes) == (body, ())


def test_what_a_harness_wants_otherwise_is_set_and_told() -> None:
    assert changed(AS_PINNED | {"temperature": 0.7}) == {"temperature": (0.7, 0.0)}


def test_what_a_harness_leaves_open_is_set_and_told() -> None:
    body = {name: value for name, value in AS_PINNED.items() if name != "seed"}
    assert changed(body) == {"seed": (None, 1001)}


def test_a_field_pinned_to_nothing_is_left_out() -> None:
    pinned = pin(AS_PINNED | {"top_k": 40}, Pins("tiny", 100, {"top_k": None}))
    assert "top_k" not in pinned.body
    assert pinned.changes == (RequestChange(field="top_k", asked=40, sent=None),)


def test_a_truth_value_is_no_number() -> None:
    assert changed(AS_PINNED | {"temperature": False}) == {"temperature": (False, 0.0)}


def test_a_field_inside_an_object_leaves_the_others_there() -> None:
    pins = Pins("tiny", 100, {"chat_template_kwargs.enable_thinking": False})
    body = AS_PINNED | {"chat_template_kwargs": {"enable_thinking": True, "tone": "dry"}}
    assert pin(body, pins).body["chat_template_kwargs"] == {"enable_thinking": False, "tone": "dry"}


def test_another_name_of_the_model_becomes_its_own() -> None:
    assert changed(AS_PINNED | {"model": "bench/tiny"}) == {"model": ("bench/tiny", "tiny")}


@pytest.mark.parametrize("field", ["max_tokens", "max_completion_tokens", "n_predict"])
def test_a_bound_of_the_reply_is_lowered(field: str) -> None:
    body = AS_PINNED | {field: 65536}
    assert changed(body) == {field: (65536, 100)}


def test_a_lower_bound_of_the_reply_stays() -> None:
    assert changed(AS_PINNED | {"max_tokens": 7}) == {}


def test_a_request_without_a_bound_gets_one() -> None:
    body = AS_PINNED | {"max_tokens": None}
    assert changed(body) == {"max_tokens": (None, 100)}


def test_a_bound_in_newer_words_is_said_in_older_ones_too() -> None:
    body = {name: value for name, value in AS_PINNED.items() if name != "max_tokens"}
    assert changed(body | {"max_completion_tokens": 7}) == {"max_tokens": (None, 7)}


@pytest.mark.parametrize("bound", [-1, 0, 0.5, 1e9, True, "many", [1], {}])
def test_a_bound_that_is_none_is_replaced(bound: Any) -> None:
    assert pin(AS_PINNED | {"max_tokens": bound}, PINS).body["max_tokens"] == 100


def test_a_stream_is_asked_for_its_token_counts() -> None:
    pinned = pin(AS_PINNED | {"stream": True, "stream_options": {"x": 1}}, PINS)
    assert pinned.body["stream_options"] == {"x": 1, "include_usage": True}
    (change,) = pinned.changes
    assert change == RequestChange(field="stream_options.include_usage", asked=None, sent=True)


def test_an_answer_in_one_piece_is_not_asked_for_them() -> None:
    assert changed(AS_PINNED | {"stream": False}) == {}


def test_the_responses_api_has_a_bound_of_its_own_name() -> None:
    body = {"model": "tiny", "temperature": 0.0, "seed": 1001, "stream": True, "input": "?"}
    pinned = pin(body | {"max_output_tokens": 9000}, PINS, "responses")
    assert pinned.body == body | {"max_output_tokens": 100}


@pytest.mark.parametrize("field", ["n", "n_cmpl", "best_of"])
def test_one_answer_is_asked_for(field: str) -> None:
    assert changed(AS_PINNED | {field: 50}) == {field: (50, 1)}


def test_nothing_is_answered_behind_the_back_of_the_trial() -> None:
    pinned = pin({"input": "?", "background": True}, PINS, "responses")
    assert pinned.body["background"] is False


def test_a_field_in_another_spelling_is_left_out_and_told() -> None:
    """Servers in Go mind no case, and take the last of two."""
    assert changed(AS_PINNED | {"Temperature": 2.0}) == {"Temperature": (2.0, None)}


def test_a_field_of_a_harness_s_own_keeps_its_spelling() -> None:
    assert changed(AS_PINNED | {"cachePrompt": True}) == {}


def test_changes_without_end_are_cut() -> None:
    spellings = {f"{'MODEL'[:at]}{'model'[at:]}".swapcase() for at in range(1, 5)}
    others = {f"{one}_TOKENS" for one in ("MAX", "Max", "mAX", "maX", "MAx", "mAx", "MaX")}
    halves = {f"max_{'completion'[:at].upper()}{'completion'[at:]}_tokens" for at in range(1, 11)}
    outputs = {f"max_{'output'[:at].upper()}{'output'[at:]}_TOKENS" for at in range(7)}
    seeds = {"SEED", "Seed", "sEed", "seEd", "seeD", "SEed", "SEEd", "sEED", "seED", "SeEd"}
    heats = {f"{'temperature'[:at].upper()}{'temperature'[at:]}" for at in range(1, 12)}
    tokens = {f"{'n_predict'[:at].upper()}{'n_predict'[at:]}" for at in range(3, 10)}
    body = dict.fromkeys(spellings | others | halves | outputs | seeds | heats | tokens, 1)
    pinned = pin(AS_PINNED | body, PINS)
    assert len(body) > len(pinned.changes) == 50
    assert pinned.body == AS_PINNED


def test_a_value_that_no_record_can_hold_is_told_as_text() -> None:
    asked = changed(AS_PINNED | {"temperature": {"a": ["b" * 1000]}})["temperature"][0]
    assert asked.startswith('{"a": ["bbb')
    assert len(asked) == 200


@settings(max_examples=50)
@given(st.dictionaries(st.sampled_from([*AS_PINNED, "stream", "stream_options", "n"]), JSON))
def test_whatever_is_asked_the_pins_hold_and_the_rest_stays(body: dict[str, Any]) -> None:
    before = copy.deepcopy(body)
    pins = Pins("tiny", 100, {"temperature": 0.0, "stream_options.x": 1})
    pinned = pin(body, pins)
    sent = json.loads(json.dumps(pinned.body))
    assert body == before
    assert (sent["model"], sent["temperature"], sent["stream_options"]["x"]) == ("tiny", 0.0, 1)
    assert 1 <= sent["max_tokens"] <= 100
    assert sent.get("n") in (None, 1)
    told = {change.field.partition(".")[0] for change in pinned.changes}
    assert {name for name in {*body, *sent} if body.get(name) != sent.get(name)} <= told
