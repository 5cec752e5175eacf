"""Many who publish, withdraw and rename at once: nothing is lost, and none waits for ever."""

from __future__ import annotations

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection

from leaderboard.models import Entry, LanguageModel, ModelAlias, NameChange, Stack
from leaderboard.name_changes import merge, undo
from leaderboard.publish import publish, withdraw
from leaderboard.rebuild import rebuild_stacks
from tests.site.published import show_run, store_run

PEOPLE = 8


def at_once(tasks: list[Callable[[], object]]) -> None:
    """Do all in threads with connections of their own; the first error is raised."""

    def one(task: Callable[[], object]) -> None:
        try:
            task()
        finally:
            connection.close()

    with ThreadPoolExecutor(PEOPLE) as threads:
        for done in [threads.submit(one, task) for task in tasks]:
            done.result(timeout=120)


def state() -> list[object]:
    entries = Entry.objects.order_by("pk")
    return [
        *Stack.objects.order_by("pk").values(),
        *entries.values("pk", "stack", "alias", "band_low", "band_high"),
    ]


def require_settled() -> None:
    """What concurrent changes left is what a rebuilding from nothing makes of the entries."""
    left = state()
    assert rebuild_stacks().moved == 0
    assert state() == left


@pytest.mark.django_db(transaction=True)
def test_runs_of_one_stack_published_at_once_are_all_counted() -> None:
    runs = [store_run(40.0 + number, number=number) for number in range(16)]
    at_once([lambda run=run: publish(run, level="consistent", is_local=True) for run in runs])
    stack = Stack.objects.select_related("shown").get()
    assert stack.run_count == 16
    assert stack.shown is not None
    assert stack.shown.overall_score == 47.0
    assert ModelAlias.objects.count() == LanguageModel.objects.count() == 1
    require_settled()


@pytest.mark.django_db(transaction=True)
def test_new_models_published_at_once_have_one_name_each() -> None:
    spellings = ("qwen3:8b", "Qwen/Qwen3-8B", "qwen3-8b.gguf", "qwen3-8b@q4_k_m")
    runs = [store_run(50.0, number=number, model_id=spellings[number % 4]) for number in range(16)]
    at_once([lambda run=run: publish(run, level="consistent", is_local=True) for run in runs])
    assert LanguageModel.objects.count() == 1
    assert Stack.objects.get().run_count == 16


@pytest.mark.django_db(transaction=True)
def test_publishing_withdrawing_and_naming_at_once_leave_a_true_board(owner: User) -> None:
    owner.user_permissions.add(Permission.objects.get(codename="change_modelalias"))
    owner = User.objects.get(pk=owner.pk)
    models = ("qwen3:8b", "gemma3:4b", "phi4:14b")
    known = [
        show_run(50.0 + at, number=at, model_id=models[at % 3], subject={"harness_version": v})
        for at, v in enumerate("112233")
    ]
    new = [
        store_run(
            40.0 + at,
            number=50 + at,
            model_id=models[at % 3],
            subject={"harness_version": str(at % 3 + 1)},
        )
        for at in range(12)
    ]
    kept, other = (ModelAlias.objects.get(name=name).model for name in models[:2])

    def merge_and_undo() -> None:
        merge(kept, [other], owner, "the same")
        undo(NameChange.objects.get(kind="merge"), owner, "not the same")

    tasks: list[Callable[[], object]] = [
        *(lambda run=run: publish(run, level="consistent", is_local=True) for run in new),
        *(lambda entry=entry: withdraw(entry.run, "mistake") for entry in known[:4]),
        merge_and_undo,
        rebuild_stacks,
    ]
    random.Random(5).shuffle(tasks)
    at_once(tasks)
    assert Entry.objects.shown().count() == 14
    require_settled()
