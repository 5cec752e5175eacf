"""No output raises, and none of 100 KB takes 50 ms, whatever is in it."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench_loop.contracts.sandbox import Sandbox
from bench_loop.contracts.task import BenchmarkTask, Convention
from bench_loop.contracts.verifier import Output
from bench_loop.engine.packs import load_pack, pack_names
from bench_loop.verifiers.extraction import LONGEST_ANSWER_LINE
from bench_loop.verifiers.judging import judge, needs_sandbox
from tests.verifiers.cases import make_task
from tests.yardstick import idle_s

TASKS: list[tuple[BenchmarkTask, Convention]] = [
    (task, load_pack(name).convention)
    for name in pack_names()
    for task in load_pack(name).tasks
    if not needs_sandbox(task)
]
"""Reading code out of a reply is timed where it is tested, as its verdict needs a sandbox."""

EVERY_RULE: dict[str, Any] = {
    "lines": 5,
    "sentences": 2,
    "equal_sentences": True,
    "words": {"most": 9},
    "distinct_words": True,
    "forbidden": ["art"],
    "required": [["gate"]],
    "in_order": ["a", "b"],
    "numbers": ["1"],
    "bullets": 3,
}
TASKS += [(make_task("exact", {rule: value}), "whole_reply") for rule, value in EVERY_RULE.items()]
TASKS.append((make_task("json_schema", {"schema": {}}), "json_object"))

FUZZED = [
    (task, convention)
    for task, convention in TASKS
    if task.suite == "cases"
    or task.id.endswith((".rain-tank-overflow", ".last-bus", ".probe-labels", ".irrigation-plan"))
]

PIECES = [
    "<think>", "</think>", "[THINK]", "ANSWER:", "**", "`", "```", "```json\n", "\n", "\r", " ",
    "\\boxed{", "{", "}", "[", "]", '"', "'", ":", ",", "-", "—", "/", "\\", "\\text{", "\\frac{1}",
    "1", "12,345", "3/4", "0", "e9", "^", "½", "³", "５", "%", "€", "$", "or", "to", "km", "litres",
    "The answer is", "is", "=", "±", ".", "!", "a: &x", "*x", "? ", "- ", "!!str", "|", ">", "#",
    "<answer>", "</answer>", "ninety-", "six", "(", ")", "→", "19:42", "pm", "because", "Monday",
    "_", "<b>", "</b>", "not", "\u00ad", "e\u0301", "\x1b[31m",
    "\ufeff", "\u202f", "\u200b", "\x00", "\x85", "\u2028", "null", "true", "NaN", "\U0001f680",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
@settings(max_examples=100, deadline=None)
def test_no_mixture_of_syntax_raises(text: str) -> None:
    for task, convention in FUZZED:
        judge(Output(text=text, convention=convention), task)


@given(st.text(max_size=300))
@settings(max_examples=50, deadline=None)
def test_no_text_raises(text: str) -> None:
    for task, convention in FUZZED:
        judge(Output(text=text, convention=convention), task)


SIZE = 100_000
LIMIT_S = 0.05
ANSWERED = "ANSWER: "
"""Before a hostile piece it makes 400 characters of it the answer line."""

HOSTILE = {
    "blanks": " ",
    "line ends": "\n",
    "one letter": "a",
    "digits": "9",
    "digits and commas": "1,",
    "numbers": "123 ",
    "groups of three": "123,456,",
    "minus signs": "-",
    "open braces": "{",
    "open brackets": "[",
    "nested objects": '{"a":',
    "empty objects": "{}",
    "braces in prose": "{ a ",
    "quotes": '"',
    "back slashes": "\\",
    "backticks": "`",
    "fences": "```\n",
    "tildes": "~~~\n",
    "one long row of tildes": "~",
    "open thinking": "<think>",
    "closed thinking": "</think>",
    "thinking pairs": "<think></think>",
    "half tags": "<think",
    "answer lines": "ANSWER: 5\n",
    "answer marks": "ANSWER:",
    "answer lines without a value": "ANSWER:\n",
    "almost answer lines": "- - - answer is is\n",
    "open boxes": "\\boxed{",
    "boxes": "\\boxed{5}",
    "the answer is": "the answer is ",
    "stars": "*",
    "stars and letters": "*a",
    "sentence ends": ".",
    "sentences": "A b. ",
    "closing quotes": ".\"'”",
    "apostrophes": "a'",
    "hyphens": "a-",
    "bullets": "- a\n",
    "underscores": "_",
    "fullwidth digits": "５",
    "superscripts": "³",
    "emoji": "\U0001f680",
    "combining marks": "é",
    "zero bytes": "\x00",
    "key and value": "a: 1\n",
    "anchors": "&a ",
    "question marks": "? ",
    "items": "- ",
    "latex fractions": "\\frac{1}{2}",
    "latex text": "\\text{",
    "hashes": "#",
    "list of lists": "[],",
    "think tags": "<think>a</think>b",
    "nested think tags": "<think><think>",
    "underscored words": "_a_ ",
    "answer tags": "<answer>",
    "answer tags and values": "<answer>5</answer>",
    "tables": "| ANSWER | 5 |\n",
    "number words": "one ",
    "number words in a line": "ninety-nine thousand ",
    "decimal commas": "1,5 ",
    "dotted thousands": "1.234.",
    "clock times": "19:42 ",
    "clock halves": "19:42 pm",
    "brackets": "(a) ",
    "open round brackets": "(",
    "arrows": "→",
    "bold html": "<b>5</b>",
    "invisible characters": "\u200b\ufeff",
    "because": "5 because ",
    "double anchors": "a: &a [*a, *a]\n",
    "escaped quotes": '\\"',
    "surrogate escapes": "\\ud800",
    "call as text": '{"name": "a", "arguments": ',
    "fenced code": "```python\ndef f():\n    return 1\n```\n",
}


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hundred_kilobytes_take_less_than_fifty_milliseconds(
    piece: str, sandbox: Sandbox
) -> None:
    text = (piece * (SIZE // len(piece) + 1))[:SIZE]
    answer = ANSWERED + text[: LONGEST_ANSWER_LINE - len(ANSWERED)]
    for task, convention in TASKS:
        for reply in (text, answer):
            output = Output(text=reply, convention=convention)
            took = idle_s(partial(judge, output, task, sandbox), LIMIT_S, tries=5)
            assert took < LIMIT_S, task.id
