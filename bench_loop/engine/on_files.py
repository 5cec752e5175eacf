"""Tasks whose answer is the new content of files, put on a workspace that holds these files.

The same repair is then asked of whoever works in the folder: the prompt names the files and no
longer shows them, so that looking, changing and trying are left to the harness, and a harness that
shows files by itself does not show them twice. What is hidden stays: the final files are judged by
the same calls. What only concerns the form of a reply has no counterpart and is left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from bench_loop.contracts.chat import Message
from bench_loop.contracts.task import (
    BenchmarkTask,
    Convention,
    NearMiss,
    Say,
    TaskLimits,
    Trajectory,
    Turn,
)
from bench_loop.errors import PackError
from bench_loop.verifiers.code import find_files
from bench_loop.verifiers.expectation import task_file

SOURCE_CONVENTION: Convention = "changed_files"
"""Of the packs whose tasks can be put on files."""
CONVENTION: Convention = "workspace"
"""Of the pack that they then make."""

CLOSING = """

The files lie in the folder that you work in. Change them there, and leave the tests as they are:
what counts is the program in the folder at the end. Your reply need not repeat it.
"""
"""In place of how a reply must look."""
CLOSING_WORD = "The cause is repaired, in the folder."
"""The final text of its examples."""
CALL_TOKENS = 160
"""What the answer budget has more for each call of the shortest way: four times about 40 tokens."""

_REPLY_FORM = re.compile(r"\s+Reply with the complete (?:(?!\n\n).)*\Z", re.DOTALL)


def on_files(task: BenchmarkTask, suite: str) -> BenchmarkTask:
    """`task` as a task of `suite`, on the workspace.

    Raises PackError where the prompt shows none of the files, or does not close with how a reply
    must look; and where the reference is no reply with files.
    """
    if len(task.messages) != 1:
        raise PackError(task_file(task), "messages", "must be one prompt, to be put on files")
    prompt, shown = _without_files(task.messages[0].content, task.files)
    prompt, count = _REPLY_FORM.subn(CLOSING, prompt.rstrip("\n"))
    if not shown:
        raise PackError(task_file(task), "prompt", "shows none of its files")
    if not count:
        reason = "does not close with 'Reply with the complete ...', to be put on files"
        raise PackError(task_file(task), "prompt", reason)
    reference = worked_out(task, task.reference)
    if reference is None:
        raise PackError(task_file(task), "reference", "must give files, to be put on files")
    also_right = (worked_out(task, example) for example in task.also_right)
    calls = len(reference.trajectory) - 1
    return task.model_copy(
        update={
            "suite": suite,
            "id": id_on_files(task.id, suite),
            "expected_turns": len(reference.trajectory),
            "messages": (Message(role="user", content=prompt),),
            "tools": "workspace",
            "expected": _expected(task, calls),
            "limits": TaskLimits(
                answer_tokens=task.limits.answer_tokens + CALL_TOKENS * calls,
                wall_s=task.limits.wall_s,
            ),
            "reference": reference,
            "also_right": tuple(example for example in also_right if example is not None),
            "near_misses": tuple(
                NearMiss(output=output, reason=miss.reason, why=miss.why)
                for miss in task.near_misses
                if (output := worked_out(task, miss.output)) is not None
            ),
        }
    )


def id_on_files(task_id: str, suite: str) -> str:
    """The id of a task when it is put on the files of `suite`."""
    return f"{suite}.{task_id.partition('.')[2]}"


def worked_out(task: BenchmarkTask, example: str | Trajectory) -> Trajectory | None:
    """What a reply to `task` would be on its files: they are read, and those in it are written.

    One call a turn, and a closing word. None: the reply gives no file.
    """
    if isinstance(example, Trajectory):
        return None
    written = _files_of(task, example)
    if not written:
        return None
    read = _without_files(task.messages[0].content, task.files)[1]
    turns: list[Turn] = [({"read_file": {"path": path}},) for path in read]
    turns += [
        ({"write_file": {"path": path, "content": content}},) for path, content in written.items()
    ]
    return Trajectory(trajectory=(*turns, Say(say=CLOSING_WORD)))


def _files_of(task: BenchmarkTask, reply: str) -> Mapping[str, str]:
    """The files that a reply gives, those too that it may not change."""
    found = find_files(reply, task.files, task.expected["editable"])
    if not found.put_back:
        return found.files
    return {**found.files, **find_files(reply, task.files, found.put_back).files}


def _expected(task: BenchmarkTask, calls: int) -> dict[str, object]:
    """The same hidden calls, for the files at the end of a workspace."""
    kept = {name: value for name, value in task.expected.items() if name != "editable"}
    return {**kept, "workspace": {"any_files": True}, "least_calls": calls}


def _without_files(prompt: str, files: Mapping[str, str]) -> tuple[str, Sequence[str]]:
    """`prompt` with the path alone of each file that it shows whole, and the paths of these."""
    shown = []
    for path, text in files.items():
        fenced = rf"^{re.escape(path)}\n(`{{3,}})\w*\n{re.escape(text)}\1$"
        prompt, count = re.subn(fenced, path, prompt, flags=re.MULTILINE)
        if count:
            shown.append(path)
    return prompt, shown
