"""What the report of a run is laid out on, in a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from bench_loop.console import NARROW, Signs, in_signs, width
from bench_loop.report.marks import (
    LABEL,
    label,
    plot_columns,
    side_by_side,
    wrapped,
)


@dataclass(frozen=True, slots=True)
class Page:
    """What a report is laid out on."""

    screen: Console
    signs: Signs

    @property
    def columns(self) -> int:
        return width(self.screen)

    @property
    def is_narrow(self) -> bool:
        return self.columns < NARROW

    @property
    def plot(self) -> int:
        """Columns of a plot; 0: there is no room for one."""
        return 0 if self.is_narrow else plot_columns(self.columns)

    def prose(self, text: Text, *, indent: int = 0, limit: int | None = None) -> list[Text]:
        """`text` on lines that fit, in the signs that are shown: some of them are longer."""
        return wrapped(in_signs(text, self.signs), self.screen, indent=indent, limit=limit)

    def labelled(self, name: str, text: Text) -> Iterator[Text]:
        """`text` behind a name at the left, on as many lines as it needs."""
        first, *rest = self.prose(text, indent=LABEL)
        yield label(name).append_text(first[LABEL:])
        yield from rest

    def beside(self, name: str, parts: Sequence[Text]) -> Iterator[Text]:
        """`parts` one after another behind a name at the left."""
        shown = [in_signs(part, self.signs) for part in parts]
        if max(part.cell_len for part in shown) > self.columns - LABEL:
            yield from self.labelled(name, Text("   ").join(shown))
            return
        first, *rest = side_by_side(shown, self.columns, indent=LABEL)
        yield label(name).append_text(first[LABEL:])
        yield from rest
