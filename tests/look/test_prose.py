"""Generated Markdown as records."""

from __future__ import annotations

import pytest

from bench_loop.scoring.methodology import methodology_markdown
from leaderboard.prose import Piece, blocks, inline


def test_headings_paragraphs_lists_tables_and_code_are_told_apart() -> None:
    found = blocks(
        "# Title\n\nOne\ntwo.\n\n- a\n- b\n  goes on\n\n1. first\n\n| h | i |\n| --- | --- |\n"
        "| `x` | y |\n\n```\n# not a title\n```\n"
    )
    assert [block.kind for block in found] == [
        "heading",
        "paragraph",
        "list",
        "steps",
        "table",
        "code",
    ]
    assert found[1].lines == ((Piece("text", "One two."),),)
    assert found[2].lines[1] == (Piece("text", "b goes on"),)
    assert found[4].rows == (((Piece("code", "x"),), (Piece("text", "y"),)),)
    assert found[5].text == "# not a title"


def test_a_list_may_follow_a_paragraph_at_once() -> None:
    assert [block.kind for block in blocks("Words:\n- a\n- b")] == ["paragraph", "list"]


def test_markup_inside_a_line() -> None:
    assert inline("a `b` **c** [d](/e)") == (
        Piece("text", "a "),
        Piece("code", "b"),
        Piece("text", " "),
        Piece("strong", "c"),
        Piece("text", " "),
        Piece("link", "d", "/e"),
    )


@pytest.mark.parametrize("address", ["javascript:alert", "data:text/html,x", "//evil.example"])
def test_a_link_leads_to_the_web_or_this_site_or_is_only_text(address: str) -> None:
    assert inline(f"[x]({address})") == (Piece("text", "x"),)


def test_the_methodology_leaves_no_markup_behind() -> None:
    texts = [
        piece.text
        for block in blocks(methodology_markdown())
        for line in (*block.lines, *block.head, *(cell for row in block.rows for cell in row))
        for piece in line
        if piece.kind == "text"
    ]
    assert [text for text in texts if "**" in text or "`" in text or text.startswith("#")] == []
