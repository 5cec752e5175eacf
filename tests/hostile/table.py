"""Prints what each kind of sandbox contained, as measured here: `make hostile`."""

from __future__ import annotations

import os
import platform
import sys

from bench_loop.errors import SandboxError
from bench_loop.sandboxes import bubblewrap, docker
from tests.hostile.programs import PROGRAMS
from tests.hostile.rows import COLUMNS, ROWS, Column, Seen, attempt, is_contained


def main() -> None:
    columns = {name: column for name, column in COLUMNS.items() if is_here(column)}
    print(f"Measured on Linux {platform.release()}, {platform.machine()}, by `make hostile`.\n")
    for name, column in columns.items():
        print(f"- **{name}**: {column.title}")
    print(f"\n| # | program | {' | '.join(columns)} |")
    print(f"| --- | --- |{' --- |' * len(columns)}")
    for number, program in ROWS.items():
        cells = [cell(column, program) for column in columns.values()]
        print(f"| {number} | {PROGRAMS[program].__doc__} | {' | '.join(cells)} |", flush=True)


def is_here(column: Column) -> bool:
    """Whether this machine has such a sandbox; a reason on standard error if not."""
    if column.is_root and os.getuid() != 0:
        print(f"{column.title}: needs root", file=sys.stderr)
        return False
    try:
        if column.sandbox == "docker":
            docker.connect().close()
        elif column.sandbox == "bubblewrap":
            bubblewrap.find_bwrap()
    except SandboxError as error:
        print(f"{column.title}: {error}", file=sys.stderr)
        return False
    return True


def cell(column: Column, program: str) -> str:
    seen = attempt(column, program)
    return " ".join(filter(None, ["yes" if is_contained(program, seen) else "**no**", how(seen)]))


def how(seen: Seen) -> str:
    """What ended the program, or what it did outside."""
    if seen.said is None:
        return "(the harness died)"
    outside = [*seen.hits, *seen.damage]
    if seen.leftovers:
        outside.append(f"{seen.leftovers} processes left")
    if outside:
        return f"({', '.join(outside)})"
    if seen.result["error"]:
        return f"({seen.result['error']})"
    limit = seen.result["limit"]
    return f"({limit})" if limit else ""


if __name__ == "__main__":
    main()
