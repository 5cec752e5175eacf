"""What `bench-loop info` found, as a terminal page: machine, servers with models, the rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from bench_loop.console import NARROW, Signs, clean, in_signs, program, signs, width
from bench_loop.report.figures import UNKNOWN, number
from bench_loop.report.marks import wrapped

_STATES = {
    "loading": ("still loading its model", "partial"),
    "locked": ("wants an API key", "partial"),
    "silent": ("does not answer", "fail"),
    "not_a_model_server": ("answers, but not as a model server", "fail"),
    "ready": ("stopped answering", "fail"),
}
"""What is said of a server whose models are not known, and its style."""

LONG_NAME = 28
"""Letters of a name that stand on one line of the table, so that 80 columns hold the rest."""

MOST_SHOWN = 50
"""Models of one server that are shown of those that can be run, and of those that cannot."""

Line = tuple[str, Text]


def print_info(found: dict[str, Any], screen: Console) -> None:
    """Print everything that `commands.info.gather` found."""
    look = signs(screen)
    _section(screen, look, "machine", _machine(found["machine"]))
    for server in found["servers"]:
        _server(server, screen, look)
    if not found["servers"]:
        remedy = Text.assemble("start one, or: ", (f"{program()} quickstart", "figure"))
        _section(screen, look, "model servers", [("none found", remedy)])
    _section(screen, look, "installed", _installed(found))


def window_text(loaded: int | None, declared: int | None) -> str | None:
    """The window that is loaded where the server tells it, of what the model is made for."""
    if loaded and declared and loaded != declared:
        return f"{loaded:,} of {declared:,}"
    window = loaded or declared
    return f"{window:,}" if window else None


def _server(server: dict[str, Any], screen: Console, look: Signs) -> None:
    screen.print(_title(server), soft_wrap=True)
    models = server["models"]
    if models is None:
        said, style = _STATES[server["state"]]
        line = Text.assemble((f"  {said}", style))
        if server["state"] == "locked":
            line.append(f"  {_unlocking(server)}", "figure")
        screen.print(line, soft_wrap=True)
    elif not models:
        screen.print(Text("  lists no models", "basis"))
    else:
        _models(models, screen, look)
    screen.print()


def _unlocking(server: dict[str, Any]) -> str:
    """What to do: a key is given only to a server that the user saved."""
    if server["name"] is None:
        return f"{program()} endpoints add NAME {clean(server['endpoint'])}"
    return "export BENCHLOOP_API_KEY=..."


def _title(server: dict[str, Any]) -> Text:
    """Engine, version and address; of an endpoint where none answers, its name and address."""
    is_there = server["state"] not in ("silent", "not_a_model_server")
    words = (server["engine"], server["version"]) if is_there else (server["name"],)
    title = Text(clean(" ".join(filter(None, words))), "figure")
    place = f" at {clean(server['endpoint'])}"
    if is_there and server["name"]:
        place += f", saved as {clean(server['name'])}"
    return title.append(place, "basis")


def _models(models: Sequence[dict[str, Any]], screen: Console, look: Signs) -> None:
    """The models that can be run as a table, and below it those that cannot, with the reason."""
    usable = [model for model in models if not model["refuse_reason"]]
    refused = [model for model in models if model["refuse_reason"]]
    if usable:
        table = _table(usable[:MOST_SHOWN], look, is_narrow=width(screen) < NARROW)
        screen.print(Padding(table, (0, 0, 0, 2)), width=width(screen))
    lines = [f"{one['model_id']}: {one['lack']}" for one in usable[:MOST_SHOWN] if one["lack"]]
    lines += [f"{one['model_id']}: {one['refuse_reason']}" for one in refused[:MOST_SHOWN]]
    if more := max(0, len(usable) - MOST_SHOWN) + max(0, len(refused) - MOST_SHOWN):
        lines.append(f"and {more:,} more: {program()} info --json")
    for line in lines:
        for piece in wrapped(Text(clean(line), "basis"), screen, indent=2):
            screen.print(piece, soft_wrap=True)


def _table(models: Sequence[dict[str, Any]], look: Signs, *, is_narrow: bool) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="basis")
    longest = max(len(clean(model["model_id"])) for model in models)
    least = None if is_narrow else min(longest, LONG_NAME)
    table.add_column("model", overflow="fold", min_width=least)
    table.add_column("size", justify="right", no_wrap=True)
    table.add_column("quantization", no_wrap=True)
    if not is_narrow:
        table.add_column("GiB", justify="right", no_wrap=True)
        table.add_column("window", justify="right", no_wrap=True)
        table.add_column("can", overflow="fold")
    for model in models:
        cells = [_parameters(model), model["quantization"]]
        if not is_narrow:
            window = window_text(model["context_loaded"], model["context_declared"])
            cells += [_gib(model["size_bytes"]), window, _abilities(model["capabilities"])]
        parts = in_parts(clean(model["model_id"]), LONG_NAME)
        name = Text("\n".join(parts), _loaded_style(model))
        table.add_row(name, *(_cell(cell, look) for cell in cells))
    return table


def in_parts(name: str, longest: int) -> Iterator[str]:
    """A name in lines of at most so many letters, each ended where its parts end if it can be."""
    while len(name) > longest:
        end = max(name.rfind(mark, 1, longest) for mark in "/:-") + 1 or longest
        yield name[:end]
        name = name[end:]
    yield name


def _loaded_style(model: dict[str, Any]) -> str:
    """A model that is in memory stands out: a run on it begins at once."""
    return "accent" if model["context_loaded"] is not None else ""


def _cell(text: str | None, look: Signs) -> Text:
    return in_signs(Text(clean(text)) if text else Text(UNKNOWN, "basis"), look)


def _parameters(model: dict[str, Any]) -> str | None:
    total, active = model["parameters_b"], model["active_parameters_b"]
    if total is None:
        return None
    return f"{total:.3g}B" + (f" A{active:.2g}B" if active else "")


def _gib(size: int | None) -> str | None:
    return number(size / 2**30, 1) if size else None


def _abilities(known: Iterable[str] | None) -> str | None:
    """What a model can do beside answering; None: the server does not tell."""
    if known is None:
        return None
    return ", ".join(word for word in known if word != "completion") or "chat"


def _machine(machine: dict[str, Any]) -> list[Line]:
    gpus = [
        " ".join(filter(None, (gpu["vendor"], gpu["model"], _memory(gpu["memory_gb"]))))
        for gpu in machine["gpus"]
    ]
    cores = f"{machine['physical_cores'] or '?'} cores, {machine['logical_cores'] or '?'} threads"
    return [
        ("processor", Text(f"{machine['cpu_model'] or 'unknown'} ({cores})")),
        ("memory", Text(_memory(machine["system_memory_gb"]) or "unknown")),
        ("GPU", Text(", ".join(gpus) or "none found")),
        ("system", Text(machine["os"] or "unknown")),
        ("class", Text(machine["device_class"])),
    ]


def _memory(size: float | None) -> str | None:
    return f"{size:.1f} GiB" if size is not None else None


def _installed(found: dict[str, Any]) -> list[Line]:
    versions, embedded = found["versions"], found["embedded"]
    engine = ", ".join(embedded["models"]) if embedded["is_installed"] else None
    absent = "pip install 'bench-loop[local-model]'"
    suites = ", ".join(f"{suite['name']} {suite['version']}" for suite in found["suites"])
    harnesses = ", ".join(
        " ".join((one["name"], one["version"] or "(not installed)")) for one in found["harnesses"]
    )
    own = f"{versions['bench_loop']}, schema {versions['schema']}, scoring {versions['scoring']}"
    return [
        ("embedded engine", Text(engine or absent, "" if engine else "basis")),
        ("sandbox", Text(", ".join(found["sandboxes"]) or "none: see docs/sandbox.md")),
        ("harnesses", Text(harnesses)),
        ("suites", Text(suites)),
        ("results", Text(f"{found['results']} in {found['data_folder']}")),
        ("bench-loop", Text(own)),
        ("platform", Text(f"Python {versions['python']}, {versions['platform']}")),
    ]


def _section(screen: Console, look: Signs, title: str, lines: Sequence[Line]) -> None:
    """A heading with its lines; texts without styles of their own may come from anywhere."""
    screen.print(Text(clean(title), "figure"), soft_wrap=True)
    wide = max((len(clean(label)) for label, _ in lines), default=0)
    for label, text in lines:
        head = f"  {clean(label):{wide}}  "
        shown = in_signs(Text(clean(text.plain), text.style) if not text.spans else text, look)
        first, *more = wrapped(shown, screen, indent=len(head))
        line = Text().append(head, "basis").append_text(first[len(head) :])
        screen.print(line, soft_wrap=True)
        for line in more:
            screen.print(line, soft_wrap=True)
    screen.print()
