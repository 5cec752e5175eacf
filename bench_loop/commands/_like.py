"""Repeating the run of a result, anybody's, and comparing the two at the end."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bench_loop.commands._options import PROVIDERS
from bench_loop.commands._packs import tell_of_instances
from bench_loop.commands._setup import Wanted
from bench_loop.commands._source import read_result

if TYPE_CHECKING:
    from bench_loop.engine.plan import RunPlan
    from bench_loop.engine.run import Setup
    from bench_loop.result.records import RunResult


def repeat(
    source: str, wanted: Wanted, output: Path, *, packs: Path | None = None, as_json: bool
) -> None:
    """Run what the result at `source`, a file or an address, was made by.

    `packs` is the folder of private packs that it names.
    `wanted` may name model, provider, endpoint and machine; the rest is taken from the result.
    Raises SetupError, naming each difference, when the two could not be compared.
    """
    from bench_loop.commands._benchmark import run_planned
    from bench_loop.console import clean
    from bench_loop.engine.like import options_like, plan_like, refuse_other_plan

    theirs = read_result(source)
    plan = plan_like(theirs, packs)
    refuse_other_plan(theirs, plan)
    wanted = _completed(wanted, theirs)
    count = len(plan.quality_trials)
    click.echo(
        f"Repeating {theirs.run_id}: {clean(wanted.model_id)}, {theirs.profile}, "
        f"{count} trials beside speed.",
        err=True,
    )
    tell_of_instances(plan)
    ours = run_planned(
        plan, wanted, output, options_like(theirs), as_json=as_json, check=_check(theirs)
    )
    _print_comparison([theirs, ours], [source, f"{ours.run_id}.json"], as_json=as_json)


def _completed(wanted: Wanted, theirs: RunResult) -> Wanted:
    """What the user did not name is as it was. A file may name a harness, never a path."""
    from bench_loop.config import bundled
    from bench_loop.errors import UsageError
    from bench_loop.providers.embedded import MODEL_NAMES
    from bench_loop.registry import names, pick

    subject = theirs.subject
    provider = wanted.provider
    if provider is None and wanted.endpoint is None:
        provider = pick("provider", subject.provider, PROVIDERS)
    if not wanted.model_id and provider == "embedded" and subject.model_id not in MODEL_NAMES:
        raise UsageError(
            "The run was made with a model file of its own.", remedy="Name yours: --model FILE"
        )
    sandbox, program = theirs.sandbox, theirs.settings.harness
    return replace(
        wanted,
        provider=provider,
        model_id=wanted.model_id or subject.model_id,
        harness=pick("harness", subject.harness, names(bundled("harnesses"))),
        harness_options=program.options if program else {},
        is_forced=bool(program and program.forced),
        thinking=subject.thinking,
        sandbox_kind=sandbox.kind if sandbox else wanted.sandbox_kind,
    )


def _check(theirs: RunResult) -> Callable[[RunPlan, Setup], None]:
    """Refuses a server on which the runs could not be compared; says what else differs."""

    def check(plan: RunPlan, setup: Setup) -> None:
        from bench_loop.console import clean
        from bench_loop.engine.like import differences
        from bench_loop.engine.run import conditions_of
        from bench_loop.errors import SetupError

        now = conditions_of(setup, plan, setup.server, setup.model)
        breaking, limiting = differences(theirs, plan, now)
        for sentence in limiting:
            click.echo(clean(sentence), err=True)
        if breaking:
            raise SetupError(
                f"This run cannot be repeated comparably: {' '.join(breaking)}",
                remedy="Make these the same, or run without --like.",
            )

    return check


def _print_comparison(runs: list[RunResult], names: list[str], *, as_json: bool) -> None:
    from bench_loop.report import comparison

    pairs = comparison.pairs_with_first(runs)
    if as_json:
        found = comparison.comparison_json(runs, names, pairs)
        click.echo(json.dumps({"event": "compared", **found}))
        return
    from bench_loop.console import console

    comparison.print_comparison(runs, names, pairs, console())
