"""A real llama.cpp server for tests, with the smallest real model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.components import need_llama_cpp

THINKING_TEMPLATE = """\
{%- for message in messages -%}
<|im_start|>{{ message.role }}
{% if message.reasoning_content %}<think>
{{ message.reasoning_content }}
</think>

{% endif %}{{ message.content }}<|im_end|>
{% endfor -%}
{%- if add_generation_prompt -%}
<|im_start|>assistant
{% if enable_thinking is defined and not enable_thinking %}<think>

</think>

{% else %}<think>
{% endif %}
{%- endif -%}"""
"""A chat template with a thinking phase that can be switched off, as those of Qwen3 have.

llama.cpp learns the tags from how it renders the thinking of an earlier turn.
"""


@dataclass(frozen=True)
class LlamaCpp:
    """Where the server listens, and the name of its one model."""

    url: str
    model_id: str


@contextmanager
def llama_cpp(chat_template: str | None = None, window: int = 8192) -> Iterator[LlamaCpp]:
    """A running server with SmolLM2-135M."""
    weights = need_llama_cpp()
    from bench_loop.providers import embedded

    server = embedded.start(str(weights), window, chat_template=chat_template)
    try:
        yield LlamaCpp(server.server().endpoint, server.models()[0].model_id)
    finally:
        server.close()
