"""Uploads from the field: what each must answer, and what may be stored."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import User

from runs.models import Run
from submissions.keys import create_key
from submissions.models import Submission
from tests.site.case_mutations import CASES, case_body
from tests.site.make_result import (
    make_bytes,
    make_document,
    make_result,
    make_subject,
    rescored,
    to_bytes,
)
from tests.site.uploads import SUBMISSIONS, Uploader, refused_fields, rows

SINGLE = [
    case_id
    for case_id, case in CASES.items()
    if case["request"].get("mutate") and "second_of" not in case["request"]
]

HONEST = {"D032", "D036", "D050", "D077", "D079", "D081", "D083"}
"""Cases in which the run was really made with the changed value."""

OTHERWISE = {"D032", "D107"}
"""Cases that a changed field does not tell; they have tests of their own below."""


@pytest.mark.parametrize("case_id", [one for one in SINGLE if one not in OTHERWISE])
def test_the_case_is_answered_as_it_should(case_id: str, uploader: Uploader) -> None:
    case = CASES[case_id]
    body = case_body(case_id, make_document(), is_honest=case_id in HONEST)
    headers = case["request"].get("headers", {})
    response = uploader.post(body, **headers)
    assert str(response.status_code) in case["right_response"]["status"], response.content
    assert len(response.content) < 4096
    expected = case["right_response"]["rows_added"]
    if expected is not None or response.status_code != 201:
        assert rows() == ((expected or 0), (expected or 0))
    if response.status_code >= 400:
        assert refused_fields(response)
    assert uploader.get("/api/v1/leaderboard/").status_code == 200


@pytest.mark.parametrize(
    ("case_id", "field"),
    [
        ("D001", "schema_version"),
        ("D005", "benchmark_version"),
        ("D009", "trials[0].task_id"),
        ("D016", "aggregates.overall_score"),
        ("D020", "aggregates.quality_score"),
        ("D024", "suites[0].pass_count"),
        ("D027", "suites[0].median_latency_s"),
        ("D034", "finished_at"),
        ("D038", "finished_at"),
        ("D067", "subject.model_id"),
        ("D069", "subject.model_id"),
        ("D086", "trials[0].artifacts[0]"),
        ("D099", "machine.machine_id"),
        ("D101", "machine.extra"),
    ],
)
def test_the_refusal_names_the_field(case_id: str, field: str, uploader: Uploader) -> None:
    document = make_document()
    document["trials"].sort(key=lambda trial: trial["suite"] != document["suites"][0]["suite"])
    response = uploader.post(case_body(case_id, document, is_honest=False))
    assert any(name.startswith(field) for name in refused_fields(response)), response.json()


def test_d024_both_numbers_are_named(uploader: Uploader) -> None:
    document = make_document()
    count = document["suites"][0]["pass_count"]
    response = uploader.post(case_body("D024", document, is_honest=False))
    [sentence] = refused_fields(response)["suites[0].pass_count"]
    assert sentence == f"The trials give {count}, the file says {count + 1}."


def test_d029_a_run_shorter_than_its_trials_is_refused(uploader: Uploader) -> None:
    response = uploader.post({**make_document(), "total_runtime_s": 3.0})
    assert "total_runtime_s" in refused_fields(response)


def test_d032_a_fast_small_model_is_accepted(uploader: Uploader) -> None:
    body = make_bytes(model_id="llama3.2:1b", generation_tps=430.19)
    assert uploader.post(body).status_code == 201


@pytest.mark.parametrize("case_id", ["D040", "D052"])
def test_the_same_body_again_gives_the_first_id(case_id: str, uploader: Uploader) -> None:
    body = make_bytes()
    first = uploader.post(body)
    if case_id == "D052":
        Submission.objects.update(status="rejected")
    second = uploader.post(body)
    assert (first.status_code, second.status_code) == (201, 200)
    assert second.json()["id"] == first.json()["id"]
    assert second.json()["status"] == ("rejected" if case_id == "D052" else "pending")
    assert rows() == (1, 1)


def test_d042_another_time_is_the_same_run(uploader: Uploader) -> None:
    document = make_document()
    first = uploader.post(document)
    document["finished_at"] = datetime.now(UTC).isoformat()
    second = uploader.post(document)
    assert (first.status_code, second.status_code) == (201, 200)


def test_d044_numbers_written_otherwise_are_the_same_run(uploader: Uploader) -> None:
    body = make_bytes()
    text = body.decode()
    assert '"latency_s": 2.0,' in text
    rewritten = text.replace('"latency_s": 2.0,', '"latency_s": 0.2e1,')
    assert uploader.post(body).status_code == 201
    assert uploader.post(rewritten.encode()).status_code == 200


def test_d044_another_order_of_keys_machine_and_label_is_the_same_run(uploader: Uploader) -> None:
    document = make_document()
    assert uploader.post(document).status_code == 201
    document["machine"] |= {"machine_id": "f" * 16, "machine_label": "another"}
    turned = dict(reversed(document.items()))
    assert uploader.post(turned).status_code == 200


def test_d048_an_idempotency_key_is_good_for_one_run(uploader: Uploader) -> None:
    key = {"Idempotency_Key": "k1"}
    assert uploader.post(make_bytes(), **key).status_code == 201
    response = uploader.post(make_bytes(model_id="other:1b"), **key)
    assert response.status_code == 409
    assert rows() == (1, 1)


def test_d050_an_honest_second_run_is_another_run(uploader: Uploader) -> None:
    assert uploader.post(make_bytes(latency_s=2.0)).status_code == 201
    assert uploader.post(make_bytes(latency_s=2.07)).status_code == 201
    assert rows() == (2, 2)


def test_d053_a_body_of_60_mb_is_too_large(uploader: Uploader) -> None:
    response = uploader.post({**make_document(), "notes": "x" * 60_000_000})
    assert response.status_code == 413
    refused_fields(response)


def test_d055_nested_arrays_are_refused(uploader: Uploader) -> None:
    assert uploader.post(b"[" * 20_000 + b"]" * 20_000).status_code == 400


def test_d057_a_gzip_bomb_is_too_large(uploader: Uploader) -> None:
    bomb = gzip.compress(b"0" * 134_217_728)
    assert uploader.post(bomb, Content_Encoding="gzip").status_code == 413


def test_d059_plain_bytes_called_gzip_are_refused(uploader: Uploader) -> None:
    assert uploader.post(make_bytes(), Content_Encoding="gzip").status_code == 400


def test_d061_a_form_is_refused(uploader: Uploader) -> None:
    response = uploader.post(make_bytes(), content_type="multipart/form-data; boundary=x")
    assert response.status_code == 415
    refused_fields(response)


def test_d063_utf_16_is_refused(uploader: Uploader) -> None:
    assert uploader.post(make_bytes().decode().encode("utf-16")).status_code == 400


def test_d065_a_list_is_refused(uploader: Uploader) -> None:
    assert uploader.post(json.dumps([make_document()]).encode()).status_code == 400


def test_d071_a_nul_in_a_filter_is_refused(uploader: Uploader) -> None:
    assert uploader.get("/api/v1/leaderboard/?q=%00").status_code == 400
    assert uploader.get("/api/v1/leaderboard/?model=%00").status_code == 400


def test_d089_no_key_is_answered_with_a_challenge(public_site: None) -> None:
    response = Uploader(None).post(make_bytes())
    assert response.status_code == 401
    assert response["WWW-Authenticate"] == "Bearer"
    refused_fields(response)


def test_d091_a_revoked_key_is_not_anonymous(public_site: None, owner: User) -> None:
    key, text = create_key(owner)
    key.revoke()
    assert Uploader(text).get("/api/v1/leaderboard/").status_code == 401


def test_d093_a_stranger_cannot_delete_a_run(uploader: Uploader, stranger: User) -> None:
    public_id = uploader.post(make_bytes()).json()["id"]
    other = Uploader(create_key(stranger)[1])
    assert other.delete(f"/api/v1/runs/{public_id}/").status_code == 403
    assert other.delete(f"{SUBMISSIONS}{public_id}/").status_code == 404
    assert Run.objects.filter(public_id=public_id).exists()


def test_d095_many_uploads_with_one_key_are_throttled(uploader: Uploader) -> None:
    responses = [uploader.post(b"{}") for _ in range(61)]
    assert responses[59].status_code == 422
    assert responses[60].status_code == 429
    assert int(responses[60]["Retry-After"]) > 0
    refused_fields(responses[60])


def test_d097_a_home_folder_in_a_transcript_is_refused(uploader: Uploader) -> None:
    result = make_result()
    words = ({"role": "tool", "content": 'File "/home/alice/secret-project/main.py"'},)
    trials = (result.trials[0].model_copy(update={"transcript": words}), *result.trials[1:])
    response = uploader.post(to_bytes(rescored(result.model_copy(update={"trials": trials}))))
    assert response.status_code == 422
    assert "trials[0].transcript[0].content" in refused_fields(response)
    assert b"alice" not in response.content


@pytest.mark.parametrize("ordering", ["overall_score", "-overall_score"])
def test_d107_a_run_without_speed_is_last_in_both_orders(
    uploader: Uploader, moderator: User, ordering: str
) -> None:
    whole = make_result(profile="quick", model_id="whole:1b")
    kept = [suite.suite for suite in whole.suites if suite.dimension == "quality"]
    trials = tuple(trial for trial in whole.trials if trial.suite in kept)
    partial = whole.model_copy(
        update={"trials": trials, "subject": make_subject(model_id="partial:1b")}
    )
    assert uploader.post(to_bytes(whole)).status_code == 201
    assert uploader.post(to_bytes(rescored(partial, suites=kept))).status_code == 201
    for submission in Submission.objects.all():
        submission.approve(moderator)
    entries = uploader.get(f"/api/v1/leaderboard/?ordering={ordering}").json()["results"]
    assert [entry["model_id"] for entry in entries] == ["whole:1b", "partial:1b"]
    assert entries[1]["overall_score"] is None


def test_d103_a_misspelt_filter_is_refused(uploader: Uploader) -> None:
    response = uploader.get("/api/v1/leaderboard/?gpuu=rtx-4090")
    assert response.status_code == 400
    assert "gpuu" in refused_fields(response)
    assert "device_class" in response.json()["message"]


def test_d105_ordering_by_a_private_column_is_refused(uploader: Uploader) -> None:
    assert uploader.get("/api/v1/leaderboard/?ordering=user__password").status_code == 400
