"""Three short prompts that show whether a model's chat template works."""

from __future__ import annotations

import re
import time

from bench_loop.contracts.chat import ChatReply, ChatRequest, Message
from bench_loop.contracts.provider import ModelFacts, OwnFile, Provider
from bench_loop.doctor.finding import Finding, Severity
from bench_loop.errors import ProviderError

PROMPTS = (
    "Say hello in one short sentence.",
    "What is 2 + 2? Answer with the number only.",
    "Name one colour.",
)
MOST_TOKENS = 128
WALL_LIMIT_S = 60.0
"""Seconds for all of the prompts together."""

_LEAK = re.compile(
    r"<\|[a-z_]{2,24}\|>|</?s>|\[/?INST\]|<(?:start|end)_of_turn>|<</?SYS>>"
    r"|^\s*(?:###\s*(?:Instruction|Response)|User|Human)\s*:",
    re.I | re.M,
)
"""What belongs to a template, or to the other side of the talk, and never into an answer."""


def chat_test(provider: Provider, model: ModelFacts, window: int) -> tuple[Finding, ...]:
    """Ask the prompts and judge the answers by their form, so that a weak model passes too."""
    title = "three prompts"

    def finding(
        code: str, severity: Severity, evidence: str, remedy: str | None = None
    ) -> tuple[Finding, ...]:
        return (Finding(code, "model", severity, title, evidence, remedy, model.model_id),)

    try:
        replies = _replies(provider, model, window)
    except ProviderError as error:
        return finding("chat_failed", "error", error.message.rstrip("."), error.remedy)
    if len(replies) < len(PROMPTS):
        evidence = f"{len(replies)} of {len(PROMPTS)} were answered in {WALL_LIMIT_S:.0f} s"
        return finding("chat_slow", "warning", evidence, "See what else uses the model's server")
    for reply in replies:
        if leak := _LEAK.search(reply.text):
            evidence = f"a piece of the template stands in an answer: {leak[0].strip()}"
            return finding("template_leaks", "error", evidence, MEND_TEMPLATE)
    silent = sum(not reply.text.strip() and not reply.thinking for reply in replies)
    if silent > 1:
        evidence = f"{silent} of {len(replies)} answers are empty"
        return finding("answers_empty", "error", evidence, MEND_TEMPLATE)
    endless = sum(map(_never_stopped, replies))
    if endless > 1:
        evidence = f"{endless} of {len(replies)} answers do not end within {MOST_TOKENS} tokens"
        return finding("answers_endless", "warning", evidence, MEND_TEMPLATE)
    return finding("chat_ok", "ok", "the answers begin and end as they should")


MEND_TEMPLATE = (
    "Use the model's own template (llama-server --jinja; ollama pull the model again), "
    "or an instruct model"
)


def template_of_file(provider: Provider, model: ModelFacts) -> tuple[Finding, ...]:
    """The server's template against the one in the weights file, where that can be read."""
    template = provider.file_template() if isinstance(provider, OwnFile) else None
    if template is None or model.chat_template_hash is None:
        return ()

    def finding(
        code: str, severity: Severity, evidence: str, remedy: str | None = None
    ) -> tuple[Finding, ...]:
        subject = model.model_id
        return (Finding(code, "model", severity, "own template", evidence, remedy, subject),)

    if template.hash is None:
        evidence = "the weights file has no chat template: it may be a base model"
        return finding("file_without_template", "warning", evidence, "Take an instruct model")
    if template.hash != model.chat_template_hash:
        evidence = "the server uses another template than the weights file has"
        remedy = "Start llama-server without --chat-template and --chat-template-file"
        return finding("template_differs", "warning", evidence, remedy)
    return finding("file_template_ok", "ok", "the server uses the one in the weights file")


def _replies(provider: Provider, model: ModelFacts, window: int) -> list[ChatReply]:
    """The answers that came within the limit for all, the one that it cut included."""
    give_up = time.monotonic() + WALL_LIMIT_S
    replies: list[ChatReply] = []
    for prompt in PROMPTS:
        limit_s = give_up - time.monotonic()
        if limit_s <= 0:
            break
        reply = provider.chat(_request(model, prompt, window, limit_s))
        if reply.finish_reason == "limit" and not reply.text and not reply.thinking:
            break
        replies.append(reply)
    return replies


def _request(model: ModelFacts, prompt: str, window: int, limit_s: float) -> ChatRequest:
    return ChatRequest(
        model_id=model.model_id,
        messages=(Message(role="user", content=prompt),),
        max_tokens=MOST_TOKENS,
        context_window=window,
        thinking=False if "thinking" in (model.capabilities or ()) else None,
        wall_limit_s=limit_s,
    )


def _never_stopped(reply: ChatReply) -> bool:
    """Cut by its budget in the answer itself; a thinking model may need more before it answers."""
    return reply.finish_reason in ("length", "limit") and not reply.thinking
