"""Levels rise and fall with the evidence: three owners with the same weights, and a moderator."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.utils import timezone

from bench_loop.result.records import RunResult
from bench_loop.result.signature import signed
from bench_loop.result.store import to_bytes
from leaderboard.models import Entry
from submissions import checks
from submissions.anonymous import anonymous_owner
from submissions.levels import look_at_levels, support
from submissions.models import AuditEvent, Submission
from submissions.storing import store
from tests.site.make_result import make_result, nothing_right, rescored

WEIGHTS = "sha256:" + "a" * 64
Upload = Callable[..., Submission]


@pytest.fixture
def third(db: None) -> User:
    return User.objects.create_user("third")


@pytest.fixture
def upload(public_site: None, moderator: User) -> Upload:
    """Sends a run of one person, and has it approved."""

    def send(person: User, *, is_approved: bool = True, **changes: Any) -> Submission:
        machine = {"machine_id": f"{person.pk:016x}", **changes.pop("machine", {})}
        submission = stored(person, made(machine=machine, **changes))
        if is_approved:
            submission.approve(moderator, "It looks right.")
        look_at_levels()
        return fresh(submission)

    return send


def made(**changes: Any) -> RunResult:
    """A run of suites without code; `latency_s` makes it another one."""
    subject = {"weights_digest": WEIGHTS, **changes.pop("subject", {})}
    return make_result(subject=subject, **changes)


def stored(person: User, result: RunResult) -> Submission:
    found = checks.findings(result, timezone.now())
    assert [one for one in found if one.severity == "refused"] == []
    submission, is_new = store(result, to_bytes(result), person, found)
    assert is_new
    return submission


def fresh(submission: Submission) -> Submission:
    return Submission.objects.select_related("run").get(pk=submission.pk)


def levels_of(*submissions: Submission) -> list[str]:
    return [fresh(one).level for one in submissions]


def test_a_second_owner_reproduces_a_run(upload: Upload, owner: User, stranger: User) -> None:
    first = upload(owner, generation_tps=50.0)
    assert first.level == "consistent"
    second = upload(stranger, latency_s=2.1, generation_tps=53.0)
    assert levels_of(first, second) == ["reproduced", "reproduced"]
    assert [entry.level for entry in Entry.objects.all()] == ["reproduced"] * 2


def test_the_evidence_is_told_in_figures(upload: Upload, owner: User, stranger: User) -> None:
    first = upload(owner, generation_tps=50.0)
    second = upload(stranger, latency_s=2.1, generation_tps=53.0)
    *_, sentence = [one.sentence for one in support(fresh(first)).evidence]
    assert second.run.public_id in sentence
    assert "53.0 tok/s against 50.0 (6.0% apart, 10% allowed)" in sentence
    assert "0.500 s against 0.500 s (0.0% apart, 20% allowed)" in sentence
    assert "floor or ceiling" in sentence
    answer = Client().get(f"/api/v1/submissions/{first.run.public_id}/").json()
    told = {"level": "reproduced", "is_met": True, "sentence": sentence}
    assert told in answer["evidence"]
    page = Client().get(f"/runs/{first.run.public_id}/").content.decode()
    assert "6.0% apart" in page
    assert stranger.username not in sentence


def test_every_change_of_level_is_an_event_without_an_actor(
    upload: Upload, owner: User, stranger: User
) -> None:
    first = upload(owner)
    upload(stranger, latency_s=2.1)
    event = AuditEvent.objects.get(submission=first, kind="level_changed")
    assert event.actor is None
    assert (event.data["from"], event.data["to"]) == ("consistent", "reproduced")
    assert "of another owner" in event.data["reason"]


def test_looking_again_changes_nothing(upload: Upload, owner: User, stranger: User) -> None:
    upload(owner)
    upload(stranger, latency_s=2.1)
    before = list(AuditEvent.objects.values()), list(Submission.objects.values())
    assert look_at_levels() == 0
    assert (list(AuditEvent.objects.values()), list(Submission.objects.values())) == before


def test_a_run_that_is_not_approved_is_no_evidence(
    upload: Upload, owner: User, stranger: User
) -> None:
    first = upload(owner)
    upload(stranger, latency_s=2.1, is_approved=False)
    assert levels_of(first) == ["consistent"]


def test_the_same_owner_reproduces_nothing(upload: Upload, owner: User) -> None:
    runs = upload(owner), upload(owner, latency_s=2.1)
    assert levels_of(*runs) == ["consistent", "consistent"]


def test_another_account_on_the_same_machine_reproduces_nothing(
    upload: Upload, owner: User, stranger: User
) -> None:
    machine = {"machine_id": "a" * 16}
    runs = [upload(owner, machine=machine), upload(stranger, latency_s=2.1, machine=machine)]
    assert levels_of(*runs) == ["consistent", "consistent"]


def test_another_account_of_the_same_installation_reproduces_nothing(
    public_site: None, owner: User, stranger: User, moderator: User
) -> None:
    """The machine's id was changed by hand, and both files signed with the one key again."""
    runs = [
        stored(person, signed(made(latency_s=2 + at / 10, machine={"machine_id": str(at) * 16})))
        for at, person in enumerate((owner, stranger))
    ]
    for one in runs:
        one.approve(moderator, "It looks right.")
    look_at_levels()
    assert levels_of(*runs) == ["consistent", "consistent"]
    assert "independent" in support(fresh(runs[0])).evidence[-1].sentence


