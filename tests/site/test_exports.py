"""The current view as CSV, Markdown and JSON: the same rows, and names that break nothing."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import pytest
from django.test import Client

from bench_loop.report.spreadsheet import csv_cell
from leaderboard import exports
from leaderboard.board import ROWS
from tests.site.published import show_run

FILES = ("/leaderboard.csv", "/leaderboard.md", "/leaderboard.json")
FORMULAS = ("=", "+", "-", "@", "\t", "\r")


def download(address: str) -> str:
    response = Client().get(address)
    assert response.status_code == 200, response.content
    assert "attachment" in response["Content-Disposition"]
    return response.content.decode()


def lines(query: str = "") -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(download(f"/leaderboard.csv{query}"))))


def document(query: str = "") -> dict[str, Any]:
    response = Client().get(f"/leaderboard.json{query}")
    found: dict[str, Any] = response.json()
    return found


def table(query: str = "") -> list[list[str]]:
    """The cells of the table as a reader of GitHub's Markdown splits it."""
    text = download(f"/leaderboard.md{query}").split("\n\n")[0]
    return [re.split(r"(?<!\\)\|", line)[1:-1] for line in text.splitlines()]


def outside_code(cell: str) -> str:
    """What is left of a cell without its code, in which no mark, link or mention works."""
    return re.sub(r"`[^`\n]*`|<code>[\w&#;]*</code>", "", cell)


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


@pytest.fixture
def two_rows(db: None) -> None:
    show_run(60.0)
    show_run(70.0, number=1, model_id="gemma3:4b", gpu="RTX 3090")


def test_every_file_has_the_rows_of_the_view_in_its_order(two_rows: None) -> None:
    query = "?ordering=overall_score"
    models = ["qwen3-8b", "gemma-3-4b"]
    assert [line["model"] for line in lines(query)] == models
    assert [row["model"] for row in document(query)["rows"]] == models
    assert [cells[1].strip() for cells in table(query)[2:]] == [f"`{name}`" for name in models]


@pytest.mark.parametrize("query", ["?gpu=RTX 3090", "?q=gemma", "?model=gemma-3-4b"])
def test_files_take_the_filters_of_the_page(two_rows: None, query: str) -> None:
    assert [line["model"] for line in lines(query)] == ["gemma-3-4b"]
    assert [row["model"] for row in document(query)["rows"]] == ["gemma-3-4b"]
    assert len(table(query)) == 3


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("query", ["?gpuu=x", "?level=best", "?ordering=owner__password"])
def test_a_wrong_filter_gives_no_file(two_rows: None, file: str, query: str) -> None:
    response = Client().get(file + query)
    assert response.status_code == 400
    assert query[1:].split("=")[0] in response.content.decode()
    assert "qwen3-8b" not in response.content.decode()


def test_numbers_are_whole_and_unknown_ones_empty(two_rows: None) -> None:
    line = lines("?model=qwen3-8b")[0]
    assert float(line["overall_score"]) == 60.0
    assert (line["run_count"], line["owner_count"]) == ("1", "1")
    assert line["load_s"] == ""
    row = document("?model=qwen3-8b")["rows"][0]
    assert row["overall_score"] == 60.0
    assert row["load_s"] is None
    assert row["url"].startswith("http://testserver/runs/")


@pytest.mark.parametrize(
    "model_id",
    [
        "=cmd|' /C calc'!A0",
        "+1+1",
        "-2+3",
        "@SUM(A1)",
        " =1+1",
        "\uff1d1+1",
        '"=1+1"',
        "a,b;c",
        "a\nb",
    ],
)
def test_d083_no_cell_is_a_formula(db: None, model_id: str) -> None:
    show_run(60.0, model_id=model_id, subject={"quantization": model_id})
    (line,) = lines()
    assert len(line) == len(exports.COLUMNS)
    for cell in line.values():
        assert is_number(cell) or not cell.lstrip().startswith(FORMULAS)
        assert not cell.startswith(("\t", "\r"))
        assert "\n" not in cell


@pytest.mark.parametrize(
    "model_id",
    [
        "a|b\nc",
        "a\\|b",
        "a\\\\|b",
        "`|`",
        "[x](https://evil.example)",
        "![x](https://evil.example/x.png)",
        "<img src=x>",
        "&#124;",
        "https://evil.example www.evil.example",
        "**bold** ~~gone~~",
        "@team #12",
    ],
)
def test_d085_no_name_breaks_the_table(db: None, model_id: str) -> None:
    show_run(60.0, model_id=model_id)
    head, rule, row = table()
    assert len(head) == len(rule) == len(row)
    cell = outside_code(row[1]).strip()
    assert not set(cell) & set("|`*[]<>~!@#\n")
    assert "://" not in cell
    assert "www." not in cell


def test_an_export_is_not_cut_to_a_page(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leaderboard.board.ROWS", 1)
    assert ROWS > 1
    for number in range(3):
        show_run(40.0 + number, number=number, model_id=f"qwen3-{number + 1}b")
    assert len(lines("?page=2")) == 3


def test_a_file_that_is_cut_says_so(two_rows: None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not document()["is_cut"]
    monkeypatch.setattr(exports, "MOST_ROWS", 1)
    assert document()["is_cut"]
    assert len(document()["rows"]) == 1
    assert "The first 1 rows." in download("/leaderboard.md")


def test_the_same_view_has_the_same_link(two_rows: None) -> None:
    links = {
        document(query)["address"]
        for query in (
            "?q=gemma&gpu=RTX+3090&page=2",
            "?gpu=RTX+3090&q=gemma&harness=",
            "?gpu=RTX+3090&gpu=RTX+3090&q=gemma",
        )
    }
    assert links == {"http://testserver/?gpu=RTX+3090&q=gemma"}
    (link,) = links
    assert "gemma-3-4b" in Client().get(link).content.decode()
    assert link in download("/leaderboard.md?q=gemma&gpu=RTX+3090")


def test_files_are_only_read(db: None) -> None:
    assert {Client().post(file).status_code for file in FILES} == {405}


@pytest.mark.parametrize("value", [1.5, 3, True, None])
def test_what_is_no_text_stays_in_its_cell(value: float | bool | None) -> None:
    assert csv_cell(value) is value


def test_an_ordinary_name_is_as_it_was() -> None:
    assert csv_cell("qwen3-8b") == "qwen3-8b"
