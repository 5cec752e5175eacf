"""What a trial asked of the model, and which request began the task."""

from __future__ import annotations

from bench_loop.scoring.asking import (
    first_prompt_tokens,
    first_request,
    malformed_calls,
    model_calls,
    prompt_tokens,
    request_count,
    useless_calls,
)
from tests.scoring.make_matrix import asked_trial, call, failed, request


def test_the_first_request_is_the_earliest_by_the_clock() -> None:
    trial = asked_trial(requests=[request(900, sent_s=5.0), request(200, sent_s=1.0)])
    assert first_prompt_tokens(trial) == 200


def test_a_title_asked_before_the_task_is_not_its_first_request() -> None:
    # As opencode asks for one: without tools, before its own work or while it begins.
    trial = asked_trial(
        requests=[
            request(40, sent_s=0.0, tools=0),
            request(7400, sent_s=0.2, tools=9),
            request(7900, sent_s=1.0, tools=9),
        ]
    )
    assert first_prompt_tokens(trial) == 7400
    assert prompt_tokens(trial) == 40 + 7400 + 7900
    assert request_count(trial) == 3


def test_a_harness_without_tools_begins_with_its_first_answered_request() -> None:
    trial = asked_trial(requests=[request(2100, tools=0), request(2500, sent_s=3.0, tools=0)])
    assert first_prompt_tokens(trial) == 2100


def test_a_request_that_failed_is_told_by_its_repetition() -> None:
    trial = asked_trial(requests=[failed(), request(2100, sent_s=1.0, retry=1)])
    assert first_prompt_tokens(trial) == 2100
    assert (prompt_tokens(trial), request_count(trial)) == (2100, 2)


def test_a_refused_request_was_not_sent() -> None:
    refused = request(None, status=None, finish_reason=None, refused="requests")
    trial = asked_trial(requests=[refused, request(300, sent_s=1.0)])
    assert (first_prompt_tokens(trial), request_count(trial)) == (300, 1)


def test_a_broken_answer_counts_with_the_tokens_that_the_server_told() -> None:
    cut = request(500, finish_reason=None, error="The connection ended.")
    trial = asked_trial(requests=[cut, request(600, sent_s=1.0)])
    assert (first_prompt_tokens(trial), prompt_tokens(trial)) == (600, 1100)


def test_a_server_that_does_not_count_leaves_the_tokens_unknown() -> None:
    trial = asked_trial(requests=[request(None), request(300, sent_s=1.0)])
    assert first_prompt_tokens(trial) is None
    assert prompt_tokens(trial) is None
    assert request_count(trial) == 2


def test_what_was_not_recorded_is_unknown_and_no_request_is_none() -> None:
    unrecorded, silent = asked_trial(requests=None), asked_trial(requests=[])
    assert (first_request(unrecorded), prompt_tokens(unrecorded)) == (None, None)
    assert request_count(unrecorded) is None
    assert (first_request(silent), prompt_tokens(silent), request_count(silent)) == (None, None, 0)


def test_calls_are_those_that_the_gateway_saw() -> None:
    seen, told = call("seen"), call("told")
    through = asked_trial(requests=[request(calls=[seen])], tool_calls=(told,))
    direct = asked_trial(requests=[request()], tool_calls=(told,))
    assert model_calls(through) == [seen]
    assert model_calls(direct) == (told,)


def test_a_call_is_malformed_by_its_arguments_or_its_tool() -> None:
    calls = [call(), call(is_well_formed=False), call("nothing", is_offered=False)]
    assert malformed_calls(calls) == 2


def test_a_call_that_nobody_could_judge_leaves_the_count_unknown() -> None:
    assert malformed_calls([call(), call(is_well_formed=None)]) is None
    assert useless_calls([call(), call(is_well_formed=None)]) is None


def test_a_call_is_useless_when_it_is_the_same_as_the_one_before() -> None:
    read, other = call(arguments='{"path": "a"}'), call(arguments='{"path": "b"}')
    assert useless_calls([read, other, read]) == 0
    assert useless_calls([read, read, read, other]) == 2
    assert useless_calls([call(is_useful=False), other, call(is_well_formed=False)]) == 2