def test_accounts_that_shared_a_machine_once_are_never_independent(
    upload: Upload, owner: User, stranger: User, third: User
) -> None:
    old = upload(stranger, model_id="gemma3:4b", machine={"machine_id": f"{owner.pk:016x}"})
    old.withdraw(stranger)
    first = upload(owner)
    second = upload(stranger, latency_s=2.1)
    assert levels_of(first, second) == ["consistent", "consistent"]
    assert upload(third, latency_s=2.2).level == "reproduced"


def test_many_runs_of_one_owner_do_not_hide_another_owner(
    upload: Upload, owner: User, stranger: User, third: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("submissions.levels.MOST_COMPARED", 4)
    for number in range(5):
        upload(stranger, generation_tps=60.0, latency_s=2.1 + number / 10)
    upload(third, latency_s=3.0)
    assert upload(owner).level == "reproduced"


@pytest.mark.parametrize(
    "other",
    [
        {"generation_tps": 56.0},
        {"subject": {"weights_digest": "sha256:" + "b" * 64}},
        {"subject": {"weights_digest": None}},
        {"subject": {"kv_cache_type": "q8_0"}},
        {"subject": {"provider_version": "ollama 0.14.0"}},
        {"gpu": "RTX 3090"},
        {"fresh_seed": 7},
        {"write": nothing_right},
    ],
    ids=["speed", "weights", "no digest", "cache", "engine", "device", "tasks", "quality"],
)
def test_what_is_not_the_same_reproduces_nothing(
    upload: Upload, owner: User, stranger: User, other: dict[str, Any]
) -> None:
    first = upload(owner)
    second = upload(stranger, latency_s=2.1, **other)
    assert "reproduced" not in levels_of(first, second)


def test_a_first_token_that_comes_too_late_reproduces_nothing(
    upload: Upload, owner: User, stranger: User
) -> None:
    first = upload(owner)
    upload(stranger, latency_s=2.1)
    assert levels_of(first) == ["reproduced"]
    slow = later_by(made(latency_s=2.2, machine={"machine_id": "f" * 16}), 0.11)
    submission = stored(User.objects.create_user("slow"), slow)
    *_, sentence = [one.sentence for one in support(submission).evidence]
    assert "22.0% apart, 20% allowed" in sentence
    assert support(submission).level == "consistent"


def later_by(result: RunResult, seconds: float) -> RunResult:
    """Every speed trial `seconds` later, from its first token on."""
    marks = ("t_first_byte_s", "t_first_answer_s", "t_last_s", "latency_s")

    def change(trial: Any) -> Any:
        if trial.suite != "speed":
            return trial
        return trial.model_copy(update={mark: getattr(trial, mark) + seconds for mark in marks})

    trials = tuple(map(change, result.trials))
    return rescored(result.model_copy(update={"trials": trials}))


@pytest.mark.parametrize("how", ["withdraw", "reject", "flag"])
def test_a_run_falls_when_the_only_evidence_for_it_goes(
    upload: Upload, owner: User, stranger: User, moderator: User, how: str
) -> None:
    first, second = upload(owner), upload(stranger, latency_s=2.1)
    if how == "withdraw":
        second.withdraw(stranger)
    else:
        getattr(second, how)(moderator, "Somebody doubts it.")
    look_at_levels()
    assert levels_of(first) == ["consistent"]
    assert Entry.objects.get(run=first.run).level == "consistent"
    fallen = AuditEvent.objects.filter(submission=first).last()
    assert (fallen.data["from"], fallen.data["to"]) == ("reproduced", "consistent")


def test_a_run_stays_while_a_third_owner_is_evidence_for_it(
    upload: Upload, owner: User, stranger: User, third: User
) -> None:
    first = upload(owner)
    second = upload(stranger, latency_s=2.1)
    last = upload(third, latency_s=2.2)
    assert levels_of(first, second, last) == ["reproduced"] * 3
    second.withdraw(stranger)
    look_at_levels()
    assert levels_of(first, last) == ["reproduced"] * 2
    last.withdraw(third)
    look_at_levels()
    assert levels_of(first, second, last) == ["consistent", "reproduced", "reproduced"]


def test_evidence_that_comes_back_counts_again(
    upload: Upload, owner: User, stranger: User, moderator: User
) -> None:
    first, second = upload(owner), upload(stranger, latency_s=2.1)
    second.flag(moderator, "Why so fast?")
    look_at_levels()
    fresh(second).approve(moderator, "It is settled.")
    look_at_levels()
    assert levels_of(first, second) == ["reproduced", "reproduced"]


def test_a_run_with_doubts_is_no_evidence(upload: Upload, owner: User, stranger: User) -> None:
    first = upload(owner)
    doubtful = upload(stranger, latency_s=2.1, machine={"gpu_memory_gb": 25.0})
    assert levels_of(first, doubtful) == ["consistent", "reported"]


def test_a_run_that_was_sent_without_a_key_stays_reported(
    upload: Upload, owner: User, public_site: None
) -> None:
    first, nobodys = upload(owner), upload(anonymous_owner(), latency_s=2.1)
    assert levels_of(first, nobodys) == ["consistent", "reported"]


def test_a_verified_run_keeps_its_level_whatever_comes_and_goes(
    upload: Upload, owner: User, stranger: User
) -> None:
    first = upload(owner)
    Submission.objects.filter(pk=first.pk).update(level="verified")
    second = upload(stranger, latency_s=2.1)
    assert levels_of(first, second) == ["verified", "reproduced"]
    second.withdraw(stranger)
    look_at_levels()
    assert levels_of(first) == ["verified"]


def test_a_verified_run_shows_no_rung_that_it_never_reached(
    upload: Upload, owner: User, moderator: User
) -> None:
    first = upload(owner)
    first.verify(moderator, "The power log fits.")
    for _ in range(2):  # before and after the worker has written down what it rests on
        page = Client().get(f"/runs/{first.run.public_id}/").content.decode()
        rungs = page.partition('class="rungs"')[2].partition("</ul>")[0].split("<li")
        reached = {
            name
            for name in ("Reported", "Consistent", "Reproduced", "Verified")
            for rung in rungs
            if f"<h3>{name}" in rung and "(not reached)" not in rung
        }
        assert "Reproduced" not in reached
        assert {"Reported", "Verified"} <= reached
        look_at_levels()
    assert reached == {"Reported", "Consistent", "Verified"}


def test_a_verified_run_is_evidence_though_it_has_doubts(
    upload: Upload, owner: User, stranger: User
) -> None:
    first = upload(owner)
    doubtful = upload(stranger, latency_s=2.1, machine={"gpu_memory_gb": 25.0})
    Submission.objects.filter(pk=doubtful.pk).update(level="verified")
    look_at_levels()
    assert levels_of(first) == ["reproduced"]


@pytest.mark.django_db(transaction=True)
def test_workers_at_the_same_moment_change_each_level_once(
    public_site: None, owner: User, stranger: User, moderator: User
) -> None:
    runs = [
        stored(owner, made()),
        stored(stranger, made(latency_s=2.1, machine={"machine_id": "f" * 16})),
    ]
    for one in runs:
        one.approve(moderator, "It looks right.")

    def look(_: int) -> None:
        try:
            look_at_levels()
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(look, range(4)))
    assert levels_of(*runs) == ["reproduced", "reproduced"]
    changes = AuditEvent.objects.filter(kind="level_changed")
    assert changes.count() == 2


def test_a_run_that_cannot_be_read_holds_up_no_other(
    upload: Upload, owner: User, stranger: User
) -> None:
    first = stored(owner, made())
    run = first.run
    run.header = {**run.header, "subject": "nonsense"}
    run.save()
    second = upload(stranger, latency_s=2.1)
    assert second.level == "consistent"
