"""A forger with two accounts, from the upload to the board: what the second one is worth."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from bench_loop.result.records import RunResult
from bench_loop.result.signature import signed
from bench_loop.result.store import to_bytes
from leaderboard import stacks
from leaderboard.models import Entry, Stack
from submissions.keys import create_key
from submissions.levels import look_at_levels
from submissions.models import Submission
from tests.site.make_result import make_result, nothing_right
from tests.site.uploads import Uploader

WEIGHTS = "sha256:" + "a" * 64


@pytest.fixture
def puppet(public_site: None) -> Uploader:
    """A second account of the owner."""
    return Uploader(create_key(User.objects.create_user("puppet"))[1])


def made(number: int, **changes: Any) -> RunResult:
    """A run of its own, on a machine of its own."""
    machine = {"machine_id": f"{number:016x}"}
    subject = {"weights_digest": WEIGHTS}
    return make_result(latency_s=2 + number / 100, machine=machine, subject=subject, **changes)


def published(uploader: Uploader, moderator: User, data: bytes) -> str:
    answer = uploader.post(data)
    assert answer.status_code == 201, answer.content
    submission = Submission.objects.get(run__public_id=answer.json()["id"])
    submission.approve(moderator, "It looks right.")
    look_at_levels()
    return submission.run.public_id


def level(public_id: str) -> str:
    return str(Client().get(f"/api/v1/submissions/{public_id}/").json()["level"])


def test_a_run_signed_again_under_another_account_reproduces_nothing(
    uploader: Uploader, puppet: Uploader, moderator: User
) -> None:
    first = published(uploader, moderator, to_bytes(signed(made(1))))
    second = published(puppet, moderator, to_bytes(signed(made(2))))
    assert (level(first), level(second)) == ("consistent", "consistent")
    told = {
        one.run.public_id: [finding["code"] for finding in one.findings]
        for one in Submission.objects.select_related("run")
    }
    assert told == {first: [], second: ["shared_installation"]}


def test_accounts_of_one_installation_move_no_median(
    uploader: Uploader, puppet: Uploader, stranger: User, moderator: User
) -> None:
    honest = Uploader(create_key(stranger)[1])
    shown = published(honest, moderator, to_bytes(made(1, write=nothing_right)))
    published(uploader, moderator, to_bytes(signed(made(2))))
    published(puppet, moderator, to_bytes(signed(made(3))))
    # As if they were of a ranked profile, which takes a sandbox.
    Entry.objects.update(is_ranked=True, overall_score=90.0)
    Entry.objects.filter(run__public_id=shown).update(overall_score=50.0)
    stacks.refresh(Stack.objects.values_list("pk", flat=True))
    stack = Stack.objects.select_related("shown__run").get()
    assert (stack.run_count, stack.owner_count) == (3, 2)
    assert stack.shown.run.public_id == shown


def test_the_same_bytes_under_another_account_are_the_first_run(
    uploader: Uploader, puppet: Uploader, moderator: User
) -> None:
    result = made(1)
    first = published(uploader, moderator, to_bytes(signed(result)))
    relabelled = result.model_copy(
        update={"machine": result.machine.model_copy(update={"machine_id": "f" * 16})}
    )
    again = puppet.post(to_bytes(signed(relabelled)))
    assert (again.status_code, again.json()["id"]) == (200, first)
    assert Submission.objects.count() == 1
