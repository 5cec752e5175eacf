"""The command that measures a stack again."""

from __future__ import annotations

import shlex
from functools import cache

from bench_loop.engine.packs import load_pack, pack_names
from bench_loop.engine.plan import window_of
from bench_loop.report.printable import one_line
from bench_loop.result.records import RunHeader


def command_line(result: RunHeader) -> str:
    """The command that measures the same stack again, quoted for a POSIX shell.

    For an import it is the one that measures the same model here.
    """
    subject, settings = result.subject, result.settings
    if result.imported:
        words = ["bench-loop", "run", "--model", subject.model_id, "--profile", "quick"]
        return one_line(shlex.join(words), limit=1000)
    words = ["bench-loop", "run", "--model", subject.model_id, "--provider", subject.provider]
    words += _harness_words(result)
    if result.profile == "custom":
        words += ["--suites", ",".join(suite.suite for suite in result.suites)]
    else:
        words += ["--profile", result.profile]
    if settings.fresh_seed is not None:
        words += ["--fresh-seed", str(settings.fresh_seed)]
    if any(suite.is_private for suite in result.suites):
        words += ["--packs", "DIR"]
    if (settings.trials or 0) > 1 or any(
        own.trials == settings.trials for own in settings.by_suite
    ):
        words += ["--trials", str(settings.trials)]
    packs = [load_pack(suite.suite) for suite in result.suites if suite.suite in _known_packs()]
    if settings.context_window != window_of(packs):
        words += ["--context-window", str(settings.context_window)]
    return one_line(shlex.join(words), limit=1000)


@cache
def _known_packs() -> frozenset[str]:
    """Asked for once: a report of a thousand runs would look into the folder a thousand times."""
    return frozenset(pack_names())


def _harness_words(result: RunHeader) -> list[str]:
    """The options that run the same harness in the same way; none for raw."""
    if result.subject.harness == "raw":
        return []
    words = ["--harness", result.subject.harness]
    settings = result.settings.harness
    if settings is None:
        return words
    for name, value in settings.options.items():
        words += ["--harness-option", f"{name}={value}"]
    if settings.forced:
        words.append("--force")
    if settings.place == "direct":
        words += ["--sandbox", "subprocess", "--allow-unsafe"]
    return words
