"""The site's pages, asked as a visitor does."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from bench_loop.report.views import generation_figure
from bench_loop.result import store
from bench_loop.result.records import RunResult
from leaderboard.models import Entry
from leaderboard.publish import publish, withdraw
from runs.models import Run
from tests.look import samples
from tests.look.reader import HOSTILE, Page

pytestmark = pytest.mark.django_db

PAGES = ("/", "/matrix/", "/trending/", "/my-gpu/", "/compare/", "/submit/", "/methodology/")

Show = Callable[..., list[Entry]]


@pytest.fixture
def show() -> Show:
    """Publishes results as a moderator would."""

    def published(results: Sequence[RunResult], level: str = "consistent") -> list[Entry]:
        entries = []
        for result in results:
            run = Run.of(result, store.to_bytes(result), Run.Source.UPLOAD)
            run.save()
            entries.append(publish(run, level=level, is_local=False))
        return entries

    return published


def page(client: Client, address: str, status: int = 200) -> Page:
    response = client.get(address)
    assert response.status_code == status
    return Page(response.content.decode())


@pytest.mark.parametrize("address", PAGES)
def test_every_page_answers_on_an_empty_site(client: Client, address: str) -> None:
    assert "bench-loop" in page(client, address).text


@pytest.mark.parametrize("address", PAGES)
def test_every_page_keeps_to_a_strict_policy(client: Client, show: Show, address: str) -> None:
    show(samples.many(3))
    seen = page(client, address)
    inline = [tag for tag, attributes in seen.tags if "style" in attributes]
    assert inline == []
    assert list(seen.named("style")) == []
    assert [one for one in seen.named("script") if "src" not in one] == []
    ids = [attributes["id"] for _, attributes in seen.tags if "id" in attributes]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("address", PAGES)
def test_navigation_leads_to_pages_that_exist(client: Client, address: str) -> None:
    links = {one["href"] or "" for one in page(client, address).named("a")}
    for link in links:
        if link.startswith("/") and not link.startswith("/api/"):
            assert client.get(link).status_code == 200


def test_an_empty_board_gives_the_one_command(client: Client) -> None:
    text = page(client, "/").text
    assert "No run yet" in text
    assert text.count("bench-loop quickstart") == 1


def test_ranked_rows_come_first_and_the_others_say_why_not(client: Client, show: Show) -> None:
    show([samples.result(profile="smoke", number=1), samples.result(number=2)])
    text = page(client, "/").text
    assert text.index("Highest overall") < text.index("Not ranked, newest first")
    assert "Not ranked. Runs of the profile smoke are never ranked." in text


def test_a_board_of_smoke_runs_ranks_nothing(client: Client, show: Show) -> None:
    show([samples.result(profile="smoke")])
    assert "Nothing is ranked yet. Latest run: qwen3-8b Q4_K_M, raw" in page(client, "/").text


def test_scores_of_another_scoring_version_are_not_ranked_with_these(
    client: Client, show: Show
) -> None:
    show([samples.result(scoring_version="0.9")])
    assert "Scored by version 0.9; only version 1.1 is ranked." in page(client, "/").text


def test_the_board_filters_by_harness_and_gpu_in_its_address(client: Client, show: Show) -> None:
    show(
        [
            samples.result(number=1, about=samples.subject(model_id="kept", harness="aider")),
            samples.result(number=2, about=samples.subject(model_id="other")),
        ]
    )
    text = page(client, "/?harness=aider&gpu=RTX+4090").text
    assert "kept" in text
    assert "other" not in text


def test_a_choice_that_would_give_nothing_stays_visible_and_disabled(
    client: Client, show: Show
) -> None:
    show(
        [
            samples.result(number=1, about=samples.subject(harness="aider")),
            samples.result(
                number=2, on=samples.machine(gpus=(), gpu_memory_gb=None, backend="cpu")
            ),
        ]
    )
    inputs = {
        one["value"]: one
        for one in page(client, "/?harness=aider").named("input")
        if "value" in one
    }
    assert "checked" in inputs["aider"]
    assert "disabled" in inputs["CPU only"]
    assert "disabled" not in inputs["raw"]


def test_filters_that_exclude_everything_say_so(client: Client, show: Show) -> None:
    show([samples.result()])
    assert "No stack matches all filters" in page(client, "/?harness=nobody").text


def test_a_misspelt_filter_never_gives_the_whole_board(client: Client, show: Show) -> None:
    show([samples.result()])
    text = page(client, "/?harnes=raw", status=400).text
    assert "Did you mean harness?" in text
    assert "qwen3-8b" not in text


@pytest.mark.parametrize("address", ["/?ordering=nonsense", "/?level=perfect", "/?since=yesterday"])
def test_a_filter_with_a_wrong_value_is_refused(client: Client, address: str) -> None:
    assert "No such filter" in page(client, address, status=400).text


def test_the_board_sorts_by_another_column(client: Client, show: Show) -> None:
    show(
        [
            samples.result(
                number=1, about=samples.subject(model_id="slow"), speed=samples.speed_trials(10)
            ),
            samples.result(
                ["fail"],
                number=2,
                about=samples.subject(model_id="fast"),
                speed=samples.speed_trials(90),
            ),
        ]
    )
    seen = page(client, "/?ordering=-generation_tps")
    rows = seen.text[seen.text.index("Rank") :]
    assert rows.index("fast") < rows.index("slow")
    assert [one["aria-sort"] for one in seen.named("th") if "aria-sort" in one] == ["descending"]


def test_board_and_run_page_show_a_speed_with_the_same_digits(client: Client, show: Show) -> None:
    entry = show([samples.result()])[0]
    speed = entry.run.result().speed
    assert speed is not None
    figure = generation_figure(speed)
    assert figure is not None
    assert figure.interval
    for address in ("/", entry.get_absolute_url()):
        text = page(client, address).text
        assert figure.value in text
        assert figure.interval in text


def test_shared_first_place_is_told(client: Client, show: Show) -> None:
    *first, last = show(samples.many(3))
    Entry.objects.filter(pk__in=[entry.pk for entry in first]).update(band_low=1, band_high=2)
    Entry.objects.filter(pk=last.pk).update(band_low=3, band_high=3)
    assert "2 stacks share first place" in page(client, "/").text


def test_the_board_asks_the_database_eight_times_however_many_rows(
    client: Client, show: Show, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    show(samples.many(12))
    with django_assert_num_queries(8):
        client.get("/")


def test_a_run_page_shows_every_trial_and_its_output(
    client: Client, show: Show, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    (entry,) = show([samples.result(["pass", "fail", "truncated"])])
    with django_assert_num_queries(4):  # entry, versions, twice the submission
        text = page(client, entry.get_absolute_url()).text
    assert text.count("The tank holds 42 litres.") == 9
    assert "wrong_value: The answer is 41, expected 42." in text
    assert f"{entry.run.public_id}" in text


def test_a_run_page_offers_the_very_file(client: Client, show: Show) -> None:
    result = samples.result()
    (entry,) = show([result])
    links = {one["href"] for one in page(client, entry.get_absolute_url()).named("a")}
    file = f"/api/v1/runs/{entry.run.public_id}/result.json"
    assert file in links
    answer = client.get(file)
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content
    assert body == store.to_bytes(result)


def test_hostile_uploads_stay_text(client: Client, show: Show) -> None:
    trial = samples.quality_trial("reasonmath", 1, "fail", output=HOSTILE, message=HOSTILE)
    about = samples.subject(model_id=HOSTILE.replace("\x00", ""), quantization="<b>Q4</b>")
    (entry,) = show([samples.result(trials=[trial], about=about)])
    for address in ("/", entry.get_absolute_url(), "/trending/", "/compare/"):
        seen = page(client, address)
        assert [one for one in seen.named("script") if "src" not in one] == []
        assert list(seen.named("img")) == []
        assert "\u202e" not in seen.text


def test_a_run_that_was_never_published_is_not_there(client: Client) -> None:
    result = samples.result()
    run = Run.of(result, store.to_bytes(result), Run.Source.UPLOAD)
    run.save()
    assert "Nothing is at this address" in page(client, run.get_absolute_url(), status=404).text


def test_a_withdrawn_run_keeps_a_tombstone(client: Client, show: Show) -> None:
    (entry,) = show([samples.result()])
    withdraw(entry.run, "Measured on the wrong card.")
    text = page(client, entry.get_absolute_url()).text
    assert "withdrawn" in text
    assert "Measured on the wrong card." in text
    assert "qwen3:8b" not in text
    assert "result.json" not in text
    assert "qwen3-8b" not in page(client, "/").text


def test_two_runs_are_compared_in_words(client: Client, show: Show) -> None:
    a, b = show([samples.result(["pass"] * 12, number=1), samples.result(["fail"] * 12, number=2)])
    text = page(client, f"/compare/?runs={a.run.public_id},{b.run.public_id}").text
    assert "worse against A" in text
    assert "36 of 36 that differ" in text


def test_runs_that_are_not_comparable_say_why(client: Client, show: Show) -> None:
    a, b = show([samples.result(number=1), samples.result(number=2, profile="smoke")])
    text = page(client, f"/compare/?runs={a.run.public_id}&runs={b.run.public_id}").text
    assert "not comparable" in text
    assert "No pair is comparable" in text


def test_compare_names_what_is_missing_and_offers_a_choice(client: Client, show: Show) -> None:
    (entry,) = show([samples.result()])
    text = page(client, f"/compare/?runs={entry.run.public_id},aaaaaaaaaaaa").text
    assert "1 of the 2 runs asked for is not on this board." in text
    assert "Choose two to six" in text


def test_runs_to_choose_from_are_told_apart_by_the_time(client: Client, show: Show) -> None:
    show(samples.many(2))
    assert page(client, "/compare/").text.count("UTC") == 2


@pytest.mark.parametrize("value", ["%00", "a,b", ",,,", "x" * 5000, "'--"])
def test_compare_answers_whatever_it_is_asked(client: Client, value: str) -> None:
    assert "Nothing to compare yet" in page(client, f"/compare/?runs={value}").text


def test_a_run_page_names_its_rank_band(client: Client, show: Show) -> None:
    (entry,) = show([samples.result()])
    Entry.objects.filter(pk=entry.pk).update(band_low=1, band_high=5)
    assert "rank band 1–5 of its league" in page(client, entry.get_absolute_url()).text


def test_trending_shows_the_last_days_only(client: Client, show: Show) -> None:
    old, _ = show(
        [samples.result(number=1, about=samples.subject(model_id="old")), samples.result(number=2)]
    )
    Entry.objects.filter(pk=old.pk).update(published_at=timezone.now() - timedelta(days=30))
    text = page(client, "/trending/").text
    assert "1 run came onto this board" in text
    assert "old" not in re.sub("threshold", "", text)


def test_my_gpu_shows_what_was_measured_on_it(client: Client, show: Show) -> None:
    show([samples.result()])
    assert "qwen3-8b" in page(client, "/my-gpu/?gpu=RTX+4090|24").text


def test_my_gpu_is_honest_about_what_nobody_measured(client: Client, show: Show) -> None:
    show([samples.result()])
    text = page(client, "/my-gpu/?gpu=H200|141").text
    assert "Nobody measured this yet" in text
    assert "tok/s" not in text


def test_the_theme_is_remembered_by_the_server(client: Client) -> None:
    answer = client.post("/theme/", {"theme": "light", "next": "/trending/"})
    assert answer["Location"] == "/trending/"
    assert next(page(client, "/").named("html"))["data-theme"] == "light"


def test_an_unknown_theme_is_not_stored(client: Client) -> None:
    client.cookies["theme"] = '"><script>'
    assert next(page(client, "/").named("html"))["data-theme"] == "dark"
    client.post("/theme/", {"theme": "pink"})
    assert next(page(client, "/").named("html"))["data-theme"] == "dark"


@pytest.mark.parametrize(
    "target", ["https://evil.example/", "//evil.example", "javascript:alert(1)"]
)
def test_the_theme_never_leads_to_another_site(client: Client, target: str) -> None:
    assert client.post("/theme/", {"theme": "dark", "next": target})["Location"] == "/"


def test_pages_are_only_read(client: Client) -> None:
    assert client.post("/").status_code == 405


def test_the_methodology_is_the_scoring_codes_own(client: Client) -> None:
    text = page(client, "/methodology/").text
    assert "How BenchLoop scores" in text
    assert "0.55" in text
    assert "**" not in text
