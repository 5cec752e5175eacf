"""Fresh packs: what is drawn, what is left out, and that a seed alone makes it again."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bench_loop.commands._setup import load_harness, prepare
from bench_loop.engine.families import Instance
from bench_loop.engine.fresh import fresh_pack, is_same_answer
from bench_loop.engine.journal import JOURNAL
from bench_loop.engine.like import plan_like, refuse_other_plan
from bench_loop.engine.packs import load_pack, read_pack
from bench_loop.engine.plan import RunPlan, make_plan
from bench_loop.engine.recorded import read_journal
from bench_loop.engine.rescore import rescore
from bench_loop.engine.resume import plan_again
from bench_loop.engine.run import Run
from bench_loop.engine.run_folder import run_folders
from bench_loop.engine.shelf import Shelf
from bench_loop.engine.trajectory import example_output
from bench_loop.errors import PackError, SetupError, UsageError
from bench_loop.result.compare import not_comparable
from bench_loop.result.fingerprint import fingerprint
from bench_loop.result.records import RunResult
from bench_loop.verifiers.judging import judge
from tests.engine.doubles import ScriptedProvider
from tests.engine.fresh_packs import adder, forget_packs, official_packs

SEVEN = Shelf(fresh_seed=7)


@pytest.fixture
def packs(tmp_path: Path) -> Iterator[Path]:
    with official_packs(tmp_path / "packs") as folder:
        yield folder


def run(plan: RunPlan, folder: Path, provider: ScriptedProvider | None = None) -> RunResult:
    setup = prepare(provider or adder(), "tiny", load_harness("raw"))
    return Run(plan, setup, folder, lambda event: None).go()


def test_every_task_of_a_family_gets_an_instance_and_the_others_are_counted(packs: Path) -> None:
    pack = fresh_pack(load_pack("sums"), 7)
    drawn = ("sums.large-7-1", "sums.small-7-1", "sums.small-7-2")
    assert tuple(task.id for task in pack.tasks) == drawn
    assert pack.profiles == {"quick": ("sums.small-7-2",), "core": drawn}
    assert (pack.left_out_of("quick"), pack.left_out_of("core")) == (1, 1)
    assert load_pack("sums").left_out_of("core") is None


def test_a_seed_makes_the_same_pack_again_and_another_seed_another(packs: Path) -> None:
    official = load_pack("sums")
    assert fresh_pack(official, 7) == fresh_pack(read_pack(packs / "sums"), 7)
    hashes = {official.pack_hash, *(fresh_pack(official, seed).pack_hash for seed in range(5))}
    assert len(hashes) == 6


def test_what_can_change_a_verdict_changes_the_hash_of_fresh_packs_too(packs: Path) -> None:
    before = fresh_pack(load_pack("sums"), 7).pack_hash
    other = packs.parent / "other" / "sums"
    shutil.copytree(packs / "sums", other)
    assert fresh_pack(read_pack(other), 7).pack_hash == before
    third = packs.parent / "third" / "sums"
    shutil.copytree(other, third)
    file = third / "families" / "small.py"
    file.write_text(file.read_text().replace("What is", "How much is"))
    assert fresh_pack(read_pack(third), 7).pack_hash != before


def test_speed_is_as_it_was(packs: Path) -> None:
    assert fresh_pack(load_pack("speed"), 7) is load_pack("speed")


def test_the_answers_of_official_tasks_are_worth_nothing_on_fresh_ones(packs: Path) -> None:
    official = load_pack("sums")
    for seed in range(30):
        for task in fresh_pack(official, seed).tasks:
            for known in official.tasks:
                output = example_output(official, known, known.reference)
                assert judge(output, task).outcome == "fail"


def test_an_instance_with_the_answer_of_an_official_task_is_not_drawn(packs: Path) -> None:
    pack = load_pack("sums")
    large = next(task for task in pack.tasks if task.id == "sums.large")
    drawn = fresh_pack(pack, 7).tasks[0]
    twin = drawn.model_copy(update={"expected": large.expected, "reference": "ANSWER: 4017"})
    assert is_same_answer(pack, Instance(twin, "plus", "4017"), large)
    assert not is_same_answer(pack, Instance(drawn, "plus", "no"), large)
    same_prompt = drawn.model_copy(update={"messages": large.messages})
    assert is_same_answer(pack, Instance(same_prompt, "plus", "no"), large)


def test_programs_are_told_apart_by_their_text_without_being_run() -> None:
    pack = load_pack("coding")
    official = pack.tasks[0]
    assert isinstance(official.reference, str)
    source = official.reference.split("```")[1].removeprefix("python")
    changed = {"messages": pack.tasks[1].messages, "expected": {}, "reference": "other"}
    other = official.model_copy(update=changed)
    assert is_same_answer(pack, Instance(other, "p", source.replace("    ", "\t")), official)
    assert not is_same_answer(pack, Instance(other, "p", "def other(): pass"), official)


def test_a_family_that_knows_only_the_official_answer_is_an_error(packs: Path) -> None:
    file = packs / "sums" / "families" / "large.py"
    text = file.read_text().replace("random.randrange(2000, 9000)", "4000")
    file.write_text(text.replace("random.randrange(1, 50)", "17").replace("first - second", "4017"))
    with pytest.raises(PackError, match=r"sums/families/large\.py: has no 1 instances"):
        fresh_pack(load_pack("sums"), 7)


def test_a_profile_leaves_out_suites_without_families(packs: Path) -> None:
    plan = make_plan(profile="quick", shelf=SEVEN)
    assert [suite.pack.name for suite in plan.suites] == ["speed", "sums"]
    assert plan.fresh_seed == 7
    assert [task.id for suite in plan.quality_suites for task in suite.tasks] == ["sums.small-7-2"]
    assert make_plan(profile="quick").fresh_seed is None


def test_suites_without_any_instance_are_refused(packs: Path) -> None:
    with pytest.raises(UsageError, match="no fresh instances of words"):
        make_plan(suites=["sums", "words"], shelf=SEVEN)
    with pytest.raises(UsageError, match="no fresh instances of this profile"):
        make_plan(profile="full", shelf=SEVEN)
    with pytest.raises(UsageError, match="no fresh instances of this profile"):
        make_plan(suites=["speed"], shelf=SEVEN)


def test_a_result_says_its_seed_its_families_and_what_was_left_out(
    packs: Path, tmp_path: Path
) -> None:
    result = run(make_plan(suites=["sums"], shelf=SEVEN), tmp_path)
    assert result.settings.fresh_seed == 7
    assert {trial.task_id: trial.family for trial in result.trials} == {
        "sums.large-7-1": "large",
        "sums.small-7-1": "small",
        "sums.small-7-2": "small",
    }
    (suite,) = result.suites
    assert (suite.task_count, suite.left_out_count, suite.score) == (3, 1, 100)
    frozen = run(make_plan(suites=["sums"]), tmp_path)
    assert {trial.family for trial in frozen.trials} == {None}
    assert frozen.suites[0].left_out_count is None


def test_a_family_belongs_to_what_was_measured(packs: Path, tmp_path: Path) -> None:
    result = run(make_plan(suites=["sums"]), tmp_path)
    as_fresh = result.trials[0].model_copy(update={"family": "small"})
    changed = result.model_copy(update={"trials": (as_fresh, *result.trials[1:])})
    assert fingerprint(changed) != result.fingerprint


def test_a_fresh_run_goes_on_with_its_own_tasks(packs: Path, tmp_path: Path) -> None:
    plan = make_plan(suites=["sums"], shelf=SEVEN)
    run(plan, tmp_path)
    known, _ = read_journal(run_folders()[0] / JOURNAL)
    assert plan_again(known) == plan
    file = packs / "sums" / "large.yaml"
    file.write_text(file.read_text().replace("family: large\n", ""))
    forget_packs()  # As another process, which has read no pack before.
    with pytest.raises(SetupError, match="the pack sums changed"):
        plan_again(known)


def test_a_fresh_run_is_repeated_with_its_own_tasks(packs: Path, tmp_path: Path) -> None:
    result = run(make_plan(suites=["sums"], shelf=SEVEN), tmp_path)
    again = plan_like(result)
    refuse_other_plan(result, again)
    assert again == make_plan(suites=["sums"], shelf=SEVEN)


def test_a_fresh_run_is_judged_again_by_its_own_tasks(packs: Path, tmp_path: Path) -> None:
    result = run(make_plan(suites=["sums"], shelf=SEVEN), tmp_path)
    assert not rescore(result).is_changed
    first = result.trials[0].model_copy(update={"outcome": "fail", "reason": "wrong_value"})
    found = rescore(result.model_copy(update={"trials": (first, *result.trials[1:])}))
    assert [change.after.outcome for change in found.trials] == ["pass"]
    settings = result.settings.model_copy(update={"fresh_seed": 8})
    other = rescore(result.model_copy(update={"settings": settings}))
    assert [suite.is_stale for suite in other.suites] == [True]


def test_frozen_and_fresh_are_not_compared_and_neither_are_two_seeds(
    packs: Path, tmp_path: Path
) -> None:
    frozen = run(make_plan(suites=["sums"]), tmp_path)
    seven = run(make_plan(suites=["sums"], shelf=SEVEN), tmp_path)
    eight = run(make_plan(suites=["sums"], shelf=replace(SEVEN, fresh_seed=8)), tmp_path)
    again = run(make_plan(suites=["sums"], shelf=SEVEN), tmp_path)
    (why,) = not_comparable(frozen, seven)
    assert why.startswith("One of them ran the official tasks, the other fresh instances")
    (why,) = not_comparable(seven, eight)
    assert why.startswith("Their fresh instances were drawn with different seeds, 7 and 8")
    assert not_comparable(seven, again) == ()
