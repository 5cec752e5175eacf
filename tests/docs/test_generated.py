"""Tests that the documentation says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bench_loop.cli import COMMANDS
from bench_loop.engine.families import load_family
from bench_loop.engine.fresh import fresh_pack
from bench_loop.engine.packs import read_pack
from bench_loop.engine.validate import answer_faults, task_faults, validate
from scripts.docs import documents, exit_codes, family_counts, fill, task_tables, type_of
from scripts.markdown import table
from tests.engine.fresh_packs import official_packs

ROOT = Path(__file__).parent.parent.parent
PACKAGES = ("bench_loop", "benchloop_site", "leaderboard", "runs", "submissions", "harnesses")
VARIABLE = re.compile(r"\bBENCHLOOP_[A-Z_]+\b")


def test_the_generated_parts_are_current() -> None:
    for file, text in documents().items():
        assert file.read_text(encoding="utf-8") == text, f"{file.name} is not current: make docs"


def test_every_environment_variable_is_described() -> None:
    used = {
        name
        for package in PACKAGES
        for file in (ROOT / package).rglob("*.py")
        for name in VARIABLE.findall(file.read_text(encoding="utf-8"))
    }
    described = set(VARIABLE.findall((ROOT / "docs" / "settings.md").read_text(encoding="utf-8")))
    assert used == described


def test_the_readme_is_short_and_names_every_command() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(readme.splitlines()) < 220
    assert not [name for name in COMMANDS if f"`{name}`" not in readme]


def test_an_exit_code_is_told_by_what_a_command_ends_with() -> None:
    assert "| 5 | The model server is unreachable" in exit_codes()


def test_links_in_the_documents_lead_somewhere() -> None:
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_a_marked_part_is_replaced_and_the_rest_kept() -> None:
    page = "a\n<!-- generated: x -->\nold\n<!-- end of x -->\nb"
    assert fill(page, {"x": lambda: "new"}) == (
        "a\n<!-- generated: x -->\nnew\n<!-- end of x -->\nb"
    )


def test_an_unknown_mark_is_an_error() -> None:
    with pytest.raises(KeyError):
        fill("<!-- generated: y -->\n<!-- end of y -->", {})


def test_a_bar_in_a_cell_does_not_end_it() -> None:
    assert table(("a",), [("x | y",)]) == "| a |\n| --- |\n| x \\| y |"


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ({"anyOf": [{"type": "number"}, {"type": "null"}]}, "number or null"),
        ({"type": "array", "items": {"$ref": "#/$defs/Gpu"}}, "list of [Gpu](#gpu)"),
        ({"enum": ["pass", "fail"]}, "`pass`, `fail`"),
        ({"prefixItems": [{"type": "number"}, {"type": "number"}]}, "[number, number]"),
        ({}, "any"),
    ],
)
def test_types_are_in_a_readers_words(field: dict[str, object], words: str) -> None:
    assert type_of(field) == words


def sample(language: str, first: str) -> str:
    """The block of docs/packs.md whose text begins with `first`."""
    page = (ROOT / "docs" / "packs.md").read_text(encoding="utf-8")
    blocks = re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)
    return next(block for block in blocks if block.startswith(first))


def test_the_pack_the_task_and_the_family_that_are_shown_are_without_fault(tmp_path: Path) -> None:
    folder = tmp_path / "sums"
    (folder / "families").mkdir(parents=True)
    (folder / "pack.yaml").write_text(sample("yaml", "name: sums"))
    task = sample("yaml", "id: sums.two-sheds")
    (folder / "two-sheds.yaml").write_text(task.replace("notes: >", "family: boards\nnotes: >"))
    (folder / "families" / "boards.py").write_text(sample("python", '"""Boards'))
    assert validate(folder).faults == ()
    drawn = load_family(folder, "boards").instances(1, 50)
    pack = read_pack(folder)
    assert [fault for one in drawn[:10] for fault in task_faults(pack, one.task)] == []
    assert [fault for one in drawn for fault in answer_faults(pack, one.task)] == []
    assert fresh_pack(pack, 1).tasks == (drawn[0].task,)


def test_a_suites_section_says_purpose_convention_tasks_and_families(tmp_path: Path) -> None:
    with official_packs(tmp_path / "packs"):
        page = task_tables()
        assert "### sums 1.0: Sums\n\nAdding up.\n\nAnswers are read as [`answer_line`]" in page
        assert "| `small-plus` | easy | `tolerance` | arithmetic | `small` | A sum |" in page
        assert "| `small` | Numbers to add or to take away. | `plus`, `minus` |" in page
        assert page.count("None of its tasks belongs to a family yet.") == 1
        assert family_counts() == "Of the 6 tasks 3 belong to one of 2 families."
