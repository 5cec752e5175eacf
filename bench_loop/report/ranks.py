"""Ranks of several runs by quality: by league, as bands of the places that each can hold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from rich.console import Console
from rich.text import Text

from bench_loop.console import clean
from bench_loop.engine.ranking import league_of, not_ranked_reason
from bench_loop.report import views
from bench_loop.report.marks import wrapped
from bench_loop.result.records import RunResult
from bench_loop.scoring.bands import Band, bands_of
from bench_loop.scoring.paired import compare_runs


@dataclass(frozen=True, slots=True)
class Place:
    """A run in its league; `index` is its place among the runs that were given."""

    index: int
    quality: float
    band: Band | None


@dataclass(frozen=True, slots=True)
class League:
    """Runs that did the same work, scored and driven alike; the best first."""

    key: str
    profile: str
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Ranks:
    """Every league of the given runs, and why the others are in none."""

    leagues: tuple[League, ...]
    unranked: tuple[tuple[int, str], ...]
    """Index of the run, and the reason as a sentence."""


def rank_runs(runs: Sequence[RunResult]) -> Ranks:
    """Rank runs by quality inside their leagues, told apart by the paired test of each two."""
    members: dict[str, list[int]] = defaultdict(list)
    unranked = []
    for index, run in enumerate(runs):
        reason = not_ranked_reason(run, may_be_fresh=True)
        if reason:
            unranked.append((index, reason))
        else:
            members[league_of(run)].append(index)
    leagues = (_league(key, indices, runs) for key, indices in members.items())
    return Ranks(tuple(leagues), tuple(unranked))


def _league(key: str, indices: Sequence[int], runs: Sequence[RunResult]) -> League:
    @cache
    def paired_p(first: int, second: int) -> float:
        quality = compare_runs(runs[indices[first]], runs[indices[second]]).quality
        return 1.0 if quality is None else quality.p_value

    # A pair has one p-value in both directions; it is asked for once.
    scores = [runs[index].aggregates.quality_score or 0.0 for index in indices]
    bands = bands_of(scores, lambda a, b: paired_p(min(a, b), max(a, b)))
    places = [Place(*each) for each in zip(indices, scores, bands, strict=True)]
    places.sort(key=lambda place: (-place.quality, place.index))
    return League(key, runs[indices[0]].profile, tuple(places))


def rank_lines(
    runs: Sequence[RunResult], ranks: Ranks, letters: str, titles: Sequence[str], screen: Console
) -> Iterator[Text]:
    """A table of each league with more than one run, and the runs that are in none."""
    for league in ranks.leagues:
        if len(league.places) < 2:
            continue
        head = Text("ranks by quality", style="figure")
        basis = f"   profile {league.profile}, league {short_key(league.key)}, paired, 95 %"
        yield from wrapped(head.append(basis, style="basis"), screen)
        for place in league.places:
            yield from _place_line(place, runs[place.index], letters, titles, screen)
        yield Text()
    alone = [league for league in ranks.leagues if len(league.places) == 1]
    for league in alone:
        letter = letters[league.places[0].index]
        text = f"{letter} is alone in its league {short_key(league.key)}, profile {league.profile}."
        yield from wrapped(Text(text, style="basis"), screen)
    by_reason: dict[str, list[str]] = defaultdict(list)
    for index, reason in ranks.unranked:
        by_reason[reason].append(letters[index])
    for reason, those in by_reason.items():
        have = "has" if len(those) == 1 else "have"
        text = f"{_listed(those)} {have} no rank. {clean(reason)}"
        yield from wrapped(Text(text, style="basis"), screen)


def _listed(letters: Sequence[str]) -> str:
    """`A`, `A and B`, `A, B and C`."""
    return " and ".join(filter(None, (", ".join(letters[:-1]), letters[-1])))


def _place_line(
    place: Place, run: RunResult, letters: str, titles: Sequence[str], screen: Console
) -> list[Text]:
    line = Text(f"{band_text(place.band):<5} ", style="figure")
    line.append(f"{letters[place.index]}  ", style="accent")
    figure = views.score_figure(place.quality, run.aggregates.quality_score_interval)
    if figure is not None:
        line.append(f"{figure.value:>4} ", style="figure")
        line.append(f"{figure.interval or '':<8}", style="basis")
    return wrapped(line.append(titles[place.index]), screen, limit=1)


def band_text(band: Band | None) -> str:
    """`1`, or `2–4` where the places cannot be told apart."""
    if band is None:
        return "-"
    return str(band.low) if band.low == band.high else f"{band.low}–{band.high}"


def short_key(key: str) -> str:
    """The first eight digits of a league's hash, which are enough to tell leagues apart."""
    return key.removeprefix("sha256:")[:8]


def ranks_json(ranks: Ranks, letters: str) -> dict[str, Any]:
    """The same for a program to read."""
    return {
        "leagues": [
            {
                "league": league.key,
                "profile": league.profile,
                "places": [
                    {
                        "letter": letters[place.index],
                        "quality_score": place.quality,
                        "band": None if place.band is None else asdict(place.band),
                    }
                    for place in league.places
                ],
            }
            for league in ranks.leagues
        ],
        "unranked": [
            {"letter": letters[index], "reason": reason} for index, reason in ranks.unranked
        ],
    }
