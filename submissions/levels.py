"""The level of a submission: the one place that says which level the evidence is enough for.

reported     stored, and the schema is valid. What was sent without an account stays here.
consistent   no finding needs a person, and this site derived every verdict and every score itself.
             Where it ran a sample of the code only, that is said: `consistent (sampled)`. Never of
             a run that was sent without a key.
reproduced   consistent, and an approved run of another owner, consistent too and of no account
             that shares an installation with this owner's (submissions/independence.py), has the
             same weights digest, core settings (those of speed included) and device class,
             generates within GENERATION_TOLERANCE, has its first token within TTFT_TOLERANCE, and
             by BenchLoop's own comparison a quality that is neither better nor worse.
verified     a moderator decided so. No evidence that comes or goes changes it, but for one thing:
             where this site judges stored outputs otherwise than the file says, it falls to
             `reported`, and a moderator may verify the run again (submissions/grading.py).

Levels rise and fall by themselves: each change is an event of the audit trail without an actor.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from django.db import transaction
from django.db.models import QuerySet

from bench_loop.engine.ranking import league_of
from bench_loop.report import figures
from bench_loop.result.compare import not_comparable, speed_not_comparable
from bench_loop.result.records import RunHeader, Spread
from bench_loop.scoring.paired import compare_runs
from leaderboard import publish
from leaderboard.models import Entry
from leaderboard.models.names import LONGEST_NAME
from runs.models import Run
from submissions.anonymous import is_anonymous
from submissions.independence import Witnesses
from submissions.models import Grade, Submission

logger = logging.getLogger("benchloop.levels")

GENERATION_TOLERANCE = 0.10
"""By which the larger median of generation tok/s may exceed the smaller one."""

TTFT_TOLERANCE = 0.20
"""By which the larger median TTFT may exceed the smaller one."""

MOST_COMPARED = 20
"""Runs of others that are compared task by task, the oldest first."""

MOST_OF_AN_OWNER = 3
"""Of those: many runs of one owner neither hide the others nor have as many chances."""

PASSED_ON = ("consistent", "reproduced", "verified")
"""Levels of a run that is evidence for another one."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sentence that speaks for a level, or says what is missing for it."""

    level: str
    is_met: bool
    sentence: str


@dataclass(frozen=True, slots=True)
class Support:
    """The level that the evidence is enough for, and the evidence."""

    level: str
    is_sampled: bool
    evidence: tuple[Evidence, ...]

    @property
    def word(self) -> str:
        """`consistent (sampled)` where only a sample of the code was run, else the level."""
        is_part = self.is_sampled and self.level == "consistent"
        return f"{self.level} (sampled)" if is_part else self.level

    @property
    def reason(self) -> str:
        """The sentence that decides: the last one met, or the first one that is not."""
        unmet = [one for one in self.evidence if not one.is_met]
        met = [one for one in self.evidence if one.is_met]
        decides_by_lack = unmet and unmet[0].level == "consistent"
        return unmet[0].sentence if decides_by_lack or not met else met[-1].sentence

    def as_json(self) -> list[dict[str, str | bool]]:
        """The evidence as a page shows it."""
        return [asdict(one) for one in self.evidence]


def support(submission: Submission) -> Support:
    """What the evidence in the database supports now; a moderator's word is kept."""
    run = submission.run
    grade = Grade.of(run)
    evidence = [
        Evidence("reported", True, _stored_sentence(run)),
        _consistency(submission, grade),
    ]
    level = "reported"
    if evidence[-1].is_met:
        level = "consistent"
        reproduction = _reproduction(submission)
        evidence.append(reproduction)
        level = "reproduced" if reproduction.is_met else level
    if submission.level == "verified":
        level = "verified"
        evidence.append(Evidence("verified", True, _verified_sentence(submission)))
    return Support(level, bool(grade and grade.is_sampled), tuple(evidence))


def _stored_sentence(run: Run) -> str:
    stored = "The file follows the schema and every trial is stored."
    if run.verdicts is None:
        return stored
    others = _counted(len(run.verdicts), "verdict") if run.verdicts else "No verdict"
    verb = "is" if len(run.verdicts) < 2 else "are"
    return (
        f"{stored} This site has judged it again, and its scores are the site's: {others} {verb} "
        "not what the file says."
    )


