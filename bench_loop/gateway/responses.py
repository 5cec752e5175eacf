"""The wire format of `/v1/responses`: stream events and whole answers, without any I/O."""

from __future__ import annotations

from functools import partial
from typing import Any

from bench_loop.providers import _faults
from bench_loop.providers._openai_chat import usage_counts
from bench_loop.providers._openai_facts import base_name
from bench_loop.providers._stream import CallPart, Delta, event_json
from bench_loop.providers._text import as_count, as_dict, as_dicts, as_text

_TEXT = "response.output_text.delta"
_THINKING = ("response.reasoning_text.delta", "response.reasoning_summary_text.delta")
_USAGE = ("input_tokens", "output_tokens")
_ENDS = ("response.completed", "response.incomplete")


def parse_line(line: str) -> Delta | None:
    """One line of a server-sent event stream; a bare JSON object is a whole answer."""
    if line.startswith("{"):
        return _whole(event_json(line))
    data = line.removeprefix("data:").strip() if line.startswith("data:") else ""
    if not data or data == "[DONE]":
        return None
    return _event(event_json(data))


def _event(event: dict[str, Any]) -> Delta | None:
    """What one event adds. Raises EngineRejectedError for an error."""
    kind, text = event.get("type"), event.get("delta")
    said = text if isinstance(text, str) else ""
    index = as_count(event.get("output_index"))
    if kind == _TEXT:
        return Delta(text=said)
    if kind in _THINKING:
        return Delta(thinking=said)
    if kind == "response.function_call_arguments.delta":
        return Delta(calls=(CallPart(index, None, None, said),))
    item = as_dict(event.get("item"))
    if kind == "response.output_item.added" and item.get("type") == "function_call":
        part = CallPart(index, as_text(item.get("call_id")), as_text(item.get("name")), None)
        return Delta(calls=(part,))
    if kind in _ENDS:
        return _end(as_dict(event.get("response")))
    if kind == "error" or kind == "response.failed":
        raise _faults.error_in_stream(as_dict(event.get("response")).get("error") or event)
    return Delta(model=_model(as_dict(event.get("response"))))


def _whole(answer: dict[str, Any]) -> Delta:
    """An answer in one piece. Raises EngineRejectedError for an error object."""
    if answer.get("error"):
        raise _faults.error_in_stream(answer["error"])
    items = as_dicts(answer.get("output"))
    end = _end(answer)
    return Delta(
        text="".join(_parts(item) for item in items if item.get("type") == "message"),
        thinking="".join(_parts(item) for item in items if item.get("type") == "reasoning"),
        calls=tuple(
            CallPart(
                place,
                as_text(item.get("call_id")),
                as_text(item.get("name")),
                as_text(item.get("arguments")),
            )
            for place, item in enumerate(items)
            if item.get("type") == "function_call"
        ),
        finish=end.finish,
        model=end.model,
        tokens=end.tokens,
        is_last=True,
    )


def _parts(item: dict[str, Any]) -> str:
    """The text of a message, or of a piece of thinking."""
    parts = [*as_dicts(item.get("summary")), *as_dicts(item.get("content"))]
    return "".join(part["text"] for part in parts if isinstance(part.get("text"), str))


def _end(response: dict[str, Any]) -> Delta:
    usage = as_dict(response.get("usage"))
    is_cut = response.get("status") == "incomplete"
    return Delta(
        finish="length" if is_cut else "stop",
        model=_model(response),
        tokens=partial(usage_counts, usage, *_USAGE) if usage else None,
        is_last=True,
    )


def _model(response: dict[str, Any]) -> str | None:
    return base_name(as_text(response.get("model")) or "") or None
