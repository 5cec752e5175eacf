"""Random publishing, withdrawing and naming against a plain model of what the board must show."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User

from bench_loop.scoring.bands import RankedRow, rank_bands
from leaderboard.models import Entry, LanguageModel, ModelAlias, NameChange, Stack
from leaderboard.name_changes import merge, rename, split, undo
from leaderboard.publish import publish, withdraw
from leaderboard.rebuild import rebuild_stacks
from tests.site.published import store_run

SPELLINGS = {
    "qwen3-8b": ("qwen3:8b", "qwen/qwen3-8b", "unsloth/qwen3-8b-gguf"),
    "gemma-3-4b": ("gemma3:4b", "google/gemma-3-4b-it", "gemma-3-4b-it-q4_k_m.gguf"),
    "phi-4-14b": ("phi4:14b", "microsoft/phi-4", "phi-4-q4_k_m.gguf"),
}
RULE = {spelling: key for key, all_ in SPELLINGS.items() for spelling in all_}
GPUS = ("RTX 4090", "RTX 3090")
STEPS = 45


@dataclass
class Published:
    """A run as the oracle knows it."""

    entry: Entry
    spelling: str
    gpu: str
    owner: int | None
    overall: float
    is_ranked: bool
    is_withdrawn: bool = False


@dataclass
class Oracle:
    """What a board must show, worked out from nothing each time."""

    runs: list[Published] = field(default_factory=list)
    by_rule: dict[str, str] = field(default_factory=lambda: {key: key for key in SPELLINGS})
    groups: dict[str, str] = field(default_factory=dict)
    """The group of each spelling that was seen."""

    def see(self, spelling: str) -> None:
        self.groups.setdefault(spelling, self.by_rule[RULE[spelling]])

    def stacks(self) -> dict[tuple[str, str], list[Published]]:
        found: dict[tuple[str, str], list[Published]] = defaultdict(list)
        for run in self.runs:
            found[self.groups[run.spelling], run.gpu].append(run)
        return found

    def expected(self) -> list[tuple[Any, ...]]:
        rows = []
        for runs in self.stacks().values():
            published = [run for run in runs if not run.is_withdrawn]
            counted = [run for run in published if run.is_ranked] or published
            medians = []
            for owner in {run.owner for run in counted}:
                own = sorted((run for run in counted if run.owner == owner), key=_by_score)
                medians.append(own[(len(own) + 1) // 2 - 1])
            medians.sort(key=_by_score)
            shown = medians[(len(medians) + 1) // 2 - 1] if medians else None
            scores = [run.overall for run in counted]
            rows.append(
                (
                    sorted(run.entry.pk for run in runs),
                    shown.entry.pk if shown else None,
                    len(counted),
                    len(medians),
                    len(published) - len(counted),
                    len(runs) - len(published),
                    min(scores, default=None),
                    max(scores, default=None),
                )
            )
        return sorted(rows)


def _by_score(run: Published) -> tuple[float, Any, int]:
    return run.overall, run.entry.finished_at, run.entry.pk


def actual() -> list[tuple[Any, ...]]:
    return sorted(
        (
            sorted(stack.entries.values_list("pk", flat=True)),
            stack.shown_id,
            stack.run_count,
            stack.owner_count,
            stack.uncounted_count,
            stack.withdrawn_count,
            stack.overall_low,
            stack.overall_high,
        )
        for stack in Stack.objects.all()
    )


def check_bands() -> None:
    rows = Entry.objects.filter(shown_by__isnull=False, is_ranked=True)
    shown = list(rows.order_by("-overall_score", "pk"))
    bands = rank_bands(
        [
            RankedRow(one.overall_score or 0, one.overall_score_low, one.overall_score_high)
            for one in shown
        ]
    )
    wanted = {
        one.pk: (band.low, band.high) if band else (None, None)
        for one, band in zip(shown, bands, strict=True)
    }
    for entry in Entry.objects.all():
        assert (entry.band_low, entry.band_high) == wanted.get(entry.pk, (None, None))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_board_follows_every_change_and_rebuilding_changes_nothing(
    db: None, owner: User, stranger: User, seed: int
) -> None:
    owner.user_permissions.add(Permission.objects.get(codename="change_modelalias"))
    owner = User.objects.get(pk=owner.pk)
    people = (owner, stranger, None)
    chance = random.Random(seed)
    oracle = Oracle()
    for step in range(STEPS):
        _step(chance, oracle, people, step)
        assert actual() == oracle.expected()
    check_bands()
    before = actual(), list(Entry.objects.order_by("pk").values())
    assert rebuild_stacks().moved == 0
    assert (actual(), list(Entry.objects.order_by("pk").values())) == before
    Stack.objects.update(shown=None, run_count=9)
    Entry.objects.update(stack=None, band_low=7)
    Stack.objects.all().delete()
    assert rebuild_stacks().moved == len(oracle.runs)
    assert actual() == oracle.expected()
    check_bands()


def _step(
    chance: random.Random, oracle: Oracle, people: tuple[User | None, ...], number: int
) -> None:
    by = people[0]
    assert by is not None
    standing = [run for run in oracle.runs if not run.is_withdrawn]
    kind = chance.choices(
        ("publish", "withdraw", "return", "merge", "split", "rename", "undo"),
        (10, 3, 2, 2, 2, 1, 2),
    )[0]
    if kind == "withdraw" and standing:
        run = chance.choice(standing)
        withdraw(run.entry.run, "mistake")
        run.is_withdrawn = True
    elif kind == "return" and len(standing) < len(oracle.runs):
        run = chance.choice([run for run in oracle.runs if run.is_withdrawn])
        publish(run.entry.run, level="consistent", is_local=run.owner is None)
        run.is_withdrawn = False
    elif kind == "merge" and len(set(oracle.groups.values())) > 1:
        _merge(chance, oracle, by)
    elif kind == "split":
        _split(chance, oracle, by, number)
    elif kind == "rename" and oracle.groups:
        rename(_model_of(chance.choice(list(oracle.groups))), f"name {number}", by, "shorter")
    elif kind == "undo" and NameChange.objects.exclude(kind="undo").exists():
        _merge_and_undo(chance, oracle, by)
    elif kind in ("publish", "withdraw", "return"):
        _publish(chance, oracle, people, number)


def _publish(
    chance: random.Random, oracle: Oracle, people: tuple[User | None, ...], number: int
) -> None:
    spelling, gpu = chance.choice(list(RULE)), chance.choice(GPUS)
    owner, overall = chance.choice(people), float(chance.randrange(40, 60, 4))
    status = chance.choice(("complete", "complete", "incomplete"))
    run = store_run(
        overall,
        number=number,
        owner=owner,
        model_id=spelling,
        gpu=gpu,
        reach=1.0,
        subject={"parameters_b": None},
        status=status,
    )
    entry = publish(run, level="consistent", is_local=owner is None)
    oracle.see(spelling)
    oracle.runs.append(
        Published(entry, spelling, gpu, owner.pk if owner else None, overall, status == "complete")
    )


def _model_of(spelling: str) -> LanguageModel:
    return ModelAlias.objects.get(name=spelling).model


def _merge(chance: random.Random, oracle: Oracle, by: User) -> None:
    into, other = chance.sample(sorted(set(oracle.groups.values())), 2)
    members = {group: name for name, group in oracle.groups.items()}
    merge(_model_of(members[into]), [_model_of(members[other])], by, "the same")
    for names in (oracle.groups, oracle.by_rule):
        names.update({name: into for name, group in names.items() if group == other})


def _split(chance: random.Random, oracle: Oracle, by: User, number: int) -> None:
    crowded = [
        name
        for name, group in oracle.groups.items()
        if list(oracle.groups.values()).count(group) > 1
    ]
    if crowded:
        name = chance.choice(crowded)
        split([ModelAlias.objects.get(name=name)], by, "they differ", f"split {number}")
        oracle.groups[name] = f"split {number}"


def _merge_and_undo(chance: random.Random, oracle: Oracle, by: User) -> None:
    """Merge, let something happen, and undo: as if the merge had never been."""
    if len(set(oracle.groups.values())) < 2:
        return
    groups, by_rule = dict(oracle.groups), dict(oracle.by_rule)
    _merge(chance, oracle, by)
    change = NameChange.objects.first()
    assert change is not None
    _publish(chance, oracle, (by,), 1000 + change.pk)
    assert actual() == oracle.expected()
    undo(change, by, "not the same")
    oracle.by_rule = by_rule
    late = {name: by_rule[RULE[name]] for name in oracle.groups if name not in groups}
    oracle.groups = groups | late
