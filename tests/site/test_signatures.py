"""Signed uploads: what is refused, and whose runs belong together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from bench_loop.result.signature import short, signed
from bench_loop.result.store import to_bytes
from runs.models import Run
from submissions.models import Submission
from tests.site.make_result import make_result
from tests.site.uploads import Uploader, refused_fields, rows


def signed_bytes(**changes: Any) -> bytes:
    return to_bytes(signed(make_result(suites=["reasonmath"], **changes)))


def approved(uploader: Uploader, moderator: User, data: bytes) -> str:
    """The public id of an upload that a moderator has let in."""
    answer = uploader.post(data)
    assert answer.status_code == 201, answer.content
    public_id: str = answer.json()["id"]
    Submission.objects.get(run__public_id=public_id).approve(moderator)
    return public_id


def page(public_id: str) -> str:
    return Client().get(f"/runs/{public_id}/").content.decode()


def test_a_signed_upload_is_stored_with_its_key(uploader: Uploader) -> None:
    data = signed_bytes()
    assert uploader.post(data).status_code == 201
    assert Run.objects.get().signing_key == json.loads(data)["signature"]["public_key"]


def test_an_unsigned_upload_is_fine(uploader: Uploader) -> None:
    assert uploader.post(to_bytes(make_result(suites=["reasonmath"]))).status_code == 201
    assert Run.objects.get().signing_key == ""


def test_a_signed_upload_may_be_written_in_another_way(uploader: Uploader) -> None:
    document = dict(reversed(json.loads(signed_bytes()).items()))
    assert uploader.post(json.dumps(document).encode()).status_code == 201
    assert Run.objects.get().signing_key


@pytest.mark.parametrize(
    "changes",
    [
        {"run_index": 7},
        {"machine": "another cpu"},
        {"signature": {"value": "0" * 128}},
        {"signature": {"public_key": "0" * 64}},
        {"signature": {"public_key": "ff" * 32}},
    ],
)
def test_a_wrong_signature_is_refused_with_its_field(
    uploader: Uploader, changes: dict[str, Any]
) -> None:
    document = json.loads(signed_bytes())
    for name, value in changes.items():
        if name == "machine":
            document["machine"]["cpu_model"] = value
        elif isinstance(value, dict):
            document[name] |= value
        else:
            document[name] = value
    answer = uploader.post(document)
    assert answer.status_code == 422
    assert answer.json()["code"] == "bad_signature"
    assert list(refused_fields(answer)) == ["signature.value"]
    assert rows() == (0, 0)


@pytest.mark.parametrize(
    ("signature", "field"),
    [
        ({"algorithm": "rsa"}, "signature.algorithm"),
        ({"value": "zz"}, "signature.value"),
        ({"public_key": "AB" * 32}, "signature.public_key"),
        ({"more": 1}, "signature.more"),
        ({"value": 1}, "signature.value"),
    ],
)
def test_a_signature_of_another_form_is_refused_with_its_field(
    uploader: Uploader, signature: dict[str, Any], field: str
) -> None:
    document = json.loads(signed_bytes())
    document["signature"] |= signature
    answer = uploader.post(document)
    assert answer.status_code == 422
    assert field in refused_fields(answer)
    assert rows() == (0, 0)


def test_a_dry_run_tells_of_a_wrong_signature(uploader: Uploader) -> None:
    document = json.loads(signed_bytes()) | {"run_index": 7}
    answer = uploader.post(document, address="/api/v1/submissions/?dry_run=1").json()
    assert answer["would_be_accepted"] is False
    assert "bad_signature" in {finding["code"] for finding in answer["findings"]}


def test_another_signature_makes_no_other_run(
    uploader: Uploader, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made = make_result(suites=["reasonmath"])
    assert uploader.post(to_bytes(signed(made))).status_code == 201
    first = Run.objects.get().signing_key
    monkeypatch.setenv("BENCHLOOP_HOME", str(tmp_path / "other"))
    assert uploader.post(to_bytes(signed(made))).status_code == 200
    assert Run.objects.get().signing_key == first


def test_a_run_page_names_the_key_and_the_runs_of_its_installation(
    uploader: Uploader, moderator: User, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    data = signed_bytes(generation_tps=40.0)
    one = approved(uploader, moderator, data)
    two = approved(uploader, moderator, signed_bytes(model_id="qwen3:14b"))
    unsigned = approved(
        uploader, moderator, to_bytes(make_result(suites=["reasonmath"], model_id="gemma3:12b"))
    )
    hidden = uploader.post(signed_bytes(model_id="qwen3:4b")).json()["id"]
    monkeypatch.setenv("BENCHLOOP_HOME", str(tmp_path / "other"))
    foreign = approved(uploader, moderator, signed_bytes(model_id="qwen3:32b"))

    text = page(one)
    assert short(json.loads(data)["signature"]["public_key"]) in text
    assert "Same installation as 1 other run:" in text
    assert f"/runs/{two}/" in text
    for other in (unsigned, hidden, foreign):
        assert f"/runs/{other}/" not in text
    assert "No other run here is of this installation" in page(foreign)
    assert 'aria-label="signed"' not in page(unsigned)


def test_the_board_marks_what_is_signed(uploader: Uploader, moderator: User) -> None:
    approved(uploader, moderator, to_bytes(make_result(suites=["reasonmath"])))
    assert 'aria-label="signed"' not in Client().get("/").content.decode()
    approved(uploader, moderator, signed_bytes(model_id="qwen3:14b"))
    assert Client().get("/").content.decode().count('aria-label="signed"') == 1


def test_a_local_file_that_was_changed_is_no_signed_run(db: None) -> None:
    """The local site shows what lies there; it only gives it no mark."""
    made = signed(make_result(suites=["reasonmath"]))
    changed = made.model_copy(update={"run_index": 7})
    assert Run.of(changed, to_bytes(changed), Run.Source.LOCAL).signing_key == ""
    assert Run.of(made, to_bytes(made), Run.Source.LOCAL).signing_key != ""
