"""A small installation of packs with families, and a model that can add."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bench_loop import config
from bench_loop.contracts.chat import ChatRequest
from bench_loop.engine import packs, shelf
from tests.engine.doubles import Answer, ScriptedProvider, reply

MANIFEST = """\
name: {name}
title: {title}
version: "1.0"
dimension: quality
description: Adding up.
convention: answer_line
profiles: {{quick: [{quick}], core: all}}
"""
TASK = """\
id: {id}
title: A sum
difficulty: easy
capability_tags: [arithmetic]
verifier_type: tolerance
{family}notes: One step.
prompt: "What is {sum}? End with: ANSWER: <number>"
expected: {{value: {value}, tolerance: 0, units: {{'': 1}}}}
reference: "ANSWER: {value}"
also_right: ["{value}", "It is clear.\\nANSWER: {value}.0"]
near_misses:
  - {{output: "ANSWER: {value}1", reason: wrong_value, why: a digit too many}}
  - {{output: "ANSWER: {value}2", reason: wrong_value, why: a digit too many}}
  - {{output: "ANSWER: {value}3", reason: wrong_value, why: a digit too many}}
"""
GENERATOR = '''\
"""Numbers to add or to take away."""
PATHS = ("plus", "minus")


def draw(random, path):
    first, second = random.randrange({low}, {high}), random.randrange(1, 50)
    value = first + second if path == "plus" else first - second
    sign = "+" if path == "plus" else "-"
    return {{
        "answer": str(value),
        "title": "A sum",
        "difficulty": "medium",
        "capability_tags": ["arithmetic", "counting"],
        "verifier_type": "tolerance",
        "notes": "One step.",
        "prompt": f"What is {{first}} {{sign}} {{second}}? End with: ANSWER: <number>",
        "expected": {{"value": value, "tolerance": 0, "units": {{"": 1}}}},
        "reference": f"ANSWER: {{value}}",
        "also_right": [str(value), f"It is clear.\\nANSWER: {{value}}.0"],
        "near_misses": [
            {{"output": f"ANSWER: {{value + slip}}", "reason": "wrong_value", "why": "a slip"}}
            for slip in (1, 10, 100)
        ],
    }}
'''


def write_pack(
    folder: Path,
    tasks: dict[str, tuple[str, str | None]],
    *,
    quick: str = "",
    title: str = "Sums",
) -> Path:
    """A pack; `tasks` has the sum and the family of each. Small numbers are families' own."""
    (folder / "families").mkdir(parents=True)
    manifest = MANIFEST.format(name=folder.name, title=title, quick=quick)
    (folder / "pack.yaml").write_text(manifest)
    for name, (terms, family) in tasks.items():
        text = TASK.format(
            id=f"{folder.name}.{name}",
            family=f"family: {family}\n" if family else "",
            sum=terms,
            value=solved(terms),
        )
        (folder / f"{name}.yaml").write_text(text)
    for family in {family for _, family in tasks.values() if family}:
        low, high = (100, 900) if family == "small" else (2000, 9000)
        file = folder / "families" / f"{family}.py"
        file.write_text(GENERATOR.format(low=low, high=high))
    return folder


@contextmanager
def official_packs(folder: Path) -> Iterator[Path]:
    """Have an installation whose packs are in `folder`: speed, one with and one without families.

    `sums` has four tasks, of which two are of the family `small` and one is of `large`.
    """
    shutil.copytree(config.bundled("packs") / "speed", folder / "speed")
    write_pack(
        folder / "sums",
        {
            "large": ("4000 + 17", "large"),
            "plain": ("3 + 4", None),
            "small-minus": ("300 - 17", "small"),
            "small-plus": ("300 + 17", "small"),
        },
        quick="sums.plain, sums.small-plus",
    )
    write_pack(
        folder / "words", {"few": ("1 + 1", None), "many": ("2 + 1", None)}, quick="words.few"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packs, "bundled", lambda name: folder)
        forget_packs()
        yield folder
    forget_packs()


def forget_packs() -> None:
    """Have every pack read and drawn anew."""
    packs.load_pack.cache_clear()
    shelf._fresh_official.cache_clear()


def solved(text: str) -> int:
    """The value of the first sum in `text`."""
    found = re.search(r"(\d+) ([+-]) (\d+)", text)
    assert found is not None
    first, second = int(found[1]), int(found[3])
    return first + second if found[2] == "+" else first - second


def adder(knows: Callable[[str], bool] = lambda prompt: True) -> ScriptedProvider:
    """A model that does the sums which it `knows`, by their prompt."""

    def answer(request: ChatRequest) -> Answer:
        prompt = request.messages[-1].content
        if " + " not in prompt and " - " not in prompt:
            return reply()
        return reply(f"ANSWER: {solved(prompt) if knows(prompt) else 1}")

    return ScriptedProvider(default=answer)
