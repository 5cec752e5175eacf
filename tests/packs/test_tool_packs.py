"""Packs with files, tools and scripted replies: read strictly, and all of it in the hash."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bench_loop.engine.packs import read_pack
from bench_loop.errors import PackError
from bench_loop.verifiers.judging import task_prompt_hash

MANIFEST = """\
name: doors
title: Doors
version: "1.0"
dimension: quality
description: Opening doors.
convention: tool_calls
profiles: {core: all}
"""
TASK = """\
id: doors.one
title: One door
difficulty: easy
capability_tags: [tool_arguments]
verifier_type: tool_trace
expected_turns: 2
notes: One call.
prompt: Open door A.
tools:
  - name: open_door
    description: Opens a door.
    parameters: {type: object, required: [door], properties: {door: {type: string}}}
replies:
  state: {A: shut}
  rules:
    - {tool: open_door, when: {door: A}, reply: {ok: true}, set: {A: open}}
expected: {state: {A: open}}
reference: {trajectory: [[open_door: {door: A}], {say: done}]}
near_misses:
  - {output: {trajectory: [{say: done}]}, reason: 'wrong_state:A', why: nothing done}
"""
FILES_MANIFEST = MANIFEST.replace("tool_calls", "workspace")
FILES_TASK = """\
id: doors.one
title: One file
difficulty: easy
capability_tags: [config]
verifier_type: artifact
notes: One file.
prompt: |
  This is the file.

  plan.txt
  ```
  shut
  ```
files:
  plan.txt: {from_prompt: true}
  keep.txt: keep
protected: [keep.txt]
tools: workspace
expected: {workspace: {lines: {plan.txt: [open]}}, least_calls: 1}
reference: {trajectory: [[write_file: {path: plan.txt, content: open}], {say: done}]}
"""


def make(folder: Path, manifest: str, task: str) -> Path:
    folder.mkdir()
    (folder / "pack.yaml").write_text(manifest)
    (folder / "one.yaml").write_text(task)
    return folder


@pytest.fixture
def doors(tmp_path: Path) -> Path:
    return make(tmp_path / "doors", MANIFEST, TASK)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    return make(tmp_path / "doors", FILES_MANIFEST, FILES_TASK)


def change(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert text.count(old) == 1, old
    file.write_text(text.replace(old, new))


DECISIVE: dict[str, tuple[str, str]] = {
    "a tool's name": ("- name: open_door", "- name: open_gate"),
    "a tool's description": ("Opens a door.", "Opens one door."),
    "a parameter": ("{type: string}", "{type: string, enum: [A]}"),
    "the state": ("state: {A: shut}", "state: {A: ajar}"),
    "a reply": ("{ok: true}", "{ok: false}"),
    "a condition": ("when: {door: A}", "when: {door: [A]}"),
    "an effect": ("set: {A: open}", "set: {A: wide}"),
    "the key": ("expected: {state: {A: open}}", "expected: {state: {A: wide}}"),
    "the shortest way": ("expected_turns: 2", "expected_turns: 3"),
}


@pytest.mark.parametrize(("old", "new"), DECISIVE.values(), ids=DECISIVE.keys())
def test_the_hash_covers_tools_replies_and_keys(doors: Path, old: str, new: str) -> None:
    before = read_pack(doors).pack_hash
    change(doors / "one.yaml", old, new)
    if "open_gate" in new:
        text = (doors / "one.yaml").read_text().replace("tool: open_door", "tool: open_gate")
        (doors / "one.yaml").write_text(text)
    assert read_pack(doors).pack_hash != before


@pytest.mark.parametrize(
    ("old", "new"),
    [("[[open_door: {door: A}], {say: done}]", "[{say: done}]"), ("why: nothing done", "why: x")],
)
def test_the_hash_leaves_out_the_examples(doors: Path, old: str, new: str) -> None:
    before = read_pack(doors).pack_hash
    change(doors / "one.yaml", old, new)
    assert read_pack(doors).pack_hash == before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("keep.txt: keep", "keep.txt: kept"),
        ("protected: [keep.txt]\n", ""),
        ("  shut\n", "  ajar\n"),
        ("[open]", "[wide]"),
    ],
)
def test_the_hash_covers_files(files: Path, old: str, new: str) -> None:
    before = read_pack(files).pack_hash
    change(files / "one.yaml", old, new)
    assert read_pack(files).pack_hash != before


def test_a_file_is_read_out_of_the_prompt(files: Path) -> None:
    assert read_pack(files).tasks[0].files == {"plan.txt": "shut\n", "keep.txt": "keep"}


def test_the_hash_of_what_is_shown_covers_the_tools(doors: Path) -> None:
    before = task_prompt_hash(read_pack(doors).tasks[0])
    change(doors / "one.yaml", "Opens a door.", "Opens one door.")
    assert task_prompt_hash(read_pack(doors).tasks[0]) != before


REFUSED: dict[str, tuple[str, Callable[[str], str], str]] = {
    "an unknown field of a tool": (
        "doors",
        lambda text: text.replace(
            "    description: Opens", "    strict: true\n    description: Opens"
        ),
        "tools",
    ),
    "an unknown field of a rule": (
        "doors",
        lambda text: text.replace("reply: {ok", "answer: 1, reply: {ok"),
        "replies.rules.0.answer",
    ),
    "a rule for a tool that is not there": (
        "doors",
        lambda text: text.replace("- {tool: open_door", "- {tool: shut_door"),
        "expected.*",
    ),
    "no replies": (
        "doors",
        lambda text: text[: text.index("replies:")] + text[text.index("expected: {state") :],
        "expected.*",
    ),
    "a file that the prompt does not show": (
        "files",
        lambda text: text.replace("  plan.txt\n", "  other.txt\n"),
        "files.plan.txt",
    ),
    "a protected file that is not there": (
        "files",
        lambda text: text.replace("[keep.txt]", "[none.txt]"),
        "protected",
    ),
    "a trajectory of another shape": (
        "doors",
        lambda text: text.replace("{say: done}]}\nnear", "{speak: done}]}\nnear"),
        "reference",
    ),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED.keys())
def test_what_is_wrong_is_refused_with_its_field(
    case: tuple[str, Callable[[str], str], str], tmp_path: Path
) -> None:
    kind, alter, field = case
    manifest, task = (MANIFEST, TASK) if kind == "doors" else (FILES_MANIFEST, FILES_TASK)
    assert alter(task) != task
    with pytest.raises(PackError) as caught:
        read_pack(make(tmp_path / "doors", manifest, alter(task)))
    assert caught.value.field is not None
    assert caught.value.field.startswith(field)
