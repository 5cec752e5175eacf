"""Verdicts that need code to be run are the site's own: judged again in its sandbox."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from bench_loop.contracts.sandbox import Sandbox
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.packs import load_pack
from bench_loop.result.fingerprint import fingerprint
from bench_loop.result.records import RunResult
from bench_loop.result.store import to_bytes
from leaderboard.models import Entry
from runs.models import Run
from submissions import code_judging, grading
from submissions.models import AuditEvent, Grade, Judgement, Submission
from submissions.models.grades import LEASE, MOST_ATTEMPTS
from tests.site.make_result import make_result, rescored
from tests.site.uploads import SUBMISSIONS, Uploader

pytestmark = pytest.mark.django_db(transaction=True)

SUITES = ["coding"]
MEND = """I changed it.

```python
def nothing():
    return None
```
"""


@pytest.fixture(autouse=True)
def one_sandbox(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real sandbox of all tests, its self-test passed, in the place of one for each look."""

    class Shared:
        def __getattr__(self, name: str) -> Any:
            return getattr(sandbox, name)

        def close(self) -> None:
            """It is closed when all tests are done."""

    monkeypatch.setattr(grading, "open_sandbox", lambda kind, warn: Shared())


def honest() -> RunResult:
    """A run of code in which the first task is wrong and all others are right."""
    first = load_pack("coding").tasks[0].id

    def write(task: BenchmarkTask) -> Any:
        return MEND if task.id == first else task.reference

    return make_result(suites=SUITES, write=write)


def with_flipped(result: RunResult, **verdict: Any) -> RunResult:
    """The first trial says that it passed; all scores follow from that, as a forger would do."""
    claim = {"outcome": "pass", "score": 1.0, "reason": None, "message": None, **verdict}
    first, *others = result.trials
    trials = (first.model_copy(update=claim), *others)
    return rescored(result.model_copy(update={"trials": trials}))


def uploaded(uploader: Uploader, result: RunResult) -> Submission:
    answer = uploader.post(to_bytes(result))
    assert answer.status_code == 201, answer.content
    return Submission.objects.get(run__public_id=answer.json()["id"])


def codes(submission: Submission) -> dict[str, dict[str, Any]]:
    submission.refresh_from_db()
    return {one["code"]: one for one in submission.findings}


def test_an_upload_with_code_waits_for_the_site_to_judge_it(uploader: Uploader) -> None:
    submission = uploaded(uploader, honest())
    tasks = len(load_pack("coding").tasks)
    waiting = codes(submission)["code_waiting"]
    assert (waiting["field"], waiting["numbers"]) == ("suites[0]", {"verdicts": tasks})
    grade = Grade.objects.get()
    assert (grade.state, grade.code_trials, submission.level) == ("waiting", tasks, "reported")


def test_an_upload_without_code_needs_no_sandbox(uploader: Uploader) -> None:
    submission = uploaded(uploader, make_result(suites=["reasonmath"]))
    assert (Grade.objects.get().state, submission.level) == ("not_needed", "consistent")
    assert grading.grade_due() == 0


def test_an_honest_run_of_code_becomes_consistent(uploader: Uploader) -> None:
    submission = uploaded(uploader, honest())
    assert grading.grade_due() == 1
    found = codes(submission)
    tasks = len(load_pack("coding").tasks)
    assert "code_waiting" not in found
    assert found["code_judged"]["severity"] == "note"
    assert found["code_judged"]["numbers"] == {
        "verdicts": tasks,
        "judged": tasks,
        "mismatches": 0,
    }
    assert submission.level == "consistent"
    trail = [(event.kind, event.actor) for event in submission.audit.all()][1:]
    assert trail == [("code_judged", None), ("level_changed", None)]
    assert submission.audit.last().data["to"] == "consistent"
    assert submission.run.verdicts is None


