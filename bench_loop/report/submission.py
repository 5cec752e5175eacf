"""What would leave this machine, and what became of it, as a person reads it in a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from bench_loop.console import clean, in_signs, signs
from bench_loop.privacy import PrivateFinding
from bench_loop.report import figures
from bench_loop.report.marks import LABEL, label, wrapped
from bench_loop.result.records import Machine, RunResult, Trial
from bench_loop.result.signature import installation_public_key, short
from bench_loop.submit.outbox import Pending, Sent
from bench_loop.submit.payload import Payload

MOST_SHOWN = 5
"""Places of one kind of private text that are listed; the others are counted."""
MOST_FINDINGS = 100
"""Findings of a site that are printed."""

Row = tuple[str, str]


def print_payload(payload: Payload, screen: Console) -> None:
    """What would be sent, and what was taken out of it before."""
    print_rows(list(_rows(payload)), screen)
    print_private(payload, screen)


def print_rows(rows: Sequence[Row], screen: Console) -> None:
    """Names at the left, what they mean beside them, on as many lines as it needs."""
    for name, text in rows:
        lines = wrapped(Text(clean(text)), screen, indent=LABEL)
        if lines:
            lines[0] = label(name, style="basis").append_text(lines[0][LABEL:])
        _print(lines, screen)


def say(sentence: str, screen: Console, *, style: str = "") -> None:
    """One sentence of our own or of a site, harmless."""
    _print(wrapped(Text(clean(sentence), style=style), screen), screen)


def _print(lines: Sequence[Text], screen: Console) -> None:
    drawn = signs(screen)
    for line in lines:
        screen.print(in_signs(line, drawn), soft_wrap=True)


def _rows(payload: Payload) -> Iterator[Row]:
    result = payload.result
    subject = result.subject
    size = f"{len(payload.data):,} bytes"
    is_copy = payload.data != payload.source.data
    yield "file", f"{payload.source.path}, {'a scrubbed copy, ' if is_copy else ''}{size}"
    yield "model", _joined(subject.model_id, subject.quantization)
    yield "served by", _joined(subject.provider, subject.provider_version)
    yield "harness", _joined(subject.harness, subject.harness_version)
    yield "machine", ", ".join(_machine(result.machine))
    yield "run", ", ".join(_run(result))
    yield "texts", ", ".join(_words(result.trials)) or "none"
    yield "signature", _signature(payload)


def _joined(*parts: str | None) -> str:
    return " ".join(part for part in parts if part)


def _machine(machine: Machine) -> Iterator[str]:
    gpus = Counter(
        _joined(gpu.vendor, gpu.model, f"{figures.memory(gpu.memory_gb)} GB")
        if gpu.memory_gb
        else _joined(gpu.vendor, gpu.model)
        for gpu in machine.gpus
    )
    for name, number in gpus.items():
        yield f"{number} x {name}" if number > 1 else name
    if machine.cpu_model:
        yield machine.cpu_model
    if machine.system_memory_gb:
        yield f"{figures.memory(machine.system_memory_gb)} GB of memory"
    if machine.os:
        yield machine.os
    if machine.machine_label:
        yield f"called {machine.machine_label}"
    if machine.machine_id:
        yield f"random id {machine.machine_id}"


def _run(result: RunResult) -> Iterator[str]:
    yield result.profile
    if result.settings.fresh_seed is not None:
        yield f"fresh instances of seed {result.settings.fresh_seed}"
    yield figures.counted(len(result.suites), "suite")
    yield figures.counted(len(result.trials), "trial")
    yield figures.moment(result.started_at)


def _words(trials: Sequence[Trial]) -> Iterator[str]:
    """How much of what a model or a harness wrote is in the file."""
    for name, texts in (
        ("output", [trial.output for trial in trials]),
        ("thinking", [trial.thinking for trial in trials]),
        ("file", [one.text for trial in trials for one in trial.artifacts]),
        ("diff", [trial.harness.diff for trial in trials if trial.harness]),
    ):
        found = [text for text in texts if text]
        if found:
            several = "thinking" if name == "thinking" else None
            characters = f"{sum(map(len, found)):,} characters"
            yield f"{figures.counted(len(found), name, several)} ({characters})"
    calls = sum(len(trial.tool_calls) for trial in trials)
    if calls:
        yield figures.counted(calls, "tool call")
    transcripts = sum(trial.transcript is not None for trial in trials)
    if transcripts:
        yield figures.counted(transcripts, "transcript")


def _signature(payload: Payload) -> str:
    result = payload.result
    if result.signature is None:
        is_lost = payload.source.result.signature is not None
        return "none: a copy cannot have that of another installation" if is_lost else "none"
    key = result.signature.public_key
    whose = "this" if key == installation_public_key() else "another"
    return f"key {short(key)} of {whose} installation, which shows that its runs belong together"


def print_private(payload: Payload, screen: Console) -> None:
    """What was taken out, what it does to verdicts, and what private text is left."""
    found = payload.scrubbed
    if found.taken and not payload.is_as_found:
        screen.print()
        places = figures.counted(len(found.taken), "place")
        say(f"Taken out of the copy ({places}); the file itself stays as it is:", screen)
        _print_findings(found.taken, screen)
        say(_verdicts(payload), screen, style="fail" if found.changed else "")
    if payload.findings:
        screen.print()
        places = figures.counted(len(payload.findings), "place")
        say(f"It holds what looks private ({places}):", screen, style="partial")
        _print_findings(payload.findings, screen)


def _verdicts(payload: Payload) -> str:
    """What taking it out does to verdicts."""
    found = payload.scrubbed
    if not found.changed:
        more = ""
        if found.reworded:
            trials = figures.counted(len(found.reworded), "trial")
            more = f" {trials} of the same outcome for another reason."
        return f"Judged again without it: no outcome and no score changes.{more}"
    first = found.changed[0]
    if first.before is None:
        what = f"whether {first.task_id} would be judged the same cannot be told here"
    else:
        what = f"{first.task_id} would be {first.after}, not {first.before}"
    more = f", and {len(found.changed) - 1} more" if len(found.changed) > 1 else ""
    return f"Judged again without it: {what}{more}."


def _print_findings(found: Sequence[PrivateFinding], screen: Console) -> None:
    """By kind, the first few of each with the text around them."""
    kinds: dict[str, list[PrivateFinding]] = {}
    for one in found:
        kinds.setdefault(one.kind, []).append(one)
    for kind, places in kinds.items():
        head = Text(kind, style="figure").append(f"  {len(places)}", style="basis")
        _print(wrapped(head, screen, indent=2), screen)
        for one in places[:MOST_SHOWN]:
            line = Text(clean(one.field), style="basis").append(f"  {clean(one.excerpt)}", style="")
            _print(wrapped(line, screen, indent=4, limit=2), screen)
        if len(places) > MOST_SHOWN:
            more = f"and {len(places) - MOST_SHOWN} more"
            _print(wrapped(Text(more, style="basis"), screen, indent=4), screen)


def print_waiting(pending: Sequence[Pending], screen: Console) -> None:
    """Every result that waits: what it is, since when, where to, and why."""
    for one in pending:
        rows = [
            ("waiting", f"{one.title}, run {one.run_id}"),
            ("since", f"{one.since}, {len(one.data):,} bytes"),
            ("to", one.site),
            ("because", one.why or "it was interrupted"),
        ]
        print_rows(rows, screen)
        screen.print()


def print_sent_before(sent: Sent, screen: Console) -> None:
    """That a result is on a site already."""
    say(f"Sent before, at {sent.at}: {sent.status} then, as {sent.public_id}.", screen)
    if sent.url:
        screen.print(Text(clean(sent.url)), soft_wrap=True)
    say("Add --again to send it once more.", screen)


def print_fields(fields: Mapping[str, Sequence[str]], screen: Console) -> None:
    """What the site objects to, field by field."""
    if fields:
        say("The site objects to:", screen)
    for field, sentences in fields.items():
        for sentence in sentences:
            _print(
                wrapped(Text(f"{field}: {sentence}" if field else sentence), screen, indent=2),
                screen,
            )


def print_checks(body: Mapping[str, Any], screen: Console) -> None:
    """What a dry run found."""
    is_refused = body.get("would_be_accepted") is False
    verdict = "would refuse" if is_refused else "would accept"
    say(f"The site {verdict} it; nothing was stored.", screen)
    if known := body.get("duplicate_of"):
        say(f"  It has this run already, as {str(known)[:50]}.", screen)
    listed = body.get("findings")
    for finding in listed[:MOST_FINDINGS] if isinstance(listed, list) else ():
        line = Text(_finding_line(finding))
        _print(wrapped(line, screen, indent=2), screen)


def _finding_line(finding: Any) -> str:
    """A finding of the site as one harmless line."""
    if not isinstance(finding, dict):
        return clean(str(finding))[:500]
    parts = (finding.get(key) for key in ("severity", "field", "sentence"))
    return clean(": ".join(str(part) for part in parts if part))[:500]
