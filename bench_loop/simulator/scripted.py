"""A scripted model inside this process: its address, and its log of every request."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from bench_loop.simulator.server import Server
from bench_loop.simulator.settings import Call, Dialect, Program, Settings, Turn

MODEL = "scripted"

POLL_S = 0.05
"""How long it may take to notice that the server is to end."""

LOG_LIMIT_S = 1.0


@dataclass(frozen=True, slots=True)
class Logged:
    """One request as the server saw it. None and empty: it was no chat, or not answered."""

    method: str
    path: str
    body_bytes: int
    received_s: float
    """On the monotonic clock."""
    status: int | None
    """None: it was not answered yet."""
    ended: str | None
    """`done`, `client gone`, `broken`, `error`; None: it is still being answered."""
    model: str | None = None
    messages: int | None = None
    tools: tuple[str, ...] = ()
    """Names of the tools that were offered."""
    turn: int | None = None
    """Of the script, from 0; None: a request beside the conversation."""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    text: str = ""
    calls: tuple[Call, ...] = ()


class ScriptedModel:
    """A running server with one scripted model."""

    def __init__(self, server: Server, model_id: str) -> None:
        self._server = server
        self.address = server.address
        """`http://127.0.0.1:<port>`, without `/v1`."""
        self.model_id = model_id

    def requests(self) -> tuple[Logged, ...]:
        """All requests so far, as they came; those that just end are waited for a second."""
        give_up_s = time.monotonic() + LOG_LIMIT_S
        entries = self._server.entries
        while any(one["ended"] is None for one in entries) and time.monotonic() < give_up_s:
            time.sleep(0.005)
        return tuple(_logged(entry) for entry in list(entries))

    def chats(self) -> tuple[Logged, ...]:
        """Of all requests those that were chats, whatever came of them."""
        return tuple(one for one in self.requests() if one.messages is not None)


@contextmanager
def scripted_model(
    script: Sequence[Turn],
    program: Program | None = None,
    *,
    model_id: str = MODEL,
    dialect: Dialect = "openai",
) -> Iterator[ScriptedModel]:
    """Serve a model that follows `script` until the block ends; `program` says how fast, or how
    badly, it does so.
    """
    base = program or Program(window=131_072, tokens_per_chunk=8)
    form = "whole" if dialect == "ollama" else base.call_form
    scripted = replace(base, script=tuple(script), call_form=form)
    server = Server(Settings(dialect, {model_id: scripted}))
    thread = threading.Thread(target=server.serve_forever, args=(POLL_S,), daemon=True)
    thread.start()
    try:
        yield ScriptedModel(server, model_id)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _logged(entry: dict[str, Any]) -> Logged:
    known = {name: entry[name] for name in Logged.__slots__ if name in entry}
    calls = tuple(Call(name, arguments) for name, arguments in entry.get("calls", ()))
    return Logged(**known | {"tools": tuple(entry.get("tools", ())), "calls": calls})
