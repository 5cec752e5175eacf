"""A run as text: nothing is lost, nothing unknown becomes a zero."""

from __future__ import annotations

import pytest

from bench_loop.contracts.chat import CallRecord
from bench_loop.report import figures
from bench_loop.report.views import Span, Stat, not_ranked_reason, run_view
from bench_loop.result.records import (
    Aggregates,
    ContextFacts,
    DeclaredMachine,
    Determinism,
    Gpu,
    HarnessSettings,
    HarnessTrial,
    RunPart,
    RunResult,
    Trial,
)
from tests.look import samples


def text_of(spans: tuple[Span, ...]) -> str:
    return "".join(span.text for span in spans)


def stat(result: RunResult, label: str) -> Stat:
    return next(one for one in run_view(result).stats if one.label == label)


def estimated(trial: Trial) -> Trial:
    """The trial as a server without counts of its own gives it."""
    assert trial.engine_timings is not None
    return trial.model_copy(
        update={
            "tokens": trial.tokens.model_copy(update={"basis": "estimated"}),
            "engine_timings": trial.engine_timings.model_copy(update={"generated_tokens": None}),
        }
    )


def test_every_judged_trial_is_shown_once() -> None:
    view = run_view(samples.result())
    shown = [trial for suite in view.trials for trial in (*suite.failed, *suite.passed)]
    assert len(shown) == 18
    assert len({trial.anchor for trial in shown}) == 18


def test_trials_that_did_not_pass_come_first_with_reason_and_sentence() -> None:
    suite = run_view(samples.result(["pass", "fail"])).trials[0]
    assert [trial.reason for trial in suite.failed] == ["wrong_value"]
    assert suite.failed[0].message == "The answer is 41, expected 42."
    assert suite.summary == "1 of 2 passed"


def called(*useful: bool | None) -> Trial:
    """A trial with a tool call for each of `useful`."""
    calls = [
        CallRecord(id=None, name="read_file", arguments="{}", turn=1, is_useful=one)
        for one in useful
    ]
    return samples.quality_trial("agent", 1).model_copy(update={"tool_calls": tuple(calls)})


def test_calls_that_brought_nothing_are_shown_apart() -> None:
    suite = run_view(samples.result(trials=[called(True, False, True)])).trials[0]
    assert suite.summary == "1 of 1 passed; tool calls: 3, 1 unnecessary"
    readings = {reading.name: reading.value for reading in suite.passed[0].readings}
    assert readings["tool calls"] == "3, 1 unnecessary"


def test_of_a_harness_that_does_not_tell_calls_are_only_counted() -> None:
    suite = run_view(samples.result(trials=[called(True, None)])).trials[0]
    assert suite.summary == "1 of 1 passed; tool calls: 2"


def test_a_warm_up_is_not_a_trial() -> None:
    trials = [
        samples.quality_trial("reasonmath", 1, "fail", trial=0, is_warmup=True),
        samples.quality_trial("reasonmath", 1),
    ]
    view = run_view(samples.result(trials=trials))
    assert [suite.summary for suite in view.trials] == ["1 of 1 passed"]


def test_the_formula_stands_with_its_numbers() -> None:
    scores = Aggregates(
        overall_score=74.9, quality_score=72.3, speed_score=56.8, reliability_score=95.0
    )
    assert run_view(samples.result(aggregates=scores)).formula == (
        "0.55 × 72.3 quality + 0.20 × 56.8 speed + 0.25 × 95.0 reliability = 74.9 overall"
    )


def test_below_twenty_quality_the_formula_shows_what_is_taken_off() -> None:
    scores = Aggregates(
        overall_score=25.0, quality_score=10.0, speed_score=50.0, reliability_score=100.0
    )
    formula = run_view(samples.result(aggregates=scores)).formula
    assert formula is not None
    assert "+ 0.50 × (0.20 × 50.0 speed + 0.25 × 100.0 reliability)" in formula


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, ""),
        ({"profile": "smoke"}, "Runs of the profile smoke are never ranked."),
        ({"profile": "custom"}, "Runs of hand-picked suites are never ranked."),
        (
            {"scoring_version": "0.9"},
            "Scored by version 0.9; only version 1.1 is ranked.",
        ),
        (
            {"speed": [estimated(trial) for trial in samples.speed_trials()]},
            "The tokens behind its speed were estimated from the text, not counted.",
        ),
        (
            {"speed": samples.speed_trials()[2:]},
            "The speed was measured only once, which does not show how much it varies.",
        ),
        ({"status": "incomplete"}, "The run is incomplete."),
        (
            {"aggregates": Aggregates()},
            "There is no overall score: a part of the profile was not measured.",
        ),
        (
            {"about": samples.subject(context=None)},
            "The loaded context window was not read back from the server.",
        ),
    ],
)
def test_a_run_without_a_rank_says_why(changes: dict[str, object], reason: str) -> None:
    assert not_ranked_reason(samples.result(**changes)) == reason  # type: ignore[arg-type]


