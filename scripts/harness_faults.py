"""Puts each fault into a task of each harness program, and keeps what came of it.

    python -m scripts.harness_faults [NAME...]   measure the harnesses named, or all that there are
    python -m scripts.harness_faults --page      write docs/harness-faults.md again

`make harness-faults` measures all of them, which takes about half an hour: one after another, and
nothing else should run meanwhile. The model is scripted, so only the harness can go wrong. What was
measured is kept in harnesses/faults.json, a row as soon as it is there, and the page is made
from that. The programs are those that `bench-loop harness install` has installed.
"""

from __future__ import annotations

import math
import os
import platform
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import psutil

from bench_loop import __version__
from bench_loop.contracts.harness import HarnessAdapter
from bench_loop.engine.harness_record import busy_s
from bench_loop.gateway.faults import FAULTS, Fault, FaultPlan, FaultyUpstream
from bench_loop.gateway.http import HttpUpstream
from bench_loop.programs.attempt import Bounds, attempt
from bench_loop.programs.check import FILE, LAST_WORDS, MENDED, TASK, script_for
from bench_loop.programs.fault_table import LEAST_S, Measured, Row, Step, fault_table, table_file
from bench_loop.programs.installed import Installed
from bench_loop.programs.known import all_harnesses
from bench_loop.result.records import RequestRecord
from bench_loop.simulator.script import SIDE_TEXT
from bench_loop.simulator.scripted import scripted_model
from scripts.markdown import table

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "harness-faults.md"

DEADLINE_S = 60.0
"""For the work; a slow start, as the trial without a fault showed it, comes on top."""
CLEAN_DEADLINE_S = 180.0
STALL_S = 15.0
MOST_REQUESTS = 60
MODES = ("path", "mode")
"""Where an adapter tells in which of its ways the program was asked."""
LONGEST = 160
"""Characters that are kept of a text."""
GIB = 2**30
WIDTH = 100

MEANING: dict[Fault, str] = {
    "http_500": "The request is answered with HTTP 500, and the model is not asked.",
    "stall": f"The answer falls silent for {STALL_S:.0f} s after its first token, then goes on.",
    "cut_stream": "The connection ends in the middle of an event, after the first token.",
    "malformed_arguments": "The arguments of the model's tool call are cut in half: no JSON.",
    "unknown_tool": "The model calls a tool that was not offered.",
    "empty_answer": "The model says nothing and calls nothing, with a regular end.",
    "tool_error": "The call is one that the harness's own tool must answer with an error.",
}


# --- Measuring ------------------------------------------------------------------------------------


def measure(
    adapter: HarnessAdapter, program: Installed, fault: Fault | None, deadline_s: float
) -> Row:
    """Do the task once, with the fault in the answer to the second request.

    Where a harness asks only once, it is the first.
    """
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    at = datetime.now(UTC).replace(microsecond=0)
    request = 2 if "native_tools" in adapter.capabilities else 1
    with scripted_model(script_for(adapter)) as model:
        plan = FaultPlan(fault, request, STALL_S) if fault else None
        upstream = FaultyUpstream(HttpUpstream(model.address), plan)
        bounds = Bounds(model.model_id, deadline_s, requests=MOST_REQUESTS)
        tried = attempt(adapter, program, TASK, upstream, bounds)
    made, first = tried.result, next(iter(tried.sent), None)
    wall_s = made.wall_s if made.wall_s is not None else tried.wall_s
    return Row(
        harness=adapter.name,
        version=adapter.version,
        mode=_mode(made.metadata),
        fault=fault,
        at=at,
        load=load if load is None else round(load, 1),
        deadline_s=deadline_s,
        put_in_at=upstream.done_at,
        is_file_right=(made.files or {}).get(FILE) == MENDED.encode(),
        has_last_words=LAST_WORDS in made.final_text,
        requests=len(tried.sent),
        first_prompt_tokens=first.tokens.prompt if first else None,
        prompt_tokens=tried.prompt_tokens,
        tools_offered=first.tools_offered if first else None,
        wall_s=round(wall_s, 2),
        model_s=round(min(busy_s(tried.sent), wall_s), 2),
        tools_s=None if made.tools_s is None else round(made.tools_s, 2),
        leftovers=made.metadata.get("leftovers"),
        is_ended=made.limit == "wall",
        failure=None if made.failure is None else _short(made.failure),
        final_text=_short(made.final_text),
        steps=tuple(map(_step, tried.requests)),
    )


def _mode(said: Mapping[str, object]) -> str | None:
    told = (said.get(name) for name in MODES)
    return next((mode for mode in told if isinstance(mode, str)), None)