@pytest.mark.parametrize("field", ["outcome", "score", "reason", "answer"])
def test_no_claimed_verdict_on_code_is_believed(uploader: Uploader, field: str) -> None:
    truth = honest()
    claims: dict[str, Any] = {
        "outcome": {},
        "score": {"outcome": "partial", "score": 0.75, "reason": "visible_fails"},
        "reason": {"outcome": "fail", "score": 0.0, "reason": "made_up", "message": "No."},
        "answer": {
            "outcome": "fail",
            "score": 0.0,
            "reason": truth.trials[0].reason,
            "answer": "def other(): ...",
        },
    }
    submission = uploaded(uploader, with_flipped(truth, **claims[field]))
    claimed = submission.run.header["aggregates"]
    grading.grade_due()
    found = codes(submission)["code_mismatch"]
    assert found["severity"] == "needs_review"
    assert found["field"].startswith("trials[0].")
    assert found["numbers"]["judged"].startswith("fail")
    assert (found["numbers"]["judged_in"], submission.level) == ("bubblewrap", "reported")
    run = Run.objects.get()
    ours = run.result()
    assert ours.suites == truth.suites
    assert ours.aggregates == truth.aggregates
    assert [t.outcome for t in ours.trials] == [t.outcome for t in truth.trials]
    assert run.filed_result().aggregates.model_dump(mode="json") == claimed


def test_a_flipped_outcome_is_published_as_the_site_judged_it(
    uploader: Uploader, moderator: User
) -> None:
    truth = honest()
    body = to_bytes(with_flipped(truth))
    uploader.post(body)
    submission = Submission.objects.get()
    grading.grade_due()
    submission = Submission.objects.get()
    submission.approve(moderator, "Its scores are the site's.")
    suite = Client().get(f"/api/v1/runs/{submission.run.public_id}/").json()["run"]["suites"][0]
    assert suite["pass_count"] == truth.suites[0].pass_count
    file = Client().get(f"/api/v1/runs/{submission.run.public_id}/result.json")
    assert file.content == body


def test_a_run_that_is_shown_already_gets_the_verdicts_of_the_site(
    uploader: Uploader, moderator: User
) -> None:
    truth = make_result(profile="quick", write=wrong_code)
    submission = uploaded(uploader, all_code_passed(truth))
    submission.approve(moderator, "It looks right.")
    claimed = Entry.objects.get().overall_score
    grading.grade_due()
    entry = Entry.objects.get()
    assert truth.aggregates.overall_score is not None
    assert claimed is not None
    assert claimed > truth.aggregates.overall_score
    assert entry.overall_score == truth.aggregates.overall_score
    assert (entry.level, entry.withdrawn_at) == ("reported", None)
    assert any("came out otherwise" in one["sentence"] for one in entry.evidence)
    kept = Judgement.objects.get()
    assert (kept.score_before, kept.score_after) == (claimed, entry.overall_score)
    assert kept.header_before["aggregates"]["overall_score"] == claimed
    page = Client().get(f"/runs/{submission.run.public_id}/").content.decode()
    assert "came out otherwise than the file says" in page


def wrong_code(task: BenchmarkTask) -> Any:
    return MEND if task.id.startswith(("coding.", "loop_code_fix.")) else task.reference


def all_code_passed(result: RunResult) -> RunResult:
    claim = {"outcome": "pass", "score": 1.0, "reason": None, "message": None}
    trials = tuple(
        trial.model_copy(update=claim) if trial.suite in ("coding", "loop_code_fix") else trial
        for trial in result.trials
    )
    return rescored(result.model_copy(update={"trials": trials}))


def test_a_verified_run_falls_when_its_code_is_judged_otherwise(
    uploader: Uploader, moderator: User
) -> None:
    submission = uploaded(uploader, with_flipped(honest()))
    submission.approve(moderator, "It looks right.")
    Submission.objects.update(level="verified")
    Entry.objects.update(level="verified")
    grading.grade_due()
    assert Submission.objects.get().level == Entry.objects.get().level == "reported"
    fallen = AuditEvent.objects.get(kind="level_changed")
    assert (fallen.data["from"], fallen.data["to"], fallen.actor) == ("verified", "reported", None)


