"""A model server inside the test: small, and scripted answer by answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from bench_loop.contracts.chat import (
    ChatReply,
    ChatRequest,
    EngineTimings,
    StreamFacts,
    TokenCounts,
)
from bench_loop.contracts.provider import ModelFacts, ServerFacts, Watch
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.errors import ProviderError

Answer = ChatReply | ProviderError
PROMPT_TOKENS = 120
CONTROL_PROMPT = "Say hello."


def reply(text: str = "ANSWER: 4", **fields: object) -> ChatReply:
    """A plausible reply of a llama.cpp server, at 50 generated and 400 prompt tokens a second."""
    values: dict[str, object] = {
        "text": text,
        "finish_reason": "stop",
        "latency_s": 2.6,
        "t_first_byte_s": 0.3,
        "t_first_answer_s": 0.3,
        "t_last_s": 2.6,
        "tokens": TokenCounts(
            prompt=PROMPT_TOKENS, cached=0, completion=116, reasoning=0, basis="engine_timings"
        ),
        "engine_timings": EngineTimings(
            prompt_tokens=PROMPT_TOKENS, prompt_s=0.3, generated_tokens=116, generation_s=2.3
        ),
        "stream": StreamFacts(events=116, distinct_arrivals=116),
    }
    return ChatReply.model_validate(values | fields)


class ScriptedProvider:
    """Answers from a list, then with `default`; control prompts are answered by `control`."""

    name = "scripted"

    def __init__(
        self,
        answers: Iterable[Answer] = (),
        *,
        control: Answer | None = None,
        default: Callable[[ChatRequest], Answer] | None = None,
    ) -> None:
        self._answers = iter(answers)
        self._control: Answer = control or reply("hello")
        self._default = default or (lambda request: reply())
        self.requests: list[ChatRequest] = []
        self.controls = 0
        self.slots = 1

    def server(self) -> ServerFacts:
        return ServerFacts(
            provider=self.name,
            engine="scripted",
            version="1",
            endpoint="http://127.0.0.1:1",
            is_local=True,
            parallel_slots=self.slots,
        )

    def models(self) -> tuple[ModelFacts, ...]:
        return (self.model("tiny"),)

    def model(self, model_id: str) -> ModelFacts:
        return ModelFacts(model_id=model_id, context_declared=2048, context_loaded=2048)

    def chat(self, request: ChatRequest, watch: Watch | None = None) -> ChatReply:
        if request.messages[-1].content == CONTROL_PROMPT:
            self.controls += 1
            return _given(self._control)
        self.requests.append(request)
        answer = next(self._answers, None)
        return _given(_whole(self._default(request), request) if answer is None else answer)

    def count_tokens(self, model_id: str, text: str) -> int | None:
        return len(text.split())

    def unload(self, model_id: str) -> bool:
        return False

    def close(self) -> None:
        pass


def _whole(answer: Answer, request: ChatRequest) -> Answer:
    """The answer of a server that read the whole prompt, one word a token.

    Only the prompt of `reply` itself is corrected; a test's own counts stand.
    """
    if isinstance(answer, ProviderError) or answer.tokens.prompt != PROMPT_TOKENS:
        return answer
    words = sum(len(message.content.split()) for message in request.messages)
    tokens = answer.tokens.model_copy(update={"prompt": words})
    return answer.model_copy(update={"tokens": tokens})


def _given(answer: Answer) -> ChatReply:
    if isinstance(answer, ProviderError):
        raise answer
    return answer


def outage(status: int | None = 503, retry_after_s: float | None = None) -> ProviderError:
    """The server cannot answer just now."""
    return ProviderError(
        "Server busy.", status=status, is_transient=True, retry_after_s=retry_after_s
    )


def make_task(**fields: object) -> BenchmarkTask:
    """A task of the suite `reasonmath` that expects the number 4."""
    values: dict[str, object] = {
        "suite": "reasonmath",
        "id": "reasonmath.two-and-two",
        "title": "Two and two",
        "difficulty": "easy",
        "capability_tags": ("arithmetic",),
        "verifier_type": "tolerance",
        "notes": "None.",
        "messages": ({"role": "user", "content": "2 + 2? End with ANSWER: <number>"},),
        "expected": {"value": 4, "tolerance": 0},
        "reference": "ANSWER: 4",
    }
    return BenchmarkTask.model_validate(values | fields)
