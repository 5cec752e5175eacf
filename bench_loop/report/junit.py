"""A run as JUnit XML, for the test reports of continuous integration.

The form is the one that Jenkins publishes (junit-10.xsd of its xUnit plug-in) and that other
services read too: nothing stands in it that this schema does not know.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from bench_loop.report.printable import one_line, printable
from bench_loop.report.records import OUTCOME_WORDS
from bench_loop.report.stack import title
from bench_loop.result.records import RunResult, SuiteResult, Trial
from bench_loop.scoring.suites import is_warmup

ELEMENTS = {
    "partial": "failure",
    "fail": "failure",
    "truncated": "failure",
    "harness_error": "error",
    "infrastructure_error": "error",
    "not_applicable": "skipped",
}
"""How each outcome but a pass is told. An error says nothing of the model, a failure does."""

_OUTPUT_KEPT = 20_000
_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 has no character for; `printable` has written control characters out already."""


def junit_xml(result: RunResult) -> str:
    """A test suite for each suite that was run, a test case for each trial but warm-ups.

    What did not pass in full is a failure with its reason as the type; so is a truncated answer.
    A test case of the speed suite passes when it was measured.
    """
    suites = [_suite(result, suite, _own_trials(result, suite)) for suite in result.suites]
    root = Element("testsuites", name=_text(f"bench-loop: {title(result.subject, result.machine)}"))
    for counted in ("tests", "failures", "errors"):
        root.set(counted, str(sum(int(suite.get(counted, "0")) for suite in suites)))
    root.set("time", _seconds(result.total_runtime_s))
    root.extend(suites)
    ElementTree.indent(root)
    body = ElementTree.tostring(root, encoding="unicode", short_empty_elements=True)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'


def _own_trials(result: RunResult, suite: SuiteResult) -> list[Trial]:
    return [trial for trial in result.trials if trial.suite == suite.suite and not is_warmup(trial)]


def _suite(result: RunResult, suite: SuiteResult, trials: Sequence[Trial]) -> Element:
    kinds = [ELEMENTS.get(trial.outcome or "", "") for trial in trials]
    found = Element("testsuite", name=_text(one_line(suite.suite)))
    found.set("tests", str(len(trials)))
    found.set("failures", str(kinds.count("failure")))
    found.set("errors", str(kinds.count("error")))
    found.set("skipped", str(kinds.count("skipped")))
    found.set("time", _seconds(sum(trial.latency_s or 0.0 for trial in trials)))
    found.set("timestamp", result.started_at.strftime("%Y-%m-%dT%H:%M:%S"))
    properties = SubElement(found, "properties")
    for name, value in _properties(result, suite).items():
        SubElement(properties, "property", name=name, value=_text(one_line(value, 1000)))
    for trial in trials:
        found.append(_case(trial))
    return found


def _properties(result: RunResult, suite: SuiteResult) -> dict[str, str]:
    subject = result.subject
    known = {
        "run_id": result.run_id,
        "fingerprint": result.fingerprint,
        "model": subject.model_id,
        "quantization": subject.quantization,
        "harness": " ".join(filter(None, (subject.harness, subject.harness_version))),
        "engine": subject.provider_version or subject.provider,
        "device_class": result.machine.device_class,
        "profile": result.profile,
        "suite_version": suite.version,
        "scoring_version": result.scoring_version,
        "score": None if suite.score is None else f"{suite.score:g}",
        "score_interval_95": " to ".join(f"{end:g}" for end in suite.score_interval)
        if suite.score_interval
        else None,
    }
    return {name: value for name, value in known.items() if value}


def _case(trial: Trial) -> Element:
    case = Element(
        "testcase",
        classname=_text(f"bench_loop.{one_line(trial.suite)}"),
        name=_text(f"{one_line(trial.task_id)}, trial {trial.trial}"),
        time=_seconds(trial.latency_s),
    )
    kind = ELEMENTS.get(trial.outcome or "")
    if kind and trial.outcome:
        word = OUTCOME_WORDS[trial.outcome]
        reason = SubElement(case, kind, type=_text(one_line(trial.reason or trial.outcome)))
        reason.set("message", _text(f"{word}: {one_line(trial.message or 'no reason', 400)}"))
        if trial.answer is not None:
            reason.text = _text(f"answer read: {printable(trial.answer)[:_OUTPUT_KEPT]}")
    if trial.output is not None and trial.outcome:
        SubElement(case, "system-out").text = _text(_cut(printable(trial.output)))
    return case


def _cut(output: str) -> str:
    left = len(output) - _OUTPUT_KEPT
    if left <= 0:
        return output
    return f"{output[:_OUTPUT_KEPT]}\n[{left:,} more characters stand in the result file]"


def _seconds(value: float | None) -> str:
    """Three places and no sign; an unknown time is 0, since the form has no other word for it."""
    return f"{value or 0.0:.3f}"


def _text(text: str) -> str:
    return _ILLEGAL.sub(lambda found: f"\\u{ord(found[0]):04x}", printable(text))
