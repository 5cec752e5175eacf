"""Code and tool calls that real scorers misjudged: each gets the right verdict here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench_loop.contracts.chat import CallRecord
from bench_loop.contracts.sandbox import Sandbox
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.contracts.verifier import Output
from bench_loop.verifiers.code import find_code
from bench_loop.verifiers.extraction import without_thinking
from bench_loop.verifiers.judging import judge
from tests.verifiers.cases import make_task

FILE = Path(__file__).parents[1] / "fixtures" / "cases" / "code_and_tools.jsonl"
CASES = {case["id"]: case for case in map(json.loads, FILE.read_text("utf-8").splitlines())}


def output_of(case: dict[str, Any]) -> Output:
    if case["input_format"] == "text":
        return Output(text=case["input"], convention="tool_calls")
    choice = case["input"]["choices"][0]
    calls = choice["message"].get("tool_calls") or ()
    return Output(
        text=choice["message"].get("content") or "",
        tool_calls=tuple(
            CallRecord(
                id=call["id"],
                name=call["function"]["name"],
                arguments=call["function"]["arguments"],
                turn=1,
            )
            for call in calls
        ),
        finish_reason=choice["finish_reason"],
        convention="tool_calls",
    )


def tool(name: str, required: list[str], **properties: str) -> dict[str, Any]:
    return {
        "name": name,
        "description": "A tool.",
        "parameters": {
            "type": "object",
            "required": required,
            "properties": {key: {"type": kind} for key, kind in properties.items()},
        },
    }


WEATHER = tool("get_weather", ["city"], city="string")
LIST = tool("list_files", [])
AREA = tool("area", ["base"], base="integer")


def tool_task(offered: dict[str, Any], **expected: Any) -> BenchmarkTask:
    return make_task(
        "tool_trace",
        expected,
        tools=(offered,),
        replies={"rules": ({"tool": offered["name"], "reply": {"ok": True}},)},
    )


OSLO = tool_task(WEATHER, calls=[{"tool": "get_weather", "args": {"city": "Oslo"}}])
TWO_CITIES = tool_task(
    WEATHER,
    calls=[
        {"tool": "get_weather", "args": {"city": "Oslo"}},
        {"tool": "get_weather", "args": {"city": "Rome"}},
    ],
)

TOOLS: dict[str, tuple[BenchmarkTask, str | None]] = {
    "C055": (OSLO, None),
    "C057": (tool_task(LIST, calls=[{"tool": "list_files"}]), None),
    "C059": (OSLO, "missing_argument"),
    "C061": (OSLO, "tool_call_as_text"),
    "C063": (OSLO, "tool_call_as_text"),
    "C065": (OSLO, "hallucinated_tool"),
    "C067": (tool_task(AREA, calls=[{"tool": "area", "args": {"base": 10}}]), "wrong_value"),
    "C069": (TWO_CITIES, None),
    "C071": (tool_task(WEATHER, abstains=True, mentions=["Oslo"]), None),
    "C073": (OSLO, "answer_budget"),
}


@pytest.mark.parametrize("case_id", TOOLS)
def test_calls_are_judged_by_what_they_are(case_id: str) -> None:
    task, reason = TOOLS[case_id]
    verdict = judge(output_of(CASES[case_id]), task)
    assert verdict.reason == reason
    assert (verdict.outcome == "pass") == CASES[case_id]["right_answer"]["pass"]


CODE: dict[str, tuple[str, dict[str, Any]]] = {
    "C013": ("total", {"args": [[1, 2]], "value": 3}),
    "C015": ("f", {"args": [], "value": 1}),
}


@pytest.mark.parametrize("case_id", CODE)
def test_the_right_code_is_taken_and_run(case_id: str, sandbox: Sandbox) -> None:
    function, hidden = CODE[case_id]
    case = CASES[case_id]
    code = find_code(without_thinking(case["input"]).text, function)
    assert code.text == case["right_answer"]["code"] + "\n"
    task = make_task("artifact", {"function": function, "cases": [hidden]})
    output = Output(text=case["input"], convention="fenced_code")
    assert judge(output, task, sandbox).outcome == "pass"


def test_every_case_in_the_file_is_run() -> None:
    assert {*TOOLS, *CODE} == CASES.keys()
