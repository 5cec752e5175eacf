"""`manage.py regrade`: a mended key, formula or prompt, applied to all that is stored."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.utils import timezone

from bench_loop import config
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine import packs, shelf
from bench_loop.engine.packs import load_pack
from bench_loop.errors import SandboxError
from bench_loop.result.records import RunResult
from bench_loop.result.store import to_bytes
from leaderboard.models import Entry
from leaderboard.publish import publish
from runs.models import Run
from submissions import checks, regrading
from submissions.levels import look_at_levels
from submissions.models import AuditEvent, Judgement, Regrade, Submission
from submissions.storing import store
from tests.site.make_result import make_result

pytestmark = pytest.mark.django_db

WHY = "The key of reasonmath.drill-return was wrong."
TASK = "reasonmath.drill-return"
WEIGHTS = "sha256:" + "a" * 64

Mend = Callable[[str, str, str], None]
"""Puts a text in the place of another one in a file of the packs."""


@pytest.fixture
def mend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mend]:
    """Changes the packs of this installation, in a folder of the test's own."""
    folder = tmp_path / "packs"
    shutil.copytree(config.bundled("packs"), folder)

    def forget() -> None:
        load_pack.cache_clear()
        packs.official_versions.cache_clear()
        shelf._fresh_official.cache_clear()

    def change(name: str, pattern: str, text: str) -> None:
        file = folder / name
        changed, count = re.subn(pattern, text, file.read_text(), flags=re.MULTILINE)
        assert count, f"{name} has no {pattern}"
        file.write_text(changed)
        monkeypatch.setattr(packs, "bundled", lambda name: folder)
        forget()

    yield change
    monkeypatch.undo()
    forget()


def mend_key(mend: Mend) -> None:
    """The right answer of one task is another number now, in a new version of the pack."""
    mend("reasonmath/drill-return.yaml", "date: '2026-10-16'", "date: '2026-10-17'")
    mend("reasonmath/pack.yaml", r'^version: "1.0"$', 'version: "1.1"')


def by_the_new_key(task: BenchmarkTask) -> Any:
    """Right everywhere by the mended key."""
    return "ANSWER: 17 October" if task.id == TASK else task.reference


def shown(result: RunResult) -> Run:
    """A run on the board of this machine."""
    run = Run.of(result, to_bytes(result), Run.Source.LOCAL)
    run.save()
    publish(run, level="reported", is_local=True)
    return run


def submitted(person: User, moderator: User, result: RunResult) -> Submission:
    found = checks.findings(result, timezone.now())
    submission, _ = store(result, to_bytes(result), person, found)
    submission.approve(moderator, "It looks right.")
    return submission


def rows() -> list[Any]:
    """Everything that a regrade may change."""
    return [
        list(Run.objects.order_by("pk").values()),
        list(Entry.objects.order_by("pk").values()),
        list(AuditEvent.objects.order_by("pk").values()),
        list(Submission.objects.order_by("pk").values()),
    ]


def score(run: Run, suite: str = "reasonmath") -> float | None:
    run.refresh_from_db()
    return next(one.score for one in run.result().suites if one.suite == suite)


def test_nothing_mended_changes_nothing(capsys: Any) -> None:
    shown(make_result(profile="quick"))
    before = rows()
    call_command("regrade", "To see that nothing changes.")
    assert rows() == before
    assert "1 run judged again; 0 moved." in capsys.readouterr().out


def test_a_mended_key_moves_scores_and_league_and_keeps_the_file(mend: Mend) -> None:
    by_old = make_result(profile="quick")
    by_new = make_result(profile="quick", write=by_the_new_key, model_id="gemma3:4b")
    old, new = shown(by_old), shown(by_new)
    files = {run.pk: bytes(run.data()) for run in Run.objects.all()}
    assert score(old) == 100.0
    assert score(new) == 80.0
    league = old.entry.league
    mend_key(mend)
    call_command("regrade", WHY)
    assert score(old) == 80.0
    assert score(new) == 100.0
    assert {run.pk: bytes(run.data()) for run in Run.objects.all()} == files
    assert Run.objects.get(pk=old.pk).filed_result() == by_old
    entries = [Entry.objects.get(run=run) for run in (old, new)]
    assert {entry.league for entry in entries} != {league}
    assert len({entry.league for entry in entries}) == 1
    assert entries[0].quality_score < entries[1].quality_score
    assert all(entry.band_low and entry.is_ranked for entry in entries)
    suite = next(
        s for s in Run.objects.get(pk=old.pk).run_header().suites if s.suite == "reasonmath"
    )
    assert (suite.version, suite.pack_hash) == ("1.1", load_pack("reasonmath").pack_hash)


