"""What a scripted model answers: pure, so every call can be written down."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from bench_loop.simulator.script import LAST_TEXT, SIDE_TEXT, Reply, reply_of
from bench_loop.simulator.settings import Turn, call, read, run, say, write
from tests.simulator.tools import OFFERED, tool

SCRIPT = (read("calc.py"), write("calc.py", "x = 1\n"), run("make"), say("Fixed."))
QUESTION = {"role": "user", "content": "Fix it."}


def called(reply: Reply) -> tuple[str, dict[str, Any]]:
    assert reply.call is not None
    return reply.call.name, json.loads(reply.call.arguments)


def said(reply: Reply, at: int = 0) -> list[dict[str, Any]]:
    """The messages by which a harness tells that it took the reply."""
    if reply.call is None:
        return [{"role": "assistant", "content": reply.text}]
    function = {"name": reply.call.name, "arguments": reply.call.arguments}
    made = {"id": f"call_{at}", "type": "function", "function": function}
    return [
        {"role": "assistant", "content": None, "tool_calls": [made]},
        {"role": "tool", "tool_call_id": f"call_{at}", "content": "ok"},
    ]


def played(script: Sequence[Turn], tools: Sequence[dict[str, Any]]) -> list[Reply]:
    """The replies of one conversation, up to the first that calls nothing."""
    messages: list[dict[str, Any]] = [QUESTION]
    replies: list[Reply] = []
    while not replies or (replies[-1].call is not None and len(replies) < 20):
        replies.append(reply_of(script, messages, tools))
        messages += said(replies[-1], len(replies))
    return replies


@pytest.mark.parametrize(
    ("harness", "calls"),
    [
        ("openclaw", ["read", "write", "exec"]),
        ("hermes", ["read_file", "write_file", "terminal"]),
        ("opencode", ["read", "write", "bash"]),
        ("continue", ["Read", "Write", "Bash"]),
        ("goose", ["developer__shell", "developer__write", "developer__shell"]),
    ],
)
def test_one_script_drives_every_harness(harness: str, calls: list[str]) -> None:
    *acts, last = played(SCRIPT, OFFERED[harness])
    assert [called(reply)[0] for reply in acts] == calls
    assert (last.text, last.turn) == ("Fixed.", 3)


def test_parameters_are_known_by_their_names_in_any_spelling() -> None:
    wanted = {"content": "x = 1\n", "filePath": "calc.py"}
    assert called(played(SCRIPT, OFFERED["opencode"])[1]) == ("write", wanted)


def test_a_required_parameter_that_no_script_knows_is_filled_by_its_type() -> None:
    arguments = {"command": "make", "timeout_secs": 1}
    assert called(played(SCRIPT, OFFERED["goose"])[2]) == ("developer__shell", arguments)


def test_what_no_tool_can_do_is_done_in_the_shell() -> None:
    shell = [tool("shell", "command")]
    replies = played([write("a b.txt", "it's\n"), read("a b.txt"), say("ok")], shell)
    assert called(replies[0])[1] == {"command": "printf %s 'it'\"'\"'s\n' > 'a b.txt'"}
    assert called(replies[1])[1] == {"command": "cat 'a b.txt'"}


def test_a_turn_for_which_there_is_no_tool_is_left_out() -> None:
    replies = played(SCRIPT, [tool("read", "path")])
    assert [reply.turn for reply in replies] == [0, 3]


def test_a_call_by_name_is_made_whether_it_is_offered_or_not() -> None:
    first, last = played([call("no_such_tool", '{"x": 1}'), say("ok")], OFFERED["hermes"])
    assert called(first) == ("no_such_tool", {"x": 1})
    assert last.text == "ok"


def test_text_may_come_before_a_call() -> None:
    script = (Turn("Let me look.", "read", "calc.py"), say("ok"))
    first, last = played(script, OFFERED["openclaw"])
    assert (first.text, called(first)[0], last.text) == ("Let me look.", "read", "ok")


def test_another_conversation_begins_at_the_beginning() -> None:
    tools = OFFERED["openclaw"]
    first = reply_of(SCRIPT, [QUESTION], tools)
    second = reply_of(SCRIPT, [QUESTION, *said(first)], tools)
    assert (first.turn, second.turn) == (0, 1)
    assert reply_of(SCRIPT, [QUESTION], tools) == first


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("read", '{"path": "cal'), ("no_such_tool", '{"path": "calc.py"}'), ("read", '{"path": "x"}')],
)
def test_a_call_that_was_spoilt_on_its_way_is_made_again(name: str, arguments: str) -> None:
    function = {"name": name, "arguments": arguments}
    spoilt = {"role": "assistant", "tool_calls": [{"function": function}]}
    answer = {"role": "tool", "content": "error"}
    reply = reply_of(SCRIPT, [QUESTION, spoilt, answer], OFFERED["openclaw"])
    assert (reply.turn, called(reply)[1]) == (0, {"path": "calc.py"})


@pytest.mark.parametrize("arguments", ['{ "limit":5,"path":"calc.py" }', {"path": "calc.py"}])
def test_a_call_is_known_again_however_the_harness_writes_it(arguments: object) -> None:
    function = {"name": "read", "arguments": arguments}
    made = {"role": "assistant", "tool_calls": [{"function": function}]}
    reply = reply_of(SCRIPT, [QUESTION, made, {"role": "tool"}], OFFERED["openclaw"])
    assert reply.turn == 1


def test_an_answer_is_given_again_as_long_as_it_is_the_last() -> None:
    again = [QUESTION, {"role": "assistant", "content": "Fixed."}, QUESTION]
    assert reply_of([say("Fixed.")], again, []).text == "Fixed."
    assert reply_of([say("Fixed."), say("Really.")], again, []).text == "Really."


def test_a_script_without_an_answer_ends_in_one() -> None:
    assert played([run("make")], OFFERED["hermes"])[-1].text == LAST_TEXT


def test_a_request_beside_the_conversation_gets_a_short_text() -> None:
    messages = [{"role": "user", "content": [{"type": "text", "text": "Make a title."}]}]
    assert reply_of(SCRIPT, messages, []) == Reply(SIDE_TEXT)


def test_a_script_that_only_speaks_needs_no_tools() -> None:
    assert reply_of([say("42")], [QUESTION], []).text == "42"


WHOLE = {"role": "system", "content": "Reply with a *file listing* of every file."}
BLOCKS = {"role": "system", "content": "Use *SEARCH/REPLACE blocks*."}
SHOWN = {"role": "user", "content": "These files:\n\ncalc.py\n```python\na = 0\nb = 0\n```\n"}


def test_files_are_written_into_the_text_where_the_prompt_asks_for_whole_files() -> None:
    text = reply_of(SCRIPT, [WHOLE, QUESTION], []).text
    assert text == "calc.py\n```\nx = 1\n```\n\nFixed."


def test_files_are_written_as_blocks_to_search_and_replace() -> None:
    text = reply_of(SCRIPT, [BLOCKS, SHOWN, QUESTION], []).text
    block = "<<<<<<< SEARCH\na = 0\nb = 0\n=======\nx = 1\n>>>>>>> REPLACE"
    assert text == f"calc.py\n```\n{block}\n```\n\nFixed."


def test_a_file_that_the_prompt_does_not_show_is_new() -> None:
    text = reply_of([write("new.py", "y")], [BLOCKS, SHOWN], []).text
    assert text == "new.py\n```\n<<<<<<< SEARCH\n=======\ny\n>>>>>>> REPLACE\n```"


def test_a_fence_is_longer_than_those_in_the_file() -> None:
    text = reply_of([write("a.md", "```\nx\n```\n")], [WHOLE], []).text
    assert text == "a.md\n````\n```\nx\n```\n````"