def test_a_sample_is_drawn_by_the_site_and_said(uploader: Uploader, settings: Any) -> None:
    settings.CODE_CHECKS = 3
    submission = uploaded(uploader, make_result(suites=SUITES))
    grading.grade_due()
    grade = Grade.objects.get()
    assert (grade.judged, len(grade.picked or [])) == (3, 3)
    assert grade.is_sampled
    assert codes(submission)["code_judged"]["numbers"]["judged"] == 3
    assert submission.level == "consistent"


def test_two_runs_alike_are_not_sampled_alike(uploader: Uploader, settings: Any) -> None:
    settings.CODE_CHECKS = 5
    for latency_s in (2.0, 2.1, 2.2, 2.3):
        uploaded(uploader, make_result(suites=SUITES, latency_s=latency_s))
    grading.grade_due()
    assert len({tuple(grade.picked or []) for grade in Grade.objects.all()}) > 1


def test_a_sample_that_catches_one_is_extended_to_all(
    uploader: Uploader, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.CODE_CHECKS = 1
    submission = uploaded(uploader, with_flipped(honest()))
    Grade.objects.update(picked=[0])
    grading.grade_due()
    assert Grade.objects.get().judged == len(load_pack("coding").tasks)
    assert codes(submission)["code_mismatch"]["field"] == "trials[0].outcome"


def test_a_sampled_run_says_so_on_the_board(
    uploader: Uploader, settings: Any, moderator: User
) -> None:
    settings.CODE_CHECKS = 2
    submission = uploaded(uploader, make_result(suites=SUITES))
    grading.grade_due()
    Submission.objects.get().approve(moderator, "Fine.")
    call_command("grade")
    page = Client().get(f"/runs/{submission.run.public_id}/").content.decode()
    assert "consistent (sampled)" in page
    assert "this site judged 2 in its bubblewrap sandbox" in page


def test_a_time_limit_that_the_file_does_not_tell_of_is_tried_twice(
    uploader: Uploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a machine that was busy for a moment."""
    late = [True]

    def judge(*arguments: Any) -> Any:
        verdict = grading_judge(*arguments)
        if not late:
            return verdict
        late.clear()
        told = {"outcome": "fail", "score": 0.0, "reason": "time_limit", "message": "Too slow."}
        return verdict.model_copy(update=told) if verdict else None

    monkeypatch.setattr(code_judging, "judge_stored", judge)
    submission = uploaded(uploader, make_result(suites=SUITES))
    grading.grade_due()
    assert Grade.objects.get().mismatches == 0
    assert codes(submission)["code_judged"]["severity"] == "note"


def test_a_moderator_sees_both_verdicts_side_by_side(
    uploader: Uploader, moderator_client: Client
) -> None:
    submission = uploaded(uploader, with_flipped(honest()))
    grading.grade_due()
    address = f"/admin/submissions/submission/{submission.pk}/change/"
    page = moderator_client.get(address).content.decode()
    row = page[page.index('class="other"') :][:400]
    assert "pass" in row
    assert "fail" in row
    assert "differs" in row


class Killed(BaseException):
    """What ends a worker in the middle of its work: nothing catches it."""


def dying(after: int) -> Callable[..., Any]:
    """Judges `after` trials and dies at the next one."""
    left = [after]

    def judge(*arguments: Any) -> Any:
        if not left[0]:
            raise Killed
        left[0] -= 1
        return grading_judge(*arguments)

    return judge


grading_judge = code_judging.judge_stored


def test_the_work_of_a_worker_that_was_killed_returns(
    uploader: Uploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    submission = uploaded(uploader, honest())
    monkeypatch.setattr(code_judging, "judge_stored", dying(after=2))
    with pytest.raises(Killed):
        grading.grade_due()
    monkeypatch.setattr(code_judging, "judge_stored", grading_judge)
    assert grading.grade_due() == 0, "the dead worker's lease still holds"
    assert codes(submission).keys() >= {"code_waiting"}
    run_out = timezone.now() - timedelta(seconds=1)
    assert Grade.objects.get().due_at > timezone.now() + LEASE / 2
    Grade.objects.update(due_at=run_out)
    assert grading.grade_due() == 1
    assert (Grade.objects.get().state, Grade.objects.get().attempts) == ("done", 2)
    assert codes(submission).keys() >= {"code_judged"}


def test_a_run_that_kills_every_worker_is_given_up(
    uploader: Uploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    submission = uploaded(uploader, honest())
    monkeypatch.setattr(code_judging, "judge_stored", dying(after=0))
    for _ in range(MOST_ATTEMPTS):
        with pytest.raises(Killed):
            grading.grade_due()
        Grade.objects.update(due_at=timezone.now())
    assert grading.grade_due() == 0
    grade = Grade.objects.get()
    assert (grade.state, grade.due_at) == ("failed", None)
    assert "ended, each time" in codes(submission)["code_not_judged"]["sentence"]


def test_a_worker_that_was_too_slow_changes_nothing_any_more(
    uploader: Uploader, sandbox: Sandbox
) -> None:
    submission = uploaded(uploader, with_flipped(honest()))
    slow = grading.claim()
    assert slow is not None
    Grade.objects.update(due_at=timezone.now())
    grading.grade_due()
    before = Submission.objects.values().get(), Run.objects.values().get()
    grading.judge_claimed(slow, sandbox)
    assert (Submission.objects.values().get(), Run.objects.values().get()) == before
    assert submission.audit.filter(kind="code_judged").count() == 1


def test_two_workers_never_take_the_same_run(uploader: Uploader) -> None:
    uploaded(uploader, honest())
    assert grading.claim() is not None
    assert grading.claim() is None


def test_without_a_sandbox_nothing_is_lost(
    uploader: Uploader, without_sandbox: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    submission = uploaded(uploader, honest())
    shared = grading.open_sandbox
    from bench_loop.sandboxes.ladder import open_sandbox

    monkeypatch.setattr(grading, "open_sandbox", open_sandbox)
    for _ in range(2):
        assert grading.grade_due() == 0
        Grade.objects.update(due_at=timezone.now())
    found = codes(submission)["code_not_judged"]
    assert (found["severity"], submission.level) == ("needs_review", "reported")
    assert "no sandbox" in found["sentence"]
    assert Grade.objects.get().state == "no_sandbox"
    assert submission.audit.filter(kind="code_not_judged").count() == 1
    monkeypatch.setattr(grading, "open_sandbox", shared)
    grading.await_sandbox_no_more()
    grading.grade_due()
    assert "code_not_judged" not in codes(submission)
    assert submission.level == "consistent"


def test_the_same_run_is_judged_again_by_hand(uploader: Uploader, capsys: Any) -> None:
    submission = uploaded(uploader, with_flipped(honest()))
    call_command("grade")
    call_command("grade", submission.run.public_id)
    told = capsys.readouterr().out.splitlines()
    tasks = len(load_pack("coding").tasks)
    line = f"{submission.run.public_id}  reported: {tasks} of {tasks} verdicts judged in bubblewrap"
    assert told == [f"{line}, 1 otherwise than reported"] * 2
    assert len([one for one in codes(submission) if one == "code_mismatch"]) == 1


def test_a_withdrawn_submission_keeps_its_level(uploader: Uploader, owner: User) -> None:
    submission = uploaded(uploader, honest())
    submission.withdraw(owner)
    grading.grade_due()
    assert Submission.objects.get().level == "reported"
    assert uploader.get(f"{SUBMISSIONS}{submission.run.public_id}/").json()["status"] == "withdrawn"


def test_uploads_from_before_there_was_a_queue_are_judged_too(uploader: Uploader) -> None:
    submission = uploaded(uploader, honest())
    Grade.objects.all().delete()
    assert grading.grade_due() == 1
    submission.refresh_from_db()
    assert submission.level == "consistent"


def test_the_fingerprint_of_the_upload_stays_its_identity(uploader: Uploader) -> None:
    forged = with_flipped(honest())
    submission = uploaded(uploader, forged)
    grading.grade_due()
    submission.run.refresh_from_db()
    assert submission.run.fingerprint == fingerprint(forged)
    assert submission.run.header["rescored"]["first_fingerprint"] == forged.fingerprint
    assert uploader.post(to_bytes(forged)).status_code == 200
    assert json.loads(submission.run.data())["fingerprint"] == forged.fingerprint
