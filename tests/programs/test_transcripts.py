"""What a transcript says by itself."""

from __future__ import annotations

from bench_loop.contracts.chat import CallRecord, Message, ToolCall
from bench_loop.programs.transcripts import calls_of, last_words

READ = ToolCall(id="1", name="read", arguments="{}")
RUN = ToolCall(id="2", name="run", arguments="{}")


def test_calls_have_the_number_of_the_reply_that_made_them() -> None:
    messages = (
        Message(role="user", content="?"),
        Message(role="assistant", tool_calls=(READ, RUN)),
        Message(role="tool", content="text", tool_call_id="1"),
        Message(role="assistant", content="let me see"),
        Message(role="assistant", tool_calls=(RUN,)),
    )
    assert list(calls_of(messages)) == [
        CallRecord(id="1", name="read", arguments="{}", turn=1),
        CallRecord(id="2", name="run", arguments="{}", turn=1),
        CallRecord(id="2", name="run", arguments="{}", turn=3),
    ]


def test_the_last_words_are_those_of_the_last_message() -> None:
    said = Message(role="assistant", content="done")
    assert last_words((Message(role="user", content="?"), said)) == "done"


def test_a_reply_that_calls_a_tool_is_no_last_word() -> None:
    assert last_words((Message(role="assistant", content="I look", tool_calls=(READ,)),)) == ""


def test_words_before_the_answer_of_a_tool_are_not_the_last() -> None:
    messages = (Message(role="assistant", content="x"), Message(role="tool", content="y"))
    assert last_words(messages) == ""


def test_no_messages_have_no_last_words() -> None:
    assert last_words(()) == ""
