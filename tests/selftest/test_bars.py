"""The bars of a self-test and its report, from figures written down here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from rich.console import Console

from bench_loop.console import THEME
from bench_loop.report.selftest import print_selftest, selftest_json
from bench_loop.report.selftest_progress import SelfTestProgress
from bench_loop.scoring.rates import Shape
from bench_loop.selftest.bare import Noise
from bench_loop.selftest.cases import NOTHING, Case, Trap, cases, traps
from bench_loop.selftest.engine import EngineResult
from bench_loop.selftest.measure import CaseResult, Figure, TrapResult, middle
from bench_loop.selftest.run import Bar, SelfTest
from bench_loop.simulator.settings import Program

CASE = Case("50 tok/s", "ollama", Program(), Shape(1024, 64))


NOISE = Noise((0.001, 0.0004), (0.002, 0.003), tuple(n / 200_000 for n in range(101)))


def figures(generation: float | None = 50.4, **more: float) -> tuple[Figure, ...]:
    return (
        Figure.relative("generation", 50.0, generation, 0.01),
        Figure.relative("engine", 50.0, 50.0, 0.01),
        Figure.relative("prompt", 1000.0, more.get("prompt", 1015.0), 0.02),
        Figure.absolute("ttft", 1.0, more.get("ttft", 1.004), 0.010),
        Figure.absolute("ttfa", 1.0, 0.991, 0.010),
        Figure("content", 0.0, 0.0, more.get("content", 0.0), 0.0),
    )


def case_result(generation: float | None = 50.4, **more: float) -> CaseResult:
    trials = (figures(generation, **more),)
    return CaseResult(CASE, trials, tuple(n / 100_000 for n in range(101)))


def trap_result(code: str, *noticed: str) -> TrapResult:
    return TrapResult(Trap("trap", "openai", Program(), code), noticed)


def self_test(*found: CaseResult, trap: TrapResult | None = None) -> SelfTest:
    trap = trap or trap_result("warm", "warm")
    why_not = EngineResult(why_not="left out")
    return SelfTest(found or (case_result(),), (trap,), why_not, NOISE)


def printed(result: SelfTest, columns: int = 88) -> str:
    screen = Console(width=columns, force_terminal=False, theme=THEME)
    with screen.capture() as capture:
        print_selftest(result, screen)
    return capture.get()


def test_a_bar_holds_for_the_worst_case() -> None:
    assert self_test().passes
    result = self_test(case_result(), case_result(generation=49.4))
    bar = result.bars()[0]
    assert (bar.passes, bar.where) == (False, "50 tok/s, ollama")
    assert bar.worst == pytest.approx(0.012)
    assert not result.passes


def test_a_figure_that_is_missing_is_a_failure() -> None:
    bar = self_test(case_result(generation=None)).bars()[0]
    assert (bar.worst, bar.passes) == (None, False)


@pytest.mark.parametrize(
    "worse", [{"prompt": 1021.0}, {"ttft": 1.0101}, {"ttft": 0.98}, {"content": 1.0}]
)
def test_every_other_figure_has_a_bar(worse: dict[str, float]) -> None:
    assert not self_test(case_result(**worse)).passes


def bar_named(result: SelfTest, name: str) -> Bar:
    return next(bar for bar in result.bars() if bar.name == name)


def test_the_delay_is_that_of_the_slowest_hundredth() -> None:
    bar = bar_named(self_test(), "event delay, p99")
    assert bar.worst == pytest.approx(0.00099)
    assert bar.machine == pytest.approx(0.000495)


def test_an_event_that_takes_time_to_be_sent_has_no_delay() -> None:
    in_pieces = replace(CASE, program=Program(piece_bytes=3))
    slow = replace(case_result(), case=in_pieces, delays_s=(0.5,) * 1000)
    assert bar_named(self_test(case_result(), slow), "event delay, p99").passes


def test_the_worst_trial_and_the_bare_socket_stand_beside_a_bar() -> None:
    trials = (figures(50.1), figures(50.2), figures(57.5, ttft=1.2))
    result = self_test(replace(case_result(), trials=trials))
    bar = bar_named(result, "generation tok/s")
    assert (bar.worst, bar.worst_trial) == (pytest.approx(0.004), pytest.approx(0.15))
    assert bar.machine == 0.003
    assert bar_named(result, "TTFT and TTFA").worst_trial == pytest.approx(0.2)
    assert bar_named(result, "TTFT and TTFA").machine == 0.001
    assert result.passes
    assert "15.00 %" in printed(result)


def test_a_trap_passes_when_its_code_is_among_what_was_noticed() -> None:
    assert trap_result("warm", "cache_hidden", "warm").passes
    assert not trap_result("warm", "cache_hidden").passes
    assert trap_result(NOTHING).passes
    assert not trap_result(NOTHING, "warm").passes


def test_a_trap_that_was_missed_fails_the_test() -> None:
    assert not self_test(trap=trap_result("warm")).passes


def test_of_several_trials_the_median_error_counts() -> None:
    def figure(measured: float | None) -> Figure:
        return Figure.relative("generation", 100.0, measured, 0.01)

    assert middle([figure(103.0), figure(100.5), figure(99.0)]).measured == 99.0
    assert middle([figure(None), figure(100.5), figure(None)]).error is None


def test_a_text_that_was_wrong_once_is_wrong() -> None:
    right, wrong = (Figure("content", 0.0, size, size, 0.0) for size in (0.0, 1.0))
    assert not middle([right, wrong, right]).passes


def test_a_real_engine_has_bars_of_its_own() -> None:
    engine = EngineResult(
        (Figure.relative("generation", 40.0, 40.1, 0.01), Figure.absolute("ttft", 1.0, 1.02, 0.01))
    )
    result = replace(self_test(), engine=engine)
    assert [(bar.name, bar.passes) for bar in result.bars()[-2:]] == [
        ("llama.cpp tok/s", True),
        ("llama.cpp TTFT", False),
    ]


def test_the_report_says_in_words_whether_all_is_well() -> None:
    assert "BenchLoop's clocks meet every bar on this machine." in printed(self_test())
    failed = printed(self_test(case_result(generation=49.0)))
    assert "Not met on this machine: generation tok/s." in failed
    assert "-2.00" in failed


def test_the_report_is_plain_ascii_on_a_pipe_and_fits_a_narrow_one() -> None:
    text = printed(self_test(), columns=50)
    assert text.isascii()
    assert max(map(len, text.splitlines())) <= 50


def watched(*, is_terminal: bool) -> str:
    screen = Console(width=88, force_terminal=is_terminal, theme=THEME)
    with screen.capture() as capture, SelfTestProgress(screen, 2) as progress:
        progress.phase("2 traps")
        progress.begins(CASE)
        progress.ended(replace(case_result(), trials=(figures(),) * 3))
        progress.ended(trap_result("warm"))
    return capture.get()


def test_a_pipe_gets_a_line_for_each_result_as_it_comes() -> None:
    assert watched(is_terminal=False).splitlines() == [
        "Measuring 2 traps",
        "1 of 2  #  50 tok/s, ollama: tok/s +0.80 %, prompt +1.50 %, TTFT +4.0 ms, TTFA -9.0 ms"
        " (median of 3)",
        "2 of 2  x  trap, openai: noticed nothing",
    ]


def test_a_terminal_gets_one_line_that_changes() -> None:
    assert "50 tok/s, ollama:" not in watched(is_terminal=True)


def test_the_report_says_what_a_quick_test_is_worth() -> None:
    quick = " ".join(printed(replace(self_test(), is_quick=True)).split())
    whole = " ".join(printed(self_test()).split())
    assert "by one trial, or by the median of 3 where that was beyond a bar" in quick
    assert "each by the median of 3 trials" in whole
    assert "quote the whole self-test" not in whole


def test_a_program_reads_the_same_verdicts() -> None:
    value = selftest_json(self_test(case_result(generation=None)))
    assert value["passes"] is False
    assert value["bars"][0]["worst"] is None
    assert value["bars"][0]["bare_socket"] == 0.003
    assert value["is_quick"] is False
    assert value["cases"][0]["figures"][0]["error"] is None
    assert value["cases"][0]["trials"] == 1
    assert value["cases"][0]["delay_p99_s"] == pytest.approx(0.00099)
    assert value["engine"]["why_not"] == "left out"


def test_a_quick_test_leaves_out_the_slow_servers() -> None:
    slow = {case.name for case in cases(is_quick=False)} - {c.name for c in cases(is_quick=True)}
    assert slow == {"2 tok/s", "10 tok/s"}


def test_every_kind_of_server_has_its_control() -> None:
    controls = {trap.dialect for trap in traps() if trap.code == NOTHING}
    assert controls == {"openai", "llama.cpp", "ollama"}


BEHAVIOURS: dict[str, Callable[[Program], object]] = {
    "set speeds": lambda program: program.decode_tps and program.prefill_tps,
    "jitter": lambda program: program.jitter,
    "load time": lambda program: program.load_s,
    "thinking phase": lambda program: program.thinking_tokens,
    "2 tokens a chunk": lambda program: program.tokens_per_chunk == 2,
    "8 tokens a chunk": lambda program: program.tokens_per_chunk == 8,
    "chunks of 1 to 8": lambda program: program.has_mixed_chunks,
    "role-only first chunk": lambda program: program.has_role_chunk,
    "no role chunk": lambda program: not program.has_role_chunk,
    "hidden cache": lambda program: program.cache == "hidden",
    "silently cut context": lambda program: program.cuts_prompt,
    "queue wait": lambda program: program.queue_s,
    "stall": lambda program: 0 < program.stall_s < 1,
    "stall for good": lambda program: program.stall_s > 30,
    "mid-stream error": lambda program: program.error_after,
    "dropped connection": lambda program: program.break_after,
    "missing usage": lambda program: not program.reports_usage,
    "CRLF": lambda program: program.has_crlf,
    "split characters": lambda program: program.piece_bytes,
}
ONLY_IN_EVENT_STREAMS: dict[str, Callable[[Program], object]] = {
    "reported cache": lambda program: program.cache == "reported",
    "keep-alive comments": lambda program: program.has_comments,
    "missing [DONE]": lambda program: not program.has_done,
}


@pytest.mark.parametrize("is_quick", [False, True])
@pytest.mark.parametrize(
    ("behaviour", "dialect"),
    [(name, dialect) for name in BEHAVIOURS for dialect in ("openai", "ollama")]
    + [(name, "openai") for name in ONLY_IN_EVENT_STREAMS],
)
def test_every_habit_of_servers_is_judged(behaviour: str, dialect: str, is_quick: bool) -> None:
    has_it = (BEHAVIOURS | ONLY_IN_EVENT_STREAMS)[behaviour]
    judged = [*cases(is_quick=is_quick), *traps()]
    assert any(has_it(case.program) for case in judged if case.dialect == dialect)


def test_the_whole_test_goes_from_2_to_1000_tokens_a_second() -> None:
    speeds = {case.program.decode_tps for case in cases(is_quick=False)}
    assert (min(speeds), max(speeds)) == (2.0, 1000.0)
