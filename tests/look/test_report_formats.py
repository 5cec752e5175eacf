"""The forms of `bench-loop report`: golden files, and what hostile text must not do in them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from datetime import date
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest
import yaml

from bench_loop.errors import ResultError, UsageError
from bench_loop.report.html import run_page
from bench_loop.report.hugging_face import eval_results
from bench_loop.report.junit import junit_xml
from bench_loop.report.markdown import run_markdown
from bench_loop.report.markdown_text import code
from bench_loop.report.trials_csv import trials_csv
from bench_loop.result.records import Aggregates, RunResult
from tests.look import samples
from tests.look.golden_run import HOSTILE_NAME, golden_run
from tests.look.reader import HOSTILE, Page

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize(
    ("name", "write"),
    [("run.md", run_markdown), ("trials.csv", trials_csv), ("junit.xml", junit_xml)],
)
def test_it_is_the_golden_file(name: str, write: Callable[[RunResult], str]) -> None:
    assert write(golden_run()) == (GOLDEN / name).read_bytes().decode()


# Markdown


def markdown_outside_code(text: str) -> str:
    without_fence = re.sub(r"^(`{3,})sh\n.*\n\1$", "", text, flags=re.MULTILINE)
    return re.sub(r"`[^`\n]*`|<code>.*?</code>|</?(?:details|summary)>", "", without_fence)


def test_no_mark_of_a_hostile_name_is_left_in_the_markdown() -> None:
    plain = markdown_outside_code(run_markdown(golden_run()))
    for sign in ("@team", "@nobody", "<b>", "<code", "https://", "#1 ", "evil"):
        assert sign not in plain


def test_every_row_of_a_table_has_as_many_cells_as_its_head() -> None:
    width = None
    for line in run_markdown(golden_run()).splitlines():
        if not line.startswith("|"):
            width = None
            continue
        cells = line.count("|")
        width = width or cells
        assert cells == width, line


def test_a_name_without_marks_stays_readable() -> None:
    assert code("qwen3:8b") == "`qwen3:8b`"


@pytest.mark.parametrize("text", ["a|b", "a`b", r"a\|b", "``", "a\\"])
def test_code_never_ends_a_cell_or_a_span(text: str) -> None:
    assert "|" not in code(text)
    assert code(text).count("`") in (0, 2)


def test_what_was_not_run_is_said_so_in_markdown() -> None:
    text = run_markdown(samples.result(speed=[], aggregates=Aggregates()))
    assert "Speed: not run." in text
    assert "| Speed | not run |" in text
    assert "0.0" not in text


def test_a_run_without_a_rank_has_no_overall_number() -> None:
    text = run_markdown(samples.result(profile="smoke"))
    assert "| Overall | not ranked |" in text
    assert "overall\n" not in text


# CSV


def test_no_cell_of_the_csv_is_a_formula() -> None:
    for row in csv.reader(io.StringIO(trials_csv(golden_run()))):
        for cell in row:
            assert not cell.lstrip().startswith(("=", "+", "@", "-")), cell


def test_the_csv_holds_every_trial_on_one_line() -> None:
    text = trials_csv(golden_run())
    assert len(text.splitlines()) == 1 + len(golden_run().trials)


# JUnit XML: the elements and attributes of Jenkins' junit-10.xsd, as far as they are used

ATTRIBUTES = {
    "testsuites": ({"name", "time", "tests", "failures", "errors"}, set()),
    "testsuite": (
        {"name", "tests", "failures", "errors", "time", "skipped", "timestamp"},
        {"name", "tests", "failures", "errors"},
    ),
    "properties": (set(), set()),
    "property": ({"name", "value"}, {"name", "value"}),
    "testcase": ({"name", "time", "classname"}, {"name"}),
    "failure": ({"type", "message"}, set()),
    "error": ({"type", "message"}, set()),
    "skipped": ({"type", "message"}, set()),
    "system-out": (set(), set()),
}
CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"properties", "testcase"},
    "properties": {"property"},
    "testcase": {"skipped", "error", "failure", "system-out"},
}
TIME = re.compile(r"(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]*)?")


def check_schema(element: Element) -> None:
    known, needed = ATTRIBUTES[element.tag]
    assert needed <= set(element.attrib) <= known
    if element.tag.startswith("testsuite") and "time" in element.attrib:
        assert TIME.fullmatch(element.attrib["time"])
    for child in element:
        assert child.tag in CHILDREN.get(element.tag, set())
        check_schema(child)


def test_the_xml_fits_the_schema_and_can_be_read_back() -> None:
    root = ElementTree.fromstring(junit_xml(golden_run()))
    check_schema(root)
    assert root.tag == "testsuites"


def test_each_outcome_becomes_its_element() -> None:
    root = ElementTree.fromstring(junit_xml(golden_run()))
    suite = next(one for one in root if one.get("name") == "loop_schema")
    found = [case[0].tag for case in suite.iter("testcase")]
    assert found == ["error", "error", "skipped", "failure"]
    counted = [suite.get(name) for name in ("tests", "failures", "errors", "skipped")]
    assert counted == ["4", "1", "2", "1"]


def test_signs_that_xml_lacks_are_written_as_escapes() -> None:
    text = junit_xml(golden_run())
    assert "\\x00\\x1b[31m\\ufffe" in text
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]", text)


# Hugging Face


def test_the_hub_gets_an_entry_for_each_suite_with_a_score() -> None:
    entries = yaml.safe_load(eval_results(samples.result(), "owner/bench", "https://x.example/r/"))
    assert [entry["dataset"]["task_id"] for entry in entries] == list(samples.SUITES)
    first = entries[0]
    assert first["dataset"]["id"] == "owner/bench"
    assert first["value"] == pytest.approx(50.0)
    assert date.fromisoformat(first["date"]) == date(2026, 11, 29)
    assert first["source"]["url"] == "https://x.example/r/"
    assert "95 % interval" in first["notes"]
    assert "Q4_K_M" in first["notes"]


def test_hostile_names_stay_text_in_the_yaml() -> None:
    entries = yaml.safe_load(eval_results(golden_run(), "owner/bench"))
    assert entries[-1]["dataset"]["task_id"] == HOSTILE_NAME.replace("\n", "\\n")


def test_the_hub_wants_the_name_of_a_data_set() -> None:
    with pytest.raises(UsageError):
        eval_results(samples.result(), "no name")


def test_nothing_without_a_score_goes_to_the_hub() -> None:
    with pytest.raises(ResultError):
        eval_results(samples.result(trials=[]), "owner/bench")
    with pytest.raises(ResultError):
        eval_results(samples.result(status="incomplete", status_reason="x"), "owner/bench")


# HTML


def test_the_page_of_a_run_holds_every_trial_and_runs_nothing() -> None:
    trials = [samples.quality_trial("reasonmath", 1, "fail", output=HOSTILE, message=HOSTILE)]
    page = Page(run_page(samples.result(trials=trials, about=samples.subject(model_id=HOSTILE))))
    assert list(page.named("img")) == []
    assert len(list(page.named("script"))) == 1
    assert page.text.count("<script>alert(1)</script>") >= 3
