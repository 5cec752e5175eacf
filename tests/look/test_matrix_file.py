"""A matrix as a file: one page with everything in it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from bench_loop.report.matrix_html import matrix_html, write_matrix_html
from bench_loop.scoring.matrix import Cell
from tests.look import matrix_samples
from tests.look.matrix_parts import (
    MODEL,
    RAW,
    SUITE,
    difference,
    harness,
    matrix,
    one_pair,
    pair,
    score,
)
from tests.look.reader import HOSTILE, Page


@pytest.fixture(scope="module")
def large() -> str:
    return matrix_html(matrix_samples.large())


def test_nothing_is_loaded_from_anywhere(large: str) -> None:
    assert not re.findall(r"https?://", large)
    loading = {"src", "srcset", "data", "poster", "action"}
    page = Page(large)
    assert [name for _, attributes in page.tags for name in attributes if name in loading] == []
    assert "default-src 'none'" in large


def test_no_style_is_set_on_an_element(large: str) -> None:
    assert [tag for tag, attributes in Page(large).tags if "style" in attributes] == []


def test_every_shape_that_is_used_is_there(large: str) -> None:
    page = Page(large)
    ids = {attributes["id"] for _, attributes in page.tags if "id" in attributes}
    assert {(one["href"] or "").removeprefix("#") for one in page.named("use")} <= ids


def test_a_field_is_underlined_where_its_interval_excludes_zero() -> None:
    page = Page(matrix_html(one_pair(pair(difference(10.0, 2.0, 18.0)))))
    assert "heat change-plus-2 sure" in {one.get("class") for one in page.named("td")}
    page = Page(matrix_html(one_pair(pair(difference(10.0, -2.0, 22.0)))))
    assert "heat change-plus-2" in {one.get("class") for one in page.named("td")}


def test_a_sign_says_what_it_means_to_who_cannot_see_it() -> None:
    cell = Cell("window_too_small", "It needs 65,536 tokens.")
    page = Page(matrix_html(one_pair(cell=cell)))
    said = [one["aria-label"] for one in page.named("span") if one.get("role") == "img"]
    assert "window too small: It needs 65,536 tokens" in said


def test_every_table_can_be_scrolled_with_the_keyboard(large: str) -> None:
    regions = [one for one in Page(large).named("div") if one.get("class") == "scroll"]
    assert len(regions) == 7
    assert all(one["tabindex"] == "0" and one["aria-label"] for one in regions)


def test_hostile_names_stay_text() -> None:
    model = replace(MODEL, model_id=HOSTILE, quantization=HOSTILE)
    program = harness(HOSTILE, HOSTILE)
    page = Page(
        matrix_html(
            matrix(
                {
                    (model, RAW, HOSTILE): score(),
                    (model, program, HOSTILE): Cell("not_applicable", HOSTILE, run_id="h"),
                },
                {(model, program): pair(reasons=[HOSTILE])},
            )
        )
    )
    assert list(page.named("img")) == []
    assert len(list(page.named("script"))) == 1
    assert "\x00" not in page.text
    assert "\u202e" not in page.text
    assert not [name for _, found in page.tags for name in found if name.startswith("on")]


def test_the_smallest_matrix_is_a_page(tmp_path: Path) -> None:
    file = tmp_path / "matrix.html"
    write_matrix_html(matrix_samples.smallest(), file)
    text = Page(file.read_text(encoding="utf-8")).text
    assert "3 tasks are too few to tell what aider gains or loses against raw." in text
    assert "Every model by itself" not in text
    assert SUITE in text
