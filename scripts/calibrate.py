"""Runs single tasks on a small model of this machine and prints what it wrote and the verdict.

    python -m scripts.calibrate [--model NAME] [--layouts] FILE...

FILE is a task file of a pack; NAME is an embedded model (default: qwen2.5-coder-0.5b). Temperature
0, the task's own answer budget. With --layouts each prompt is also sent with its lines broken
elsewhere: a verdict that changes with them is a coin, not a measurement.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench_loop.config import bundled
from bench_loop.contracts.chat import Sampling
from bench_loop.contracts.harness import HarnessConfig
from bench_loop.contracts.provider import Provider
from bench_loop.contracts.sandbox import Sandbox
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.contracts.verifier import Outcome
from bench_loop.engine.packs import Pack, PackSuite, read_pack
from bench_loop.engine.plan import FIRST_SEED
from bench_loop.engine.recorder import Recorder, TrialSettings
from bench_loop.engine.toolbox import make_toolbox
from bench_loop.engine.trial import run_trial
from bench_loop.providers import embedded
from bench_loop.registry import load
from bench_loop.sandboxes.ladder import open_sandbox

WINDOW = 8192
WALL_LIMIT_S = 600.0


def layouts(task: BenchmarkTask) -> Iterator[tuple[str, BenchmarkTask]]:
    """The task, and the same words with each paragraph on one line, and with a line a sentence."""
    yield "as it is", task
    for name, joint in (("long lines", " "), ("a line a sentence", "\n")):
        messages = []
        for message in task.messages:
            paragraphs = [" ".join(one.split("\n")) for one in message.content.split("\n\n")]
            text = "\n\n".join(one.replace(". ", f".{joint}") for one in paragraphs)
            messages.append(message.model_copy(update={"content": text}))
        yield name, task.model_copy(update={"messages": tuple(messages)})


def try_task(
    pack: Pack, task: BenchmarkTask, provider: Provider, sandbox: Sandbox
) -> Outcome | None:
    """Run the task once; prints all that came of it and gives the outcome."""
    recorder = Recorder(provider)
    harness = load("harness", bundled("harnesses"), "raw").Adapter()
    settings = TrialSettings(
        model_id=provider.models()[0].model_id,
        sampling=Sampling(),
        seed=FIRST_SEED + 1,
        max_tokens=task.limits.answer_tokens,
        context_window=WINDOW,
        wall_limit_s=WALL_LIMIT_S,
    )
    with tempfile.TemporaryDirectory() as folder:
        harness.setup(
            HarnessConfig(
                chat=recorder.chat,
                state_folder=Path(folder),
                toolbox=lambda task: make_toolbox(task, sandbox),
            )
        )
        trial = run_trial(PackSuite(pack, sandbox), task, 1, harness, recorder, settings)
        harness.teardown()
    for call in trial.tool_calls:
        print(f"  call {call.name} {call.arguments}")
    print(trial.output)
    tokens = trial.tokens
    print(f"--> {trial.outcome} {trial.reason or ''} {trial.message or ''}")
    print(f"    {tokens.prompt} + {tokens.completion} tokens, {trial.latency_s:.0f} s\n")
    return trial.outcome


def main() -> None:
    parser = argparse.ArgumentParser(description="Runs single tasks on a small model.")
    parser.add_argument("--model", default="qwen2.5-coder-0.5b")
    parser.add_argument("--layouts", action="store_true")
    parser.add_argument("files", nargs="+", type=Path)
    asked = parser.parse_args()
    sandbox = open_sandbox(warn=print)
    provider = embedded.start(asked.model, WINDOW)
    outcomes = []
    try:
        for file in asked.files:
            pack = read_pack(file.parent)
            task = next(one for one in pack.tasks if one.id.endswith(f".{file.stem}"))
            for name, laid_out in layouts(task):
                print(f"=== {task.id}, {name}")
                outcomes.append((task.id, name, try_task(pack, laid_out, provider, sandbox)))
                if not asked.layouts:
                    break
    finally:
        provider.close()
        sandbox.close()
    for task_id, name, outcome in outcomes:
        print(f"{outcome:10} {task_id}, {name}")


if __name__ == "__main__":
    main()
