"""The static dashboard: one file, everything in it, nothing from anywhere else."""

from __future__ import annotations

import base64
import hashlib
import json
import re

import pytest

from bench_loop.report import packing
from bench_loop.report.dashboard import dashboard
from bench_loop.result.records import Aggregates
from tests.look import matrix_samples, samples
from tests.look.packs import packed, packed_text
from tests.look.reader import HOSTILE, Page

LOADING = {"src", "srcset", "data", "poster", "background", "action", "formaction", "ping"}


@pytest.fixture(scope="module")
def made() -> Page:
    return Page(dashboard(samples.many(8)))


@pytest.fixture(scope="module")
def hostile() -> str:
    trials = [
        samples.quality_trial("reasonmath", 1, "fail", output=HOSTILE, message=HOSTILE),
        samples.quality_trial("reasonmath", 2, reason=None, thinking=HOSTILE, answer=HOSTILE),
    ]
    about = samples.subject(model_id=HOSTILE, quantization=HOSTILE, provider_version=HOSTILE)
    machine = samples.machine(cpu_model=HOSTILE, machine_label=HOSTILE, os=HOSTILE)
    return dashboard([samples.result(trials=trials, about=about, on=machine)])


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
    names_of_namespaces = r"www\.w3\.org/2000/svg"
    assert not re.findall(rf"https?://(?!{names_of_namespaces})", text)
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


def test_hostile_text_stays_text(hostile: str) -> None:
    page = Page(hostile)
    assert list(page.named("img")) == []
    assert [one.get("type") for one in page.named("script") if "type" not in one] == [None]
    assert "<script>alert(1)</script>" in page.text
    handlers = [name for _, attributes in page.tags for name in attributes if name[:2] == "on"]
    assert handlers == []


def test_no_pack_can_close_its_element(hostile: str) -> None:
    assert "<script>alert(1)</script>" in packed_text(hostile)
    for pack in re.findall(r"octet-stream[^>]*>(.*?)</script>", hostile, re.DOTALL):
        assert re.fullmatch(r"[A-Za-z0-9+/=]+", pack)


def test_control_and_direction_characters_are_shown_as_escapes(hostile: str) -> None:
    _, (run,) = packed(hostile)
    told = json.dumps([run, Page(hostile).text], ensure_ascii=False)
    assert "\\u0000" not in told
    assert "\u202e" not in told
    assert "\\\\x00\\\\u202eevil" in told


def test_every_run_stands_in_the_table_and_is_packed(made: Page) -> None:
    index, runs = packed(dashboard(samples.many(8)))
    links = {one["href"] for one in made.named("a")}
    assert {f"#{run['id']}" for run in runs} <= links
    assert len(runs) == 8
    rows = [row[0] for group in index["groups"] for row in group["rows"]]
    assert sorted(rows) == list(range(8))
    assert [one["id"] for one in index["runs"]] == [run["id"] for run in runs]


def test_runs_over_several_packs_keep_their_order_and_texts() -> None:
    results = samples.many(45)
    index, runs = packed(dashboard(results))
    assert [one["id"] for one in index["runs"]] == [run["id"] for run in runs]
    for run in runs:
        assert len(run["texts"]) == len(run["trials"]) == 36
        assert run["texts"][0][0] == ["model", "The tank holds 42 litres.\nANSWER: 42"]


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
    page = dashboard([samples.result(speed=[], aggregates=Aggregates())])
    index, (run,) = packed(page)
    assert run["speed"] is None
    assert [stat[4] for stat in run["stats"] if stat[0] == "Speed"] == ["not run"]
    assert index["runs"][0]["generation"] is None
    assert "0.0 tok/s" not in page + packed_text(page)


def test_a_dashboard_of_nothing_is_honest() -> None:
    assert "No run yet" in Page(dashboard([])).text


def test_reasons_and_outputs_of_every_trial_are_in_it() -> None:
    _, (run,) = packed(dashboard([samples.result(["fail", "truncated"])]))
    reasons = [trial[5] for trial in run["trials"]]
    assert sorted(reasons) == ["answer_budget"] * 3 + ["wrong_value"] * 3
    assert str(run["texts"]).count("The tank holds 42 litres.") == 6


def test_texts_of_few_runs_are_whole_however_long() -> None:
    long = "a" * 30_000 + "end"
    page = dashboard([samples.result(trials=[samples.quality_trial("coding", 1, output=long)])])
    _, (run,) = packed(page)
    assert run["texts"][0][0][1] == long
    assert "keep their beginning and end" not in page


def test_texts_that_do_not_fit_keep_beginning_and_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "PAGE_BYTES", 12_000)
    words = " ".join(map(str, range(9_000)))
    trials = [
        samples.quality_trial("coding", 1, output=f"first {words} last"),
        samples.quality_trial("coding", 2, "fail", output=f"first {words} last"),
    ]
    page = dashboard([samples.result(trials=trials)])
    _, (run,) = packed(page)
    passed, failed = (run["texts"][number][0][1] for number in (0, 1))
    assert failed.startswith("first 0 1")
    assert failed.endswith("last")
    assert "characters are in the result file" in failed
    assert len(passed) < len(failed) < 12_000
    assert "The result files hold them whole" in page
