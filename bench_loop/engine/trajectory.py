"""A task's own examples as outputs: what a model would have left that answered so."""

from __future__ import annotations

import json

from bench_loop.contracts.chat import CallRecord, ToolCall
from bench_loop.contracts.sandbox import Sandbox
from bench_loop.contracts.task import BenchmarkTask, Say, Trajectory
from bench_loop.contracts.verifier import Output
from bench_loop.engine.packs import Pack
from bench_loop.engine.toolbox import make_toolbox
from bench_loop.engine.workspace import artifacts, texts


def example_output(
    pack: Pack, task: BenchmarkTask, example: str | Trajectory, sandbox: Sandbox | None = None
) -> Output:
    """The output of a reference, another right form or a near miss of `task`.

    A trajectory's calls are done with the task's own tools; programs run in `sandbox`.
    """
    if isinstance(example, str):
        return pack.output(example)
    toolbox = make_toolbox(task, sandbox)
    calls: list[CallRecord] = []
    said = ""
    for turn, step in enumerate(example.trajectory, 1):
        if isinstance(step, Say):
            said = step.say
            continue
        for named in step:
            for tool, args in named.items():
                call = ToolCall(id=None, name=tool, arguments=json.dumps(args))
                calls.append(toolbox.call(call, turn)[0])
    files = toolbox.files()
    return pack.output(said).model_copy(
        update={
            "tool_calls": tuple(calls),
            "files": None if files is None else texts(artifacts(files)),
        }
    )
