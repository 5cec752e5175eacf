"""`run --like`: the plan comes from a result, differences are named, and the two are compared."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bench_loop import download
from bench_loop.cli import main
from bench_loop.commands._setup import load_harness, prepare
from bench_loop.engine.harness_limits import RULE
from bench_loop.engine.like import differences, options_like, plan_like, refuse_other_plan
from bench_loop.engine.plan import RunOptions, RunPlan, make_plan
from bench_loop.engine.run import Run, conditions_of
from bench_loop.errors import ResultError, SetupError, UsageError
from bench_loop.result.records import HarnessSettings, RunResult
from bench_loop.result.store import LATEST, load, to_bytes
from tests.engine.doubles import ScriptedProvider
from tests.fakes.openai_server import FakeOpenAI
from tests.fakes.server import FakeServer, Reply, Request, endless

PLAN = make_plan(suites=["reasonmath", "loop_schema"], trials=2)


def made(folder: Path, plan: RunPlan = PLAN, options: RunOptions | None = None) -> RunResult:
    setup = prepare(ScriptedProvider(), "tiny", load_harness("raw"))
    return Run(plan, setup, folder, lambda event: None, options).go()


def test_the_plan_is_the_one_of_the_run(tmp_path: Path) -> None:
    assert plan_like(made(tmp_path)) == PLAN
    assert plan_like(made(tmp_path, make_plan(profile="smoke"))) == make_plan(profile="smoke")


def test_what_was_measured_beside_the_plan_is_measured_again(tmp_path: Path) -> None:
    options = RunOptions(speed_budget_s=1.0, concurrency=(1,), probes_determinism=True)
    result = made(tmp_path, make_plan(suites=["speed"]), options)
    assert result.speed is not None
    assert options_like(result) == replace(options, speed_plan=result.speed.plan)


def test_the_speed_plan_is_theirs_and_not_the_largest_that_fits_here(tmp_path: Path) -> None:
    short = made(tmp_path, make_plan(suites=["speed"]), RunOptions(speed_plan="headline"))
    assert short.speed is not None
    assert short.speed.plan == "headline"
    again = made(tmp_path, plan_like(short), options_like(short))
    assert again.speed is not None
    assert again.speed.plan == "headline"
    longest = made(tmp_path, make_plan(suites=["speed"]))
    assert longest.speed is not None
    assert longest.speed.plan == "nine"


def test_a_file_cannot_ask_for_more_than_options_may(tmp_path: Path) -> None:
    result = made(tmp_path, make_plan(suites=["speed"]), RunOptions(concurrency=(1,)))
    assert result.speed is not None
    assert result.speed.concurrency is not None
    many = result.speed.concurrency[0].model_copy(update={"streams": 1000})
    speed = result.speed.model_copy(update={"concurrency": (many,)})
    assert options_like(result.model_copy(update={"speed": speed})).concurrency == ()
    settings = result.settings.model_copy(update={"context_window": 2**50})
    with pytest.raises(SetupError, match="No run may ask for a window"):
        plan_like(result.model_copy(update={"settings": settings}))


def test_another_pack_is_named(tmp_path: Path) -> None:
    result = made(tmp_path)
    first, *others = result.suites
    changed = first.model_copy(update={"pack_hash": "sha256:" + "0" * 64})
    other = result.model_copy(update={"suites": (changed, *others)})
    with pytest.raises(SetupError, match=f"The pack of {first.suite} differs") as refused:
        refuse_other_plan(other, plan_like(other))
    assert refused.value.remedy == (
        f"Install the BenchLoop that made it: version {result.benchmark_version}."
    )


@pytest.mark.parametrize("name", ["../../etc", "gone"])
def test_a_suite_that_is_not_here_is_named(name: str, tmp_path: Path) -> None:
    result = made(tmp_path)
    gone = result.suites[0].model_copy(update={"suite": name})
    with pytest.raises(SetupError, match="suites that are not here"):
        plan_like(result.model_copy(update={"suites": (gone,)}))


def test_what_differs_here_is_told_with_what_it_breaks(tmp_path: Path) -> None:
    result = made(tmp_path, make_plan(suites=["speed"]), RunOptions(speed_budget_s=1.0))
    plan = plan_like(result)
    setup = prepare(ScriptedProvider(), "tiny", load_harness("raw"))
    now = conditions_of(setup, plan, setup.server, setup.model)
    breaking, limiting = differences(result, plan, now)
    assert breaking == ()
    assert limiting == ("Whether the weights are the same cannot be told: not both name a digest.",)
    digest = result.subject.model_copy(update={"weights_digest": "sha256:" + "a" * 64})
    other = now.model_copy(
        update={
            "harness_version": "0",
            "server": now.server.model_copy(update={"version": "2"}),
            "model": now.model.model_copy(update={"weights_digest": "sha256:" + "b" * 64}),
        }
    )
    breaking, limiting = differences(result.model_copy(update={"subject": digest}), plan, other)
    assert breaking == (f"They differ in harness version: {setup.harness.version} against 0.",)
    assert limiting == (
        "The weights are others: the comparison is one of two models. "
        "Theirs aaaaaaaaaaaa, ours bbbbbbbbbbbb.",
        "Speed will not be comparable: They differ in engine: scripted 1 against scripted 2.",
    )


def test_a_program_must_be_run_in_the_same_place(tmp_path: Path) -> None:
    result = made(tmp_path, make_plan(suites=["reasonmath"]))
    plan = plan_like(result)
    setup = prepare(ScriptedProvider(), "tiny", load_harness("raw"))
    there = HarnessSettings(place="bubblewrap", limit_rule=RULE)
    theirs = result.settings.model_copy(update={"harness": there})
    here = there.model_copy(update={"place": "direct"})
    now = conditions_of(setup, plan, setup.server, setup.model)
    breaking, _ = differences(
        result.model_copy(update={"settings": theirs}),
        plan,
        now.model_copy(update={"harness_settings": here}),
    )
    assert breaking == ("They differ in place of the harness: bubblewrap against direct.",)


class Site(FakeServer):
    """Gives `reply` for every address."""

    def __init__(self, reply: Reply) -> None:
        super().__init__()
        self._reply = reply

    def answer(self, request: Request) -> Reply:
        return self._reply


def test_the_page_of_a_run_means_its_file(tmp_path: Path) -> None:
    result = made(tmp_path)
    with Site(Reply(to_bytes(result))) as site:
        assert download.fetch_result(f"{site.url}/runs/abcdefghij23/") == result
        assert site.requests[0].path == "/api/v1/runs/abcdefghij23/result.json"
        assert download.fetch_result(f"{site.url}/some/where.json") == result
        assert site.requests[1].path == "/some/where.json"


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply(b"{}"), "Field required"),
        (Reply(b"<html>"), "not JSON"),
        (Reply(b"", status=404), "HTTP 404"),
        (Reply(b"", status=302, headers={"Location": "http://127.0.0.1:9/"}), "HTTP 302"),
    ],
)
def test_what_is_no_result_is_refused(reply: Reply, said: str) -> None:
    with Site(reply) as site, pytest.raises(ResultError, match=said):
        download.fetch_result(f"{site.url}/runs/abcdefghij23/")


def test_a_site_that_never_ends_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "MAX_FILE_BYTES", 100_000)
    with (
        Site(Reply(endless(b"x" * 10_000))) as site,
        pytest.raises(ResultError, match="is larger than 100,000 bytes"),
    ):
        download.fetch_result(f"{site.url}/x.json")


@pytest.mark.parametrize(
    "url",
    ["http://bench.example.org/runs/abcdefghij23/", "https://a:b@bench.example.org/", "https://"],
)
def test_other_addresses_are_refused(url: str) -> None:
    with pytest.raises(UsageError):
        download.result_address(url)


def test_it_runs_and_compares(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BENCHLOOP_HOME", str(tmp_path / "home"))
    with FakeOpenAI(engine="llama.cpp") as server:
        served = ["--model", "tiny", "--provider", "openai_compat", "--endpoint", server.url]
        for arguments in (
            ["--suites", "reasonmath"],
            ["--like", str(tmp_path / "home" / "results" / LATEST)],
        ):
            with pytest.raises(SystemExit) as ended:
                main(["run", *served, "--json", *arguments])
            assert ended.value.code in (0, None)
            said = capsys.readouterr()
    last = json.loads(said.out.splitlines()[-1])
    assert last["event"] == "compared"
    assert "Repeating" in said.err
    assert load(tmp_path / "home" / "results" / LATEST).status == "complete"


def test_a_file_names_no_harness_and_no_weights_by_path(tmp_path: Path) -> None:
    from bench_loop.commands._like import _completed
    from bench_loop.commands._setup import Wanted

    result = made(tmp_path)
    subject = result.subject.model_copy(update={"harness": "../evil"})
    with pytest.raises(UsageError, match="There is no harness"):
        _completed(Wanted("tiny", endpoint="x"), result.model_copy(update={"subject": subject}))
    own = result.subject.model_copy(update={"provider": "embedded", "model_id": "/etc/passwd"})
    with pytest.raises(UsageError, match="a model file of its own"):
        _completed(Wanted(""), result.model_copy(update={"subject": own}))
