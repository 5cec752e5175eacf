"""Judges one output: what every suite has in common first, then the task's own verifier.

Pure but for code that is run in a sandbox; no output raises. In this order: cut (`truncated`),
refused by the engine, empty, then the verifier.
"""

from __future__ import annotations

import importlib
import re
from typing import cast

from bench_loop.contracts.sandbox import Sandbox
from bench_loop.contracts.task import WORKSPACE_CONVENTIONS, BenchmarkTask
from bench_loop.contracts.verifier import Output, TaskScore, Verifier
from bench_loop.errors import PackError, SandboxError
from bench_loop.result.fingerprint import tagged_hash
from bench_loop.verifiers.expectation import failed, task_file
from bench_loop.verifiers.extraction import without_thinking

LONGEST_ANSWER = 500
"""Characters of the answer that a verdict repeats; the whole output is stored beside it."""

_CALL_AS_TEXT = re.compile(
    r"<tool_call>|<function=|<\|tool_call|\[TOOL_CALLS\]"
    r"|\A(?:```\w*\s*)?\{\s*\"name\"\s*:\s*\"[^\"]{1,100}\"\s*,\s*\"(?:arguments|parameters)\"\s*:"
)


_LIMITS = {
    "turns": ("turn_limit", "It took more replies of the model than it may."),
    "tokens": ("answer_budget", "The answer budget was used up before the work was done."),
    "wall": ("wall_limit", "The time was up before the work was done."),
}


def verifier_of(task: BenchmarkTask) -> Verifier:
    """The module `bench_loop/verifiers/<verifier_type>.py`. Raises PackError when there is none."""
    name = f"bench_loop.verifiers.{task.verifier_type}"
    try:
        return cast(Verifier, importlib.import_module(name))
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        reason = f"there is no verifier {task.verifier_type!r} in this version"
        raise PackError(task_file(task), "verifier_type", reason) from error


def needs_sandbox(task: BenchmarkTask) -> bool:
    """Whether a verdict on `task` needs code to be run that a model wrote."""
    return verifier_of(task).needs_sandbox(task)


def judge(output: Output, task: BenchmarkTask, sandbox: Sandbox | None = None) -> TaskScore:
    """The verdict on `output`. `answer` is None where the suite's convention could read none.

    Raises SandboxError for a task that needs a sandbox when there is none, whatever the output.
    """
    if sandbox is None and needs_sandbox(task):
        raise SandboxError(
            f"{task.id} can't be judged without a sandbox.",
            remedy="Install Docker, Podman or bubblewrap.",
        )
    answered = output.model_copy(update={"text": without_thinking(output.text).text})
    if (ending := judge_ending(output)) is not None:
        return _with_state(ending, answered, task, sandbox)
    verdict = verifier_of(task).judge(answered, task, sandbox)
    if (
        verdict.outcome == "fail"
        and not output.tool_calls
        and _CALL_AS_TEXT.search(answered.text.lstrip())
    ):
        return failed("tool_call_as_text", "The reply is a tool call written as text.")
    if verdict.answer is not None and len(verdict.answer) > LONGEST_ANSWER:
        return verdict.model_copy(update={"answer": verdict.answer[:LONGEST_ANSWER]})
    return verdict


def judge_ending(output: Output) -> TaskScore | None:
    """The verdict that `output` has whatever the task, so that no code need be run for it.

    None: the verifier decides.
    """
    final = without_thinking(output.text)
    is_empty = not final.text.strip() and not _was_active(output)
    if cut := _cut(output, is_unclosed=final.is_unclosed, is_empty=is_empty):
        return cut
    if output.finish_reason == "error":
        return failed("engine_rejected_output", "The engine broke off the reply with an error.")
    if is_empty:
        return failed("empty_answer", "The reply holds no answer.")
    return None


def _was_active(output: Output) -> bool:
    """Whether the output holds calls, where those may be the whole answer."""
    return output.convention in WORKSPACE_CONVENTIONS and bool(output.tool_calls)


def _has_changed_files(output: Output, task: BenchmarkTask) -> bool:
    return output.convention == "workspace" and output.files not in (None, task.files)


def _with_state(
    ending: TaskScore, output: Output, task: BenchmarkTask, sandbox: Sandbox | None
) -> TaskScore:
    """`ending`; of a tool loop that was cut, with the verdict on what it had done by then.

    That is kept and never a pass. A harness may change files without a call, by its own words.
    """
    has_worked = _was_active(output) or _has_changed_files(output, task)
    if ending.outcome != "truncated" or not has_worked:
        return ending
    verdict = verifier_of(task).judge(output, task, sandbox)
    state = verdict.reason or verdict.outcome
    return ending.model_copy(update={"state_at_cut": state, "verifier": verdict.verifier})


def _cut(output: Output, *, is_unclosed: bool, is_empty: bool) -> TaskScore | None:
    """`truncated` with the limit that cut the output; None: it was not cut."""
    was_cut = output.finish_reason in {"length", "limit"} or output.limit is not None
    if not was_cut and not (is_unclosed and is_empty):
        return None
    if output.limit is not None:
        reason, message = _LIMITS[output.limit]
    elif is_unclosed or (is_empty and output.thinking):
        reason, message = "thinking_unclosed", "The model was still thinking when it was cut."
    elif output.finish_reason == "limit":
        reason, message = "wall_limit", "The model was still answering when its time was up."
    else:
        reason, message = "answer_budget", "The answer did not fit into the answer budget."
    return TaskScore(outcome="truncated", score=0.0, reason=reason, message=message)


def task_prompt_hash(task: BenchmarkTask) -> str:
    """Hash over all that a model is shown of `task`: its messages, and tools where it has some."""
    messages = [message.model_dump(mode="json") for message in task.messages]
    if not task.tools:
        return tagged_hash(messages)
    return tagged_hash({"messages": messages, "tools": task.model_dump(mode="json")["tools"]})