def test_without_a_rank_words_stand_in_place_of_the_overall_score() -> None:
    overall = stat(samples.result(profile="smoke"), "Overall")
    assert overall.figure is None
    assert overall.absence == "not ranked"


def test_a_suite_that_was_not_run_has_no_figure() -> None:
    result = samples.result(speed=[], aggregates=Aggregates())
    assert stat(result, "Speed").figure is None
    assert stat(result, "Speed").absence == "not run"
    assert run_view(result).speed is None


def test_unknown_numbers_of_a_trial_are_left_out_and_known_zeros_are_kept() -> None:
    trial = samples.quality_trial("reasonmath", 1, "fail", seed=None)
    readings = run_view(samples.result(trials=[trial])).trials[0].failed[0].readings
    names = {reading.name: reading.value for reading in readings}
    assert "seed" not in names
    assert names["cached"] == "0"
    assert names["prompt tokens"] == "1,140"


def test_the_lede_names_the_strongest_and_the_weakest_suite() -> None:
    trials = [
        *(samples.quality_trial("reasonmath", task) for task in range(4)),
        *(samples.quality_trial("loop_schema", task, "fail") for task in range(4)),
    ]
    lede = text_of(run_view(samples.result(trials=trials)).lede)
    assert "Highest in reasonmath, 100 (51–100); lowest in loop_schema, 0 (0–49)." in lede
    assert "It writes 40.3 tok/s after 0.4" in lede


def test_what_was_run_and_has_no_score_is_not_told_as_not_run() -> None:
    picked = samples.result(["pass", "fail"], profile="custom")
    assert picked.aggregates.quality_score is None
    assert stat(picked, "Quality").absence == "no score"
    assert stat(picked, "Quality").basis == "3 of 6 trials passed"


def test_the_shortest_speed_plan_says_why_it_has_no_score() -> None:
    speed = samples.result().speed
    assert speed is not None
    short = samples.result(speed=()).model_copy(
        update={"speed": speed.model_copy(update={"plan": "minimum"})}
    )
    assert (stat(short, "Speed").basis or "").endswith(", too few trials for a score")


def test_a_run_that_stopped_early_counts_the_answers_it_gave() -> None:
    stopped = samples.result(["fail", "infrastructure_error"], status="incomplete")
    assert "It passed none of the 3 answers it gave." in text_of(run_view(stopped).lede)


def test_the_command_asks_for_the_same_window_and_trials() -> None:
    known = samples.result()
    settings = known.settings.model_copy(update={"context_window": 4096, "trials": 3})
    other = known.model_copy(update={"settings": settings})
    assert "--context-window" not in run_view(known).command
    assert run_view(other).command.endswith("--trials 3 --context-window 4096")


def in_goose() -> RunResult:
    """A run in a harness that is a program, by explicit choice on the machine itself."""
    result = samples.result(["fail"], subject=samples.subject(harness="goose"))
    how = HarnessSettings(
        place="direct",
        options={"path": "exec"},
        limit_rule="as raw and 60 s",
        forced=("context_window",),
    )
    times = HarnessTrial(
        way="question", model_s=2.0, harness_s=0.5, waited_for="tool", failure="Gone."
    )
    trials = tuple(one.model_copy(update={"harness": times}) for one in result.trials)
    settings = result.settings.model_copy(update={"harness": how})
    return result.model_copy(update={"settings": settings, "trials": trials})


def test_how_a_harness_was_run_is_among_the_settings() -> None:
    settings = {one.name: one.value for one in run_view(in_goose()).settings}
    assert settings["harness ran"] == "directly on this machine, by choice"
    assert settings["limits in the harness"] == "as raw and 60 s"
    assert settings["options of the harness"] == "path exec"
    assert settings["needs overridden"] == "context window"


