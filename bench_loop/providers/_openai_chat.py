"""The wire format of `/v1/chat/completions`: requests and stream events, without any I/O."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from bench_loop.contracts.chat import ChatRequest, EngineTimings, Message, TokenCounts
from bench_loop.providers import _faults
from bench_loop.providers._openai_facts import base_name
from bench_loop.providers._stream import CallPart, Delta, event_json
from bench_loop.providers._text import as_count, as_dict, as_dicts, as_seconds, as_text


def chat_body(request: ChatRequest) -> dict[str, Any]:
    """The request in the fields of the OpenAI standard, and the switch for thinking if asked."""
    body: dict[str, Any] = {
        "model": request.model_id,
        "messages": [message_body(message) for message in request.messages],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": request.max_tokens,
    }
    for name, value in sampling_fields(request).items():
        outer, _, inner = name.partition(".")
        body[outer] = {inner: value} if inner else value
    if request.tools:
        body["tools"] = list(request.tools)
    return body


def sampling_fields(request: ChatRequest) -> dict[str, str | float | bool | None]:
    """The fields of the OpenAI standard that say how is sampled, and the switch for thinking."""
    sampling = request.sampling
    fields: dict[str, str | float | bool | None] = {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "presence_penalty": sampling.presence_penalty,
        "frequency_penalty": 0.0,
        "seed": request.seed,
    }
    if request.thinking is not None:
        fields["chat_template_kwargs.enable_thinking"] = request.thinking
    return fields


def message_body(message: Message) -> dict[str, Any]:
    """One turn; calls without an id of their own are numbered."""
    body: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        body["tool_calls"] = [
            {
                "id": call.id or f"call_{number}",
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for number, call in enumerate(message.tool_calls)
        ]
    if message.tool_call_id is not None:
        body["tool_call_id"] = message.tool_call_id
    if message.name is not None:
        body["name"] = message.name
    return body


def llama_sampling(request: ChatRequest) -> dict[str, float]:
    """llama.cpp's own words for how is sampled."""
    return {
        "top_k": request.sampling.top_k,
        "min_p": request.sampling.min_p,
        "repeat_penalty": request.sampling.repeat_penalty,
    }


def other_sampling(request: ChatRequest) -> dict[str, float]:
    """Those of vLLM, SGLang and their like."""
    return {
        "top_k": request.sampling.top_k or -1,
        "min_p": request.sampling.min_p,
        "repetition_penalty": request.sampling.repeat_penalty,
    }


def llama_extras(request: ChatRequest) -> dict[str, Any]:
    """llama.cpp's own fields; timings on every event tell what came before a cut."""
    return {
        **llama_sampling(request),
        "cache_prompt": request.use_prompt_cache,
        "ignore_eos": request.force_length,
        "timings_per_token": True,
    }


def other_extras(request: ChatRequest) -> dict[str, Any]:
    """The fields by which vLLM, SGLang and their like go beyond the standard."""
    extras: dict[str, Any] = dict(other_sampling(request))
    if request.force_length:
        extras |= {"ignore_eos": True, "min_tokens": request.max_tokens}
    return extras


def foresight_body(tokens: Sequence[int], most_likely: int) -> dict[str, Any]:
    """A request of llama.cpp's `/completion` for the token after `tokens` and its rivals.

    Always in one slot, whose cache knows all but the last of `tokens` from the request before.
    """
    return {
        "prompt": list(tokens),
        "id_slot": 0,
        "n_predict": 1,
        "n_probs": most_likely,
        "temperature": 0.0,
        "cache_prompt": True,
    }


def likely_tokens(answer: dict[str, Any]) -> dict[int, float]:
    """Log probabilities of the answer's first token and its rivals; empty where it has none."""
    first = next(iter(as_dicts(answer.get("completion_probabilities"))), {})
    return {
        token: float(rival["logprob"])
        for rival in as_dicts(first.get("top_logprobs"))
        if (token := as_count(rival.get("id"))) is not None
        and isinstance(rival.get("logprob"), int | float)
        and rival["logprob"] <= 0
    }


def read_body(model_id: str, tokens: Sequence[int], most_likely: int) -> dict[str, Any]:
    """A request of vLLM's `/v1/completions` for the probabilities inside of a prompt."""
    return {
        "model": model_id,
        "prompt": list(tokens),
        "max_tokens": 1,
        "temperature": 0.0,
        "prompt_logprobs": most_likely,
    }


