"""An examination as a terminal report, as JSON, and as text for strangers to read."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from rich.console import Console
from rich.text import Text

import bench_loop
from bench_loop.console import Signs, clean, in_signs, signs
from bench_loop.doctor.examine import Examination
from bench_loop.doctor.finding import Finding, Severity, of_severity
from bench_loop.http import is_loopback
from bench_loop.privacy import redacted
from bench_loop.providers.discover.endpoints import saved_endpoints
from bench_loop.report.marks import label, wrapped

_MARKS: dict[Severity, tuple[str, str]] = {
    "ok": ("pass", "pass.cell"),
    "note": ("not_applicable", "basis"),
    "warning": ("partial", "partial"),
    "error": ("fail", "fail"),
}
"""The sign of each severity, by the outcome that has it, and its style."""

_AREAS = {"server": "server", "model": "server", "machine": "machine", "setup": "installed"}


def print_examination(result: Examination, screen: Console) -> None:
    """Print every finding under its heading, and at the end in one sentence how it stands."""
    look = signs(screen)
    for heading, findings in _groups(result.findings):
        screen.print(Text(clean(heading), "figure"), soft_wrap=True)
        for finding in findings:
            for line in _lines(finding, screen, look):
                screen.print(in_signs(line, look), soft_wrap=True)
        screen.print()
    screen.print(_verdict(result.findings), soft_wrap=True)


def examination_json(result: Examination) -> dict[str, Any]:
    """The examination for a program to read."""
    return {
        "is_serious": result.is_serious,
        "findings": [
            {
                "code": one.code,
                "area": one.area,
                "subject": one.subject,
                "severity": one.severity,
                "title": one.title,
                "evidence": one.evidence,
                "remedy": one.remedy,
            }
            for one in result.findings
        ],
    }


def examination_report(result: Examination) -> str:
    """The examination in Markdown for pasting into an issue: nothing in it points to a person."""
    facts = result.machine
    gpus = ", ".join(" ".join(filter(None, (gpu.vendor, gpu.model))) for gpu in facts.gpus)
    lines = [
        f"BenchLoop {bench_loop.__version__}, Python {platform.python_version()}, {facts.platform}",
        f"{facts.cpu_model}, {facts.system_memory_gb} GiB, GPU: {gpus or 'none'}, {facts.os}",
        "",
    ]
    for heading, findings in _groups(result.findings):
        lines += [f"**{clean(heading)}**", ""]
        for one in findings:
            remedy = f" (remedy: {one.remedy})" if one.remedy else ""
            lines.append(f"- `{one.severity}` `{one.code}` {clean(one.evidence + remedy)}")
        lines.append("")
    return redacted("\n".join(lines).rstrip() + "\n", _places(result.findings))


def _places(findings: Sequence[Finding]) -> set[str]:
    """Hosts of model servers elsewhere, and the names that the user saved servers under."""
    names = {name for one in saved_endpoints() for name in (one.name, _host(one.url))}
    names |= {_host(one.subject or "") for one in findings}
    return {name for name in names if name and not is_loopback(name)}


def _host(text: str) -> str:
    """The host of the address in `text`, without brackets; empty where there is none."""
    found = re.search(r"https?://(?:\[([^\]]+)\]|([^/:\s]+))", text)
    return (found[1] or found[2]) if found else ""


def _groups(findings: Sequence[Finding]) -> Iterator[tuple[str, list[Finding]]]:
    """The findings under one heading each: a server with its model, the machine, what is there."""
    heading = ""
    headed = []
    for one in findings:
        if one.area == "server":
            heading = one.subject or "server"
        elif one.area != "model":
            heading = _AREAS[one.area]
        headed.append((heading, one))
    for name, group in groupby(headed, key=lambda pair: pair[0]):
        yield name, [finding for _, finding in group]


def _lines(finding: Finding, screen: Console, look: Signs) -> Iterator[Text]:
    """One finding: its sign, what was looked at, what was seen, and below what mends it."""
    outcome, style = _MARKS[finding.severity]
    head = Text.assemble("  ", (look.outcomes[outcome], style), " ")
    head.append_text(label(finding.title))
    indent = len(head)
    first, *more = wrapped(_evidence(finding), screen, indent=indent)
    yield head.append_text(first[indent:])
    yield from more
    if finding.remedy and finding.severity != "ok":
        yield from wrapped(Text(clean(finding.remedy), "figure"), screen, indent=indent)


def _evidence(finding: Finding) -> Text:
    text = Text(clean(finding.evidence), "basis" if finding.severity == "note" else "")
    if finding.area == "model" and finding.title == "kind":
        text = Text.assemble((clean(finding.subject or ""), "figure"), ": ", text)
    return text


def _verdict(findings: Sequence[Finding]) -> Text:
    errors, warnings = (len(of_severity(findings, kind)) for kind in ("error", "warning"))
    if errors:
        return Text(f"{_count(errors, 'thing')} to mend before a run is worth its time.", "fail")
    if warnings:
        return Text(f"Ready. {_count(warnings, 'thing')} would make figures worse.", "partial")
    return Text("Ready: nothing speaks against a run.", "pass")


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