def _step(request: RequestRecord) -> Step:
    return Step(
        sent_s=round(request.sent_s, 2),
        latency_s=round(request.latency_s, 2),
        status=request.status,
        messages=request.messages,
        is_answered=request.finish_reason is not None,
        fault=request.fault,
        refused=request.refused,
    )


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= LONGEST else f"{words[: LONGEST - 1]}…"


def machine() -> str:
    """The kind of machine, without a word on which it is."""
    memory = round(psutil.virtual_memory().total / GIB)
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, {memory} GiB"


# --- Keeping --------------------------------------------------------------------------------------


def with_row(before: Measured | None, row: Row) -> Measured:
    """All that was measured, with `row` in the place of an older one."""
    rows = before.rows if before else ()
    others = [one for one in rows if (one.harness, one.fault) != (row.harness, row.fault)]
    order = (None, *FAULTS)
    return Measured(
        bench_loop=__version__,
        machine=machine(),
        deadline_s=DEADLINE_S,
        stall_s=STALL_S,
        rows=tuple(sorted((*others, row), key=lambda one: (one.harness, order.index(one.fault)))),
    )


def written(measured: Measured) -> str:
    """The file of it: one row a line."""
    rows = ",\n".join(row.model_dump_json() for row in measured.rows)
    head = measured.model_dump_json(exclude={"rows"}).removesuffix("}")
    return f'{head},"rows":[\n{rows}\n]}}\n'


# --- What a harness did ---------------------------------------------------------------------------


def deeds(row: Row) -> Iterator[str]:
    """What it did once the fault was in, by the requests that it sent and by its end."""
    sent = [step for step in row.steps if step.refused is None]
    faulty = next((n for n, step in enumerate(sent) if step.fault is not None), None)
    if faulty is not None:
        yield _next_step(sent[faulty], sent[faulty + 1 :])
    if refused := len(row.steps) - len(sent):
        yield f"was refused {refused} requests"
    if row.is_ended:
        yield "did not come to an end"
    elif not row.final_text:
        yield "ended without an answer"
    elif not row.has_last_words:
        yield f"ended with the words: {row.final_text}"


def _next_step(faulty: Step, later: Sequence[Step]) -> str:
    """What came after the request with the fault, as far as the length of its prompt tells."""
    if not later:
        return "asked no more"
    more = (later[0].messages or 0) - (faulty.messages or 0)
    if faulty.is_answered and more > 0:
        return "went on with the conversation"
    paused_s = max(0.0, later[0].sent_s - faulty.sent_s - faulty.latency_s)
    again = sum(step.messages == later[0].messages for step in later)
    times = "once" if again == 1 else f"{again} times"
    what = "the same again" if more == 0 else f"again, {_more(more)},"
    return f"asked {what} {times}, first after {paused_s:.1f} s"


def _more(messages: int) -> str:
    noun = "message" if abs(messages) == 1 else "messages"
    return f"{abs(messages)} {noun} {'longer' if messages > 0 else 'shorter'}"


# --- The page -------------------------------------------------------------------------------------


def page(measured: Measured | None) -> str:
    """docs/harness-faults.md."""
    return "\n\n".join(_parts(measured)) + "\n"


def _parts(measured: Measured | None) -> Iterator[str]:
    yield "# What harnesses do when something goes wrong"
    yield (
        "A small task, done by each harness program with a scripted model, once as it should be\n"
        "and once with each fault that the gateway can put in. As it came out of\n"
        "`make harness-faults`; made from [harnesses/faults.json](../harnesses/faults.json)."
    )
    if measured is None or not measured.rows:
        yield "Nothing was measured yet."
        return
    yield _circumstances(measured)
    yield "## Recovery"
    yield (
        "The model knows how to do the task, whatever happened before: it is the harness that has\n"
        "to get over the fault. It has recovered when at the end the file is right *and* the\n"
        "model's last words are in the harness's answer: `yes` here. One trial a cell, with its\n"
        "seconds; `none` is the same task without a fault. `n/a`: the fault found no place, since\n"
        "a harness without tools gives the model none to call. `?`: ended from outside before it\n"
        f"had {LEAST_S:.0f} s to get over the fault. To a harness that has tools and asks without\n"
        f"them the scripted model says: {SIDE_TEXT}."
    )
    yield table(
        ("harness", "none", *(f"`{fault}`" for fault in FAULTS)),
        (_recovery_row(rows) for rows in _by_harness(measured)),
    )
    yield "\n".join(f"- `{fault}`: {meaning}" for fault, meaning in MEANING.items())
    yield "## Overhead"
    yield (
        "The same task without a fault, as the gateway counted it, with nothing kept from a trial\n"
        "before. Tokens are the scripted model's, of four characters each; a real model counts\n"
        "others. `harness` is the time that neither the model nor, as far as the harness tells, a\n"
        "tool took: start, own work and end. `left` are processes that BenchLoop had to end.\n"
        "`load` is the machine's load average before it: where it is above the number of cores,\n"
        "other work was going on, and the seconds are too many."
    )
    yield table(
        (
            *("harness", "version", "requests", "tools offered", "first prompt, tokens"),
            *("all prompts, tokens", "seconds", "first request after", "model", "tools"),
            *("harness", "left", "load"),
        ),
        (_overhead_row(row) for row in measured.rows if row.fault is None),
    )
    yield "## One by one"
    for rows in _by_harness(measured):
        mode = f" ({rows[0].mode})" if rows[0].mode else ""
        yield f"### {rows[0].harness} {rows[0].version}{mode}"
        yield table(
            (
                *("fault", "in request", "file", "last words", "requests", "prompt tokens"),
                *("seconds", "its own word", "what it did"),
            ),
            map(_row, rows),
        )


