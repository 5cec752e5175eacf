"""The methodology page says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

from bench_loop.scoring import constants
from bench_loop.scoring.methodology import methodology_markdown, methodology_sections

PAGE = Path(__file__).parents[2] / "docs" / "methodology.md"


def test_the_committed_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == methodology_markdown(), (
        "write it anew: python -m bench_loop.scoring.methodology > docs/methodology.md"
    )


def test_formulas_are_shown_with_their_numbers() -> None:
    page = methodology_markdown()
    assert (
        "0.55 x quality + u x (0.2 x speed + 0.25 x reliability), u = min(1, quality / 20)" in page
    )
    assert "Speed = 0.7 x G + 0.15 x P + 0.15 x L." in page


def test_every_constant_has_a_row_with_its_meaning() -> None:
    single = {
        name
        for name, value in vars(constants).items()
        if name.isupper() and isinstance(value, str | int | float | frozenset)
    } | {"EARLIER_SCORING_VERSIONS"}
    rows = {row[0].strip("`"): row for row in table_of("Constants")}
    assert rows.keys() == single
    assert all(value and meaning for _, value, meaning in rows.values())


def test_every_outcome_and_finding_has_a_row() -> None:
    assert [row[0].strip("`") for row in table_of("Outcomes of a trial")] == list(
        constants.OUTCOMES
    )
    assert [row[0].strip("`") for row in table_of("Findings on speed")] == list(constants.FINDINGS)


def test_no_name_of_a_constant_is_left_in_the_text() -> None:
    texts = [entry.text for section in methodology_sections() for entry in section.entries]
    assert all(texts)
    assert not re.findall(r"\b[A-Z]+_[A-Z_]+\b", "\n".join(texts))


def table_of(title: str) -> tuple[tuple[str, ...], ...]:
    (section,) = (section for section in methodology_sections() if section.title == title)
    assert section.table is not None
    return section.table.rows
