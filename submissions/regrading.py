"""Judges every stored run again when a verifier, a pack or a formula was mended.

League by league: first all runs of a league are judged, each kept in a row of its own before the
next one, then all of them are shown in one transaction with the bands that follow. Whatever is
killed begins again where it was. A run whose pack was mended in how it judges alone becomes a run
of the mended pack; where the tasks themselves are others by now, it stays what it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

import bench_loop
from bench_loop.contracts.sandbox import Sandbox
from bench_loop.engine.packs import load_pack, pack_names
from bench_loop.engine.rescore import Rescore, rescore, wants_sandbox
from bench_loop.errors import PackError, ResultError
from bench_loop.scoring.constants import SCORING_VERSION
from leaderboard.models import Entry
from runs.models import Run
from submissions import judgements, levels
from submissions.models import AuditEvent, Grade, Judgement, Regrade, Submission

OpenSandbox = Callable[[], Sandbox | None]
"""Gives the sandbox for code, or None where verdicts on code are to stay as they are. Called once,
at the first run that has any; raises SandboxError."""


REJUDGED = (
    *("header_before", "header_after", "verdicts_before", "verdicts_after"),
    *("score_before", "score_after", "notes"),
)
"""What is made anew of a run that is judged again."""


def regrade(reason: str, open_sandbox: OpenSandbox, *, is_dry_run: bool) -> Iterator[Judgement]:
    """Judge all runs again; gives each with what it was and what it is.

    One that was broken off is gone on with, if no version has changed since. A dry run does all of
    it and undoes it, league by league, so that it sees no run come from another league.
    """
    with ExitStack() as stack:
        sandbox = _Opened(open_sandbox, stack)
        if is_dry_run:
            campaign = _new(reason)
        else:
            campaign = _unfinished() or _new(reason)
            campaign.save()
        for league in _leagues():
            yield from _regrade_league(campaign, league, sandbox, is_dry_run=is_dry_run)
        if not is_dry_run:
            campaign.finished_at = timezone.now()
            campaign.save(update_fields=["finished_at"])
            levels.look_at_levels()


def _versions() -> tuple[str, str, dict[str, str]]:
    packs = {name: load_pack(name).pack_hash for name in pack_names()}
    return bench_loop.__version__, SCORING_VERSION, packs


def _new(reason: str) -> Regrade:
    version, scoring, packs = _versions()
    return Regrade(reason=reason, bench_loop=version, scoring_version=scoring, packs=packs)


def _unfinished() -> Regrade | None:
    """The last one, if it was broken off and would judge as this version does."""
    last = Regrade.objects.first()
    if last is None or last.finished_at is not None:
        return None
    same = (last.bench_loop, last.scoring_version, last.packs) == _versions()
    return last if same else None


def _leagues() -> list[str]:
    """Every league there is, and "" for the runs that were never shown."""
    leagues = Entry.objects.order_by("league").values_list("league", flat=True).distinct()
    return [*leagues, ""]


class _Opened:
    """A sandbox that is opened when it is asked for, and closed at the end."""

    def __init__(self, open_sandbox: OpenSandbox, stack: ExitStack) -> None:
        self._open = open_sandbox
        self._stack = stack
        self._sandbox: list[Sandbox | None] = []

    def get(self) -> Sandbox | None:
        if not self._sandbox:
            sandbox = self._open()
            if sandbox is not None:
                self._stack.enter_context(closing(sandbox))
            self._sandbox.append(sandbox)
        return self._sandbox[0]


def _runs_of(league: str) -> QuerySet[Run]:
    if league:
        return Run.objects.filter(entry__league=league)
    return Run.objects.filter(entry__isnull=True)


def _regrade_league(
    campaign: Regrade, league: str, sandbox: _Opened, *, is_dry_run: bool
) -> list[Judgement]:
    """Judge what is not judged yet, then show all of it."""
    runs = _runs_of(league)
    if not is_dry_run:
        runs = runs.exclude(judgements__regrade=campaign)
    judged = []
    for pk in list(runs.order_by("pk").values_list("pk", flat=True)):
        one = _judged(campaign, Run.objects.get(pk=pk), league, sandbox)
        if is_dry_run:
            judged.append(one)
        else:
            one.save()
    if is_dry_run:
        with transaction.atomic():
            _show(campaign, judged)
            transaction.set_rollback(True)
        return judged
    waiting = (
        Judgement.objects.filter(regrade=campaign, league=league, applied_at__isnull=True)
        .select_related("run")
        .defer("run__result_bytes")
    )
    with transaction.atomic():
        shown = list(waiting.order_by("run_id"))
        _rejudge_changed(campaign, shown, sandbox)
        _show(campaign, shown)
    return shown


def _judged(campaign: Regrade, run: Run, league: str, sandbox: _Opened) -> Judgement:
    """What this version says of a run. Nothing is stored."""
    notes: list[str] = []
    filed = after = None
    try:
        before = run.result()
        if before.imported is None:
            filed = run.filed_result()
            found = rescore(
                before,
                sandbox=sandbox.get() if wants_sandbox(before) else None,
                is_adopting=True,
            )
            notes = list(_notes(found))
            after = found.after if found.after is not before else None
    except (PackError, ResultError) as error:
        notes = [f"It cannot be judged again: {error.message}"]
    one = judgements.judgement(run, filed, after, campaign)
    one.league, one.notes = league, notes
    return one


def _notes(found: Rescore) -> Iterator[str]:
    for suite in found.suites:
        name = suite.before.suite
        if suite.is_adopted:
            yield f"{name} {suite.before.version} became {suite.after.version}."
        elif suite.is_stale:
            yield f"The tasks of {name} are others by now: its verdicts stay as they were."
        elif suite.not_judged:
            yield f"{suite.not_judged} verdicts of {name} stay as they were."


def _rejudge_changed(campaign: Regrade, judged: list[Judgement], sandbox: _Opened) -> None:
    """Judge those again whose run was judged by a worker in the meantime."""
    for one in judged:
        before = (one.header_before, one.verdicts_before)
        if one.is_changed and before != (one.run.header, one.run.verdicts):
            again = _judged(campaign, one.run, one.league, sandbox)
            for name in REJUDGED:
                setattr(one, name, getattr(again, name))


def _show(campaign: Regrade, judged: list[Judgement]) -> None:
    """Give all runs of a league what was judged, with the bands of every league that it touches."""
    runs = [one.run_id for one in judged]
    submissions = Submission.objects.select_for_update().filter(run__in=runs).order_by("pk")
    by_run = {submission.run_id: submission for submission in submissions}
    touched = judgements.apply(judged, is_kept=campaign.pk is not None)
    for one in judged:
        submission = by_run.get(one.run_id)
        if submission is not None and one.is_changed:
            _record(submission, one, campaign.reason)
    # Whoever was evidence for another in the league that it left is looked at again.
    Grade.objects.filter(run__entry__league__in=touched).update(seen_status="")


def _record(submission: Submission, one: Judgement, reason: str) -> None:
    data = {"from": _told(one.score_before), "to": _told(one.score_after)}
    AuditEvent.objects.create(
        submission=submission,
        actor=None,
        kind="rescored",
        data={**data, "reason": reason, "notes": one.notes},
    )


def _told(score: float | None) -> str:
    return "no overall score" if score is None else f"overall {score:.1f}"
