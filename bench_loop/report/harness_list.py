"""The harnesses, in a terminal and as JSON: what each is, what it needs, and whether it is here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bench_loop.console import clean, in_signs, signs, width
from bench_loop.contracts.harness import Capability, Needs
from bench_loop.programs.known import Known
from bench_loop.report import figures
from bench_loop.report.marks import wrapped

MB = 2**20
HEADS = ("harness", "version", "licence", "installed", "size", "context", "tool calls")
NUMBERS = ("size", "context")
WIDE = 74
"""Below so many columns the licence is left out: `install` shows it, too."""
CAPABILITIES: tuple[Capability, ...] = get_args(Capability)


def print_harnesses(harnesses: Sequence[Known], screen: Console) -> None:
    """One line for each, and below what each can do."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="basis")
    heads = [head for head in HEADS if head != "licence" or screen.width >= WIDE]
    for head in heads:
        table.add_column(head, justify="right" if head in NUMBERS else "left", no_wrap=True)
    for harness in harnesses:
        cells = dict(zip(HEADS, map(clean, _cells(harness)), strict=True))
        table.add_row(*(in_signs(Text(cells[head]), signs(screen)) for head in heads))
    screen.print(table, width=width(screen))
    screen.print()
    for harness in harnesses:
        line = Text.assemble((clean(harness.adapter.name), "figure"), f"  {abilities(harness)}")
        first, *rest = wrapped(line, screen, indent=2)
        for part in (first[2:], *rest):
            screen.print(part)
        for option, values in harness.options.items():
            words = f"  --harness-option {option}={'|'.join(values)}"
            screen.print(Text(clean(words), style="basis"), width=width(screen))
    screen.print()
    words = "Sizes are MB on the disk, context the tokens that a model's window must have."
    screen.print(words, style="basis", width=width(screen))
    if any(harness.adapter.installation and not harness.installed for harness in harnesses):
        screen.print("To install one: bench-loop harness install NAME", style="basis")


def harnesses_json(harnesses: Sequence[Known]) -> list[dict[str, Any]]:
    """The same for a program to read; unknown is null."""
    return [_harness_json(harness) for harness in harnesses]


def needs_in_words(needs: Needs) -> tuple[str, str]:
    """The window in tokens and whether tool calls must be streamed, for two cells."""
    window = f"{needs.context_window:,}" if needs.context_window else figures.UNKNOWN
    return window, "needed" if needs.tool_calls else "not needed"


def abilities(harness: Known) -> str:
    """In the order of the contract, so that lines can be compared."""
    able = harness.adapter.capabilities
    return ", ".join(name.replace("_", " ") for name in CAPABILITIES if name in able)


def _cells(harness: Known) -> tuple[str, ...]:
    adapter, found = harness.adapter, harness.installed
    window, calls = needs_in_words(adapter.needs)
    installation = adapter.installation
    if installation is None:
        return adapter.name, adapter.version, "MIT", "built in", figures.UNKNOWN, window, calls
    size = found.record.size_bytes // MB if found else installation.size_mb
    return (
        adapter.name,
        adapter.version,
        installation.licence,
        "yes" if found else "no",
        f"{size:,}",
        window,
        calls,
    )


def _harness_json(harness: Known) -> dict[str, Any]:
    adapter, found = harness.adapter, harness.installed
    installation = adapter.installation
    return {
        "name": adapter.name,
        "version": adapter.version,
        "capabilities": [name for name in CAPABILITIES if name in adapter.capabilities],
        "needs": {
            "context_window": adapter.needs.context_window,
            "tool_calls": adapter.needs.tool_calls,
        },
        "options": {option: list(values) for option, values in harness.options.items()},
        "installation": {
            "registry": installation.registry,
            "packages": list(installation.packages),
            "licence": installation.licence,
            "homepage": installation.homepage,
            "size_mb": installation.size_mb,
            "runtime": installation.runtime or None,
        }
        if installation
        else None,
        "installed": {
            "folder": str(found.folder),
            "program": str(found.program),
            **found.record.model_dump(mode="json", exclude={"name", "registry"}),
        }
        if found
        else None,
    }