def test_old_and_new_are_kept_and_who_moved_is_listed(mend: Mend, capsys: Any) -> None:
    run = shown(make_result(profile="quick"))
    before = run.header
    mend_key(mend)
    call_command("regrade", WHY)
    kept = Judgement.objects.get()
    run.refresh_from_db()
    assert (kept.header_before, kept.header_after) == (before, run.header)
    assert kept.regrade is not None
    assert (kept.regrade.reason, kept.regrade.packs["reasonmath"]) == (
        WHY,
        load_pack("reasonmath").pack_hash,
    )
    assert kept.band_before == kept.band_after == [1, 1]
    line, last = capsys.readouterr().out.splitlines()
    assert line.startswith(f"{run.public_id}  qwen3:8b; overall ")
    assert f"{kept.score_before:.1f} -> {kept.score_after:.1f}" in line
    assert "reasonmath 1.0 became 1.1." in line
    assert last == "1 run judged again; 1 moved."


def test_another_run_comes_to_stand_for_its_stack(mend: Mend) -> None:
    old = shown(make_result(profile="quick"))
    new = shown(make_result(profile="quick", write=by_the_new_key))
    assert Entry.objects.rows().get().run == new, "the lower median of two"
    mend_key(mend)
    call_command("regrade", WHY)
    assert Entry.objects.rows().get().run == old
    moves = {one.run_id: (one.band_before, one.band_after) for one in Judgement.objects.all()}
    assert moves == {old.pk: (None, [1, 1]), new.pk: ([1, 1], None)}


def test_a_run_that_the_mended_key_is_not_about_stays_as_it_is(mend: Mend, capsys: Any) -> None:
    run = shown(make_result(suites=["instructfollow"]))
    before = rows()
    mend_key(mend)
    call_command("regrade", WHY)
    assert rows() == before
    assert not Judgement.objects.get().has_moved
    assert run.public_id not in capsys.readouterr().out


def test_a_dry_run_tells_and_changes_nothing(mend: Mend, capsys: Any) -> None:
    shown(make_result(profile="quick"))
    mend_key(mend)
    before = rows()
    call_command("regrade", WHY, dry_run=True)
    assert rows() == before
    assert not Regrade.objects.exists()
    assert not Judgement.objects.exists()
    assert "1 run judged again; 1 would move." in capsys.readouterr().out


def test_a_changed_prompt_leaves_the_run_what_it_was(mend: Mend, capsys: Any) -> None:
    run = shown(make_result(profile="quick"))
    before = rows()
    mend("reasonmath/drill-return.yaml", "date: '2026-10-16'", "date: '2026-10-17'")
    mend("reasonmath/drill-return.yaml", r"^prompt: \|$", "prompt: |\n  Think well.")
    call_command("regrade", WHY)
    assert rows() == before
    assert score(run) == 100.0
    assert "The tasks of reasonmath are others by now" in capsys.readouterr().out


def test_code_is_judged_by_the_mended_key(mend: Mend) -> None:
    run = shown(make_result(suites=["coding"]))
    tasks = len(load_pack("coding").tasks)
    mend("coding/late-buses.yaml", r"args: \[\[6\]\], value: 1", "args: [[6]], value: 7")
    call_command("regrade", "late-buses had a wrong key.")
    run.refresh_from_db()
    [suite] = run.run_header().suites
    assert (suite.pass_count, suite.task_count) == (tasks - 1, tasks)
    trial = next(t for t in run.result().trials if t.task_id == "coding.late-buses")
    assert (trial.outcome, trial.reason) == ("fail", "wrong_value")


def no_sandbox(kind: str, warn: object) -> None:
    raise SandboxError("There is none.", remedy="Install one.")


