"""JSON lines of a speed experiment: a line of kind `run` for each task, one `summary` for each tag.

    {"kind": "run", "tag": "dmax16", "task": "code-1", "gen_tps": 41.2}
    {"kind": "summary", "tag": "dmax16", "gen_tps_peak": 43.0, "gen_tps_mean": 41.0,
     "gen_tps_median": 41.1, "gen_tps_stdev": 0.9, "n_runs": 12, "repeats": 3, "max_tokens": 512}

A summary that its own runs contradict is not believed: the runs count, and a finding says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import Field

from bench_loop.contracts.record import Count
from bench_loop.importers.building import (
    TOLERANCE,
    Found,
    Wishes,
    contradictions,
    one_line,
    subject_of,
)
from bench_loop.importers.document import Document, Place, Row
from bench_loop.names.parse import parse_model
from bench_loop.result.records import Rate, Speed, Spread
from bench_loop.scoring.speed import half_width
from bench_loop.scoring.spreads import spread

TOOL = "speed experiment"
REMEDY = "Mend or leave out this line; run lines need tag and gen_tps, summaries their gen_tps_*."

Name = Annotated[str, Field(max_length=200)]
Tag = Annotated[str, Field(min_length=1, max_length=200)]


class Line(Row):
    kind: Literal["run", "summary"]
    tag: Tag
    model: Name | None = None


class RunLine(Line):
    """One task measured once. `gen_tps` is its generation speed in tok/s."""

    gen_tps: Rate


class SummaryLine(Line):
    """What the experiment itself made of the runs of a tag."""

    gen_tps_peak: Rate
    gen_tps_mean: Rate
    gen_tps_median: Rate
    gen_tps_stdev: Rate | None = None
    n_runs: Annotated[int, Field(ge=1, le=1_000_000)]
    repeats: Count | None = None
    max_tokens: Count | None = None


@dataclass(slots=True)
class _Tag:
    """The lines of one tag: one configuration."""

    name: str
    first: Place
    model: str | None = None
    rates: list[float] = field(default_factory=list)
    summary: SummaryLine | None = None
    stated: dict[str, Any] = field(default_factory=dict)


def is_mine(document: Document) -> bool:
    """Whether the first line says of which of the two kinds it is."""
    first = document.places[0].value if document.places else None
    return isinstance(first, dict) and first.get("kind") in ("run", "summary")


def read(document: Document, wishes: Wishes) -> Iterator[Found]:
    """One run for each tag, in the order of the file."""
    tags: dict[str, _Tag] = {}
    for place in document.places:
        line = document.row(place, Line, REMEDY)
        tag = tags.setdefault(line.tag, _Tag(line.tag, place))
        tag.model = tag.model or line.model
        if line.kind == "run":
            tag.rates.append(document.row(place, RunLine, REMEDY).gen_tps)
            continue
        if tag.summary is not None:
            raise document.fault(place, "tag", f"{line.tag!r} has a second summary", REMEDY)
        tag.summary = document.row(place, SummaryLine, REMEDY)
        tag.stated = dict(place.value)
    for tag in tags.values():
        yield _found(document, tag, wishes)


def _found(document: Document, tag: _Tag, wishes: Wishes) -> Found:
    model = wishes.model or tag.model
    if not model:
        raise document.fault(tag.first, "model", "no model is named", "Name it with --model.")
    name = parse_model(model)
    headline, findings = _headline(tag)
    known = {"kind", "tag", "model", *SummaryLine.model_fields} - {"repeats", "max_tokens"}
    stated = {key: value for key, value in tag.stated.items() if key not in known}
    return Found(
        subject=subject_of(name, TOOL, None),
        tool=TOOL,
        tool_version=None,
        speed=Speed(plan=None, generation_tps=headline, generation_half_width=half_width(headline)),
        stated={"tag": tag.name} | stated,
        samples={"generation": tag.rates} if tag.rates else {},
        findings=findings,
    )


def _headline(tag: _Tag) -> tuple[Spread | None, list[str]]:
    """The generation speed of a tag: from its runs where there are any, else as it is claimed."""
    claimed = tag.summary
    title = f"tag {one_line(tag.name)}"
    if not tag.rates:
        assert claimed is not None  # a tag exists by one of its lines
        unchecked = f"{title}: it has no run lines, so its summary is not checked."
        return _claimed(claimed), [unchecked, *_impossible(title, claimed)]
    if claimed is None:
        return spread(tag.rates), []
    claims = {
        "peak": claimed.gen_tps_peak,
        "mean": claimed.gen_tps_mean,
        "median": claimed.gen_tps_median,
        "stdev": claimed.gen_tps_stdev,
        "n": float(claimed.n_runs),
    }
    return spread(tag.rates), contradictions(title, tag.rates, claims)


def _impossible(title: str, claimed: SummaryLine) -> Iterator[str]:
    """What no values at all can give."""
    for name, value in (("mean", claimed.gen_tps_mean), ("median", claimed.gen_tps_median)):
        if claimed.gen_tps_peak < value * (1 - TOLERANCE):
            yield f"{title}: its peak {claimed.gen_tps_peak:g} is below its {name} {value:g}."


def _claimed(summary: SummaryLine) -> Spread:
    return Spread(
        peak=summary.gen_tps_peak,
        mean=summary.gen_tps_mean,
        median=summary.gen_tps_median,
        stdev=summary.gen_tps_stdev if summary.n_runs > 1 else None,
        n=summary.n_runs,
    )
