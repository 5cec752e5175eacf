"""What judging a run again changed, in a terminal and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.text import Text

from bench_loop.console import clean, in_signs, signs
from bench_loop.engine.rescore import VERDICT_FIELDS, Rescore, SuiteChange, TrialChange
from bench_loop.report import figures
from bench_loop.report.marks import label, outcome_word, wrapped


def print_rescore(found: Rescore, screen: Console) -> None:
    """Every trial whose verdict changed, then every suite with its score before and after."""
    drawn = signs(screen)
    for line in _lines(found, screen):
        screen.print(in_signs(line, drawn), soft_wrap=True)


def _lines(found: Rescore, screen: Console) -> Iterator[Text]:
    for change in found.trials:
        yield from wrapped(_trial_line(change), screen)
        if change.after.message:
            yield from wrapped(Text(clean(change.after.message), style="basis"), screen, indent=2)
    for suite in found.suites:
        line = label(suite.before.suite)
        line.append(f"{_score(suite.before.score)} -> {_score(suite.after.score)}", style="figure")
        line.append(f"  {suite.after.pass_count} passes, before {suite.before.pass_count}")
        yield line
        for sentence in _doubts(suite):
            yield from wrapped(Text(sentence, style="partial"), screen, indent=2)
    versions = (found.before.scoring_version, found.after.scoring_version)
    if versions[0] != versions[1]:
        yield Text(f"Scored by the formulas of version {versions[1]}, before {clean(versions[0])}.")
    if not found.is_changed:
        what = "that could be judged again " if any(s.not_judged for s in found.suites) else ""
        yield Text(f"Nothing {what}has changed.")


def _trial_line(change: TrialChange) -> Text:
    before, after = change.before, change.after
    line = Text(clean(before.task_id), style="figure")
    line.append(f", trial {before.trial}: ", style="basis")
    line.append(_verdict(before.outcome, before.reason), style=str(before.outcome))
    line.append(" -> ")
    line.append(_verdict(after.outcome, after.reason), style=after.outcome)
    return line


def _verdict(outcome: Any, reason: str | None) -> str:
    word = outcome_word(outcome)
    return clean(f"{word} ({reason})" if reason else word)


def _score(score: float | None) -> str:
    return "no score" if score is None else figures.score(score, None).value


def _doubts(suite: SuiteChange) -> Iterator[str]:
    """Sentences on what limits the comparison of one suite."""
    if suite.is_stale and suite.current_hash is None and suite.before.is_private:
        yield "It is a private pack: its verdicts stay as they are. Name its folder: --packs DIR."
    elif suite.is_stale and suite.current_hash is None:
        yield "This installation has no such suite: its verdicts stay as they are."
    elif suite.is_stale:
        yield (
            f"Its pack has changed since the run ({(suite.before.pack_hash or '')[:19]}, now "
            f"{suite.current_hash[:19] if suite.current_hash else ''}): the run keeps its verdicts."
            " Run the suite again to get current ones."
        )
    if suite.not_judged and suite.current_hash is not None:
        noun = "trial was" if suite.not_judged == 1 else "trials were"
        yield (
            f"{suite.not_judged} {noun} not judged again: the task is gone, asks otherwise now, or"
            " can be judged in a sandbox only."
        )


def rescore_json(found: Rescore) -> dict[str, Any]:
    """The same for a program to read."""
    return {
        "run_id": found.before.run_id,
        "is_changed": found.is_changed,
        "scoring_version": _pair(found.before.scoring_version, found.after.scoring_version),
        "fingerprint": _pair(found.before.fingerprint, found.after.fingerprint),
        "trials": [_trial_json(change) for change in found.trials],
        "suites": [_suite_json(suite) for suite in found.suites],
        "aggregates": _pair(
            found.before.aggregates.model_dump(mode="json"),
            found.after.aggregates.model_dump(mode="json"),
        ),
    }


def _pair(before: Any, after: Any) -> dict[str, Any]:
    return {"before": before, "after": after}


def _trial_json(change: TrialChange) -> dict[str, Any]:
    names = (*VERDICT_FIELDS, "message")
    return {
        "task_id": change.before.task_id,
        "trial": change.before.trial,
        "is_stale": change.is_stale,
        **_pair(
            {name: getattr(change.before, name) for name in names},
            {name: getattr(change.after, name) for name in names},
        ),
    }


def _suite_json(suite: SuiteChange) -> dict[str, Any]:
    return {
        "suite": suite.before.suite,
        "is_stale": suite.is_stale,
        "pack_hash": suite.before.pack_hash,
        "current_pack_hash": suite.current_hash,
        "not_judged": suite.not_judged,
        "score": _pair(suite.before.score, suite.after.score),
        "pass_count": _pair(suite.before.pass_count, suite.after.pass_count),
    }
