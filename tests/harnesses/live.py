"""A program at work as in a run: in a real place, behind a real gateway; its model is a script."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack
from dataclasses import dataclass
from typing import Any

import psutil

from bench_loop.config import bundled
from bench_loop.contracts.chat import Message
from bench_loop.contracts.harness import (
    HarnessAdapter,
    HarnessConfig,
    HarnessRunResult,
    ModelAccess,
)
from bench_loop.contracts.place import Place, PlaceKind
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.recorder import Recorder
from bench_loop.gateway.faults import FaultPlan, FaultyUpstream
from bench_loop.gateway.http import HttpUpstream
from bench_loop.gateway.limits import Limits
from bench_loop.gateway.pinning import Pins
from bench_loop.gateway.upstream import Answer, Asked, Upstream
from bench_loop.programs.gated_place import open_gated_place
from bench_loop.programs.installed import Installed
from bench_loop.programs.workspace import renew
from bench_loop.registry import load, names
from bench_loop.result.records import RequestRecord
from bench_loop.simulator.scripted import Logged, scripted_model
from bench_loop.simulator.settings import Program, Turn, run, say, write
from tests.engine.doubles import ScriptedProvider

FILES = {
    "calc.py": "def add(a, b):\n    return a - b\n",
    "test_calc.py": (
        "import unittest\n\nfrom calc import add\n\n\nclass TestAdd(unittest.TestCase):\n"
        "    def test_add(self):\n        self.assertEqual(add(2, 3), 5)\n"
    ),
}
RIGHT = "def add(a, b):\n    return a + b\n"
RUN_TESTS = "python3 -B -m unittest -q"
DONE = "The sign was wrong.\nANSWER: calc.py"

DOES_IT = (write("calc.py", RIGHT), run(RUN_TESTS), say(DONE))
"""The task done: the file written, the tests run, the answer given."""
LIES = (say(DONE),)
"""The same words, and nothing done."""

ODD_QUESTION = (
    "--help Say \"hi\"  to 'me',\n\n 007 times 1e5: $HOME `ls` @calc.py \\ é\n"
    "- or not\nANSWER: <value>"
)
"""Nothing of it may be taken for an option, a command, a number or a file."""

PERSONAL = {
    "aider": {
        ".aider.conf.yml": "model: openai/personal\nread: notes.md\n",
        ".aider.model.settings.yml": "- name: openai/scripted\n  edit_format: udiff\n",
        ".env": "OPENAI_API_BASE=http://127.0.0.1:9/v1\n",
    },
    "continue": {".continue/config.yaml": "name: personal\nmodels: [{model: personal}]\n"},
    "goose": {
        ".config/goose/config.yaml": "GOOSE_PROVIDER: anthropic\nGOOSE_MODEL: personal\n",
        ".config/goose/.goosehints": "Answer in French.\n",
    },
    "hermes": {".hermes/config.yaml": "model: {default: personal}\n"},
    "openclaw": {".openclaw/openclaw.json": '{"agents": {"defaults": {"model": "personal"}}}'},
    "opencode": {".config/opencode/opencode.json": '{"model": "personal/personal"}'},
}
"""A person's own configuration of each program, by its path in the home folder."""

FAST = Program(window=131_072, tokens_per_chunk=8)


@dataclass(frozen=True, slots=True)
class Seen:
    """What one trial came to, as each of the three saw it."""

    result: HarnessRunResult
    requests: tuple[RequestRecord, ...]
    """The gateway's records."""
    log: tuple[Logged, ...]
    """The scripted server's own, of chats."""
    private: tuple[str, ...]
    """What points to this machine or this trial: paths, address, key."""
    state: str
    """The folder that this trial's processes had their home in."""


def programs() -> list[str]:
    """The harnesses that are programs of somebody else."""
    known = names(bundled("harnesses"))
    return [name for name in known if adapter(name).installation is not None]


def adapter(name: str) -> HarnessAdapter:
    """A fresh adapter out of `harnesses/`."""
    made = load("harness", bundled("harnesses"), name).Adapter()
    assert isinstance(made.name, str)
    return made


