"""How a llama.cpp or Ollama server on this machine was started, where it does not tell it itself.

Its process is found by the port that it listens on. Of its command line and its environment only
the settings in the tables below are read: paths, keys and everything else stay where they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

import psutil

from bench_loop.contracts.provider import ServerFacts
from bench_loop.machine.listener import pids_at

FLAGS: Mapping[str, str] = {
    "-ngl": "layers",
    "--gpu-layers": "layers",
    "--n-gpu-layers": "layers",
    "-fa": "flash",
    "--flash-attn": "flash",
    "-ctk": "kv_k",
    "--cache-type-k": "kv_k",
    "-ctv": "kv_v",
    "--cache-type-v": "kv_v",
    "--kv-cache-type": "kv",
    "-np": "slots",
    "--parallel": "slots",
    "-t": "threads",
    "--threads": "threads",
    "--spec-type": "speculative",
    "-md": "draft",
    "--model-draft": "draft",
    "--spec-draft-model": "draft",
}
"""Options of `llama-server`, and of Ollama's `runner`, by what they set."""
VARIABLES: Mapping[str, str] = {
    "LLAMA_ARG_N_GPU_LAYERS": "layers",
    "LLAMA_ARG_FLASH_ATTN": "flash",
    "LLAMA_ARG_CACHE_TYPE_K": "kv_k",
    "LLAMA_ARG_CACHE_TYPE_V": "kv_v",
    "LLAMA_ARG_N_PARALLEL": "slots",
    "LLAMA_ARG_THREADS": "threads",
    "OLLAMA_FLASH_ATTENTION": "flash",
    "OLLAMA_KV_CACHE_TYPE": "kv",
    "OLLAMA_NUM_PARALLEL": "slots",
}
"""The same by environment variables; an option on the command line goes before."""

_SERVERS = re.compile(r"^(llama-server|llamafile|server|ollama)(\.exe)?$", re.IGNORECASE)
_ON, _OFF = ("on", "1", "true", "enabled", ""), ("off", "0", "false", "disabled")
_WORD = re.compile(r"[A-Za-z0-9_.,+-]{1,40}", re.ASCII)

LABELS: Mapping[str, str] = {
    "parallel_slots": "parallel slots",
    "flash_attention": "flash attention",
    "kv_cache_type": "KV cache type",
    "speculative": "speculative decoding",
    "offloaded_layers": "layers on the GPU",
}
"""What a result wants to know of a server, in words."""


@dataclass(frozen=True, slots=True)
class Launch:
    """What was found of a server's process; `why_not` says what stood in the way."""

    settings: Mapping[str, str]
    why_not: str | None = None


def completed(facts: ServerFacts, port: int | None) -> ServerFacts:
    """`facts` with what the server's own process shows, and the reason for what stays unknown."""
    launch = find_launch(port) if facts.is_local else Launch({}, "It runs on another machine.")
    known = {
        name: value
        for name, value in launch_facts(launch.settings).items()
        if value is not None and getattr(facts, name) is None
    }
    return told(facts.model_copy(update=known), launch.why_not)


def told(facts: ServerFacts, why_not: str | None = None) -> ServerFacts:
    """`facts` with a sentence that names what is not known of them."""
    missing = [label for name, label in LABELS.items() if getattr(facts, name) is None]
    if not missing:
        return facts.model_copy(update={"untold": None})
    why = why_not or "Its command line does not say."
    return facts.model_copy(update={"untold": f"Not told: {', '.join(missing)}. {why}"})


def launch_facts(settings: Mapping[str, str]) -> dict[str, int | bool | str | None]:
    """Settings as fields of ServerFacts; None where they leave it to the engine."""
    keys, values = settings.get("kv_k"), settings.get("kv_v")
    kv = settings.get("kv") or (keys if keys == values else None)
    if kv is None and (keys or values):
        kv = f"K {keys or 'f16'}, V {values or 'f16'}"
    method = settings.get("speculative") or ("draft" if "draft" in settings else None)
    return {
        "parallel_slots": _number(settings.get("slots")),
        "flash_attention": _switch(settings.get("flash")),
        "kv_cache_type": kv,
        "speculative": method,
        "offloaded_layers": _number(settings.get("layers")),
        "threads": _number(settings.get("threads")),
    }


def settings_of(arguments: Sequence[str], environment: Mapping[str, str]) -> dict[str, str]:
    """The settings of FLAGS and VARIABLES, and of those only; a draft model without its path."""
    found = {
        name: environment[variable].strip().lower()
        for variable, name in VARIABLES.items()
        if _WORD.fullmatch(environment.get(variable, "").strip())
    }
    for place, argument in enumerate(arguments):
        flag, has_value, value = argument.partition("=")
        name = FLAGS.get(flag)
        if name is None:
            continue
        following = arguments[place + 1] if place + 1 < len(arguments) else ""
        text = value if has_value else "" if following.startswith("-") else following
        if name == "draft":
            found[name] = "draft"
        elif _WORD.fullmatch(text) or name == "flash":
            found[name] = text.lower() if _WORD.fullmatch(text) else ""
    return found


def find_launch(port: int | None) -> Launch:
    """How the server that listens on `port` of this machine was started."""
    try:
        pid = next(filter(None, pids_at(port)), None) if port is not None else None
        if pid is None:
            return Launch({}, "Its process was not found, or belongs to another user.")
        server = psutil.Process(pid)
        if not is_server(server.cmdline()):
            return Launch({}, "The process on its port is no server whose options are known.")
        settings = settings_of(server.cmdline(), server.environ())
        engines = [child for child in server.children(recursive=True) if is_server(child.cmdline())]
        if len(engines) == 1:
            settings |= settings_of(engines[0].cmdline(), {})
        return Launch(settings)
    except (psutil.Error, OSError):
        return Launch({}, "Its process may not be read.")


def is_server(arguments: Sequence[str]) -> bool:
    """Whether a command line begins with a server of llama.cpp or Ollama."""
    return any(_SERVERS.match(PurePath(argument).name) for argument in arguments[:2])


def _number(text: str | None) -> int | None:
    """Of `auto`, `all` and the like None: the engine decides."""
    return int(text) if text is not None and text.isascii() and text.isdigit() else None


def _switch(text: str | None) -> bool | None:
    if text in _ON:
        return True
    return False if text in _OFF else None