def _verified_sentence(submission: Submission) -> str:
    said = submission.audit.filter(kind="verified").last()
    reason = said.data.get("reason", "") if said else ""
    return f"A moderator looked at it and decided: {reason}" if reason else "A moderator decided."


def _consistency(submission: Submission, grade: Grade | None) -> Evidence:
    if is_anonymous(submission.owner):
        return _lacks("It was sent without an account, so that nobody answers for it.")
    doubts = sum(one["severity"] == "needs_review" for one in submission.findings)
    if grade is not None and grade.mismatches:
        return _lacks(
            f"This site judged {_counted(grade.judged, 'stored output')} of code and "
            f"{grade.mismatches} came out otherwise than the file says."
        )
    if grade is None or grade.state == Grade.State.WAITING:
        return _lacks("The verdicts that need code to be run have not been judged here yet.")
    if grade.state in (Grade.State.NO_SANDBOX, Grade.State.FAILED):
        return _lacks(
            f"{_counted(grade.code_trials, 'verdict')} that need code to be run could not be "
            f"judged here: {grade.reason}"
        )
    if doubts:
        return _lacks(f"{_counted(doubts, 'finding')} of the checks a person has to look at.")
    computed = (
        "Every score was computed again from the trials, every verdict from the stored output"
    )
    if grade.state == Grade.State.NOT_NEEDED:
        return _met("consistent", f"{computed}, and all came out the same. No code was to be run.")
    if grade.is_sampled:
        return _met(
            "consistent",
            f"Every score was computed again from the trials. Of the {grade.code_trials} verdicts "
            f"that need code to be run, this site judged {grade.judged} in its {grade.sandbox} "
            "sandbox, of its own choice; they and all other verdicts came out the same.",
        )
    return _met(
        "consistent",
        f"{computed}, and all came out the same; {_counted(grade.judged, 'of them', 'of them')} by "
        f"running code in the site's {grade.sandbox} sandbox.",
    )


def _lacks(sentence: str) -> Evidence:
    return Evidence("consistent", False, sentence)


def _met(level: str, sentence: str) -> Evidence:
    return Evidence(level, True, sentence)


def _counted(count: int, one: str, many: str | None = None) -> str:
    return f"{count} {one if count == 1 else many or f'{one}s'}"


def _reproduction(submission: Submission) -> Evidence:
    """The first run of another owner that reproduces this one; else the nearest miss."""
    ours = submission.run.run_header()
    if ours.subject.weights_digest is None:
        return Evidence(
            "reproduced", False, "Its weights have no digest, so that nobody can have the same."
        )
    miss = "No independent owner has a run of these weights, settings and device class here."
    for count, other in enumerate(candidates(submission, ours)):
        if count == MOST_COMPARED:
            break
        sentence, is_met = reproduces(submission.run, other)
        if is_met:
            return _met("reproduced", sentence)
        miss = sentence if count == 0 else miss
    return Evidence("reproduced", False, miss)


def candidates(submission: Submission, ours: RunHeader) -> Iterator[Run]:
    """Approved runs of independent owners with the same weights, league and device class."""
    others = (
        _like(ours)
        .filter(level__in=PASSED_ON)
        .exclude(owner=submission.owner_id)
        .select_related("run")
        .order_by("pk")
    )
    witnesses, taken = Witnesses(submission), Counter[int]()
    for other in others.iterator():
        if taken[other.owner_id] == MOST_OF_AN_OWNER:
            continue
        if not witnesses.are_independent(other.owner_id):
            continue
        theirs = other.run.run_header()
        if not not_comparable(ours, theirs) and not speed_not_comparable(ours, theirs):
            taken[other.owner_id] += 1
            yield other.run


