"""`compare` and `suites` from the command line, on real files and the packs that ship."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench_loop.cli import main
from bench_loop.config import machine_id
from bench_loop.result.records import RunResult, Spread
from bench_loop.result.store import save, to_bytes
from tests.console.make_run import make_run
from tests.fakes.server import FakeServer, Reply, Request, json_reply


def run(*arguments: str) -> int | str | None:
    """The exit code of the command line."""
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    return ended.value.code


@pytest.fixture
def result_file(tmp_path: Path) -> Path:
    file = tmp_path / "a.json"
    file.write_bytes(to_bytes(make_run()))
    return file


def test_two_files_are_compared(result_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("compare", str(result_file), str(result_file)) == 0
    assert "B and A are the same run." in capsys.readouterr().out


def test_compare_prints_json_and_only_that(
    result_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("compare", "--json", str(result_file), str(result_file)) == 0
    assert json.loads(capsys.readouterr().out)["pairs"][0]["is_same_run"] is True


def test_one_file_is_not_a_comparison(
    result_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("compare", str(result_file)) == 2
    assert "1 run is given; compare takes 2 to 26." in capsys.readouterr().err


def test_a_file_that_is_no_result_is_named_with_its_field(
    result_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken.json"
    document = json.loads(result_file.read_bytes())
    document["total_runtime_s"] = "long"
    broken.write_text(json.dumps(document), encoding="utf-8")
    assert run("compare", str(result_file), str(broken)) == 4
    assert "broken.json: total_runtime_s: " in capsys.readouterr().err


def test_a_missing_file_is_an_error_with_its_name(
    result_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("compare", str(result_file), "missing.json") == 4
    assert "Error: missing.json: No such file or directory" in capsys.readouterr().err


def test_all_suites_and_profiles_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("suites") == 0
    shown = capsys.readouterr().out
    for name in (
        "reasonmath",
        "loop_schema",
        "instructfollow",
        "smoke",
        "quick",
        "full",
        "harness",
    ):
        assert name in shown
    assert "Does everything work?" in " ".join(shown.split())


def test_a_suite_is_listed_with_its_tasks(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("suites", "reasonmath") == 0
    shown = capsys.readouterr().out
    assert "rain-tank-overflow" in shown
    assert "capacity_limit" in shown


def test_an_unknown_suite_names_the_similar_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("suites", "reasonmaths") == 2
    assert "Did you mean reasonmath?" in capsys.readouterr().err


def test_suites_as_json_hold_tasks_by_profile_and_their_count(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run("suites", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    suites = {suite["name"]: suite for suite in found["suites"]}
    core = next(profile for profile in found["profiles"] if profile["name"] == "core")
    assert core["task_count"] == sum(len(suites[name]["tasks"]) for name in core["suites"])
    assert "reasonmath.rain-tank-overflow" in suites["reasonmath"]["profiles"]["core"]


def test_one_suite_as_json_is_that_suite(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("suites", "reasonmath", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["name"] == "reasonmath"
    assert found["pack_hash"].startswith("sha256:")


@pytest.mark.parametrize("columns", [40, 56, 60, 71])
def test_suites_fit_a_narrow_terminal_without_cutting_words(
    columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert run("suites") == 0
    shown = capsys.readouterr().out
    assert "instructfollow" in shown
    assert "…" not in shown
    assert max(map(len, shown.splitlines())) <= columns


def test_latest_stands_for_the_newest_result(
    result_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("BENCHLOOP_HOME", str(tmp_path))
    save(make_run(), tmp_path / "results")
    assert run("compare", str(result_file), "latest") == 0
    assert "B and A are the same run." in capsys.readouterr().out


def test_a_run_is_found_by_its_id(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BENCHLOOP_HOME", str(tmp_path))
    result = make_run()
    save(result, tmp_path / "results")
    assert run("compare", result.run_id, "latest") == 0
    assert "B and A are the same run." in capsys.readouterr().out


def test_a_run_is_found_by_the_part_of_its_id_that_the_list_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BENCHLOOP_HOME", str(tmp_path))
    result = make_run()
    save(result, tmp_path / "results")
    assert run("compare", result.run_id[-10:], "latest") == 0
    assert "B and A are the same run." in capsys.readouterr().out


def test_a_part_of_no_id_names_the_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BENCHLOOP_HOME", str(tmp_path))
    assert run("compare", "zzzzzzzzzz", "latest") == 2
    assert "bench-loop runs list" in capsys.readouterr().err


class Site(FakeServer):
    """A site with one published run, and a page of another that it has taken down."""

    def answer(self, request: Request) -> Reply:
        if request.path == "/api/v1/runs/k3v5m2q7x4ab/result.json":
            return Reply(to_bytes(make_run()))
        return json_reply({"code": "not_found"}, status=404)


def test_a_run_is_fetched_from_the_address_of_its_page(
    result_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Site() as site:
        assert run("compare", str(result_file), f"{site.url}/runs/k3v5m2q7x4ab/") == 0
        assert "B and A are the same run." in capsys.readouterr().out
        assert run("compare", str(result_file), f"{site.url}/runs/aaaaaaaaaaaa/") == 4
        assert "the site answered HTTP 404" in capsys.readouterr().err


def test_three_runs_are_ranked_and_say_who_has_no_rank(
    result_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    smoke = tmp_path / "smoke.json"
    smoke.write_bytes(to_bytes(make_run(profile="smoke")))
    assert run("compare", str(result_file), str(result_file), str(smoke)) == 0
    shown = capsys.readouterr().out
    assert "ranks by quality" in shown
    assert shown.count("\n1-2   ") == 2
    assert "C has no rank. Runs of the profile smoke are never ranked." in shown


def measured_here(home: Path, **speed: float) -> RunResult:
    """A result of this installation, with these medians."""
    made = make_run()
    assert made.speed is not None
    spreads = {
        name: Spread(peak=value, mean=value, median=value, n=3) for name, value in speed.items()
    }
    result = made.model_copy(
        update={
            "machine": made.machine.model_copy(update={"machine_id": machine_id()}),
            "speed": made.speed.model_copy(update=spreads),
        }
    )
    save(result, home / "results")
    return result


def test_without_a_result_no_time_is_expected(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("suites") == 0
    assert "not measured yet" in " ".join(capsys.readouterr().out.split())
    assert run("suites", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert {suite["expected_s"] for suite in found["suites"]} == {None}


def test_times_are_expected_by_the_newest_speed_of_this_installation(
    benchloop_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    benchloop_home.mkdir(exist_ok=True)
    save(make_run(), benchloop_home / "results")  # of another machine
    result = measured_here(benchloop_home, prompt_tps=2000.0, generation_tps=50.0)
    assert run("suites", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert result.run_id in found["expected_basis"]
    expected = {one["name"]: one["expected_s"] for one in (*found["suites"], *found["profiles"])}
    assert 0 < expected["smoke"] < expected["core"] < expected["full"]
    assert 0 < expected["loop_harness"] < expected["harness"]
    assert expected["longcontext"] > 100_000 / 2000
    assert run("suites", "longcontext") == 0
    assert "would take on this machine" in " ".join(capsys.readouterr().out.split())


def test_a_suite_tells_its_levels_tags_and_settings(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("suites") == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "longcontext 1.0 8 2/3/3" in shown
    assert "Facts in a long text: arithmetic, correction" in shown
    assert run("suites", "agent", "--json") == 0
    assert json.loads(capsys.readouterr().out)["settings"]["trials"] == 3
