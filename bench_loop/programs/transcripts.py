"""What a transcript says by itself: the calls that the model made, and its last words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from bench_loop.contracts.chat import CallRecord, Message


def calls_of(messages: Iterable[Message]) -> Iterator[CallRecord]:
    """The calls of a transcript, each with the number of the reply that made it."""
    turn = 0
    for message in messages:
        if message.role == "assistant":
            turn += 1
            for call in message.tool_calls:
                yield CallRecord(**call.model_dump(), turn=turn)


def last_words(messages: Sequence[Message]) -> str:
    """The text of the last message if it is the model's and calls no tool; else ""."""
    last = messages[-1] if messages else None
    return last.content if last and last.role == "assistant" and not last.tool_calls else ""