def test_the_command_runs_the_harness_in_the_same_way() -> None:
    command = run_view(in_goose()).command
    assert "--harness goose --harness-option path=exec --force" in command
    assert "--sandbox subprocess --allow-unsafe" in command


def test_where_the_time_in_a_harness_went_is_shown() -> None:
    [trial] = run_view(in_goose()).trials[0].failed
    readings = {one.name: one.value for one in trial.readings}
    assert (readings["in the model"], readings["in the harness"]) == ("2.000 s", "0.500 s")
    assert (readings["waited for"], readings["the harness says"]) == ("tool", "Gone.")
    assert "in tools" not in readings


def test_pass_cubed_is_shown_where_a_task_was_asked_three_times() -> None:
    thrice = [samples.quality_trial("reasonmath", 1, trial=number) for number in (1, 2, 3)]
    assert run_view(samples.result(trials=thrice)).has_pass_cubed
    assert not run_view(samples.result()).has_pass_cubed


def test_a_run_that_passed_nothing_says_so() -> None:
    assert "It passed none of 6 trials." in text_of(run_view(samples.result(["fail", "fail"])).lede)


def test_an_empty_run_has_an_honest_lede() -> None:
    view = run_view(samples.result(trials=[], speed=[], aggregates=Aggregates()))
    assert text_of(view.lede) == "Nothing was measured in this run."


def test_an_empty_output_is_told_apart_from_none() -> None:
    trials = [
        samples.quality_trial("reasonmath", 1, "fail", output=""),
        samples.quality_trial("reasonmath", 2, "harness_error", output=None),
    ]
    empty, none = run_view(samples.result(trials=trials)).trials[0].failed
    assert [passage.text for passage in empty.passages if passage.who == "model"] == ["(empty)"]
    assert [passage.text for passage in none.passages if passage.who == "model"] == []


@pytest.mark.parametrize(
    ("changes", "device"),
    [
        ({}, "RTX 4090 24 GB"),
        (
            {"gpus": tuple(Gpu(model="RTX 3090", memory_gb=24.0) for _ in range(2))},
            "2 × RTX 3090 24 GB",
        ),
        ({"gpus": ()}, "CPU only, AMD Ryzen 9 7950X"),
        ({"gpus": (), "cpu_model": None}, "CPU only"),
        ({"gpus": (), "is_local": False}, "a remote server"),
        (
            {"gpus": (), "is_local": False, "declared": DeclaredMachine(gpu="H200")},
            "H200 (declared)",
        ),
    ],
)
def test_a_device_is_named_as_people_name_it(changes: dict[str, object], device: str) -> None:
    assert run_view(samples.result(on=samples.machine(**changes))).stack.device == device


def test_hostile_names_are_made_printable_everywhere() -> None:
    about = samples.subject(model_id="evil\u202e\x00name", harness="h\x1b[0m")
    view = run_view(samples.result(about=about))
    assert view.stack.model == "evil\\u202e\\x00name"
    assert view.stack.harness == "h\\x1b[0m"
    assert "\x00" not in view.title + view.command


def test_the_command_is_quoted_for_a_shell() -> None:
    command = run_view(samples.result(about=samples.subject(model_id="a; rm -rf ~"))).command
    assert command.startswith("bench-loop run --model 'a; rm -rf ~' ")


def test_before_a_program_the_gateway_is_where_the_clock_sits() -> None:
    path = run_view(in_goose()).path
    assert [node.kind for node in path[2:]] == ["server", "gateway", "harness", "verifier"]
    assert [node.kind for node in path if node.is_probe] == ["gateway", "verifier"]
    assert path[4].readings == ("directly on the machine",)


def test_the_clock_sits_at_harness_and_verifier_when_nothing_stands_between() -> None:
    path = run_view(samples.result()).path
    assert [node.kind for node in path if node.is_probe] == ["harness, recording", "verifier"]


def test_a_speed_figure_carries_its_half_width_and_n() -> None:
    speed = run_view(samples.result()).speed
    assert speed is not None
    generation = speed.rows[0]
    assert (str(generation.figure), generation.n) == ("40.3 ±0.4", "3")


def test_what_says_nothing_about_the_model_is_in_no_count_of_passes() -> None:
    run = samples.result(["pass", "fail", "infrastructure_error", "not_applicable"])
    assert stat(run, "Quality").basis == "3 of 6 trials passed"
    assert run_view(run).trials[0].summary == "1 of 2 passed"
    assert "6 verdicts" in run_view(run).path[-1].readings