def reproduces(ours: Run, theirs: Run) -> tuple[str, bool]:
    """A sentence with the figures of both runs, and whether they are near enough to each other."""
    a, b = ours.run_header().speed, theirs.run_header().speed
    who = (
        f"Run {theirs.public_id} of another owner, with the same weights, settings and device "
        "class,"
    )
    if a is None or b is None or a.generation_tps is None or b.generation_tps is None:
        return f"{who} has no speed to compare.", False
    if a.ttft_s is None or b.ttft_s is None:
        return f"{who} has no time to first token to compare.", False
    generation = _apart(a.generation_tps, b.generation_tps)
    ttft = _apart(a.ttft_s, b.ttft_s)
    told = (
        f"{who} generates {_figure(b.generation_tps)} tok/s against {_figure(a.generation_tps)} "
        f"({generation:.1%} apart, {GENERATION_TOLERANCE:.0%} allowed) and has its first token "
        f"after {_figure(b.ttft_s)} s against {_figure(a.ttft_s)} s ({ttft:.1%} apart, "
        f"{TTFT_TOLERANCE:.0%} allowed)"
    )
    if generation > GENERATION_TOLERANCE or ttft > TTFT_TOLERANCE:
        return f"{told}: too far to reproduce it.", False
    found = compare_runs(ours.result(), theirs.result())
    if found.quality is None:
        return f"{told}; {' '.join(found.reasons)}", False
    quality = found.quality
    sentence = (
        f"{told}; its quality differs by {quality.difference:+.1f} points "
        f"({quality.low:+.1f} to {quality.high:+.1f}): {quality.verdict}."
    )
    return sentence, quality.verdict not in ("better", "worse")


def _apart(a: Spread, b: Spread) -> float:
    """By how much of the smaller median the larger one exceeds it."""
    small, large = sorted((a.median, b.median))
    return large / small - 1 if small > 0 else float("inf")


def _figure(spread: Spread) -> str:
    return figures.rate(spread.median, None).value


def shown_evidence(submission: Submission) -> list[dict[str, str | bool]]:
    """What stands behind the level on the run's page; nothing before it is shown there."""
    told = Entry.objects.filter(run=submission.run_id).values_list("evidence", flat=True).first()
    return told or []


def settle(submission: Submission, because: str = "") -> bool:
    """Give the submission the level that the evidence supports. Gives whether that is another one.

    Call it with the submission locked, inside a transaction. One that was withdrawn stays as it is.
    """
    if submission.status == Submission.Status.WITHDRAWN:
        return False
    found = support(submission)
    publish.show_evidence(submission.run, found.as_json(), is_sampled=found.is_sampled)
    before = submission.level
    submission.change_level(found.level, None, f"{because} {found.reason}".strip())
    return before != found.level


def look_at_levels() -> int:
    """Look at all levels that something new may have changed. Gives how many were changed.

    New is a submission whose status or level is not the one that was looked at last: its own level
    may change, and those of all that it is or was evidence for. Any number of workers may do this
    at once, and be killed: what they did not see to the end is still new.
    """
    changed, broken = 0, set[int]()
    while news := list(Grade.objects.with_news().exclude(pk__in=broken)[:100]):
        for grade in news:
            try:
                changed += _look_around(grade)
            except Exception:
                # One run that cannot be read does not hold up the levels of the others.
                logger.exception("The levels around run %s cannot be looked at.", grade.run_id)
                broken.add(grade.pk)
    return changed


def _look_around(grade: Grade) -> int:
    """Look at one submission with news, and at those that it is evidence for."""
    pk = Submission.objects.values_list("pk", flat=True).get(run=grade.run_id)
    changed = int(settle_alone(pk))
    # Marked as it is now: what changes while the others are looked at is news again.
    seen = Submission.objects.select_related("run").get(pk=pk)
    for other in _touched(seen):
        changed += settle_alone(other)
    Grade.objects.filter(pk=grade.pk).update(seen_status=seen.status, seen_level=seen.level)
    return changed


def _touched(submission: Submission) -> list[int]:
    """Submissions of others whose level may rest on this one: shown, so that they have an entry."""
    found = _like(submission.run.run_header()).exclude(owner=submission.owner_id)
    return list(found.order_by("pk").values_list("pk", flat=True))


def _like(header: RunHeader) -> QuerySet[Submission]:
    """Approved submissions with the weights, the league and the device class of a run."""
    return Submission.objects.filter(
        run__grade__isnull=False,
        status=Submission.Status.APPROVED,
        run__entry__league=league_of(header),
        run__entry__device_class=header.machine.device_class[:LONGEST_NAME],
        run__header__subject__weights_digest=header.subject.weights_digest,
    )


def settle_alone(pk: int, because: str = "") -> bool:
    """`settle`, alone in a transaction, with the row held against all other writers."""
    with transaction.atomic():
        return settle(Submission.objects.select_for_update().get(pk=pk), because)
