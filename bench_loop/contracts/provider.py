"""A provider: the transport to a model server. One file in `bench_loop/providers/` each.

The file `<name>.py` defines `connect(endpoint: str | None, api_key: str | None) -> Provider`; those
that speak to a running server take a third argument, how many seconds all their questions together
may take.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from pydantic import Field

from bench_loop.contracts.chat import ChatReply, ChatRequest
from bench_loop.contracts.record import Count, Record

Watch = Callable[[str], None]
"""Called with each piece of text as it arrives, for a live display. Must return at once."""


class ServerFacts(Record):
    """What a model server says of itself. None is unknown."""

    provider: str = Field(description="Name of the provider that speaks to it.")
    engine: str = Field(description="Engine family: ollama, llama.cpp, vllm, ..., or unknown.")
    version: str | None = Field(None, description="The engine's version or build.")
    endpoint: str = Field(description="Base URL without credentials.")
    is_local: bool = Field(description="Whether the endpoint is a loopback address.")
    parallel_slots: Count | None = None
    flash_attention: bool | None = None
    kv_cache_type: str | None = None
    speculative: str | None = None
    offloaded_layers: Count | None = Field(
        None, description="Layers on the GPU, as asked for at its start: more than it has are all."
    )
    untold: str | None = Field(None, description="Which of these are unknown, and why.")
    launch_args: tuple[str, ...] | None = Field(None, description="Known for our own child only.")
    threads: Count | None = None
    load_s: float | None = Field(None, description="Start to ready, for our own child only.")


class ModelFacts(Record):
    """What a model server says of one of its models. None is unknown."""

    model_id: str
    family: str | None = None
    parameters: Count | None = Field(None, description="Total number of weights.")
    parameter_size: str | None = Field(None, description="The server's own words, like 7.6B.")
    quantization: str | None = None
    size_bytes: Count | None = None
    file_name: str | None = Field(None, description="Base name of the weights file, never a path.")
    weights_digest: str | None = Field(None, description="sha256:... of the weights, if offered.")
    chat_template_hash: str | None = Field(None, description="sha256:... of the chat template.")
    context_declared: Count | None = Field(None, description="Window the model was trained for.")
    context_loaded: Count | None = Field(None, description="Window now loaded, read back.")
    kv_values: Count | None = Field(
        None, description="Keys and values that a token adds to the KV cache, over all layers."
    )
    offloaded_share: float | None = Field(
        None, ge=0, le=1, description="Part of its memory that lies on the GPU, read back."
    )
    capabilities: tuple[str, ...] | None = Field(
        None, description="completion, tools, thinking, ..."
    )
    is_remote: bool = Field(False, description="The local server only forwards it to a cloud.")


class Provider(Protocol):
    """Transport to one model server; its HTTP client is built before any clock starts."""

    name: str

    def server(self) -> ServerFacts:
        """Raises ProviderError with a remedy: server down, loading, or no model server."""

    def models(self) -> tuple[ModelFacts, ...]:
        """All models that the server lists."""

    def model(self, model_id: str) -> ModelFacts:
        """Raises ModelNotFoundError when it is missing, embedding-only or forwarded to a cloud."""

    def chat(self, request: ChatRequest, watch: Watch | None = None) -> ChatReply:
        """One try, streamed. Raises ProviderError; EngineRejectedError for this request."""

    def count_tokens(self, model_id: str, text: str) -> int | None:
        """Tokens of `text` by the server's tokenizer, special ones left out; None: none."""

    def unload(self, model_id: str) -> bool:
        """Put the model out of memory; False where the server cannot. The next chat loads it."""

    def close(self) -> None:
        """Give back everything, a child process included. May be called twice."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server answers `/v1/chat/completions`, for a program that speaks to it itself."""

    root: str
    """The URL without `/v1`."""
    api_key: str | None = field(repr=False)
    is_ollama: bool = False
    """Whether it has Ollama's own routes beside."""

    @property
    def headers(self) -> dict[str, str]:
        """What it wants to be sent beside a request."""
        return {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}


@runtime_checkable
class Addressed(Protocol):
    """What a provider has beside that, where its server can be spoken to by others."""

    def address(self) -> Address:
        """That of its server."""

    def pinned_fields(self, request: ChatRequest) -> dict[str, str | float | bool | None]:
        """What of `request` is the benchmark's to say in anybody's request of a chat completion,
        in the server's own words: sampling, seed, the switch for thinking.

        A dot leads into an object (`chat_template_kwargs.enable_thinking`).
        """


@runtime_checkable
class OwnServer(Protocol):
    """What a provider has beside that, where its server is a child of this process."""

    @property
    def server_pid(self) -> int:
        """The process of the server."""


@runtime_checkable
class Freeing(Protocol):
    """What a provider has beside that, where its server can be asked to give memory back."""

    def free(self, model_id: str) -> bool | None:
        """Put the model out of memory for good, and read back whether it is gone.

        None: the server has no way to be asked. Nothing is asked of the model afterwards: not every
        server loads it again with the settings that it had. Raises ProviderError.
        """


class FileTemplate(Record):
    """The chat template inside a weights file."""

    hash: str | None = Field(description="sha256:... of it; null: the file has none.")


@runtime_checkable
class OwnFile(Protocol):
    """What a provider has beside that, where its server says which file it serves."""

    def file_template(self) -> FileTemplate | None:
        """None where the file cannot be read from here."""


class Foresight(Protocol):
    """What a provider has beside that, where its server tells the probabilities of tokens."""

    def tokens(self, text: str) -> tuple[int, ...]:
        """Ids of the tokens of `text`. Raises ProviderError where the server has no tokenizer."""

    def foresee(
        self, tokens: Sequence[int], first: int, most_likely: int
    ) -> Iterator[dict[int, float]]:
        """What may come after each beginning of `tokens`, from its first `first` tokens on.

        Natural log probabilities of up to so many of the most likely tokens, by token id. Raises
        ProviderError where the server does not tell them.
        """
