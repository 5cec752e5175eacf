"""Whether an installed harness works: one small task done with a scripted model, files and all.

That a program tells its version says little: some do so on a Node on which they refuse to work.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bench_loop.contracts.chat import Message
from bench_loop.contracts.harness import HarnessAdapter, HarnessRunResult
from bench_loop.contracts.place import PlaceKind
from bench_loop.contracts.task import BenchmarkTask, TaskLimits
from bench_loop.gateway.http import HttpUpstream
from bench_loop.programs.attempt import Bounds, attempt
from bench_loop.programs.installed import Installed
from bench_loop.simulator.scripted import scripted_model
from bench_loop.simulator.settings import Turn, read, run, say, write

WALL_S = 180.0
"""The slowest was measured at 46 s on a busy machine."""
WINDOW = 131_072
ANSWER_TOKENS = 4096
MOST_REQUESTS = 30

FILE = "calc.py"
BROKEN = 'def add(a, b):\n    """The sum of two numbers."""\n    return a - b\n'
MENDED = BROKEN.replace("a - b", "a + b")
COPY = "copy.py"
"""Made by a command, where the harness runs commands."""
LAST_WORDS = "The sum is mended."

TASK = BenchmarkTask(
    suite="check",
    id="check.wrong-sign",
    title="A wrong sign",
    difficulty="easy",
    capability_tags=("debugging",),
    verifier_type="artifact",
    notes="The model is scripted: only the harness can fail.",
    messages=(
        Message(
            role="user",
            content=f"The function add in {FILE} has the wrong sign. Mend it in the file.",
        ),
    ),
    files={FILE: BROKEN},
    tools="workspace",
    expected={},
    limits=TaskLimits(answer_tokens=ANSWER_TOKENS, wall_s=WALL_S),
    reference=LAST_WORDS,
)


@dataclass(frozen=True, slots=True)
class Checked:
    """What came of it."""

    faults: tuple[str, ...]
    """What went wrong, as sentences; empty: it works."""
    requests: int
    """That the model got, by the gateway's count."""
    prompt_tokens: int | None
    """Of all requests; None: not counted."""
    wall_s: float
    place: PlaceKind


def check(adapter: HarnessAdapter, program: Installed, kind: PlaceKind) -> Checked:
    """Let the harness mend a file of three lines, with a model that knows how.

    Raises SetupError and SandboxError when it cannot be tried here.
    """
    with scripted_model(script_for(adapter)) as model:
        bounds = Bounds(model.model_id, WALL_S, WINDOW, ANSWER_TOKENS, MOST_REQUESTS)
        done = attempt(adapter, program, TASK, HttpUpstream(model.address), bounds, kind)
        asked = len(model.chats())
    return Checked(
        faults=tuple(faults(adapter, done.result, passed=len(done.sent), asked=asked)),
        requests=len(done.sent),
        prompt_tokens=done.prompt_tokens,
        wall_s=done.wall_s,
        place=kind,
    )


def script_for(adapter: HarnessAdapter) -> tuple[Turn, ...]:
    """What the model does, by what the harness says it can do."""
    by_command = (run(f"cp {FILE} {COPY}"),) if "run_commands" in adapter.capabilities else ()
    return (read(FILE), write(FILE, MENDED), *by_command, say(LAST_WORDS))


def faults(
    adapter: HarnessAdapter, made: HarnessRunResult, *, passed: int, asked: int
) -> Iterator[str]:
    """What is wrong with what a harness `made`: requests `passed` the gateway, and the model was
    `asked` so often.
    """
    files = made.files or {}
    if made.failure:
        yield f"It says that it failed: {made.failure}"
    if made.limit:
        yield f"It reached the limit of the check ({made.limit})."
    if not asked:
        yield "It asked the model nothing."
    if passed != asked:
        yield f"The gateway passed {passed} requests, and the model got {asked}."
    if files.get(FILE) != MENDED.encode():
        yield (
            f"It left {FILE} as it was."
            if FILE not in made.files_changed
            else (f"It wrote something else to {FILE} than the model said.")
        )
    if "run_commands" in adapter.capabilities and COPY not in files:
        yield "It did not run the command of the model."
    if adapter.needs.tool_calls and LAST_WORDS not in made.final_text:
        yield "It did not hand back the model's last words."
