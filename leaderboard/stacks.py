"""Which run stands for a stack, and what is counted beside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from bench_loop.names.quantization import from_server
from bench_loop.scoring.constants import SCORING_VERSION
from leaderboard.bands import update_bands
from leaderboard.models import Entry, LanguageModel, League, ModelAlias, Stack

AT_ONCE = 500
"""Stacks whose runs are held in memory together."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A run of a stack. `owner` None: this installation, or nobody by name."""

    pk: int
    owner: int | None
    overall: float | None
    is_ranked: bool
    finished_at: datetime
    is_withdrawn: bool = False
    installation: str = ""
    """Key of the installation that signed it; empty: none."""

    @property
    def place(self) -> tuple[float, datetime, int]:
        """Lowest overall score first; of equal ones the oldest."""
        return (self.overall or 0.0, self.finished_at, self.pk)


@dataclass(frozen=True, slots=True)
class Summary:
    """What a stack stores of its runs. `shown` None: none is published."""

    shown_id: int | None
    run_count: int
    owner_count: int
    uncounted_count: int
    withdrawn_count: int
    overall_low: float | None
    overall_high: float | None


def summary(runs: Sequence[Candidate]) -> Summary:
    """The run that stands for a stack, and the counts beside it.

    Ranked runs count, and others only where none is ranked. Each owner's run with the lower-median
    overall score, then the lower median of the owners; the newest where there is no overall score.
    Accounts whose runs one installation signed are one owner.
    """
    published = [run for run in runs if not run.is_withdrawn]
    ranked = [run for run in published if run.is_ranked and run.overall is not None]
    counted = ranked or published
    by_owner = _by_owner(counted, _people(runs))
    shown = _standing([_standing(own) for own in by_owner]) if counted else None
    scores = [run.overall for run in counted if run.overall is not None]
    return Summary(
        shown_id=shown.pk if shown else None,
        run_count=len(counted),
        owner_count=len(by_owner),
        uncounted_count=len(published) - len(counted),
        withdrawn_count=len(runs) - len(published),
        overall_low=min(scores, default=None),
        overall_high=max(scores, default=None),
    )


def _people(runs: Iterable[Candidate]) -> dict[int | None, int | None]:
    """For each account the one that stands for all with which it shares an installation.

    Withdrawn runs tell that too.
    """
    person: dict[int | None, int | None] = {}
    first_of: dict[str, int | None] = {}
    for run in runs:
        own = person.setdefault(run.owner, run.owner)
        if not run.installation:
            continue
        other = person[first_of.setdefault(run.installation, run.owner)]
        if other != own:
            person |= {account: other for account, known in person.items() if known == own}
    return person


def _by_owner(
    runs: Iterable[Candidate], person: dict[int | None, int | None]
) -> list[list[Candidate]]:
    found: dict[int | None, list[Candidate]] = {}
    for run in runs:
        found.setdefault(person[run.owner], []).append(run)
    return list(found.values())


def _standing(runs: Sequence[Candidate]) -> Candidate:
    """The run with the lower-median overall score; the newest where none has a score."""
    scored = sorted((run for run in runs if run.overall is not None), key=lambda run: run.place)
    if scored:
        return scored[(len(scored) - 1) // 2]
    return max(runs, key=lambda run: (run.finished_at, run.pk))


def stack_for(
    model: LanguageModel, quantization: str | None, device_class: str, league: League
) -> Stack:
    """The stack of a run; the lock on its league must be held."""
    stack, _ = Stack.objects.get_or_create(
        model=model,
        quantization=quantization_key(quantization),
        device_class=device_class,
        league=league,
    )
    return stack


def quantization_key(label: str | None) -> str:
    """One spelling for the labels that servers write in several; empty: unknown."""
    return (from_server(label) or label or "").upper()


def refresh(stack_ids: Iterable[int]) -> None:
    """Work out these stacks and the bands of their leagues again; the locks must be held.

    A stack without any run, withdrawn ones included, is removed.
    """
    batches = _batches(sorted(set(stack_ids)))
    leagues = {
        league
        for ids in batches
        for league in Stack.objects.filter(pk__in=ids).values_list("league", flat=True)
    }
    # A run that moved from one to another stands for neither until both are worked out.
    for ids in batches:
        Stack.objects.filter(pk__in=ids).update(shown=None)
    for ids in batches:
        runs = _candidates(ids)
        for stack in ids:
            if stack in runs:
                Stack.objects.filter(pk=stack).update(**asdict(summary(runs[stack])))
        Stack.objects.filter(pk__in=set(ids) - set(runs)).delete()
    for league in League.objects.filter(pk__in=leagues).order_by("key"):
        update_bands(league)


def move_entries(aliases: Iterable[ModelAlias]) -> set[int]:
    """Put the entries of these aliases into the stacks of the aliases' models.

    Gives the stacks that they left and came to. The locks on all their leagues must be held.
    """
    touched: set[int] = set()
    for alias in aliases:
        strays = Stack.objects.filter(entries__alias=alias).exclude(model=alias.model)
        for stack in strays.select_related("league").distinct():
            target, _ = Stack.objects.get_or_create(
                model=alias.model,
                quantization=stack.quantization,
                device_class=stack.device_class,
                league=stack.league,
            )
            Entry.objects.filter(stack=stack, alias=alias).update(stack=target)
            touched |= {stack.pk, target.pk}
    return touched


def _batches(stack_ids: Sequence[int]) -> list[Sequence[int]]:
    return [stack_ids[at : at + AT_ONCE] for at in range(0, len(stack_ids), AT_ONCE)]


def _candidates(stack_ids: Sequence[int]) -> dict[int, list[Candidate]]:
    """The runs of these stacks; a stack without any is left out."""
    rows = Entry.objects.filter(stack__in=stack_ids).values_list(
        "stack_id",
        "pk",
        "owner_id",
        "overall_score",
        "is_ranked",
        "scoring_version",
        "finished_at",
        "withdrawn_at",
        "run__signing_key",
    )
    found: dict[int, list[Candidate]] = {}
    for stack, pk, owner, overall, is_ranked, version, finished_at, withdrawn_at, key in rows:
        if stack is not None:
            is_present = is_ranked and version == SCORING_VERSION
            is_withdrawn = withdrawn_at is not None
            run = Candidate(pk, owner, overall, is_present, finished_at, is_withdrawn, key)
            found.setdefault(stack, []).append(run)
    return found
