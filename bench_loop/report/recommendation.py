"""A recommendation in words and as JSON: pick, runner-up, how sure, why, and what was left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.text import Text

from bench_loop.console import clean, in_signs, signs, width
from bench_loop.engine.recommend import Outlook, Recommendation, Tried
from bench_loop.report import figures
from bench_loop.report.marks import cut, wrapped
from bench_loop.scoring.sequential import Duel, fewest_tasks

MOST_LEFT_OUT = 20
"""Models that were not measured of which each is told why."""

TIE_RULE = "more right answers on the tasks they share, else the faster, else the smaller"


def print_recommendation(found: Recommendation, screen: Console) -> None:
    """Print the pick and its grounds first, then every model that was tried or left out."""
    drawn = signs(screen)
    for section in (_verdict(found, screen), _table(found, screen), _left_out(found, screen)):
        lines = list(section)
        for line in lines:
            screen.print(in_signs(line, drawn), soft_wrap=True)
        if lines:
            screen.print()


def print_outlook(outlook: Outlook, purpose: str, budget_s: float, screen: Console) -> None:
    """Say what is going to be tried, and what it can show at best, before any time is spent."""
    for line in wrapped(Text(plan_words(outlook, purpose, budget_s)), screen):
        screen.print(in_signs(line, signs(screen)), soft_wrap=True)
    for line in wrapped(Text(outlook_words(outlook), style="basis"), screen):
        screen.print(in_signs(line, signs(screen)), soft_wrap=True)
    screen.print()


def plan_words(outlook: Outlook, purpose: str, budget_s: float) -> str:
    """What is going to be tried: `3 models, 18 tasks for chat, at most 15 min`."""
    models = "1 model" if outlook.model_count == 1 else f"{outlook.model_count} models"
    times = "" if outlook.trials == 1 else f", {outlook.trials} times each"
    time = figures.duration(budget_s)
    return f"{models}, {outlook.task_count} tasks for {purpose}{times}, at most {time}."


def outlook_words(outlook: Outlook) -> str:
    """What a race can show at best."""
    if outlook.model_count < 2:
        return "There is nothing to compare it with: this only shows what it can do."
    if outlook.can_be_clear:
        return (
            f"A model is clearly better than another with {outlook.fewest_wins} tasks won and none "
            "lost, or a longer lead where it loses some."
        )
    least = fewest_tasks(outlook.model_count)
    return (
        f"So few tasks can't make a winner clear, however often each is asked: that takes {least} "
        "or more. At best one model leads, but not clearly."
    )


def headline(found: Recommendation) -> str:
    """The recommendation in one sentence."""
    if found.kind == "none":
        return (
            f"None can be recommended for {found.purpose}: no task was done by {_measured(found)}."
        )
    if found.pick is None:
        return "Nothing can be told: no model was measured."
    name, other = (clean(each.model_id) for each in (found.pick, found.runner_up or found.pick))
    match found.kind:
        case "clear":
            return f"{name} is clearly the best of {_measured(found)} for {found.purpose}."
        case "ahead":
            return f"{name} leads for {found.purpose}, but not clearly."
        case "equal":
            return f"{name} and {other} are equal as far as measured for {found.purpose}."
    return f"{name} is the only model that was measured for {found.purpose}."


def grounds(found: Recommendation) -> str:
    """Why, and how sure that is, in a few sentences."""
    if found.kind == "none":
        return "These tasks are too hard for what is installed; a larger model may do some."
    if found.pick is None:
        return "What kept each model from being measured stands below."
    if found.duel is None or found.runner_up is None:
        return "There is nothing to compare it with."
    it, other = clean(found.pick.model_id), clean(found.runner_up.model_id)
    duel = found.duel
    sentences = [
        _won(found.outlook, duel, it, other),
        _certainty(found),
    ]
    if found.kind == "equal":
        sentences.append(f"Picked by the tie rule: {TIE_RULE}.")
    elif found.kind == "ahead":
        sentences.append(_alternative(found.pick, found.runner_up))
    return " ".join(filter(None, sentences))


def _won(outlook: Outlook, duel: Duel, it: str, other: str) -> str:
    given = f"Of the {duel.tasks} tasks that both were given, {it}"
    if outlook.trials > 1:
        return f"{given} passed {duel.wins} more often and {other} {duel.losses}."
    return f"{given} alone did {duel.wins} and {other} alone {duel.losses}."


def _certainty(found: Recommendation) -> str:
    assert found.duel is not None
    outlook, evidence = found.outlook, found.duel.evidence
    if found.kind == "equal" and found.duel.wins == 0:
        return ""
    if not outlook.can_be_clear:
        least = fewest_tasks(outlook.model_count)
        return f"That may be chance: to make it clear takes {least} tasks or more."
    needed = figures.significant(outlook.needed, 2)
    stated = f"evidence {figures.significant(evidence, 2)}, where {needed} makes it clear"
    if found.kind == "clear":
        return f"That is clear ({stated}): equal models look like that in 5 of 100 races at most."
    return f"That may be chance ({stated})."


def _alternative(pick: Tried, other: Tried) -> str:
    """A much faster runner-up is worth a word where the pick is not clearly better."""
    ours, theirs = pick.generation_tps, other.generation_tps
    if not ours or not theirs or theirs < 1.2 * ours:
        return ""
    return (
        f"{clean(other.model_id)} writes {figures.ratio(theirs / ours, None, None).value} as fast."
    )


def _measured(found: Recommendation) -> str:
    count = sum(bool(each.shares) for each in found.tried)
    if found.kind == "none":
        return "the model" if count == 1 else f"any of the {count} models"
    return "both models" if count == 2 else f"the {count} models"


def _verdict(found: Recommendation, screen: Console) -> Iterator[Text]:
    style = "better" if found.kind == "clear" else "figure"
    yield from wrapped(Text(headline(found), style=style), screen)
    yield from wrapped(Text(grounds(found)), screen)


def _table(found: Recommendation, screen: Console) -> Iterator[Text]:
    measured = [each for each in found.tried if each.shares]
    if not measured:
        return
    names = [clean(each.model_id) for each in measured]
    wide = min(max(map(len, names)), max(width(screen) - 40, 16))
    yield Text(f"   {'':{wide}}  {'right':>9}  {'tok/s':>6}  {'GiB':>5}", style="basis")
    for number, (each, name) in enumerate(zip(measured, names, strict=True), start=1):
        shares = each.shares.values()
        size = each.candidate.model.size_bytes
        right = f"{sum(shares):.{found.outlook.trials > 1:d}f} of {len(shares)}"
        speed = "–" if each.generation_tps is None else figures.significant(each.generation_tps)
        memory = "–" if size is None else figures.significant(size / 2**30, 2)
        line = Text.assemble((f"{number}  ", "accent"), f"{cut(Text(name), wide).plain:{wide}}  ")
        line.append(f"{right:>9}  ", style="figure").append(f"{speed:>6}  {memory:>5}")
        yield line
        if each.note:
            yield from wrapped(Text(clean(each.note), style="basis"), screen, indent=3)


def _left_out(found: Recommendation, screen: Console) -> Iterator[Text]:
    reasons = [(each.model_id, each.note) for each in found.tried if not each.shares]
    reasons += [(each.model.model_id, each.refused or "") for each in found.skipped]
    if (more := len(reasons) - MOST_LEFT_OUT) > 0:
        reasons[MOST_LEFT_OUT:] = [(f"{more:,} more", "--json names them")]
    for model, reason in reasons:
        text = Text.assemble("not measured: ", clean(model), (f"  {clean(reason)}", "basis"))
        yield from wrapped(text, screen)


def recommendation_json(found: Recommendation) -> dict[str, Any]:
    """The same for a program to read."""
    return {
        "purpose": found.purpose,
        "kind": found.kind,
        "pick": found.pick.model_id if found.pick else None,
        "runner_up": found.runner_up.model_id if found.runner_up else None,
        "headline": headline(found),
        "grounds": grounds(found),
        "tie_rule": TIE_RULE,
        "evidence_needed": found.outlook.needed,
        "outlook": {
            **asdict(found.outlook),
            "fewest_wins": found.outlook.fewest_wins,
            "can_be_clear": found.outlook.can_be_clear,
        },
        "duel": asdict(found.duel) if found.duel else None,
        "tried": [_tried_json(each) for each in found.tried],
        "skipped": [
            {"model": each.model.model_id, "endpoint": each.endpoint, "reason": each.refused}
            for each in found.skipped
        ],
    }


def _tried_json(each: Tried) -> dict[str, Any]:
    return {
        "model": each.model_id,
        "endpoint": each.candidate.endpoint,
        "run_id": each.result.run_id if each.result else None,
        "right": sum(each.shares.values()),
        "tasks": len(each.shares),
        "generation_tps": each.generation_tps,
        "size_bytes": each.candidate.model.size_bytes,
        "note": each.note,
    }