def repair() -> BenchmarkTask:
    """A workspace task: a sign is wrong, and a last line is asked for."""
    return task(
        "The test in test_calc.py fails. Repair calc.py. Finish with one line: ANSWER: <file>",
        files=FILES,
        is_workspace=True,
    )


def task(
    prompt: str, *, files: dict[str, str] | None = None, is_workspace: bool = False
) -> BenchmarkTask:
    """A task that asks `prompt`."""
    return BenchmarkTask(
        suite="agent",
        id="agent.wrong-sign",
        title="A wrong sign",
        difficulty="easy",
        capability_tags=("parsing",),
        verifier_type="artifact",
        notes="Only the harness is looked at.",
        messages=(Message(role="user", content=prompt),),
        files=files or {},
        tools="workspace" if is_workspace else (),
        expected={},
        reference="none",
    )


def ask(
    made: HarnessAdapter,
    installed: Installed,
    asked: BenchmarkTask,
    script: Sequence[Turn],
    *,
    program: Program = FAST,
    fault: FaultPlan | None = None,
    limits: Limits | None = None,
    place: PlaceKind = "bubblewrap",
    wall_s: float = 60.0,
    wrapped: Callable[[Upstream], Upstream] = lambda upstream: upstream,
) -> Seen:
    """Let the harness do one task with a model that follows `script`.

    `fault` is put in between by the gateway, which refuses what is beyond `limits`; `wrapped` puts
    something else between the gateway and the model.
    """
    with ExitStack() as stack:
        model = stack.enter_context(scripted_model(script, program))
        upstream = FaultyUpstream(wrapped(HttpUpstream(model.address, {})), fault)
        gateway, opened = stack.enter_context(open_gated_place(upstream, installed, place))
        renew(opened, asked.files if asked.tools == "workspace" else {})
        pins = Pins(model.model_id, answer_tokens=2048, fields={"temperature": 0.0, "seed": 1001})
        trial = gateway.open(pins, limits or Limits())
        access = ModelAccess(
            base_url=gateway.base_url,
            key=trial.key,
            model_id=model.model_id,
            context_window=131_072,
            answer_tokens=2048,
            wall_s=wall_s,
        )
        made.setup(
            HarnessConfig(
                chat=Recorder(ScriptedProvider()).chat,
                state_folder=opened.state.here,
                access=lambda: access,
                place=opened,
            )
        )
        stack.callback(made.teardown)
        result = made.run_task(asked)
        trial.close()
        private = (trial.key, f"127.0.0.1:{gateway.port}", *_paths(opened))
        return Seen(result, trial.requests(), model.chats(), private, str(opened.state.here))


class Overheard:
    """An upstream that remembers what was asked of another one."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self._inner: Upstream | None = None

    def of(self, inner: Upstream) -> Overheard:
        """Itself, before `inner`."""
        self._inner = inner
        return self

    def send(self, asked: Asked) -> AbstractAsyncContextManager[Answer]:
        assert self._inner is not None
        if asked.body:
            self.bodies.append(json.loads(asked.body))
        return self._inner.send(asked)

    def questions(self) -> list[str]:
        """Texts of the first request that stand in a user's name."""
        messages = self.bodies[0]["messages"]
        return [one["content"] for one in messages if one["role"] == "user"]


def _paths(place: Place) -> tuple[str, ...]:
    folders = (place.program, place.state, place.workspace)
    return tuple(path for one in folders for path in (str(one.here), one.inside))


def processes_with(word: str) -> list[int]:
    """Ids of the processes of this machine that hold `word` in command line or environment."""
    return [process.pid for process in psutil.process_iter() if word in _words(process)]


def _words(process: psutil.Process) -> str:
    try:
        return " ".join((*process.cmdline(), *process.environ().values()))
    except psutil.Error:
        return ""


def texts(result: HarnessRunResult) -> Iterator[str]:
    """All texts of a result that are kept."""
    yield result.final_text
    yield result.failure or ""
    yield from (str(value) for value in result.metadata.values())
    for message in result.transcript:
        yield message.content
        yield from (call.arguments for call in message.tool_calls)
