"""Stacks on the board, in the API and on run pages: a row each, with what is counted beside it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from bench_loop.contracts.task import BenchmarkTask
from leaderboard.models import Entry, LanguageModel
from leaderboard.name_changes import merge, rename
from leaderboard.publish import withdraw
from submissions.models import Submission
from tests.look.reader import Page
from tests.site.make_result import make_bytes, nothing_right, reference
from tests.site.published import show_run
from tests.site.uploads import Uploader

API = "/api/v1/leaderboard/"


@pytest.fixture
def maintainer(db: None) -> User:
    user = User.objects.create_user("maintainer")
    user.user_permissions.add(Permission.objects.get(codename="change_modelalias"))
    return user


@pytest.fixture
def three_runs(db: None, owner: User) -> list[Entry]:
    """Of one stack and one owner: 60, 70 and 50."""
    return [
        show_run(overall, number=number, owner=owner)
        for number, overall in enumerate((60.0, 70.0, 50.0))
    ]


def text(address: str, status: int = 200) -> str:
    response = Client().get(address)
    assert response.status_code == status, response.content
    return Page(response.content.decode()).text


def rows(query: str = "") -> list[dict[str, Any]]:
    response = Client().get(API + query)
    assert response.status_code == 200, response.content
    found: list[dict[str, Any]] = response.json()["results"]
    return found


def test_a_stack_is_one_row_with_its_runs_owners_and_range(three_runs: list[Entry]) -> None:
    page = text("/")
    assert "3 runs of 1 stack" in page
    assert "60 (57–63), 3 runs, 1 owner, of 1 ranked stack" in page
    assert "50–70" in page


def test_the_number_of_withdrawn_runs_stands_beside_a_stack(three_runs: list[Entry]) -> None:
    withdraw(three_runs[1].run, "mistake")
    assert "1 withdrawn" in text("/")


def test_the_api_lists_stacks_by_their_shown_runs(three_runs: list[Entry]) -> None:
    (row,) = rows()
    assert row["id"] == three_runs[0].run.public_id
    assert (row["model"], row["model_name"]) == ("qwen3-8b", "qwen3-8b")
    assert row["stack"] == {
        "run_count": 3,
        "owner_count": 1,
        "uncounted_count": 0,
        "withdrawn_count": 0,
        "overall_low": 50.0,
        "overall_high": 70.0,
    }
    assert not {"owner", "alias"} & set(row)


def test_the_owner_of_a_run_is_nowhere_named(three_runs: list[Entry]) -> None:
    user = User.objects.create_user("very-private-name")
    entry = show_run(60.0, number=9, owner=user)
    for address in ("/", entry.get_absolute_url(), API, f"/api/v1{entry.get_absolute_url()}"):
        assert "very-private-name" not in Client().get(address).content.decode()


def test_filters_look_at_the_shown_run_and_say_what_they_pass_by(three_runs: list[Entry]) -> None:
    Entry.objects.filter(pk=three_runs[1].pk).update(level="verified")
    assert rows("?level=verified") == []
    page = text("/?level=verified")
    assert "Of 1 more stack another run matches" in page
    Entry.objects.filter(pk=three_runs[0].pk).update(level="verified")
    assert len(rows("?level=verified")) == 1
    assert "another run matches" not in text("/?level=verified")


def test_facets_count_stacks_and_not_runs(three_runs: list[Entry]) -> None:
    show_run(40.0, number=9, gpu="RTX 3090")
    (gpus,) = (one for one in Client().get("/").context["facets"] if one.name == "gpu")
    assert {option.value: option.count for option in gpus.options} == {"RTX 4090": 1, "RTX 3090": 1}


def test_a_model_is_found_by_its_slug_and_its_old_ones(maintainer: User) -> None:
    show_run(60.0)
    show_run(70.0, number=1, model_id="gemma3:4b")
    assert [row["model"] for row in rows("?model=qwen3-8b")] == ["qwen3-8b"]
    model = LanguageModel.objects.get(slug="qwen3-8b")
    rename(model, "Qwen3 8B", maintainer, "spelling", slug="qwen3-8b-first")
    assert [row["model_name"] for row in rows("?model=qwen3-8b")] == ["Qwen3 8B"]
    response = Client().get("/?model=qwen3-8b&profile=quick")
    assert response["Location"] == "/?model=qwen3-8b-first&profile=quick"
    assert Client().get("/models/qwen3-8b/")["Location"] == "/?model=qwen3-8b-first"
    assert "Qwen3 8B" in text("/?model=qwen3-8b-first")
    for wrong in ("none", "%00", "x" * 300, "A"):
        assert Client().get(f"/models/{wrong}/").status_code == 404


def test_a_merged_models_address_leads_to_the_other(maintainer: User) -> None:
    show_run(60.0)
    show_run(70.0, number=1, model_id="gemma3:4b")
    kept, other = LanguageModel.objects.order_by("-slug")
    merge(kept, [other], maintainer, "the same")
    assert Client().get("/models/gemma-3-4b/")["Location"] == "/?model=qwen3-8b"
    (row,) = rows("?model=gemma-3-4b")
    assert row["stack"]["run_count"] == 2


@pytest.mark.parametrize("query", ["?model=no-such-model", "?model=%00", "?model=" + "x" * 300])
def test_an_unknown_model_is_an_error_and_never_the_whole_board(
    three_runs: list[Entry], query: str
) -> None:
    assert Client().get(API + query).json()["fields"].keys() == {"model"}
    assert "qwen3-8b" not in text(f"/{query}", status=400)
    assert Client().get(f"/leaderboard.csv{query}").status_code == 400


def test_a_misspelt_filter_is_met_with_the_right_one(three_runs: list[Entry]) -> None:
    body = Client().get(f"{API}?gpuu=x").json()
    assert body["code"] == "unknown_filter"
    assert "Did you mean gpu?" in body["fields"]["gpuu"][0]
    assert "Did you mean gpu?" in text("/?gpuu=x", status=400)


def test_a_search_finds_the_models_name_and_the_uploaded_id(maintainer: User) -> None:
    show_run(60.0, model_id="hf.co/unsloth/Qwen3-8B-GGUF:Q4_K_M")
    rename(LanguageModel.objects.get(), "Renamed One", maintainer, "spelling")
    assert len(rows("?q=renamed")) == len(rows("?q=unsloth")) == 1


def test_a_run_page_lists_the_versions_and_says_which_is_shown(three_runs: list[Entry]) -> None:
    shown, other, _ = three_runs
    page = text(shown.get_absolute_url())
    assert "This run stands for the stack on the board" in page
    assert "3 by this owner" in page
    assert "rank band 1 of its league" in page
    page = text(other.get_absolute_url())
    assert f"{shown.run.public_id} stands for the stack on the board" in page
    assert "Overall scores lie between 50.0 and 70.0" in page
    assert "rank band" not in page.split("Signal path")[0]


def test_runs_of_other_owners_are_listed_apart(three_runs: list[Entry], stranger: User) -> None:
    entry = show_run(40.0, number=9, owner=stranger)
    page = text(entry.get_absolute_url())
    assert "4 runs, 2 owners" in page
    own, others = page.split("1 by this owner")[1].split("3 by others")
    assert entry.run.public_id in own
    for other in three_runs:
        assert other.run.public_id in others
    stack = Client().get(f"/api/v1{entry.get_absolute_url()}").json()["stack"]
    assert stack["versions"] == [entry.run.public_id]
    assert stack["other_runs"] == [one.run.public_id for one in three_runs]


def test_withdrawn_runs_are_counted_and_not_listed(three_runs: list[Entry]) -> None:
    withdraw(three_runs[2].run, "mistake")
    page = text(three_runs[0].get_absolute_url())
    assert "2 by this owner1 withdrawn" in page
    assert three_runs[2].run.public_id not in page


def test_a_runs_detail_tells_its_stack_and_versions(three_runs: list[Entry]) -> None:
    ids = [entry.run.public_id for entry in three_runs]
    stack = Client().get(f"/api/v1/runs/{ids[1]}/").json()["stack"]
    assert stack["versions"] == ids
    assert (stack["shown_run"], stack["is_shown"]) == (ids[0], False)
    assert stack["run_count"] == 3


def test_a_filtered_board_takes_as_many_queries_however_many_rows(
    db: None, django_assert_num_queries: Any
) -> None:
    for number in range(6):
        show_run(40.0 + number, number=number, model_id=f"qwen3-{number + 1}b")
    with django_assert_num_queries(9):
        Client().get("/?profile=quick")
    with django_assert_num_queries(2):
        Client().get(API)


def test_hostile_names_stay_text_on_the_board(maintainer: User) -> None:
    show_run(60.0, model_id="<script>alert(1)</script>")
    rename(LanguageModel.objects.get(), '"><img src=x onerror=alert(1)>', maintainer, "a test")
    for address in ("/", "/?q=img"):
        page = Page(Client().get(address).content.decode())
        assert list(page.named("img")) == []
        assert [one for one in page.named("script") if "src" not in one] == []


def test_d109_uploads_of_one_stack_end_as_one_row_with_the_median(
    uploader: Uploader, moderator: User
) -> None:
    ids, scores = [], {}
    for wrong in (4, 2, 7):
        left = iter(range(1000))

        def answer(task: BenchmarkTask, left: Iterator[int] = left, wrong: int = wrong) -> Any:
            return nothing_right(task) if next(left) < wrong else reference(task)

        response = uploader.post(make_bytes(profile="quick", write=answer))
        assert response.status_code == 201, response.content
        ids.append(response.json()["id"])
        Submission.objects.get(run__public_id=ids[-1]).approve(moderator, "fine")
        scores[ids[-1]] = Entry.objects.get(run__public_id=ids[-1]).overall_score or 0.0
    assert scores[ids[2]] < scores[ids[0]] < scores[ids[1]]
    (row,) = rows()
    assert row["id"] == ids[0]
    assert (row["stack"]["run_count"], row["stack"]["owner_count"]) == (3, 1)
    assert uploader.delete(f"/api/v1/submissions/{ids[0]}/").status_code == 204
    (row,) = rows()
    assert row["id"] == ids[2]
    assert row["stack"]["withdrawn_count"] == 1
