"""From a run's header to a row of the leaderboard: the one home of that conversion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any

from django.db import transaction
from django.utils import timezone

from bench_loop.engine.ranking import league_of, not_ranked_reason
from bench_loop.engine.standard import custom_reason
from bench_loop.machine.devices import find_device
from bench_loop.result import outline
from bench_loop.result.records import Aggregates, Gpu, Machine, RunHeader, Speed, Spread
from bench_loop.scoring.speed import reach
from leaderboard import locks, names, stacks
from leaderboard.models import CPU_ONLY, Entry, League, Outline
from leaderboard.models.names import LONGEST_NAME
from runs.models import Run

LONGEST_REASON = 1000

SCORES = ("overall_score", "quality_score", "speed_score", "reliability_score", "value_score")


@transaction.atomic
def publish(run: Run, *, level: str, is_local: bool) -> Entry:
    """Show `run` on the leaderboard; an entry that was withdrawn comes back.

    Its stack, the run that stands for it, and the bands of its league change with it. Publish one
    run a transaction: the locks of several are held in the order of publishing, and two such
    transactions could wait for each other.
    """
    header = run.run_header()
    reason = not_ranked_reason(header)
    found = columns(header)
    locks.share_names()
    alias = names.alias_of(header.subject)
    before = Entry.objects.filter(run=run).values_list("stack_id", "stack__league__key").first()
    old_stack, old_league = before or (None, None)
    leagues = locks.lock_leagues(filter(None, (found["league"], old_league)))
    league = leagues[found["league"]]
    stack = stacks.stack_for(alias.model, found["quantization"], found["device_class"], league)
    entry, _ = Entry.objects.update_or_create(
        run=run,
        defaults={
            **found,
            "owner_id": _owner(run),
            "alias": alias,
            "stack": stack,
            "level": level,
            "is_local": is_local,
            "is_ranked": not reason,
            "not_ranked_reason": reason,
            "withdrawn_at": None,
            "withdrawn_reason": "",
            "published_at": timezone.now(),
        },
    )
    _keep_outline(entry, run)
    stacks.refresh({stack.pk, *([old_stack] if old_stack else [])})
    entry.refresh_from_db(fields=["band_low", "band_high", "stack"])
    run.record("published", {"model_id": entry.model_id, "level": level})
    return entry


def _owner(run: Run) -> int | None:
    """Whose run it is; None: it came from this installation's own results folder."""
    owner: int | None = (
        Run.objects.filter(pk=run.pk).values_list("submission__owner", flat=True).first()
    )
    return owner


def _keep_outline(entry: Entry, run: Run) -> None:
    """Store what a matrix is made of; a run that can be in none has no outline."""
    if run.run_header().imported is None:
        data = outline.to_bytes(run.result())
        Outline.objects.update_or_create(entry=entry, defaults={"data": data})


@transaction.atomic
def update(run_ids: Collection[int]) -> frozenset[str]:
    """Bring the entries of these runs up to date with the scores that the runs have now.

    They stay shown or withdrawn, at their level, and of their age; stacks and bands change with
    them, all at once. Runs without an entry are left out. Gives the leagues that were touched.
    """
    entries = {entry.run_id: entry for entry in Entry.objects.filter(run__in=run_ids)}
    found = {run: columns(Run.objects.get(pk=run).run_header()) for run in sorted(entries)}
    locks.share_names()
    keys = {entry.league for entry in entries.values()} | {one["league"] for one in found.values()}
    leagues = locks.lock_leagues(keys)
    touched: set[int] = set()
    for run_id, changed in found.items():
        touched |= _update(entries[run_id], changed, leagues[changed["league"]])
    stacks.refresh(touched)
    return frozenset(keys)


def _update(entry: Entry, changed: dict[str, Any], league: League) -> set[int]:
    """One entry of `update`. Gives the stacks that it left and came to."""
    run = Run.objects.get(pk=entry.run_id)
    header = run.run_header()
    reason = not_ranked_reason(header)
    alias = names.alias_of(header.subject)
    stack = stacks.stack_for(alias.model, changed["quantization"], changed["device_class"], league)
    Entry.objects.filter(pk=entry.pk).update(
        **changed,
        alias=alias,
        stack=stack,
        is_ranked=not reason,
        not_ranked_reason=reason,
        band_low=None,
        band_high=None,
    )
    _keep_outline(entry, run)
    if entry.withdrawn_at is None:
        run.record("rescored", {"overall_score": header.aggregates.overall_score})
    return {stack.pk} | ({entry.stack_id} if entry.stack_id else set())


