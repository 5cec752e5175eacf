"""Standard and custom: whether a harness was run in the configuration that BenchLoop pins for it.

A run is standard when it had the pinned version and configuration, every option as it is by
default, and no need overridden; else custom. That is what the result says of itself: who writes
the pinned hash into a file that was made otherwise is not found out by this rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from bench_loop.result.records import RunHeader

RAW = "raw"
"""The harness that is BenchLoop's own loop, and has no configuration."""
LONGEST_WORD = 40
"""Characters of a word out of a result that a reason repeats."""


@dataclass(frozen=True, slots=True)
class Pinned:
    """How BenchLoop runs a harness where nothing else is asked for."""

    version: str
    config_hash: str | None
    options: Mapping[str, str] = field(default_factory=dict)
    """Each with the value that it has by default."""


def custom_reasons(run: RunHeader, pinned: Mapping[str, Pinned]) -> tuple[str, ...]:
    """Why the run is custom, each reason as a part of a sentence; none: it is standard.

    `pinned` are the configurations of this installation, by the name of the harness.
    """
    if run.imported is not None or run.subject.harness == RAW:
        return ()
    return tuple(_reasons(run, pinned.get(run.subject.harness)))


def _reasons(run: RunHeader, pinned: Pinned | None) -> Iterator[str]:
    subject, settings = run.subject, run.settings.harness
    if pinned is None:
        yield "no harness of this name is pinned here"
        return
    if settings is None:
        yield "how the harness was run is not told"
        return
    if settings.forced:
        needs = ", ".join(need.replace("_", " ")[:LONGEST_WORD] for need in settings.forced)
        yield f"needs were overridden ({needs})"
    other = {
        name: value for name, value in settings.options.items() if value != pinned.options.get(name)
    }
    for name, value in other.items():
        default = pinned.options.get(name, "no such option")
        yield f"the option {name[:LONGEST_WORD]} is {value[:LONGEST_WORD]} (pinned: {default})"
    if subject.harness_version != pinned.version:
        found = (subject.harness_version or "not known")[:LONGEST_WORD]
        yield f"the version is {found} (pinned: {pinned.version})"
    elif not other and subject.harness_config_hash != pinned.config_hash:
        yield "the configuration is not the pinned one"