def likely_in_prompt(answer: dict[str, Any], most_likely: int) -> list[dict[int, float]]:
    """Log probabilities at each token of a prompt, by vLLM; at the first there are none.

    The prompt's own token is listed whatever its rank: as one that is not among the most likely it
    would say nothing of those between, and is left out.
    """
    choice = next(iter(as_dicts(answer.get("choices"))), {})
    places = choice.get("prompt_logprobs")
    return [
        {
            int(token): float(rival["logprob"])
            for token, rival in as_dict(place).items()
            if token.isascii()
            and token.isdigit()
            and isinstance(rival, dict)
            and isinstance(rival.get("logprob"), int | float)
            and rival["logprob"] <= 0
            and (as_count(rival.get("rank")) or 1) <= most_likely
        }
        for place in (places if isinstance(places, list) else [])
    ]


def parse_line(line: str) -> Delta | None:
    """One line of a server-sent event stream; comments and other fields say nothing.

    A line that is a bare JSON object is what a server sends that does not stream.
    """
    if line.startswith("{"):
        return parse_event(event_json(line))
    if not line.startswith("data:"):
        return None
    data = line.removeprefix("data:").strip()
    if data == "[DONE]":
        return Delta(is_last=True)
    return parse_event(event_json(data)) if data else None


def parse_event(event: dict[str, Any]) -> Delta:
    """What one chunk adds. Raises EngineRejectedError for an error object."""
    if event.get("error"):
        raise _faults.error_in_stream(event["error"])
    if event.get("object") == "error":  # older vLLM, without a key of its own
        raise _faults.error_in_stream(event)
    # Of several answers to one request, the first is read.
    choices = as_dicts(event.get("choices"))
    choice = next((choice for choice in choices if not as_count(choice.get("index"))), {})
    delta = as_dict(choice.get("delta")) or as_dict(choice.get("message"))
    usage, timings = as_dict(event.get("usage")), as_dict(event.get("timings"))
    return Delta(
        text=_content(delta.get("content")) or _content(choice.get("text")),
        thinking=_content(delta.get("reasoning_content")) or _content(delta.get("reasoning")),
        calls=tuple(call_part(call) for call in as_dicts(delta.get("tool_calls"))),
        finish=as_text(choice.get("finish_reason")),
        model=base_name(as_text(event.get("model")) or "") or None,
        tokens=partial(token_counts, usage, timings) if usage or timings else None,
        timings=partial(engine_timings, timings) if timings else None,
    )


def call_part(call: dict[str, Any]) -> CallPart:
    """One piece of a tool call, whose arguments are a string, an object or absent."""
    function = as_dict(call.get("function"))
    index, arguments = call.get("index", function.get("index")), function.get("arguments")
    return CallPart(
        index=as_count(index),
        id=as_text(call.get("id")),
        name=as_text(function.get("name")),
        arguments=arguments if isinstance(arguments, str | dict) else None,
    )


def token_counts(usage: dict[str, Any], timings: dict[str, Any]) -> TokenCounts | None:
    """Counts of an event, llama.cpp's own before the standard usage; None where it has none.

    No chat has an empty prompt, so a zero for it means unknown.
    """
    cached, processed = as_count(timings.get("cache_n")), as_count(timings.get("prompt_n"))
    generated = as_count(timings.get("predicted_n"))
    if cached is not None and processed is not None and generated is not None:
        return TokenCounts(
            prompt=as_count(cached + processed),
            cached=cached,
            completion=generated,
            reasoning=_reasoning_tokens(usage),
            basis="engine_timings",
        )
    return usage_counts(usage, "prompt_tokens", "completion_tokens")


def usage_counts(usage: dict[str, Any], read: str, written: str) -> TokenCounts | None:
    """Counts of a standard usage, whose fields for both kinds of tokens have these names."""
    prompt, completion = as_count(usage.get(read)) or None, as_count(usage.get(written))
    if prompt is None and completion is None:
        return None
    return TokenCounts(
        prompt=prompt,
        cached=as_count(as_dict(usage.get(f"{read}_details")).get("cached_tokens")),
        completion=completion,
        reasoning=_reasoning_tokens(usage, written),
        basis="usage",
    )


def engine_timings(timings: dict[str, Any]) -> EngineTimings | None:
    """llama.cpp's `timings`; a single token has no time from first to last."""
    if not timings:
        return None
    generated = as_count(timings.get("predicted_n"))
    has_span = generated is not None and generated > 1
    return EngineTimings(
        prompt_tokens=as_count(timings.get("prompt_n")),
        prompt_s=as_seconds(timings.get("prompt_ms"), 1e3),
        generated_tokens=generated,
        generation_s=as_seconds(timings.get("predicted_ms"), 1e3) if has_span else None,
    )


def _content(value: Any) -> str:
    """The text of a `content`: a string, or a list of parts. Not yet cleaned: halves may follow."""
    if isinstance(value, str):
        return value
    return "".join(p["text"] for p in as_dicts(value) if isinstance(p.get("text"), str))


def _reasoning_tokens(usage: dict[str, Any], written: str = "completion_tokens") -> int | None:
    return as_count(as_dict(usage.get(f"{written}_details")).get("reasoning_tokens"))
