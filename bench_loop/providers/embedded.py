"""The embedded engine: llama.cpp's own server as a child process that is always stopped."""

from __future__ import annotations

import atexit
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO

import psutil

from bench_loop.contracts.chat import ChatReply, ChatRequest
from bench_loop.contracts.provider import (
    Address,
    FileTemplate,
    ModelFacts,
    Provider,
    ServerFacts,
    Watch,
)
from bench_loop.errors import SetupError
from bench_loop.providers import _launch, _weights
from bench_loop.providers._gguf import shape
from bench_loop.providers._kv_cache import cached_values
from bench_loop.providers._text import as_count, shown
from bench_loop.providers.openai_compat import OpenAICompat

DEFAULT_MODEL = "smollm2-135m"
DEFAULT_WINDOW = 8192
MODEL_NAMES = tuple(_weights.PINNED)
"""The models with a short name; any other model is the path of a GGUF file."""

SERVER_SCRIPT = "_llama_server.py"
NOT_TOLD = ("model", "chat_template")
"""Settings that stand in a result in another form: a file's name, and hashes."""

START_LIMIT_S = 600.0
STOP_LIMIT_S = 5.0


def connect(endpoint: str | None, api_key: str | None) -> Provider:
    """`start` with the usual window: this engine has no address, so `endpoint` is the model."""
    return start(endpoint or DEFAULT_MODEL, DEFAULT_WINDOW)


def start(
    model: str,
    context_window: int,
    threads: int | None = None,
    on_progress: Callable[[str], None] | None = None,
    *,
    slots: int = 1,
    chat_template: str | None = None,
    yarn_factor: int = 1,
) -> Provider:
    """Run `model`, a short name or the path of a GGUF file, and wait until it is loaded.

    Weights with a short name are fetched at first use. `threads` None takes every physical core
    that this process may use. Each of `slots` requests at once has a whole `context_window` of its
    own, or the window that the model is made for where that is smaller. `chat_template`, in Jinja,
    takes the place of the model's. `yarn_factor` stretches the window that the model is made for so
    many times, by YaRN. Raises UsageError for an unknown name, SetupError with a remedy when the
    engine, the weights or the memory for them is missing.
    """
    if importlib.util.find_spec("xllamacpp") is None:
        raise SetupError(
            "The embedded engine is not installed.",
            remedy="Install it with: pip install 'bench-loop[local-model]'",
        )
    say = on_progress or _say_nothing
    weights = _weights.find(model, say)
    say(f"Loading {weights.name}")
    trained = _trained_window(weights.path)
    settings: dict[str, str | int] = {
        "model": str(weights.path),
        "alias": weights.name,
        "n_ctx": min(context_window, trained * yarn_factor if trained else context_window),
        "n_parallel": slots,
        "n_threads": threads or usable_cores(),
    }
    if chat_template is not None:
        settings["chat_template"] = chat_template
    if yarn_factor > 1:
        settings["yarn_factor"] = yarn_factor
    return Embedded(_Child(settings), weights)


def weights_facts(model: str) -> ModelFacts:
    """Size and shape of the weights that `start` would load, as far as they are there."""
    pinned = _weights.PINNED.get(model)
    path = _weights.models_folder() / pinned.file_name if pinned else Path(model).expanduser()
    size = path.stat().st_size if path.is_file() else None
    try:
        header = shape(path)
    except (OSError, ValueError):
        header = {}
    return ModelFacts(
        model_id=model,
        size_bytes=pinned.size_bytes if pinned else size,
        kv_values=cached_values(header),
    )


def _trained_window(path: Path) -> int | None:
    """Tokens that the model is made for; None where the file does not tell."""
    try:
        header = shape(path)
    except (OSError, ValueError):
        return None
    return as_count(header.get(f"{header.get('general.architecture')}.context_length")) or None


def is_any_running() -> bool:
    """Whether a server that this process started still runs."""
    script = Path(__file__).with_name(SERVER_SCRIPT)
    try:
        return any(str(script) in child.cmdline() for child in psutil.Process().children())
    except psutil.Error:
        return False  # it ended while it was asked


def usable_cores() -> int:
    """Physical cores, but not more than the CPUs that this process may run on."""
    physical = psutil.cpu_count(logical=False) or 1
    if not hasattr(os, "sched_getaffinity"):
        return physical
    return max(1, min(physical, len(os.sched_getaffinity(0))))


