"""Siblings of the uploads from the field: the same kinds of fault in other places and forms.

Each test names the case whose kind it belongs to (`tests/fixtures/cases/submissions.jsonl`).
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils.html import escape

from bench_loop.contracts.chat import TokenCounts
from bench_loop.result.records import Artifact, RunResult
from runs.models import Run
from submissions.keys import create_key
from submissions.models import Submission
from tests.site.case_mutations import CASES
from tests.site.make_result import make_bytes, make_document, make_result, rescored, to_bytes
from tests.site.uploads import SUBMISSIONS, Uploader, refused_fields, rows

LEADERBOARD = "/api/v1/leaderboard/"

Change = Callable[[dict[str, Any]], None]


def put(path: str, value: Any) -> Change:
    """A change that sets the value at a path like `trials.0.output`."""

    def change(document: dict[str, Any]) -> None:
        *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
        place: Any = document
        for part in parents:
            place = place[part]
        place[last] = value

    return change


def drop(path: str) -> Change:
    """A change that takes a field out."""

    def change(document: dict[str, Any]) -> None:
        *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
        place: Any = document
        for part in parents:
            place = place[part]
        del place[last]

    return change


def as_text(document: dict[str, Any], path: str, text: str) -> bytes:
    """The document with `text`, which may be no JSON, as the value at `path`."""
    put(path, "the value to be replaced")(document)
    return json.dumps(document).replace('"the value to be replaced"', text).encode()


def assert_refused(uploader: Uploader, body: bytes | dict[str, Any], *fields: str) -> None:
    response = uploader.post(body)
    assert response.status_code in (400, 422), response.content
    named = refused_fields(response)
    for field in fields:
        assert any(name.startswith(field) for name in named), (field, named)
    assert len(response.content) < 4096
    assert rows() == (0, 0)
    assert uploader.get(LEADERBOARD).status_code == 200


NAMED: list[tuple[str, Change, str]] = [
    # versions
    ("D001", drop("benchmark_version"), "benchmark_version"),
    ("D001", drop("scoring_version"), "scoring_version"),
    ("D001", drop("fingerprint"), "fingerprint"),
    ("D003", put("schema_version", True), "schema_version"),
    ("D003", put("schema_version", 1.0), "schema_version"),
    ("D003", put("schema_version", None), "schema_version"),
    ("D003", put("schema_version", [1]), "schema_version"),
    ("D005", put("schema_version", 2), "schema_version"),
    ("D005", put("schema_version", 0), "schema_version"),
    ("D005", put("schema_version", -1), "schema_version"),
    ("D005", put("schema_version", 2**53 - 1), "schema_version"),
    ("D005", put("benchmark_version", "0.1.1"), "benchmark_version"),
    ("D005", put("benchmark_version", "0.1.0-dirty"), "benchmark_version"),
    ("D005", put("scoring_version", "99"), "scoring_version"),
    ("D007", put("suites.1.suite", "speed"), "suites"),
    ("D007", put("suites.0.version", "1.1"), "suites[0].version"),
    ("D007", put("suites.0.pack_hash", "sha256:" + "1" * 64), "suites[0].pack_hash"),
    ("D009", put("trials.0.suite", "no_such_suite"), "trials[0].suite"),
    ("D009", put("suites.0.suite", "no_such_suite"), "suites[0].suite"),
    ("D009", put("profile", "no_such_profile"), "profile"),
    # fields of others
    ("D012", put("subject.owner", "somebody"), "subject.owner"),
    ("D012", put("level", "verified"), "level"),
    ("D012", put("is_ranked", True), "is_ranked"),
    ("D012", put("trials.0.verified", True), "trials[0].verified"),
    ("D012", put("aggregates.bonus", 5), "aggregates.bonus"),
    # numbers
    ("D016", put("aggregates.overall_score", "inf"), "aggregates.overall_score"),
    ("D016", put("trials.0.latency_s", "2"), "trials[0].latency_s"),
    ("D016", put("trials.0.score", True), "trials[0].score"),
    ("D016", put("trials.0.latency_s", True), "trials[0].latency_s"),
    ("D018", put("suites.0.median_latency_s", "1e400"), "suites[0].median_latency_s"),
    ("D020", put("aggregates.quality_score", -0.001), "aggregates.quality_score"),
    ("D020", put("aggregates.speed_score", 100.0001), "aggregates.speed_score"),
    ("D020", put("trials.0.score", 1.01), "trials[0].score"),
    ("D020", put("trials.0.latency_s", -1.0), "trials[0].latency_s"),
    ("D020", put("suites.0.pass_count", -1), "suites[0].pass_count"),
    ("D020", put("trials.0.trial", -1), "trials[0].trial"),
    ("D024", put("suites.0.task_count", 999), "suites[0].task_count"),
    ("D024", put("suites.1.fail_count", 7), "suites[1].fail_count"),
    ("D024", put("suites.1.truncated_count", 1), "suites[1].truncated_count"),
    ("D024", put("suites.1.error_count", 1), "suites[1].error_count"),
    # forgery
    ("D025", put("aggregates.answers_per_minute", 1e6), "aggregates.answers_per_minute"),
    ("D025", put("aggregates.reliability_score_interval", [99.0, 100.0]), "aggregates"),
    ("D025", put("suites.1.score", 99.0), "suites[1].score"),
    ("D025", put("suites.1.score_interval", [99.0, 100.0]), "suites[1].score_interval"),
    ("D027", put("speed.generation_tps.median", 5e3), "speed.generation_tps.median"),
    ("D027", put("speed.generation_tps.n", 99), "speed.generation_tps.n"),
    ("D027", put("speed.shapes", []), "speed.shapes"),
    ("D029", put("total_runtime_s", 0.0), "total_runtime_s"),
    # times
    ("D034", put("started_at", "2099-01-01T00:00:00Z"), "started_at"),
    ("D034", put("finished_at", "9999-12-31T23:59:59Z"), "finished_at"),
    ("D034", put("started_at", "2099-01-01T00:00:00+14:00"), "started_at"),
    ("D038", put("started_at", "2026-03-01 12:00:00"), "started_at"),
    ("D038", put("finished_at", "2026-03-01"), "finished_at"),
    ("D038", put("finished_at", 1764400000), "finished_at"),
    ("D038", put("finished_at", "yesterday"), "finished_at"),
    ("D038", put("finished_at", "2026-02-30T12:00:00Z"), "finished_at"),
    # payload and strings
    ("D067", put("machine.device_class", "x" * 1001), "machine.device_class"),
    ("D067", put("trials.0.message", "x" * 4001), "trials[0].message"),
    ("D067", put("x" * 100_000, 1), "x"),
    ("D067", put("machine.gpus", [{"model": "A"}] * 65), "machine.gpus"),
    ("D069", put("machine.cpu_model", "Ryzen\x00"), "machine.cpu_model"),
    ("D069", put("subject.quantization", "Q4\x1b[31m"), "subject.quantization"),
    ("D069", put("trials.0.output", "a\x00b"), "trials[0].output"),
    ("D073", put("machine.machine_label", "a\u202eb"), "machine.machine_label"),
    ("D073", put("subject.harness", "raw\u2066"), "subject.harness"),
    ("D075", put("subject.model_family", "qwen\ufeff"), "subject.model_family"),
    ("D075", put("subject.provider", "olla\u00adma"), "subject.provider"),
    ("D075", put("subject.model_id", "qwen3\u2060:8b"), "subject.model_id"),
    ("D085", put("subject.model_id", "a\rb"), "subject.model_id"),
    ("D085", put("subject.model_id", "a\u0085b"), "subject.model_id"),
    ("D085", put("machine.cpu_model", "a\nb"), "machine.cpu_model"),
    # who and where
    ("D099", put("machine.machine_id", "A4:83:E7:12:34:56"), "machine.machine_id"),
    ("D099", put("machine.machine_id", ""), "machine.machine_id"),
    ("D101", put("machine.serial", "C02XXXXXXX"), "machine.serial"),
    ("D101", put("machine.machine_label", "192.168.1.50"), "machine.machine_label"),
    ("D101", put("machine.os", "GPU-00000000-1111-2222-3333-444444444444"), "machine.os"),
    ("D101", put("machine.cpu_model", "a4:83:e7:12:34:56"), "machine.cpu_model"),
]


@pytest.mark.parametrize(("case_id", "change", "field"), NAMED)
def test_the_sibling_is_refused_and_its_field_named(
    case_id: str, change: Change, field: str, uploader: Uploader
) -> None:
    assert case_id in CASES
    document = make_document()
    change(document)
    assert_refused(uploader, document, field)


@pytest.mark.parametrize(
    "text",
    [
        *("Infinity", "-Infinity", "nan", "inf", "NAN", "1e400", "-1e400", "1e999999", "0x1p3"),
        *("01", "+1", "1.", ".5", "1_000", "1e", "--1", "\uff11"),
        *("9" * 27, "-" + "9" * 27, "9" * 4301, "1" + "0" * 19, str(2**63), str(2**53)),
    ],
)
@pytest.mark.parametrize("path", ["aggregates.reliability_score", "trials.0.tokens.completion"])
def test_d014_and_d022_no_other_number_than_those_of_json(
    text: str, path: str, uploader: Uploader
) -> None:
    assert_refused(uploader, as_text(make_document(), path, text))


@pytest.mark.parametrize("key", ["fingerprint", "trials", "aggregates"])
def test_d012_a_key_twice_is_refused(key: str, uploader: Uploader) -> None:
    document = make_document()
    twice = json.dumps(document)[:-1] + f", {json.dumps(key)}: {json.dumps(document[key])}}}"
    assert_refused(uploader, twice.encode(), key)


def test_d012_a_key_twice_by_another_spelling_is_refused(uploader: Uploader) -> None:
    twice = json.dumps(make_document())[:-1] + ', "st\\u0061tus": "complete"}'
    assert_refused(uploader, twice.encode(), "status")


@pytest.mark.parametrize(
    "text",
    ['"\\ud800"', '"\\udfff"', '"\\udc00\\ud800"', '"a\\ud83d"', '"\\u0000"', '"\\u001b"'],
)
@pytest.mark.parametrize(
    "path", ["trials.0.thinking", "trials.0.message", "subject.model_id", "software.platform"]
)
def test_d110_no_text_that_a_column_cannot_hold(text: str, path: str, uploader: Uploader) -> None:
    assert_refused(uploader, as_text(make_document(), path, text))


def test_d110_in_a_key_too(uploader: Uploader) -> None:
    text = json.dumps(make_document()).replace('"platform"', '"plat\\ud800form"')
    assert_refused(uploader, text.encode())


def test_d110_a_whole_pair_is_no_half(uploader: Uploader) -> None:
    result = make_result()
    trial = result.trials[0].model_copy(update={"output": "word \U0001f600"})
    body = to_bytes(rescored(result.model_copy(update={"trials": (trial, *result.trials[1:])})))
    assert uploader.post(body).status_code == 201


@pytest.mark.parametrize("numbers", [(1, 1), (2, 1), (0, 0)])
def test_d011_no_trial_is_there_twice_in_whatever_order(
    numbers: tuple[int, int], uploader: Uploader
) -> None:
    document = make_document()
    index = next(i for i, one in enumerate(document["trials"]) if one["suite"] != "speed")
    document["trials"].append(json.loads(json.dumps(document["trials"][index])))
    document["trials"][index]["trial"], document["trials"][-1]["trial"] = numbers
    assert_refused(uploader, document)


def honest(**changes: Any) -> bytes:
    return make_bytes(**changes)


@pytest.mark.parametrize(
    ("case_id", "changes"),
    [
        ("D032", {"model_id": "llama3.2:1b", "generation_tps": 700.0}),
        ("D036", {"finished_at": datetime.now(UTC) + timedelta(minutes=3)}),
        ("D032", {"gpu": "H200", "generation_tps": 180.0}),
        ("D032", {"gpu": "Some New Board 9000", "generation_tps": 300.0}),
        ("D032", {"gpu": None, "generation_tps": 3.0}),
        ("D077", {"model_id": '"><svg onload=alert(1)>'}),
        ("D077", {"model_id": "javascript:alert(1)"}),
        ("D081", {"model_id": "${7*7} #{7*7} <%= 7*7 %> {{ config }}"}),
        ("D083", {"model_id": "+1+1"}),
        ("D083", {"model_id": "@SUM(A1)"}),
        ("D083", {"model_id": "-2+3"}),
        ("D085", {"model_id": "a|b `c` [d](e) *f*"}),
    ],
)
def test_an_honest_sibling_is_taken_in_and_shown_as_it_is(
    case_id: str, changes: dict[str, Any], uploader: Uploader, moderator: User
) -> None:
    assert case_id in CASES
    response = uploader.post(honest(**changes))
    assert response.status_code == 201, response.content
    Submission.objects.get().approve(moderator)
    page = uploader.get(f"/runs/{response.json()['id']}/")
    assert page.status_code == 200
    shown = page.content.decode()
    for dangerous in ("<svg onload", 'href="javascript:', "<%=", "${49}", "#{49}"):
        assert dangerous not in shown
    if model_id := changes.get("model_id"):
        assert escape(model_id) in shown
    [entry] = uploader.get(LEADERBOARD).json()["results"]
    assert entry["model_id"] == changes.get("model_id", "qwen3:8b")


def test_d030_a_million_tokens_a_second_of_the_clients_clock(uploader: Uploader) -> None:
    result = make_result()
    quick = result.trials[0].model_copy(
        update={
            "engine_timings": None,
            "t_first_answer_s": 0.5,
            "t_last_s": 0.5001,
            "tokens": TokenCounts(prompt=1024, completion=100_000, basis="usage"),
        }
    )
    forged = rescored(result.model_copy(update={"trials": (quick, *result.trials[1:])}))
    response = uploader.post(to_bytes(forged))
    assert response.status_code == 422
    assert any("tokens" in name for name in refused_fields(response))


@pytest.mark.parametrize(
    "path",
    [
        *("..", "a/..", "a/../b", "/", "//etc/passwd", "\\\\server\\share", "c:", "C:/x", "..\\x"),
        *("a/../../b", "", "a\\..\\b"),
    ],
)
def test_d086_and_d088_no_artifact_outside_the_workspace(path: str, uploader: Uploader) -> None:
    result = make_result()
    artifact = Artifact(path=path, sha256="sha256:" + "0" * 64, size_bytes=1)
    changed = result.trials[-1].model_copy(update={"artifacts": (artifact,)})
    forged = rescored(result.model_copy(update={"trials": (*result.trials[:-1], changed)}))
    assert_refused(uploader, to_bytes(forged), f"trials[{len(result.trials) - 1}].artifacts[0]")


PRIVATE = [
    'File "C:\\Users\\jane.miller\\x.py"',
    "/Users/jmiller/Library",
    "token hf_" + "aB3" * 12,
    "Authorization: Bearer " + "a1B2" * 10,
    "ssh 192.168.178.21",
    "-----BEGIN OPENSSH PRIVATE KEY-----",
]


@pytest.mark.parametrize("text", PRIVATE)
def test_d097_what_points_to_somebody_in_a_transcript_is_refused_and_not_repeated(
    text: str, uploader: Uploader
) -> None:
    result = make_result()
    said = ({"role": "tool", "content": text},)
    changed = result.trials[0].model_copy(update={"transcript": said})
    forged = rescored(result.model_copy(update={"trials": (changed, *result.trials[1:])}))
    response = uploader.post(to_bytes(forged))
    assert "trials[0].transcript[0].content" in refused_fields(response)
    assert text.encode() not in response.content
    assert rows() == (0, 0)


@pytest.mark.parametrize("text", PRIVATE)
def test_d097_in_an_output_it_is_for_a_person_to_see(text: str, uploader: Uploader) -> None:
    response = uploader.post(make_bytes(write=lambda task: text))
    assert response.status_code == 201
    assert response.json()["level"] == "reported"
    assert "private" in {one["code"] for one in Submission.objects.get().findings}


# --- duplicates -----------------------------------------------------------------------------------


def spelt_otherwise(result: RunResult) -> dict[str, bytes]:
    """The same run in other words."""
    document = json.loads(to_bytes(result))
    moved = json.loads(to_bytes(result))
    moved["machine"] |= {"machine_id": "e" * 16, "machine_label": "under the desk"}
    later = {**document, "finished_at": datetime.now(UTC).isoformat()}
    later["total_runtime_s"] += 3.5
    renamed = {**document, "run_id": "20260101T000000Z-abcdefghij", "run_index": 12}
    shuffled = {**document, "trials": document["trials"][::-1]}
    sorted_suites = {**document, "suites": document["suites"][::-1]}
    return {
        "compact": json.dumps(document, separators=(",", ":")).encode(),
        "escaped": json.dumps(document, ensure_ascii=True, indent=7).encode(),
        "keys turned": json.dumps(dict(reversed(document.items()))).encode(),
        "keys sorted": json.dumps(document, sort_keys=True).encode(),
        "another machine id and label": json.dumps(moved).encode(),
        "another wall time": json.dumps(later).encode(),
        "another run id and index": json.dumps(renamed).encode(),
        "trials in another order": json.dumps(shuffled).encode(),
        "suites in another order": json.dumps(sorted_suites).encode(),
    }


SPELLINGS = sorted(spelt_otherwise(make_result()))


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_d042_and_d044_the_same_trials_are_the_same_run(
    spelling: str, uploader: Uploader, stranger: User
) -> None:
    result = make_result()
    first = uploader.post(to_bytes(result))
    again = Uploader(create_key(stranger)[1]).post(spelt_otherwise(result)[spelling])
    assert (first.status_code, again.status_code) == (201, 200), again.content
    assert again.json()["id"] == first.json()["id"]
    assert rows() == (1, 1)
    assert Run.objects.get().data() == to_bytes(result)


def test_d048_a_key_used_again_for_the_same_run_gives_it(uploader: Uploader) -> None:
    body = make_bytes()
    first = uploader.post(body, Idempotency_Key="once")
    second = uploader.post(body, Idempotency_Key="once")
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json()["id"] == second.json()["id"]


@pytest.mark.parametrize("key", ["", "x" * 101, "a\u00e9", "a\tb"])
def test_d048_a_key_that_is_none_is_refused(key: str, uploader: Uploader) -> None:
    assert uploader.post(make_bytes(), Idempotency_Key=key).status_code == 400
    assert rows() == (0, 0)


# --- payload --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "statuses"),
    [
        (b"", {400, 415}),
        (b"null", {400}),
        (b"[]", {400}),
        (b'"result"', {400}),
        (b"{" * 20_000, {400}),
        (b'{"a":' * 20_000 + b"1" + b"}" * 20_000, {400}),
        (b"\xef\xbb\xbf{}", {400}),
        ("{}".encode("utf-32"), {400}),
        (b"{}" + b"\x00" * 100, {400}),
        (b'{"a": "\xff\xfe"}', {400}),
        (b'{"a": "\xed\xa0\x80"}', {400}),
        (b"{'a': 1}", {400}),
        (b"{} {}", {400}),
        (b'{"a": 1,}', {400}),
        (b"// comment\n{}", {400}),
    ],
)
def test_d055_d063_and_d065_what_is_no_object_of_json(
    body: bytes, statuses: set[int], uploader: Uploader
) -> None:
    response = uploader.post(body)
    assert response.status_code in statuses
    refused_fields(response)
    assert rows() == (0, 0)


@pytest.mark.parametrize(
    "kind",
    [
        *("", "text/json", "text/plain", "application/xml", "application/x-www-form-urlencoded"),
        *("application/json-seq", "application/octet-stream", "application/gzip"),
    ],
)
def test_d061_no_other_type_than_json(kind: str, uploader: Uploader) -> None:
    response = uploader.post(make_bytes(), content_type=kind or "x")
    assert response.status_code == 415
    assert rows() == (0, 0)


def test_d057_a_bomb_inside_a_bomb_and_one_that_is_cut(uploader: Uploader) -> None:
    bomb = gzip.compress(b"0" * 134_217_728)
    for body, statuses in (
        (gzip.compress(bomb), {400}),
        (bomb[: len(bomb) // 2], {413, 400}),
        (bomb + bomb, {413}),
        (gzip.compress(b"{}") + bomb, {400}),
        (zlib.compress(make_bytes()), {400}),
    ):
        response = uploader.post(body, Content_Encoding="gzip")
        assert response.status_code in statuses
        refused_fields(response)
    assert rows() == (0, 0)


@pytest.mark.parametrize("encoding", ["br", "deflate", "zstd", "gzip, gzip", "x-gzip"])
def test_d059_no_other_encoding(encoding: str, uploader: Uploader) -> None:
    assert uploader.post(make_bytes(), Content_Encoding=encoding).status_code == 415
    assert rows() == (0, 0)


def test_a_gzip_body_is_stored_as_what_it_holds(uploader: Uploader) -> None:
    body = make_bytes()
    assert uploader.post(gzip.compress(body), Content_Encoding="GZIP").status_code == 201
    assert Run.objects.get().data() == body


# --- keys and queries -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "authorization",
    ["Bearer", "Bearer x", "Bearer bl_aaaaaaaa_" + "x" * 43, "Basic YTpi", "bl_x", "Bearer a b"],
)
def test_d089_and_d091_a_bad_key_is_never_anonymous(public_site: None, authorization: str) -> None:
    bad = Uploader(None)
    bad.headers = {"Authorization": authorization}
    answers = {
        bad.post(make_bytes()).status_code,
        bad.get(SUBMISSIONS + "aaaaaaaaaaaa/").status_code,
    }
    assert answers == {401} or authorization.startswith("Basic")
    assert bad.post(make_bytes()).status_code == 401
    assert rows() == (0, 0)


@pytest.mark.parametrize(
    "query",
    [
        *("gpuu=rtx-4090", "Model=x", "model[]=x", "model__contains=x", "user__password=x"),
        *("ordering=run__result_bytes", "ordering=-submission__owner", "ordering=?"),
        *("page=0", "page=-1", "page=x", "q=%00", "harness=%00", "since=%00"),
        *("min_memory_gb=nan", "min_memory_gb=inf", "min_memory_gb=1e400", "since=2099-13-01"),
    ],
)
def test_d071_d103_and_d105_no_query_that_was_not_meant(query: str, uploader: Uploader) -> None:
    assert uploader.get(f"{LEADERBOARD}?{query}").status_code in (400, 404)