def show_evidence(run: Run, evidence: list[dict[str, str | bool]], *, is_sampled: bool) -> None:
    """Keep with the entry of `run`, if it has one, what speaks for its level."""
    Entry.objects.filter(run=run).update(evidence=evidence, is_sampled=is_sampled)


@transaction.atomic
def withdraw(run: Run, reason: str) -> None:
    """Take `run` off the leaderboard, if it is there; its row stays as a tombstone.

    Another run of its stack comes to stand for it, and its league gets new bands.
    """
    shown = Entry.objects.shown().filter(run=run)
    locks.lock_leagues(shown.values_list("league", flat=True))
    if shown.update(
        withdrawn_at=timezone.now(), withdrawn_reason=reason, band_low=None, band_high=None
    ):
        stack = Entry.objects.values_list("stack_id", flat=True).get(run=run)
        stacks.refresh([stack] if stack else [])
        run.record("withdrawn", {})


def columns(header: RunHeader) -> dict[str, Any]:
    """The columns of an Entry that come from the run itself."""
    subject, machine = header.subject, header.machine
    names = {
        "model_id": subject.model_id,
        "model_family": subject.model_family,
        "quantization": subject.quantization,
        "provider": subject.provider,
        "harness": subject.harness,
        "harness_version": subject.harness_version,
        "device_class": machine.device_class,
        "gpu_model": gpu_model(machine),
        "scoring_version": header.scoring_version,
    }
    return {
        **{column: text and text[:LONGEST_NAME] for column, text in names.items()},
        "parameters_b": subject.parameters_b,
        "thinking": subject.thinking,
        "gpu_memory_gb": machine.gpu_memory_gb,
        "system_memory_gb": machine.system_memory_gb,
        "custom_reason": custom_reason(header)[:LONGEST_REASON],
        "profile": header.profile,
        "league": league_of(header),
        "finished_at": header.finished_at,
        **_score_columns(header.aggregates),
        **_speed_columns(header.speed),
    }


def gpu_model(machine: Machine) -> str | None:
    """`RTX 4090`, `2 x RTX 3090`, `A + B`; `CPU only`; None: nothing is known."""
    if machine.gpus and machine.backend != "cpu":
        counts = Counter(map(_device_name, machine.gpus))
        return " + ".join(f"{n} x {model}" if n > 1 else model for model, n in counts.items())
    if machine.backend == "cpu" or (machine.is_local and machine.cpu_model is not None):
        return CPU_ONLY
    return None


def _device_name(gpu: Gpu) -> str:
    """One spelling a device, since drivers and people have many."""
    return find_device(f"{gpu.vendor} {gpu.model}" if gpu.vendor else gpu.model).name or gpu.model


def _score_columns(aggregates: Aggregates) -> dict[str, float | None]:
    scores: dict[str, float | None] = {"answers_per_minute": aggregates.answers_per_minute}
    for name in SCORES:
        low, high = getattr(aggregates, f"{name}_interval") or (None, None)
        scores |= {name: getattr(aggregates, name), f"{name}_low": low, f"{name}_high": high}
    return scores


def _speed_columns(speed: Speed | None) -> dict[str, float | None]:
    generation = speed.generation_tps if speed else None
    return {
        "generation_tps": _median(generation),
        "generation_tps_peak": generation.peak if generation else None,
        "generation_tps_mean": generation.mean if generation else None,
        "generation_tps_stdev": generation.stdev if generation else None,
        "generation_tps_reach": reach(generation),
        "prompt_tps": _median(speed.prompt_tps if speed else None),
        "ttft_s": _median(speed.ttft_s if speed else None),
        "ttft_s_reach": reach(speed.ttft_s if speed else None),
        "load_s": _median(speed.load_s if speed else None),
    }


def _median(spread: Spread | None) -> float | None:
    return spread.median if spread else None
