"""The public audit trail."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from submissions.models import Submission
from tests.site.make_result import make_bytes
from tests.site.uploads import Uploader, refused_fields

AUDIT = "/api/v1/audit/"


@pytest.fixture
def approved(uploader: Uploader, owner: User, moderator: User) -> Submission:
    User.objects.filter(pk=owner.pk).update(email="owner@mail.example")
    public_id = uploader.post(make_bytes()).json()["id"]
    submission = Submission.objects.get(run__public_id=public_id)
    submission.approve(moderator, "It is plausible.")
    return submission


def lines(query: str = "") -> list[tuple[str, str, str]]:
    response = Client().get(AUDIT + query)
    assert response.status_code == 200, response.content
    return [(one["kind"], one["role"], one["reason"]) for one in response.json()["results"]]


def test_the_trail_of_a_published_run_is_public(approved: Submission, moderator: User) -> None:
    approved.flag(moderator, "Two owners claim it.")
    assert lines() == [
        ("flagged", "moderator", "Two owners claim it."),
        ("approved", "moderator", "It is plausible."),
        ("submitted", "owner", ""),
    ]


def test_a_run_that_was_never_shown_has_no_public_trail(
    uploader: Uploader, moderator: User
) -> None:
    uploader.post(make_bytes())
    Submission.objects.get().reject(moderator, "Not for strangers.")
    assert lines() == []


def test_nobody_is_named(approved: Submission) -> None:
    said = Client().get(AUDIT).content.decode()
    assert "owner@mail.example" not in said
    assert '"moderator"' in said.replace(" ", "")
    assert set(Client().get(AUDIT).json()["results"][0]) == {
        "at",
        "kind",
        "role",
        "reason",
        "run",
        "url",
    }


def test_filters_narrow_the_trail(approved: Submission) -> None:
    public_id = approved.run.public_id
    assert len(lines(f"?run={public_id}")) == 2
    assert lines("?run=aaaaaaaaaaaa") == []
    assert [kind for kind, _, _ in lines("?kind=approved")] == ["approved"]
    assert lines("?until=2000-01-01") == []


@pytest.mark.parametrize("query", ["?runs=x", "?since=soon", "?cursor=-1", "?page_size=1e9"])
def test_a_wrong_filter_is_named(public_site: None, query: str) -> None:
    response = Client().get(AUDIT + query)
    assert response.status_code == 400
    assert list(refused_fields(response)) == [query[1:].partition("=")[0]]


def test_the_trail_comes_in_pages(approved: Submission) -> None:
    first = Client().get(f"{AUDIT}?page_size=1").json()
    second = Client().get(first["next"]).json()
    assert [page["results"][0]["kind"] for page in (first, second)] == ["approved", "submitted"]
    assert second["next"] is None