def test_without_a_sandbox_it_says_how_to_go_on(
    mend: Mend, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = shown(make_result(profile="quick"))
    mend_key(mend)
    mend("coding/late-buses.yaml", r"args: \[\[6\]\], value: 1", "args: [[6]], value: 7")
    before = rows()
    monkeypatch.setattr("submissions.management.commands.regrade.open_sandbox", no_sandbox)
    with pytest.raises(CommandError, match="--without-code"):
        call_command("regrade", WHY)
    assert rows() == before
    call_command("regrade", WHY, without_code=True)
    assert score(run) == 80.0
    assert score(run, "coding") == 100.0


class Killed(BaseException):
    """What ends the command in the middle of its work."""


def test_what_was_broken_off_is_gone_on_with(mend: Mend, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [shown(make_result(profile="quick", latency_s=2 + n / 10)) for n in range(3)]
    mend_key(mend)
    before = rows()
    judged: list[int] = []
    honest = regrading._judged

    def counting(campaign: Any, run: Run, *others: Any) -> Judgement:
        if len(judged) == 2:
            raise Killed
        judged.append(run.pk)
        return honest(campaign, run, *others)

    monkeypatch.setattr(regrading, "_judged", counting)
    with pytest.raises(Killed):
        call_command("regrade", WHY)
    assert rows() == before, "a league is shown all at once"
    monkeypatch.setattr(regrading, "_judged", honest)
    call_command("regrade", "Another reason is not asked for now.")
    assert [score(run) for run in runs] == [80.0] * 3
    assert Judgement.objects.count() == 3
    assert Regrade.objects.get().finished_at is not None
    assert sorted(judged) == [runs[0].pk, runs[1].pk]


def test_a_second_regrade_finds_nothing_more_to_do(mend: Mend) -> None:
    shown(make_result(profile="quick"))
    mend_key(mend)
    call_command("regrade", WHY)
    before = rows()
    call_command("regrade", WHY)
    assert rows() == before
    assert [one.is_changed for one in Judgement.objects.all()] == [True, False]


def test_the_audit_trail_tells_everybody_why(
    mend: Mend, owner: User, moderator: User, settings: Any
) -> None:
    submission = submitted(owner, moderator, make_result(profile="quick"))
    mend_key(mend)
    call_command("regrade", WHY)
    event = submission.audit.get(kind="rescored")
    assert event.actor is None
    assert event.data["reason"] == WHY
    assert event.data["from"].startswith("overall ")
    assert event.data["from"] != event.data["to"]


def test_runs_that_reproduce_each_other_still_do_in_their_new_league(
    mend: Mend, owner: User, stranger: User, moderator: User
) -> None:
    subject = {"weights_digest": WEIGHTS}
    pair = [
        submitted(
            person,
            moderator,
            make_result(
                latency_s=latency_s, subject=subject, machine={"machine_id": f"{person.pk:016x}"}
            ),
        )
        for person, latency_s in ((owner, 2.0), (stranger, 2.1))
    ]
    look_at_levels()
    assert [Submission.objects.get(pk=one.pk).level for one in pair] == ["reproduced"] * 2
    league = Entry.objects.first().league
    mend_key(mend)
    call_command("regrade", WHY)
    assert league not in set(Entry.objects.values_list("league", flat=True))
    assert [Submission.objects.get(pk=one.pk).level for one in pair] == ["reproduced"] * 2
    assert not AuditEvent.objects.filter(kind="level_changed", data__to="consistent").exists()


def test_a_changed_formula_moves_every_run_to_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    run = shown(make_result(profile="quick"))
    for module in (
        "bench_loop.engine.rescore",
        "bench_loop.engine.ranking",
        "submissions.regrading",
    ):
        monkeypatch.setattr(f"{module}.SCORING_VERSION", "99.0")
    call_command("regrade", "A formula was mended.")
    run.refresh_from_db()
    assert run.header["scoring_version"] == run.entry.scoring_version == "99.0"
    assert run.entry.is_ranked


def test_a_reason_is_needed() -> None:
    with pytest.raises(CommandError, match="reason"):
        call_command("regrade", "  ")
