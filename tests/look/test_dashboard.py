"""The static dashboard: one file, everything in it, nothing from anywhere else."""

from __future__ import annotations

import base64
import hashlib
import re

import pytest

from bench_loop.report.dashboard import dashboard
from bench_loop.result.records import Aggregates
from tests.look import matrix_samples, samples
from tests.look.reader import HOSTILE, Page

LOADING = {"src", "srcset", "data", "poster", "background", "action", "formaction", "ping"}


@pytest.fixture(scope="module")
def made() -> Page:
    return Page(dashboard(samples.many(8)))


@pytest.fixture(scope="module")
def hostile() -> Page:
    trials = [
        samples.quality_trial("reasonmath", 1, "fail", output=HOSTILE, message=HOSTILE),
        samples.quality_trial("reasonmath", 2, reason=None, thinking=HOSTILE, answer=HOSTILE),
    ]
    about = samples.subject(model_id=HOSTILE, quantization=HOSTILE, provider_version=HOSTILE)
    machine = samples.machine(cpu_model=HOSTILE, machine_label=HOSTILE, os=HOSTILE)
    return Page(dashboard([samples.result(trials=trials, about=about, on=machine)]))


def test_nothing_is_loaded_from_anywhere(made: Page) -> None:
    loaded = [
        value
        for _, attributes in made.tags
        for name, value in attributes.items()
        if name in LOADING
    ]
    links = [attributes["href"] or "" for tag, attributes in made.tags if "href" in attributes]
    assert loaded == []
    assert {link[0] for link in links} == {"#"}


def test_the_style_sheet_brings_its_fonts_and_names_no_address() -> None:
    text = dashboard(samples.many(1))
    urls = re.findall(r"url\(([^)]{1,40})", text)
    assert [url for url in urls if not url.startswith(("data:font/woff2;base64,", "#hatch"))] == []
    assert text.count("data:font/woff2;base64,") == 3
    assert not re.findall(r"https?://", text)
    assert "@import" not in text


def test_only_its_own_script_may_run() -> None:
    text = dashboard(samples.many(1))
    script = re.search(r"<script>(.*?)</script>", text, re.DOTALL)
    assert script is not None
    digest = base64.b64encode(hashlib.sha256(script[1].encode()).digest()).decode()
    assert (
        f"script-src &#x27;sha256-{digest}&#x27;" in text or f"script-src 'sha256-{digest}'" in text
    )
    assert "default-src 'none'" in text


def test_hostile_text_stays_text(hostile: Page) -> None:
    assert list(hostile.named("img")) == []
    assert len(list(hostile.named("script"))) == 1
    assert "<script>alert(1)</script>" in hostile.text
    handlers = [
        name for _, attributes in hostile.tags for name in attributes if name.startswith("on")
    ]
    assert handlers == []


def test_control_and_direction_characters_are_shown_as_escapes(hostile: Page) -> None:
    assert "\x00" not in hostile.text
    assert "\u202e" not in hostile.text
    assert "\\x00\\u202eevil" in hostile.text


def test_every_run_stands_in_the_table_and_below(made: Page) -> None:
    runs = [
        one["id"]
        for one in made.named("details")
        if (one.get("class") or "").startswith("plate run")
    ]
    links = {one["href"] for one in made.named("a")}
    assert len(runs) == 8
    assert {f"#{run}" for run in runs} <= links


def test_the_arms_of_a_matrix_stand_in_it_too() -> None:
    arms = [
        matrix_samples.arm(
            matrix_samples.MODELS[0], harness, place, suites=("agent",), tasks=2, number=place
        )
        for place, harness in enumerate(matrix_samples.HARNESSES[:3:2], start=1)
    ]
    whole = Page(dashboard([*arms, samples.result(number=9)]))
    assert matrix_samples.MATRIX_ID in {one["id"] for one in whole.named("details") if "id" in one}
    assert "Change against raw, same weights" in whole.text
    ids = [attributes["id"] for _, attributes in whole.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert "Change against raw" not in Page(dashboard(arms[:1])).text


def test_ids_are_unique(made: Page) -> None:
    ids = [attributes["id"] for _, attributes in made.tags if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_every_shape_that_is_used_is_there(made: Page) -> None:
    ids = {attributes["id"] for _, attributes in made.tags if "id" in attributes}
    used = {(one["href"] or "").removeprefix("#") for one in made.named("use")}
    assert used <= ids


def test_what_was_not_run_is_a_word_and_no_number() -> None:
    result = samples.result(speed=[], aggregates=Aggregates())
    text = Page(dashboard([result])).text
    assert "not run" in text
    assert "The speed suite was not run." in text
    assert "0.0 tok/s" not in text


def test_a_dashboard_of_nothing_is_honest() -> None:
    assert "No run yet" in Page(dashboard([])).text


def test_reasons_and_outputs_of_every_trial_are_in_it() -> None:
    text = Page(dashboard([samples.result(["fail", "truncated"])])).text
    assert text.count("wrong_value") == 3
    assert text.count("answer_budget") == 3 + 1  # Once more as what reliability lost to.
    assert text.count("The tank holds 42 litres.") == 6
