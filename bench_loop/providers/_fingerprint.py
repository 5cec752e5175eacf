"""Which engine answers, by its own words and never by its port; without any I/O.

What each engine says, by its source or documentation (2026):

    llama.cpp    /props has default_generation_settings and build_info; models owned by llamacpp
    Ollama       /api/version has a version and nothing else; models owned by library
    llama-swap   models owned by llama-swap; its /api/version has commit and build_date as well
    LM Studio    /api/v1/models lists key and loaded_instances (from 0.4), /api/v0/models state and
                 max_context_length (from 0.3.6); every unknown path is 200 with an error
    vLLM, SGLang models owned by vllm or sglang; /version has the version
    Jan          /openapi.json is titled Jan API Server, with or without a key
    mlx_lm       Python's own web server, models without owner, /health says ok

Anything may answer on a port, so whatever is not one of these is `unknown`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bench_loop.providers._text import as_dict, as_dicts, as_label, as_text, parse_json

LISTING = "/v1/models"
PROPS = "/props"
API_VERSION = "/api/version"
VERSION = "/version"
OPENAPI = "/openapi.json"
HEALTH = "/health"
LMSTUDIO_LISTINGS = ("/api/v1/models", "/api/v0/models")
PATHS = (PROPS, API_VERSION, VERSION, *LMSTUDIO_LISTINGS, OPENAPI, HEALTH)
"""Everything that can tell engines apart, beside the list of models."""

_PATHS_OF_OWNER = {
    "llamacpp": (PROPS,),
    "library": (API_VERSION,),
    "llama-swap": (API_VERSION,),
    "vllm": (VERSION,),
    "sglang": (VERSION,),
    "organization_owner": LMSTUDIO_LISTINGS,
    None: (HEALTH, PROPS, OPENAPI),
}
"""What to ask a server whose models have this owner; the owner is a hint and no proof."""

UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Said:
    """A server's answer to one GET."""

    status: int
    body: bytes
    software: str = ""
    """The `Server` header."""

    def json(self) -> dict[str, Any]:
        """The JSON object of a 200 answer; empty for everything else."""
        return as_dict(self.value()) if self.status == 200 else {}

    def value(self) -> Any:
        """The JSON value of the body, whatever the status; None when it is none."""
        try:
            return parse_json(self.body)
        except ValueError:
            return None


NOTHING = Said(0, b"")
"""No answer, or none in time."""


@dataclass(frozen=True, slots=True)
class Identity:
    """The engine behind an OpenAI-compatible route; version None where it tells none."""

    engine: str
    version: str | None = None


def questions(listing: dict[str, Any]) -> tuple[str, ...]:
    """The paths that tell which engine listed these models: few where the owner is a known one.

    Some engines log every path that they do not know as an error, so not all are asked of all.
    """
    owners = _owners(listing)
    if len(owners) == 1 and owners <= _PATHS_OF_OWNER.keys():
        return _PATHS_OF_OWNER[owners.pop()]
    return PATHS


def identify(listing: dict[str, Any], answers: Mapping[str, Said]) -> Identity:
    """The engine by its list of models and its answers to `questions`."""
    owners = _owners(listing)
    props = answers.get(PROPS, NOTHING)
    own_version = answers.get(API_VERSION, NOTHING).json()
    version = as_label(own_version.get("version"))
    if "llama-swap" in owners:
        return Identity("llama-swap", version)
    if is_llama_cpp(props.json()) or ("llamacpp" in owners and props.status in (401, 403)):
        return Identity("llama.cpp", as_label(props.json().get("build_info")))
    if version is not None and not own_version.keys() & {"commit", "build_date"}:
        return Identity("ollama", version)
    if lmstudio_entries(answers):
        return Identity("lmstudio")
    for engine in ("vllm", "sglang"):
        if engine in owners:
            return Identity(engine, as_label(answers.get(VERSION, NOTHING).json().get("version")))
    if is_jan(answers.get(OPENAPI, NOTHING)):
        return Identity("jan")
    health = answers.get(HEALTH, NOTHING)
    is_python = health.software.startswith("BaseHTTP/")
    if owners <= {None} and is_python and health.json() == {"status": "ok"}:
        return Identity("mlx")
    return Identity(UNKNOWN)


def is_llama_cpp(props: dict[str, Any]) -> bool:
    """Whether this is what llama.cpp says at PROPS."""
    return isinstance(props.get("default_generation_settings"), dict)


def is_jan(document: Said) -> bool:
    """Whether this is the API description of Jan's server, which it gives without a key too."""
    title = as_text(as_dict(document.json().get("info")).get("title"))
    return title is not None and title.startswith("Jan ")


def is_loading(listing: Said) -> bool:
    """Whether LISTING is answered as llama.cpp does while it loads its model."""
    error = as_dict(as_dict(listing.value()).get("error"))
    return listing.status == 503 and error.get("message") == "Loading model"


def lmstudio_entries(answers: Mapping[str, Said]) -> list[dict[str, Any]]:
    """LM Studio's own entries of its models, of the newest API that it has; none: it is not one."""
    newer, older = (answers.get(path, NOTHING).json() for path in LMSTUDIO_LISTINGS)
    for entries, marks in (
        (as_dicts(newer.get("models")), {"key", "loaded_instances"}),
        (as_dicts(older.get("data")), {"id", "state", "max_context_length"}),
    ):
        if entries and all(marks <= entry.keys() for entry in entries):
            return entries
    return []


def _owners(listing: dict[str, Any]) -> set[str | None]:
    return {as_text(entry.get("owned_by")) for entry in as_dicts(listing.get("data"))}
