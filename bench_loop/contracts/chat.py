"""One exchange with a model: what is asked, what comes back, and when each part of it came."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from bench_loop.contracts.record import Count, Record, Seconds

Basis = Literal["engine_timings", "usage", "tokenizer", "estimated"]
"""Where a token count or a rate comes from, most trusted first; `estimated` is never ranked."""

FinishReason = Literal["stop", "length", "tool_calls", "limit", "error"]
"""`length`: cut by the answer budget or the window. `limit`: cut by BenchLoop's own wall limit."""


class ToolCall(Record):
    """A native tool call, as the model made it."""

    id: str | None = Field(None, description="The server's id of the call, where it gives one.")
    name: str = Field(description="Name of the tool called.")
    arguments: str = Field(description="Arguments as JSON text, exactly as received.")


class CallRecord(ToolCall):
    """A tool call of a tool loop, with what BenchLoop's own tools made of it. None: not known."""

    turn: Count | None = Field(None, description="Reply of the trial that made it: 1, 2, ...")
    is_offered: bool | None = Field(None, description="The tool was among those offered.")
    is_well_formed: bool | None = Field(None, description="The arguments fit its parameters.")
    is_repeated: bool | None = Field(
        None, description="An earlier call with the same arguments got the same reply."
    )
    is_useful: bool | None = Field(
        None, description="Offered, well formed, and its reply was not known before."
    )


class Message(Record):
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    name: str | None = None


class Sampling(Record):
    """Sampling settings; every value is sent explicitly (METHODOLOGY.md 4)."""

    temperature: float = Field(0.0, ge=0, le=5, description="0 is greedy.")
    top_p: float = Field(1.0, gt=0, le=1, description="1 is off.")
    top_k: int = Field(0, ge=0, le=100000, description="0 is off.")
    min_p: float = Field(0.0, ge=0, le=1, description="0 is off.")
    repeat_penalty: float = Field(1.0, ge=0, le=5, description="1 is off.")
    presence_penalty: float = Field(0.0, ge=-2, le=2, description="0 is off.")


class ChatRequest(Record):
    """What is asked of a model server, in no server's dialect."""

    model_id: str
    messages: tuple[Message, ...]
    sampling: Sampling = Sampling()
    seed: int = 1001
    max_tokens: Count = Field(description="Answer budget in tokens, thinking budget included.")
    context_window: Count = Field(8192, description="Window to ask of the server (Ollama num_ctx).")
    thinking: bool | None = Field(None, description="None: the model has no such switch.")
    tools: tuple[dict[str, Any], ...] = ()
    use_prompt_cache: bool = Field(True, description="False: ask the server to process it all.")
    force_length: bool = Field(False, description="Generate max_tokens, ignoring the end token.")
    wall_limit_s: Seconds = Field(600.0, description="The stream is cut when this has passed.")


class TokenCounts(Record):
    """Tokens of one exchange, or summed over the exchanges of one trial. None is unknown."""

    prompt: Count | None = Field(None, description="Prompt tokens, cached ones included.")
    cached: Count | None = Field(None, description="Prompt tokens answered from the prompt cache.")
    completion: Count | None = Field(None, description="Generated tokens, thinking included.")
    reasoning: Count | None = Field(None, description="Generated tokens inside the thinking.")
    basis: Basis | None = Field(None, description="Where the counts come from.")


class EngineTimings(Record):
    """The engine's own clock: llama.cpp `timings`, Ollama's nanosecond durations."""

    prompt_tokens: Count | None = Field(None, description="Uncached prompt tokens processed.")
    prompt_s: Seconds | None = Field(None, description="Time on those prompt tokens.")
    generated_tokens: Count | None = Field(
        None, description="Tokens generated, end token included."
    )
    generation_s: Seconds | None = Field(None, description="First to last token.")
    load_s: Seconds | None = Field(None, description="Time loading the model for this request.")


class ArrivalGaps(Record):
    """Pauses between arrivals of a stream, from its first token on: what a reader sees of it."""

    p50_s: Seconds = Field(description="Half of the pauses are at most this long.")
    p95_s: Seconds = Field(description="95 of 100 pauses are at most this long.")
    p99_s: Seconds = Field(description="99 of 100 pauses are at most this long.")


class StreamFacts(Record):
    """What the client saw of a stream: needed to judge whether its speed may be rated."""

    events: Count = Field(description="Events that carried text, thinking or a tool call.")
    distinct_arrivals: Count = Field(description="Distinct arrival times among those events.")
    first_event_tokens: Count = Field(
        1,
        description="Tokens that came with the first such event; by its share of the text where "
        "the engine does not say.",
    )
    gaps: ArrivalGaps | None = Field(
        None, description="Pauses between distinct arrivals; null below three arrivals."
    )


class ChatReply(Record):
    """The whole answer to one ChatRequest. Time marks are seconds after the request was sent."""

    text: str = Field(description="The answer without separately delivered thinking.")
    thinking: str = Field("", description="Thinking that the server delivered apart.")
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: FinishReason
    model_id: str | None = Field(None, description="The model that the server says answered.")
    latency_s: Seconds = Field(description="Sent until the stream ended.")
    t_first_byte_s: Seconds | None = None
    t_first_thinking_s: Seconds | None = None
    t_first_answer_s: Seconds | None = None
    t_last_s: Seconds | None = None
    tokens: TokenCounts = TokenCounts()
    engine_timings: EngineTimings | None = None
    stream: StreamFacts | None = None