def test_a_failed_speed_trial_is_no_verdict() -> None:
    failed = samples.speed_trials()[0].model_copy(
        update={"outcome": "fail", "reason": "engine_crashed"}
    )
    run = samples.result(["pass", "fail"], speed=[failed])
    assert stat(run, "Quality").basis == "3 of 6 trials passed"
    assert [tape.label.split(":")[0] for tape in run_view(run).tapes] == list(samples.SUITES)
    assert run_view(run).trials[0].failed[0].reason == "engine_crashed"


def test_reliability_tells_what_it_lost_to_and_how_much() -> None:
    run = samples.result(["pass", "truncated", "harness_error", "truncated"])
    basis = stat(run, "Reliability").basis
    assert basis is not None
    assert basis.replace(figures.NARROW_SPACE, " ") == "answer_budget 50 %, harness_crashed 25 %"
    assert stat(samples.result(["pass"]), "Reliability").basis == "every answer could be read"


def reading(result: RunResult, name: str) -> str:
    return next(one.value for one in run_view(result).settings if one.name == name)


def test_probes_that_were_not_made_are_told_so() -> None:
    result = samples.result()
    assert reading(result, "window usable") == "not probed"
    assert reading(result, "same answer twice") == "not probed"


def test_probes_are_told_with_what_they_found() -> None:
    context = ContextFacts(declared=40960, loaded=8192, usable=4064)
    result = samples.result().model_copy(
        update={
            "subject": samples.subject(context=context, offloaded_share=0.62),
            "determinism": Determinism(prompts=3, identical=2, first_difference=118),
        }
    )
    assert reading(result, "window usable") == "4,064"
    assert reading(result, "on the GPU").startswith("62")
    assert reading(result, "same answer twice") == (
        "2 of 3 prompts; the others part after 118 characters or more"
    )


def test_a_speed_that_the_hardware_cannot_have_is_told_with_what_it_allows() -> None:
    # 8.2 x 10^9 x 4 bits / 8 = 4.1 GB; 1008 GB/s / 4.1 GB = 245.9
    result = samples.result(speed=samples.speed_trials(tps=400.0))
    (told,) = (one.text for one in run_view(result).notices if "Implausible" in one.text)
    assert "generation tok/s" in told
    assert "allow about 246" in told


def test_a_speed_that_the_hardware_can_have_is_not_doubted() -> None:
    assert not any("Implausible" in one.text for one in run_view(samples.result()).notices)


@pytest.mark.parametrize(
    ("suites", "name"),
    [
        (["reasonmath"], "raw 1"),
        (["toolcall"], "raw (tools) 1"),
        (["reasonmath", "toolcall"], "raw, raw (tools) 1"),
    ],
)
def test_the_tool_loop_of_raw_is_named(suites: list[str], name: str) -> None:
    known = samples.result()
    like = next(suite for suite in known.suites if suite.dimension == "quality")
    rows = tuple(like.model_copy(update={"suite": suite}) for suite in suites)
    path = run_view(known.model_copy(update={"suites": rows})).path
    assert [node.name for node in path if node.kind.startswith("harness")] == [name]


def test_a_resumed_run_says_so() -> None:
    moment = samples.result().started_at
    part = RunPart(started_at=moment, finished_at=moment, runtime_s=1.0)
    later = part.model_copy(update={"after": "reboot"})
    resumed = samples.result().model_copy(update={"parts": (part, later)})
    whole = samples.result().model_copy(update={"parts": (part,)})
    assert any("made in 2 parts" in notice.text for notice in run_view(resumed).notices)
    assert not any("parts" in notice.text for notice in run_view(whole).notices)


def test_abstention_accuracy_is_a_figure_of_its_own() -> None:
    tags = {1: ("abstention",), 2: ("abstention", "tool_choice"), 3: ("tool_choice",)}
    trials = [
        samples.quality_trial("toolcall", number, outcome, capability_tags=tags[number])
        for number, outcome in ((1, "pass"), (2, "fail"), (3, "fail"))
    ]
    found = run_view(samples.result(trials=trials)).capabilities
    assert [(one.name, one.value) for one in found] == [
        ("abstention", "50 (9–91), 1 of 2 tasks"),
        ("tool choice", "0 (0–66), 0 of 2 tasks"),
    ]
