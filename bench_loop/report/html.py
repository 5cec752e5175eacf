"""Pages that are one file: style, fonts and script inside, nothing loaded from anywhere."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import bench_loop
from bench_loop.config import bundled
from bench_loop.report import views
from bench_loop.report.render import render
from bench_loop.report.sentences import scoring_rules
from bench_loop.result.records import RunResult

_FONT_URL = re.compile(r'url\("?(fonts/[\w.-]+\.woff2)"?\)')


def run_page(result: RunResult) -> str:
    """One self-contained HTML page of one run, with every trial and its output."""
    context = {"run": views.run_view(result), "rules": scoring_rules()}
    return file_page("report/run.html", context)


def file_page(template: str, context: Mapping[str, object], scripts: Sequence[str] = ()) -> str:
    """A template that extends `report/file.html`, with all that it needs inside.

    `scripts` are names of files in `templates/report/script/`, in their order.
    """
    script = "\n".join(_script(name) for name in ("page", *scripts))
    shell = {
        "version": bench_loop.__version__,
        "stylesheet": stylesheet(),
        "script": script,
        "script_hash": _policy_hash(script),
    }
    return render(template, {**context, **shell})


def stylesheet() -> str:
    """The site's style sheet with its fonts inside, and what the files of reports add to it."""
    own = (bundled("templates") / "report" / "report.css").read_text(encoding="utf-8")
    shared = _asset("theme.css").read_text(encoding="utf-8")
    return _FONT_URL.sub(_inlined, shared) + own


def _inlined(match: re.Match[str]) -> str:
    data = base64.b64encode(_asset(match[1]).read_bytes()).decode()
    return f"url(data:font/woff2;base64,{data})"


def _policy_hash(script: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _script(name: str) -> str:
    return (bundled("templates") / "report" / "script" / f"{name}.js").read_text(encoding="utf-8")


def _asset(name: str) -> Path:
    return bundled("benchloop_site") / "static" / "benchloop" / name