def _circumstances(measured: Measured) -> str:
    days = sorted({f"{row.at:%Y-%m-%d}" for row in measured.rows})
    loads = sorted(row.load for row in measured.rows if row.load is not None)
    load = f", with a load average of {loads[0]:.1f} to {loads[-1]:.1f} meanwhile" if loads else ""
    text = (
        f"Measured on {' and '.join(days)} with BenchLoop {measured.bench_loop} on"
        f" {measured.machine}{load}. Each trial ran in a sandbox with the gateway as its only"
        f" network. It was ended from outside {measured.deadline_s:.0f} s after the moment at which"
        " the harness asked first in the trial without a fault, or earlier (`deadline_s` in the"
        " JSON). The fault is in the answer to the second request, or to the only one, or else to"
        " the first after it that has a place for it."
    )
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def _by_harness(measured: Measured) -> list[list[Row]]:
    names = dict.fromkeys(row.harness for row in measured.rows)
    return [[row for row in measured.rows if row.harness == name] for name in names]


def _recovery_row(rows: Sequence[Row]) -> tuple[str, ...]:
    cells = {row.fault: _recovery(row) for row in rows}
    return (rows[0].harness, *(cells.get(fault, "") for fault in (None, *FAULTS)))


def _recovery(row: Row) -> str:
    if row.fault is not None and row.put_in_at is None:
        return "n/a"
    if not row.is_told:
        return f"? {row.wall_s:.0f} s"
    return f"{'yes' if row.is_recovered else '**no**'} {row.wall_s:.0f} s"


def _overhead_row(row: Row) -> tuple[object, ...]:
    return (
        *(row.harness, row.version, row.requests, _told(row.tools_offered)),
        *(_told(row.first_prompt_tokens), _told(row.prompt_tokens), f"{row.wall_s:.1f}"),
        *(
            f"{row.start_s:.1f}",
            f"{row.model_s:.1f}",
            "" if row.tools_s is None else f"{row.tools_s:.1f}",
        ),
        *(f"{row.harness_s:.1f}", _told(row.leftovers)),
        "" if row.load is None else f"{row.load:.1f}",
    )


def _row(row: Row) -> tuple[object, ...]:
    return (
        f"`{row.fault}`" if row.fault else "none",
        _told(row.put_in_at),
        "right" if row.is_file_right else "**wrong**",
        "yes" if row.has_last_words else "**no**",
        *(row.requests, _told(row.prompt_tokens), f"{row.wall_s:.1f}"),
        *(row.failure or "", ", ".join(deeds(row))),
    )


def _told(count: int | None) -> str:
    return "" if count is None else f"{count:,}"


# --- The command ----------------------------------------------------------------------------------


def main(arguments: Sequence[str]) -> int:
    if list(arguments) != ["--page"]:
        wanted = [
            harness
            for harness in all_harnesses()
            if harness.adapter.installation is not None
            and (not arguments or harness.adapter.name in arguments)
        ]
        absent = [harness.adapter.name for harness in wanted if harness.installed is None]
        if absent or not wanted:
            names = " ".join(absent or arguments)
            print(f"Not installed: {names}. Run: bench-loop harness install NAME", file=sys.stderr)
            return 1
        for harness in wanted:
            assert harness.installed is not None
            _measure_all(harness.adapter, harness.installed)
    PAGE.write_text(page(fault_table()), encoding="utf-8")
    return 0


def _measure_all(adapter: HarnessAdapter, program: Installed) -> None:
    deadline_s = CLEAN_DEADLINE_S
    for fault in (None, *FAULTS):
        row = measure(adapter, program, fault, deadline_s)
        if fault is None:
            deadline_s = DEADLINE_S + math.ceil(row.start_s)
        everything = with_row(fault_table(), row)
        table_file().write_text(written(everything), encoding="utf-8")
        cells = (row.harness, fault or "none", _recovery(row), row.failure or "", *deeds(row))
        print(" | ".join(cells), flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
