"""The report after a run: the answer first, words where there is no number, nothing steered."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from bench_loop.console import THEME
from bench_loop.contracts.chat import ArrivalGaps
from bench_loop.report.terminal import print_run
from bench_loop.result.records import (
    Aggregates,
    ConcurrencyPoint,
    ContextFacts,
    CurvePoint,
    Determinism,
    HarnessSettings,
    RunResult,
    Spread,
    Sustained,
)
from tests.console.make_run import SMOKE, make_run, make_speed, make_trial

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def report(result: RunResult, *, width: int = 88, is_terminal: bool = True, **more: Any) -> str:
    """The report with its escape sequences."""
    stream = io.StringIO()
    screen = Console(
        file=stream,
        theme=THEME,
        width=width,
        force_terminal=is_terminal,
        color_system="standard" if is_terminal else None,
        markup=False,
        _environ={"TERM": "xterm"},
    )
    print_run(result, screen, **more)
    return stream.getvalue()


def text(result: RunResult, **more: Any) -> str:
    """The report as it is read, without colours."""
    return ESCAPE.sub("", report(result, **more))


def smoke(**changes: Any) -> RunResult:
    fields = {
        "profile": "smoke",
        "aggregates": SMOKE,
        "speed": make_speed(plan="minimum", prompt_tps=None),
    }
    suites = {"reasonmath": ("pfpt", 50.0, (15.0, 85.0))}
    return make_run(suites, **(fields | changes))


def test_it_opens_with_the_signal_path_and_the_answer() -> None:
    lines = text(make_run()).splitlines()
    assert lines[1] == "qwen3.5:27b Q4_K_M ── llama.cpp b7421 ── raw 1 ── verifier"
    assert lines[2] == "RTX 4090 24 GB, window 8,192 read back, core profile, 5 min"
    assert lines[4].startswith("Overall 75 (72–78). ")


def test_before_a_program_stands_the_gateway() -> None:
    run = make_run()
    program = HarnessSettings(place="bubblewrap", limit_rule="none")
    settings = run.settings.model_copy(update={"harness": program})
    first = text(run.model_copy(update={"settings": settings})).splitlines()[1]
    assert first == "qwen3.5:27b Q4_K_M ── llama.cpp b7421 ── gateway ── raw 1 ── verifier"


def test_a_score_stands_with_bar_whisker_and_interval() -> None:
    # One column is 2.5 points: low 67.2 is column 27, value 72.33 column 29, high 77.1 column 31.
    bar = "━" * 27 + "├─●─┤" + "·" * 9
    assert f"quality           72 {bar}  67–77" in text(make_run())


def test_an_interval_narrower_than_a_column_is_a_point() -> None:
    bar = "━" * 23 + "●" + "·" * 17
    assert f"speed           56.8 {bar}  56.4–57.2" in text(make_run())


def test_the_axis_stands_over_its_columns() -> None:
    lines = text(make_run()).splitlines()
    axis = next(line for line in lines if line.strip().startswith("0  "))
    bar = next(line for line in lines if line.startswith("overall"))
    start = bar.index("━")
    assert axis.index("0") == start
    assert axis.index("50") == start + 20
    assert axis.index("100") == start + 39


def test_raw_speed_stands_with_spread_n_and_basis() -> None:
    shown = text(make_run())
    assert "speed           40.3 ±0.6 tok/s   prompt 1,210 tok/s   TTFT 0.402 ±0.020 s" in shown
    assert "plan headline, n 3, prompt n 1, tokens by engine timings" in shown


def test_a_finding_about_speed_is_told_beside_it() -> None:
    shown = text(make_run(speed=make_speed(findings=("too_short_to_rate",))))
    assert "tokens by engine timings, too short to rate" in " ".join(shown.split())


def test_a_suite_is_a_tape_with_its_count_and_the_outcomes_are_its_key() -> None:
    shown = text(smoke())
    assert "reasonmath      ■×■◨  2 of 4" in shown
    assert "■ 2 pass   × 1 fail   ◨ 1 truncated" in shown


def test_a_long_tape_goes_on_in_a_second_line() -> None:
    shown = text(make_run({"reasonmath": ("p" * 70, 100.0, (95.0, 100.0))}))
    assert "reasonmath      " + "■" * 60 + "\n" in shown
    assert "                " + "■" * 10 + " " * 52 + "70 of 70\n" in shown


def test_smoke_is_told_as_not_ranked_and_never_as_a_score() -> None:
    shown = text(smoke(aggregates=SMOKE.model_copy(update={"overall_score": 31.0})))
    assert "overall         not ranked: runs of the profile smoke are never ranked" in shown
    assert "31" not in shown


def test_what_was_not_run_is_a_word_and_not_a_nought() -> None:
    result = make_run({}, speed=None, aggregates=Aggregates(), trials=())
    shown = text(result)
    assert "speed           not run" in shown
    assert "quality         not run" in shown
    assert "0.0" not in shown
    assert "●" not in shown


def test_an_incomplete_run_says_why_before_the_figures() -> None:
    result = make_run(
        {"reasonmath": ("pi", 100.0, (20.0, 100.0))},
        status="incomplete",
        status_reason="The server failed in 1 of 2 trials.",
    )
    shown = text(result)
    assert shown.index("Incomplete: The server failed in 1 of 2 trials.") < shown.index("speed  ")
    assert shown.count("The server failed") == 1
    assert "overall         not ranked: the run is incomplete" in shown
    assert "+ infrastructure  reasonmath.two-trains-2  server_unreachable" in shown


def test_what_did_not_pass_stands_with_reason_and_sentence() -> None:
    assert (
        "× fail  reasonmath.two-trains-2  wrong_value\n"
        "  The answer is 12.5 L and 15 L was expected.\n"
    ) in text(smoke())


def test_a_pass_is_not_listed() -> None:
    assert "reasonmath.rain-tank-overflow-1" not in text(smoke())


def test_more_losses_than_fit_are_counted_by_reason() -> None:
    shown = text(make_run({"reasonmath": ("f" * 14 + "tt", 0.0, (0.0, 20.0))}))
    assert shown.count("× fail  ") == 12
    assert "and 4 more: wrong_value 2, answer_budget 2" in shown


def test_a_long_message_takes_two_lines() -> None:
    trial = make_trial("reasonmath", 0, "fail", message="word " * 200)
    shown = text(make_run({"reasonmath": ("f", 0.0, (0.0, 80.0))}, trials=(trial,)))
    assert len([line for line in shown.splitlines() if line.startswith("  word")]) == 2
    assert "…" in shown


def test_it_ends_with_the_file_and_the_next_thing_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shown = text(make_run(), file=tmp_path / "results" / "my run.json")
    assert "saved           results/my run.json\n" in shown
    assert "next            bench-loop submit 'results/my run.json' --print-payload" in shown


def test_after_smoke_the_next_thing_is_a_run_that_can_be_ranked(tmp_path: Path) -> None:
    shown = text(smoke(), file=tmp_path / "x.json")
    assert "bench-loop run --model qwen3.5:27b --provider openai_compat --profile quick" in shown


def test_after_a_run_that_stopped_early_the_next_thing_is_the_same_run(tmp_path: Path) -> None:
    shown = text(make_run(status="incomplete"), file=tmp_path / "x.json")
    assert "submit" not in shown
    assert shown.endswith("--provider openai_compat --profile core\n\n")


def test_the_next_run_goes_to_the_address_that_was_named(tmp_path: Path) -> None:
    shown = text(smoke(), file=tmp_path / "x.json", endpoint="http://127.0.0.1:9000")
    assert "--profile quick --endpoint http://127.0.0.1:9000\n" in shown


def test_no_text_from_a_model_or_server_steers_the_terminal() -> None:
    evil = "a\x1b[2Jb\x1b]0;owned\x07c\u202ed[bold red]e[/]\r\nf"
    trial = make_trial("reasonmath", 0, "fail", task_id=evil, reason=evil, message=evil)
    result = make_run({"reasonmath": ("f", 0.0, (0.0, 80.0))}, trials=(trial,))
    subject = result.subject.model_copy(update={"model_id": evil, "provider_version": evil})
    machine = result.machine.model_copy(update={"gpus": (), "cpu_model": evil})
    shown = text(result.model_copy(update={"subject": subject, "machine": machine}))
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", shown)
    assert r"a\x1b[2Jb\x1b]0;owned\x07c\u202ed[bold red]e[/] f" in shown


@pytest.mark.parametrize("width", [88, 200])
def test_no_line_is_wider_than_88_columns(width: int) -> None:
    for result in (make_run(), smoke()):
        assert max(map(cell_len, text(result, width=width).splitlines())) <= 88


def test_a_name_of_any_length_keeps_its_column() -> None:
    shown = text(make_run({"a" * 40: ("p" * 5, 100.0, (56.6, 100.0))}))
    assert "a" * 7 + ".." + "a" * 6 + " ■■■■■  5 of 5" in shown


def test_suites_that_only_differ_at_their_ends_are_told_apart() -> None:
    names = ("loop_code_fix", "loop_code_fix_files")
    shown = text(make_run(dict.fromkeys(names, ("p" * 5, 100.0, (56.6, 100.0)))))
    assert "loop_code_fix   ■■■■■  5 of 5" in shown
    assert "loop_co.._files ■■■■■  5 of 5" in shown
    wide = text(make_run({"検証" * 10: ("p" * 5, 100.0, (56.6, 100.0))}))
    line = next(line for line in wide.splitlines() if "■■■■■" in line)
    assert cell_len(line[: line.index("■")]) == 16


def test_below_60_columns_bars_and_tapes_go_and_counts_stay() -> None:
    shown = text(make_run(), width=50)
    assert "━" not in shown
    assert "reasonmath      20 of 23" in shown
    assert "quality           72 67–77" in shown
    assert max(map(cell_len, shown.splitlines())) <= 50


def test_a_pipe_gets_ascii_only_and_no_escape_sequences() -> None:
    shown = report(make_run(), is_terminal=False)
    assert shown.isascii()
    assert "\x1b" not in shown
    assert "[-o-]" in shown
    assert "reasonmath      ####x#!####>" in shown


def test_colour_carries_nothing_alone() -> None:
    """Without colour, each outcome still has its own sign and word."""
    letters = "phftein"
    shown = text(make_run({"reasonmath": (letters, 14.0, (3.0, 51.0))}))
    assert "reasonmath      ■◧×◨!+-  1 of 5" in shown
    for word in ("pass", "partial", "fail", "truncated", "harness error", "infrastructure", "n/a"):
        assert f"1 {word}" in " ".join(shown.split())


def test_the_report_of_stored_bytes_is_the_same_as_of_the_run() -> None:
    from bench_loop.result.store import from_bytes, to_bytes

    assert text(from_bytes(to_bytes(make_run()), "x")) == text(make_run())


def test_what_was_measured_beyond_short_requests_stands_under_the_speed() -> None:
    speed = make_speed(
        curve=(CurvePoint(context_tokens=8192, generation_tps=make_speed().generation_tps),),
        concurrency=(ConcurrencyPoint(streams=4, failed=0, aggregate_tps=151.2),),
        sustained=Sustained(duration_s=600.0, n=40, first_tps=40.0, last_tps=34.0, ratio=0.85),
        token_gap_s=ArrivalGaps(p50_s=0.0248, p95_s=0.026, p99_s=0.031),
    )
    shown = " ".join(text(make_run(speed=speed)).split())
    assert "filled window window 8K gen. 40.3 tok/s" in shown
    assert "streams at once streams 4 together 151 tok/s" in shown
    assert "sustained load for 10 min first tenth 40.0 tok/s last tenth 34.0 tok/s kept 85" in shown
    assert "p50 24.8 ms p95 26.0 ms p99 31.0 ms" in shown


def test_a_figure_is_not_parted_from_its_name_at_the_end_of_a_line() -> None:
    wait = Spread(peak=0.0109, mean=0.0109, median=0.0109, stdev=None, n=1)
    together = ConcurrencyPoint(
        streams=1,
        failed=0,
        aggregate_tps=5.72,
        stream_tps=make_speed().generation_tps,
        ttft_s=wait,
        queue_wait_s=wait,
    )
    shown = text(make_run(speed=make_speed(concurrency=(together,))))
    first, second = shown.partition("streams at once")[2].splitlines()[:2]
    assert first.endswith("TTFT 0.0109 s")
    assert second == " " * 16 + "queue 0.0109 s   failed 0"


@pytest.mark.parametrize(("ratio", "is_told"), [(0.85, True), (0.95, False)])
def test_throttling_is_said_in_a_sentence_before_the_figures(ratio: float, is_told: bool) -> None:
    load = Sustained(duration_s=600, n=40, first_tps=40, last_tps=40 * ratio, ratio=ratio)
    shown = " ".join(text(make_run(speed=make_speed(sustained=load))).split())
    sentence = "Throttling: after 10 min of load it wrote at 85 % of its speed at the beginning."
    assert (sentence in shown.partition("speed 40")[0]) is is_told


def test_what_was_probed_is_told() -> None:
    context = ContextFacts(declared=131_072, loaded=8192, usable=7650)
    subject = make_run().subject.model_copy(update={"context": context})
    same = Determinism(prompts=3, identical=3, first_difference=None)
    shown = text(make_run(subject=subject, determinism=same))
    assert "window          declared 131,072, loaded 8,192, usable 7,650" in shown
    assert "same twice      3 of 3 prompts" in shown


def test_a_probe_without_a_figure_says_why() -> None:
    why = "the model cannot repeat a marker even from a short prompt"
    context = ContextFacts(loaded=8192, not_usable_reason=why)
    subject = make_run().subject.model_copy(update={"context": context})
    assert f"usable not found: {why}" in " ".join(text(make_run(subject=subject)).split())


def test_what_was_not_probed_takes_no_room() -> None:
    shown = text(make_run(determinism=None))
    assert "usable" not in shown
    assert "same twice" not in shown


def test_what_was_not_measured_takes_no_room() -> None:
    shown = text(make_run())
    assert "filled window" not in shown
    assert "sustained" not in shown


def test_each_capability_has_its_passed_tasks() -> None:
    shown = text(smoke())
    (line,) = (line for line in shown.splitlines() if line.startswith("tasks passed"))
    assert line.split(maxsplit=2)[2] == "arithmetic 2 of 4"


def test_without_tags_there_is_no_line_of_capabilities() -> None:
    run = smoke()
    bare = [trial.model_copy(update={"capability_tags": ()}) for trial in run.trials]
    assert "tasks passed" not in text(run.model_copy(update={"trials": tuple(bare)}))


@pytest.mark.parametrize("width", [40, 59, 60, 66, 72, 73, 80, 88, 140])
@pytest.mark.parametrize("is_terminal", [True, False])
def test_no_line_is_wider_than_its_terminal(width: int, is_terminal: bool) -> None:
    for result in (make_run(), smoke()):
        lines = text(result, width=width, is_terminal=is_terminal).splitlines()
        assert max(map(cell_len, lines)) <= width


@pytest.mark.parametrize(
    ("width", "ends"), [(60, "75  100"), (64, "75     100"), (88, "75       100")]
)
def test_a_plot_takes_the_room_that_there_is(width: int, ends: str) -> None:
    assert any(line.endswith(ends) for line in text(make_run(), width=width).splitlines())


def test_without_a_rank_no_formula_gives_an_overall_score() -> None:
    assert "= " in text(make_run())
    assert "overall\n" not in text(make_run(status="incomplete", status_reason="Stopped."))