class Embedded:
    """The child process and the provider that speaks to it."""

    name = "embedded"

    def __init__(self, child: _Child, weights: _weights.Weights) -> None:
        self._child = child
        self._weights = weights
        self._server = OpenAICompat(child.address, None, title="The embedded llama.cpp server")

    @property
    def server_pid(self) -> int:
        return self._child.pid

    def address(self) -> Address:
        return self._server.address()

    def pinned_fields(self, request: ChatRequest) -> dict[str, str | float | bool | None]:
        return self._server.pinned_fields(request)

    def server(self) -> ServerFacts:
        facts = self._server.server().model_copy(
            update={
                "provider": self.name,
                "version": f"xllamacpp {self._child.version}",
                "flash_attention": True,
                "kv_cache_type": "f16",
                "offloaded_layers": None if self._child.has_gpu else 0,
                "launch_args": self._child.launch_args,
                "threads": self._child.threads,
                "load_s": self._child.load_s,
            }
        )
        return _launch.told(facts, "The engine decides by the memory of the GPU.")

    def models(self) -> tuple[ModelFacts, ...]:
        return tuple(self._own(facts) for facts in self._server.models())

    def model(self, model_id: str) -> ModelFacts:
        """The one model, by its short name or by the path that it was started with."""
        return self._own(self._server.model(model_id))

    def chat(self, request: ChatRequest, watch: Watch | None = None) -> ChatReply:
        return self._server.chat(request, watch)

    def count_tokens(self, model_id: str, text: str) -> int | None:
        return self._server.count_tokens(model_id, text)

    def tokens(self, text: str) -> tuple[int, ...]:
        return self._server.tokens(text)

    def foresee(
        self, tokens: Sequence[int], first: int, most_likely: int
    ) -> Iterator[dict[int, float]]:
        return self._server.foresee(tokens, first, most_likely)

    def unload(self, model_id: str) -> bool:
        return False

    def file_template(self) -> FileTemplate | None:
        return self._server.file_template()

    def close(self) -> None:
        self._server.close()
        self._child.stop()

    def _own(self, facts: ModelFacts) -> ModelFacts:
        return facts.model_copy(update={"weights_digest": f"sha256:{self._weights.sha256}"})


class _Child:
    """The server process: started, ready, and stopped for certain."""

    def __init__(self, settings: dict[str, str | int]) -> None:
        began = time.perf_counter()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the child
        script = Path(__file__).with_name(SERVER_SCRIPT)
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(script), json.dumps(settings)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=os.environ | {"OMP_WAIT_POLICY": "PASSIVE"},
            start_new_session=True,
        )
        atexit.register(self.stop)
        try:
            ready = self._wait_until_ready()
        except BaseException:
            self.stop()
            raise
        self.load_s = time.perf_counter() - began
        self.address = str(ready["address"])
        self.version = str(ready["version"])
        self.has_gpu = bool(ready["has_gpu"])
        self.threads = int(settings["n_threads"])
        self.launch_args = tuple(f"{k}={v}" for k, v in settings.items() if k not in NOT_TOLD)

    @property
    def pid(self) -> int:
        return self._process.pid

    def stop(self) -> None:
        """End the process if it runs: first by closing its input, then by force."""
        atexit.unregister(self.stop)
        process = self._process
        for end in (_close_input, subprocess.Popen.terminate, subprocess.Popen.kill):
            if process.poll() is not None:
                break
            end(process)
            try:
                process.wait(STOP_LIMIT_S)
            except subprocess.TimeoutExpired:
                continue
        _close_input(process)
        if process.stdout is not None:
            process.stdout.close()
        self._log.close()

    def _wait_until_ready(self) -> dict[str, object]:
        """The one line that the child prints when the model is loaded. Raises SetupError."""
        timer = threading.Timer(START_LIMIT_S, self._process.kill)
        timer.start()
        try:
            line = _output(self._process).readline()
        finally:
            timer.cancel()
        try:
            ready = json.loads(line)
        except ValueError:
            raise self._start_failed() from None
        assert isinstance(ready, dict)
        return ready

    def _start_failed(self) -> SetupError:
        self._process.wait(STOP_LIMIT_S)
        self._log.seek(0)
        words = self._log.read()[-2000:].decode("utf-8", "replace").strip().splitlines()
        why = shown(words[-1]) if words else f"it ended with status {self._process.returncode}"
        if "libgomp" in why:
            return SetupError(
                f"The embedded engine lacks a library of the system: {why}",
                remedy="Install the GNU OpenMP library (Debian, Ubuntu: apt install libgomp1).",
            )
        return SetupError(
            f"The embedded engine could not load the model: {why}",
            remedy="Take a smaller model or window, free memory, or check the GGUF file.",
        )


def _output(process: subprocess.Popen[bytes]) -> IO[bytes]:
    assert process.stdout is not None
    return process.stdout


def _close_input(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        process.stdin.close()


def _say_nothing(_: str) -> None:
    """Progress that nobody watches."""
