"""Going on with a run: what is kept, what is asked for again, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bench_loop.commands._setup import load_harness, prepare
from bench_loop.contracts.chat import ChatReply, ChatRequest
from bench_loop.contracts.provider import ModelFacts, ServerFacts, Watch
from bench_loop.engine.events import Event, RunStarted, SpeedPlanned
from bench_loop.engine.plan import RunOptions, RunPlan, make_plan
from bench_loop.engine.recorded import Recorded
from bench_loop.engine.resume import plan_again, refuse_changes
from bench_loop.engine.run import Run
from bench_loop.engine.run_folder import OpenRun, find_run, run_folders
from bench_loop.errors import ProviderError, SetupError, UsageError
from bench_loop.result.records import RunResult
from bench_loop.result.store import LATEST, load
from tests.engine.doubles import ScriptedProvider, outage

WHOLE = RunOptions(speed_budget_s=1, probes_determinism=True, concurrency=(2,))
QUICK = RunOptions(speed_budget_s=1)
SLOTS = 2


class Stopping(ScriptedProvider):
    """Answers so many requests; then Ctrl-C comes."""

    def __init__(self, answers: int) -> None:
        super().__init__()
        self._left = answers

    def chat(self, request: ChatRequest, watch: Watch | None = None) -> ChatReply:
        if self._left == 0:
            raise KeyboardInterrupt
        self._left -= 1
        return super().chat(request, watch)


def begin(
    provider: ScriptedProvider,
    output: Path,
    plan: RunPlan,
    options: RunOptions = WHOLE,
    events: list[Event] | None = None,
) -> RunResult:
    provider.slots = SLOTS
    setup = prepare(provider, "tiny", load_harness("raw"))
    listen = (events if events is not None else []).append
    return Run(plan, setup, output, listen, options).go()


def go_on(
    provider: ScriptedProvider,
    output: Path,
    events: list[Event] | None = None,
    plan: RunPlan | None = None,
) -> RunResult:
    provider.slots = SLOTS
    with OpenRun.resumed(find_run(load(output / LATEST).run_id)) as run:
        known = run.read()
        setup = prepare(provider, "tiny", load_harness("raw"))
        listen = (events if events is not None else []).append
        options = known.planned.request.options
        return Run(plan or plan_again(known), setup, output, listen, options, resumed=run).go()


def stopped(answers: int, output: Path, plan: RunPlan, options: RunOptions = WHOLE) -> RunResult:
    """The result of a run to which Ctrl-C came after so many requests."""
    with pytest.raises(KeyboardInterrupt):
        begin(Stopping(answers), output, plan, options)
    return load(output / LATEST)


def quality_outcomes(result: RunResult) -> list[tuple[str, int, str | None]]:
    return sorted((t.task_id, t.trial, t.outcome) for t in result.trials if t.suite != "speed")


PLAN_SUITES = ["speed", "reasonmath"]


def test_wherever_a_run_is_stopped_it_ends_with_the_trials_of_a_whole_one(tmp_path: Path) -> None:
    plan = make_plan(suites=PLAN_SUITES)
    whole = begin(ScriptedProvider(), tmp_path / "whole", plan)
    requests = len(whole.trials)
    for answers in range(3, requests + 2, 3):
        output = tmp_path / f"{answers}"
        before = stopped(answers, output, plan)
        assert before.status == "aborted"
        after = go_on(ScriptedProvider(), output)
        assert after.status == "complete"
        assert after.run_id == before.run_id
        assert after.trials[: len(before.trials)] == before.trials
        assert quality_outcomes(after) == quality_outcomes(whole)
        keys = [(t.task_id, t.trial, t.is_warmup) for t in after.trials]
        assert len(set(keys)) == len(keys), "a trial occurs twice"
        assert {t.task_id for t in after.trials} == {t.task_id for t in whole.trials}
        assert len(after.parts or ()) == 2
        assert load(output / f"{after.run_id}.json") == after


def test_speed_trials_after_a_pause_come_behind_a_calibration_of_their_own(tmp_path: Path) -> None:
    plan = make_plan(suites=PLAN_SUITES)
    stopped(4, tmp_path, plan)
    provider = ScriptedProvider()
    before = len(load(tmp_path / LATEST).trials)
    go_on(provider, tmp_path)
    lengths = [request.max_tokens for request in provider.requests]
    # One request loads the model, one calibrates; then the first trial that is missing.
    assert lengths[:2] == [1, 64]
    assert before == 2


def test_a_plan_with_warm_ups_warms_up_again(tmp_path: Path) -> None:
    plan = make_plan(suites=["speed"])
    before = stopped(2 + 9 + 4, tmp_path, plan, RunOptions())
    assert before.speed is not None
    assert before.speed.plan == "nine"
    provider = ScriptedProvider()
    result = go_on(provider, tmp_path)
    forced = [request for request in provider.requests if request.force_length][1:]
    new = len(result.trials) - (9 + 4)
    # Nine shapes are still to come: one discarded request of each before them.
    assert len(forced) == new + 9
    assert sum(trial.is_warmup for trial in result.trials) == 9


def test_after_the_speed_suite_nothing_is_calibrated_again(tmp_path: Path) -> None:
    plan = make_plan(suites=PLAN_SUITES)
    whole = begin(ScriptedProvider(), tmp_path / "whole", plan, QUICK)
    stopped(2 + len(whole.trials) - 1, tmp_path, plan, QUICK)
    provider = ScriptedProvider()
    go_on(provider, tmp_path)
    assert [request.force_length for request in provider.requests] == [False, False]


def test_it_tells_what_is_done_and_counts_on(tmp_path: Path) -> None:
    plan = make_plan(suites=PLAN_SUITES)
    before = stopped(6, tmp_path, plan)
    events: list[Event] = []
    go_on(ScriptedProvider(), tmp_path, events)
    started, planned = events[0], events[1]
    assert isinstance(started, RunStarted)
    assert started.kept == before.trials
    assert isinstance(planned, SpeedPlanned)
    anew: list[Event] = []
    begin(ScriptedProvider(), tmp_path / "anew", plan, events=anew)
    assert planned.total == next(e.total for e in anew if isinstance(e, SpeedPlanned))


def test_only_the_trials_that_the_server_failed_are_run_again(tmp_path: Path) -> None:
    plan = make_plan(suites=["reasonmath"])
    hit = plan.quality_trials[1][1].messages

    def one_outage(request: ChatRequest) -> ProviderError | ChatReply:
        return outage() if request.messages == hit else ScriptedProvider().chat(request)

    provider = ScriptedProvider(default=one_outage, control=outage())
    first = begin(provider, tmp_path, plan, RunOptions())
    assert first.status == "incomplete"
    again = ScriptedProvider()
    result = go_on(again, tmp_path)
    assert result.status == "complete"
    assert [request.messages for request in again.requests[1:]] == [hit]
    assert len(result.trials) == len(first.trials)


def test_a_second_stop_keeps_the_trials_of_both_parts(tmp_path: Path) -> None:
    plan = make_plan(suites=PLAN_SUITES)
    first = stopped(5, tmp_path, plan)
    with pytest.raises(KeyboardInterrupt):
        go_on(Stopping(4), tmp_path)
    second = load(tmp_path / LATEST)
    assert second.status == "aborted"
    assert second.trials[: len(first.trials)] == first.trials
    assert len(second.trials) == len(first.trials) + 2
    assert go_on(ScriptedProvider(), tmp_path).status == "complete"


def test_a_run_in_which_nothing_was_measured_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        begin(Stopping(2), tmp_path / "results", make_plan(suites=PLAN_SUITES))
    assert run_folders() == []
    assert not (tmp_path / "results").exists()


def test_power_of_a_run_in_parts_is_blank(tmp_path: Path) -> None:
    stopped(5, tmp_path, make_plan(suites=PLAN_SUITES))
    assert go_on(ScriptedProvider(), tmp_path).power is None


def test_a_run_that_is_being_written_is_refused(tmp_path: Path) -> None:
    stopped(5, tmp_path, make_plan(suites=PLAN_SUITES))
    folder = run_folders()[-1]
    with OpenRun.resumed(folder), pytest.raises(UsageError, match="being written"):
        OpenRun.resumed(folder)


# --- What may not have changed --------------------------------------------------------------------


class Other(ScriptedProvider):
    """The same server, but for what a test changes."""

    def __init__(
        self,
        server: Callable[[ServerFacts], ServerFacts] = lambda facts: facts,
        model: Callable[[ModelFacts], ModelFacts] = lambda facts: facts,
    ) -> None:
        super().__init__()
        self._server = server
        self._model = model

    def server(self) -> ServerFacts:
        return self._server(super().server())

    def model(self, model_id: str) -> ModelFacts:
        return self._model(super().model(model_id))


@pytest.mark.parametrize(
    ("provider", "said"),
    [
        (Other(lambda s: s.model_copy(update={"version": "2"})), "server changed: version was 1"),
        (Other(lambda s: s.model_copy(update={"parallel_slots": 4})), "parallel_slots was 2, is 4"),
        (
            Other(model=lambda m: m.model_copy(update={"weights_digest": "sha256:" + "b" * 64})),
            "model changed: weights_digest was unknown, is bbbbbbbbbbbb",
        ),
        (
            Other(model=lambda m: m.model_copy(update={"context_loaded": 4096})),
            "context_loaded was 2048, is 4096",
        ),
    ],
)
def test_another_server_or_model_is_refused_and_nothing_is_lost(
    provider: ScriptedProvider, said: str, tmp_path: Path
) -> None:
    before = stopped(5, tmp_path, make_plan(suites=PLAN_SUITES))
    with pytest.raises(SetupError, match=said) as refused:
        go_on(provider, tmp_path)
    assert refused.value.remedy is not None
    assert "start a new run" in refused.value.remedy
    assert go_on(ScriptedProvider(), tmp_path).trials[: len(before.trials)] == before.trials


def test_another_port_on_this_machine_is_no_change(tmp_path: Path) -> None:
    stopped(5, tmp_path, make_plan(suites=PLAN_SUITES))
    moved = Other(lambda s: s.model_copy(update={"endpoint": "http://127.0.0.1:2", "load_s": 9.0}))
    assert go_on(moved, tmp_path).status == "complete"


def known_run(tmp_path: Path) -> Recorded:
    stopped(5, tmp_path, make_plan(suites=PLAN_SUITES))
    with OpenRun.resumed(run_folders()[-1]) as run:
        return run.read()


def test_another_host_elsewhere_is_refused(tmp_path: Path) -> None:
    known = known_run(tmp_path).conditions
    far = known.server.model_copy(update={"is_local": False, "endpoint": "http://a.example:1"})
    before = known.model_copy(update={"server": far})
    other = far.model_copy(update={"endpoint": "http://b.example:1"})
    with pytest.raises(SetupError, match=r"host was a\.example, is b\.example"):
        refuse_changes(before, known.model_copy(update={"server": other}))


def test_a_pack_that_changed_is_refused_by_name(tmp_path: Path) -> None:
    known = known_run(tmp_path)
    speed, reasonmath = known.planned.suites
    changed = replace(reasonmath, pack_hash="sha256:" + "0" * 64)
    known.planned = known.planned.model_copy(update={"suites": (speed, changed)})
    with pytest.raises(SetupError, match="the pack reasonmath changed"):
        plan_again(known)


def test_a_pack_that_is_gone_is_refused_by_name(tmp_path: Path) -> None:
    known = known_run(tmp_path)
    gone = replace(known.planned.suites[1], suite="gone")
    known.planned = known.planned.model_copy(update={"suites": (gone,)})
    with pytest.raises(SetupError, match="its pack gone cannot be read"):
        plan_again(known)


def test_another_version_of_benchloop_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = known_run(tmp_path)
    monkeypatch.setattr("bench_loop.__version__", "99.0.0")
    with pytest.raises(SetupError, match=r"is 99\.0\.0"):
        plan_again(known)


def test_a_run_is_found_by_id_tail_and_path(tmp_path: Path) -> None:
    stopped(5, tmp_path, make_plan(suites=PLAN_SUITES))
    (folder,) = run_folders()
    for name in (folder.name, folder.name[-10:], str(folder), str(folder / "journal.jsonl")):
        assert find_run(name) == folder
    assert find_run(str(tmp_path / f"{folder.name}.json")) == folder
    with pytest.raises(UsageError, match="There is no run"):
        find_run("nosuchrun")


@pytest.mark.parametrize("lines", [0, 1])
def test_a_run_that_was_killed_before_it_began_is_none(lines: int, tmp_path: Path) -> None:
    stopped(5, tmp_path, make_plan(suites=PLAN_SUITES))
    (folder,) = run_folders()
    journal = folder / "journal.jsonl"
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:lines]) + b'{"at')
    assert run_folders() == []
