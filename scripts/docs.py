"""Writes the generated parts of the documentation; `--check` only says whether they are current.

A generated part stands between `<!-- generated: NAME -->` and `<!-- end of NAME -->`.
The pages in docs/ that are generated as a whole are named in `documents`.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from bench_loop import cli, errors
from bench_loop.contracts.harness import HarnessAdapter
from bench_loop.engine import suitability
from bench_loop.engine.capabilities import CAPABILITIES
from bench_loop.engine.families import Family, family_names, load_family
from bench_loop.engine.packs import Pack, load_pack, pack_names
from bench_loop.engine.profiles import PROFILES
from bench_loop.engine.task_schema import task_schema
from bench_loop.engine.validate import DEGENERATE
from bench_loop.programs.fault_table import fault_table
from bench_loop.programs.known import Known, all_harnesses
from bench_loop.report import harness_list
from bench_loop.report.matrix import SOURCE_WORDS
from bench_loop.report.matrix_means import all_means
from bench_loop.result.schema import result_schema
from bench_loop.scoring.methodology import methodology_markdown
from scripts import harness_faults, references
from scripts.markdown import one_line, table
from scripts.reference_page import page as reference_page

ROOT = Path(__file__).resolve().parent.parent
WIDTH = 88

Schema = Mapping[str, Any]


def documents() -> dict[Path, str]:
    """Every file with generated parts, with the text that it should have."""
    pages = [ROOT / "docs" / f"{name}.md" for name in ("commands", "harnesses", "packs", "suites")]
    return {
        **{page: fill(page.read_text(encoding="utf-8"), PARTS) for page in pages},
        ROOT / "docs" / "methodology.md": methodology_markdown(),
        harness_faults.PAGE: harness_faults.page(fault_table()),
        references.PAGE: reference_page(references.runs(), references.arms()),
        ROOT / "docs" / "result-file.md": result_file_page(result_schema()),
        ROOT / "docs" / "result-v1.schema.json": json_text(result_schema()),
        ROOT / "packs" / "task.schema.json": json_text(task_schema()),
    }


def json_text(schema: Schema) -> str:
    return json.dumps(schema, indent=2) + "\n"


def fill(document: str, parts: Mapping[str, Callable[[], str]]) -> str:
    """`document` with every marked part written again. Raises KeyError for an unknown mark."""

    def part(match: re.Match[str]) -> str:
        name = match["name"]
        return f"<!-- generated: {name} -->\n{parts[name]()}\n<!-- end of {name} -->"

    pattern = r"<!-- generated: (?P<name>[\w-]+) -->\n.*?<!-- end of (?P=name) -->"
    return re.sub(pattern, part, document, flags=re.DOTALL)


# --- docs/commands.md, docs/suites.md -------------------------------------------------------------


def command_help() -> str:
    """The help of `bench-loop` and of each of its commands, as a terminal shows it."""
    pages: list[tuple[str, click.Command]] = [("bench-loop", cli.group)]
    for name in cli.COMMANDS:
        module = importlib.import_module(f"bench_loop.commands.{name}")
        pages.append((f"bench-loop {name}", module.command))
        if isinstance(module.command, click.Group):
            inner = module.command.commands.items()
            pages += [(f"bench-loop {name} {verb}", command) for verb, command in inner]
    return "\n\n".join(
        f"### `{title}`\n\n```text\n{_help_of(command, title)}\n```" for title, command in pages
    )


def _help_of(command: click.Command, title: str) -> str:
    settings = {**cli.group.context_settings, "terminal_width": WIDTH}
    context = click.Context(command, info_name=title, **settings)
    return "\n".join(line.rstrip() for line in command.get_help(context).splitlines())


def suite_table() -> str:
    """One line for each suite."""
    packs = [load_pack(name) for name in pack_names()]
    return table(
        ("suite", "version", "measures", "tasks", "what it asks"),
        (
            (f"`{pack.name}`", pack.version, pack.dimension, len(pack.tasks), pack.description)
            for pack in packs
        ),
    )


def profile_table() -> str:
    """One line for each profile, with the suites that are there now and their number of tasks."""
    packs = [load_pack(name) for name in pack_names()]
    return table(
        ("profile", "suites and tasks", "ranked", "for"),
        (
            (
                f"`{name}`",
                ", ".join(
                    f"{pack.name} {len(pack.profiles[name])}" if pack.tasks else pack.name
                    for pack in packs
                    if name in pack.profiles
                ),
                "yes" if rules.is_ranked else "no",
                rules.purpose,
            )
            for name, rules in PROFILES.items()
        ),
    )


def exit_codes() -> str:
    """One line for each exit code: the classes of `bench_loop.errors` own them."""
    codes = {
        0: "Everything was done.",
        130: "Interrupted; every finished trial was kept.",
        143: "The same, by SIGTERM (129: the terminal was closed).",
    }
    for kind in _tree(errors.BenchLoopError):
        if "exit_code" in vars(kind):
            # Where two share a code, the first is the one that a command ends with.
            codes.setdefault(kind.exit_code, re.split("[.:]", kind.__doc__ or "")[0] + ".")
    return table(("code", "means"), sorted(codes.items()))


def _tree(kind: type[errors.BenchLoopError]) -> Iterator[type[errors.BenchLoopError]]:
    yield kind
    for below in kind.__subclasses__():
        yield from _tree(below)


# --- docs/harnesses.md ----------------------------------------------------------------------------


def harness_table() -> str:
    """One line for each harness: where it comes from and what it asks."""
    return table(
        ("harness", "version", "packages", "licence", "size", "runs on", "window", "tool calls"),
        (_harness_row(harness.adapter) for harness in all_harnesses()),
    )


def _harness_row(adapter: HarnessAdapter) -> tuple[str, ...]:
    how = adapter.installation
    window, calls = harness_list.needs_in_words(adapter.needs)
    if how is None:
        return f"`{adapter.name}`", adapter.version, "built in", "MIT", "", "", window, calls
    runtime = {"npm": "Node", "pypi": "Python"}[how.registry]
    return (
        f"[`{adapter.name}`]({how.homepage})",
        adapter.version,
        ", ".join(f"`{package}`" for package in how.packages),
        how.licence,
        f"{how.size_mb} MB",
        f"{runtime} {how.runtime}" if how.runtime else "",
        window,
        calls,
    )


def harness_abilities() -> str:
    """One line for each harness: what it can do, and the settings that it takes."""
    return table(
        ("harness", "can do", "settings"),
        (
            (f"`{harness.adapter.name}`", harness_list.abilities(harness), _settings(harness))
            for harness in all_harnesses()
        ),
    )


WAYS = {"question": "as a question", "workspace": "on files", "given_tools": "with its tools"}
"""How tasks are put to a harness, as the table says it."""


def matrix_figures() -> str:
    """One line for each figure of a matrix."""
    return table(("figure", "what it means"), all_means(SOURCE_WORDS))


def harness_suites() -> str:
    """One line for each suite: how its tasks are put to each harness."""
    adapters = [harness.adapter for harness in all_harnesses()]
    cells = suitability.table((load_pack(name) for name in pack_names()), adapters)
    rows: dict[str, list[str]] = {}
    for cell in cells:
        way = WAYS[cell.way] if cell.why_not is None else f"no: {cell.why_not}"
        rows.setdefault(cell.suite, []).append(way)
    return table(
        ("suite", *(f"`{adapter.name}`" for adapter in adapters)),
        ((f"`{suite}`", *ways) for suite, ways in rows.items()),
    )


def _settings(harness: Known) -> str:
    return ", ".join(
        f"`{option}={value}`" for option, values in harness.options.items() for value in values
    )


# --- docs/packs.md --------------------------------------------------------------------------------


def task_tables() -> str:
    """For each suite that has tasks: what it is for, how answers are read, its tasks, families."""
    packs = [pack for pack in map(load_pack, pack_names()) if pack.tasks]
    return "\n\n".join(map(_suite_section, packs))


def _suite_section(pack: Pack) -> str:
    families = [load_family(pack.folder, name) for name in family_names(pack.folder)]
    tasks = table(
        ("task", "level", "verifier", "capabilities", "family", "title"),
        (
            (
                f"`{task.id.removeprefix(f'{pack.name}.')}`",
                task.difficulty,
                f"`{task.verifier_type}`",
                ", ".join(task.capability_tags),
                f"`{task.family}`" if task.family else "",
                task.title,
            )
            for task in pack.tasks
        ),
    )
    sections = [
        f"### {pack.name} {pack.version}: {one_line(pack.title)}",
        one_line(pack.description),
        f"Answers are read as [`{pack.convention}`](#how-a-reply-is-read).",
        tasks,
        _family_table(families) if families else "None of its tasks belongs to a family yet.",
    ]
    return "\n\n".join(sections)


def _family_table(families: Iterable[Family]) -> str:
    """One line for each family, with the ways of reasoning that its seed decides between."""
    return table(
        ("family", "what it is", "paths"),
        (
            (f"`{family.name}`", family.sentence, ", ".join(f"`{path}`" for path in family.paths))
            for family in families
        ),
    )


def family_counts() -> str:
    """How many tasks belong to families."""
    packs = [load_pack(name) for name in pack_names()]
    tasks = [task for pack in packs for task in pack.tasks]
    families = sum(len(family_names(pack.folder)) for pack in packs)
    drawn = sum(task.family is not None for task in tasks)
    return f"Of the {len(tasks)} tasks {drawn} belong to one of {families} families."


def capability_table() -> str:
    """One line for each capability tag, with the number of tasks that have it."""
    counts = Counter(
        tag
        for name in pack_names()
        for task in load_pack(name).tasks
        for tag in task.capability_tags
    )
    return table(
        ("capability", "tasks", "what a task asks"),
        ((f"`{tag}`", counts[tag], sentence) for tag, sentence in CAPABILITIES.items()),
    )


def task_fields() -> str:
    """The fields of a task file."""
    return _field_table(task_schema())


def expected_fields() -> str:
    """The fields of `expected`, for each verifier."""
    definitions = task_schema()["$defs"]
    return "\n\n".join(
        f"#### `{name.removeprefix('Expected_')}`\n\n{_field_table(definition)}"
        for name, definition in definitions.items()
        if name.startswith("Expected_")
    )


def task_records() -> str:
    """The fields of the records that the two above name."""
    definitions = task_schema()["$defs"]
    return "\n\n".join(
        f"#### {name}\n\n{definition.get('description', '')}\n\n{_field_table(definition)}"
        for name, definition in definitions.items()
        if not name.startswith("Expected_") and "properties" in definition
    )


def degenerate_answers() -> str:
    """The answers that no task may accept."""
    return ", ".join(DEGENERATE)


PARTS: Mapping[str, Callable[[], str]] = {
    "commands": command_help,
    "suites": suite_table,
    "profiles": profile_table,
    "exit-codes": exit_codes,
    "harnesses": harness_table,
    "harness-abilities": harness_abilities,
    "harness-suites": harness_suites,
    "matrix-figures": matrix_figures,
    "tasks": task_tables,
    "family-counts": family_counts,
    "capabilities": capability_table,
    "task-fields": task_fields,
    "expected-fields": expected_fields,
    "task-records": task_records,
    "degenerate": degenerate_answers,
}


# --- docs/result-file.md --------------------------------------------------------------------------


def result_file_page(schema: Schema) -> str:
    """A table of fields for every record of the result file."""
    records = {"RunResult": schema, **schema["$defs"]}
    sections = [
        "# The result file",
        "One run is one JSON file. This page is generated from the records in `bench_loop/result/`;"
        " `bench-loop schema` prints the same as JSON Schema. Unknown is null, never zero."
        " Intervals are `[low, high]` at 95 %.",
    ]
    for name, record in records.items():
        sections += [f"## {name}", record.get("description", ""), _field_table(record)]
    return "\n\n".join(section for section in sections if section) + "\n"


def _field_table(record: Schema) -> str:
    return table(
        ("field", "type", "meaning"),
        (
            (f"`{name}`", type_of(field), field.get("description", ""))
            for name, field in record["properties"].items()
        ),
    )


def type_of(field: Schema) -> str:
    """The type of a field in a reader's words, with links to other records."""
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in field:
        return " or ".join(type_of(choice) for choice in field["anyOf"])
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    if "const" in field:
        return f"`{field['const']}`"
    if "prefixItems" in field:
        return "[" + ", ".join(type_of(item) for item in field["prefixItems"]) + "]"
    if field.get("type") == "array":
        return f"list of {type_of(field['items'])}"
    if field.get("format") == "date-time":
        return "time (RFC 3339)"
    return str(field.get("type", "any"))


def main(arguments: list[str]) -> None:
    stale = {
        file: text
        for file, text in documents().items()
        if not file.exists() or file.read_text(encoding="utf-8") != text
    }
    if "--check" in arguments:
        if stale:
            names = ", ".join(str(file.relative_to(ROOT)) for file in stale)
            sys.exit(f"Not current: {names}. Run: make docs")
        return
    for file, text in stale.items():
        file.write_text(text, encoding="utf-8")
        print(f"wrote {file.relative_to(ROOT)}")


if __name__ == "__main__":
    main(sys.argv[1:])
