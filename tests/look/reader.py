"""Reads pages as a browser would find them: tags, attributes and text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser

HOSTILE = "</textarea></pre><script>alert(1)</script><img src=x onerror=alert(2)>\x00\u202eevil"
VOID = {"meta", "input", "br", "link", "img"}


class Page(HTMLParser):
    """Tags, attributes and text of a page; complains about tags that are not closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in ("script", "style"):
            self.words.append(data)

    def named(self, tag: str) -> Iterator[dict[str, str | None]]:
        return (attributes for name, attributes in self.tags if name == tag)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", "".join(self.words))
