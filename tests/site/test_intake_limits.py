"""The limits of the intake to the byte, and its memory under a bomb, measured from outside."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from typing import Any

import pytest
from django.http import HttpRequest
from django.test import RequestFactory

from bench_loop.result.strict_json import MAX_KEYS
from submissions import intake
from submissions.intake import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_TEXT,
    MAX_TRIALS,
    MAX_VALUES,
    IntakeError,
    check_values,
    load_strictly,
    read_body,
)
from tests.site.make_result import make_document
from tests.site.uploads import Uploader, refused_fields, rows


def request(body: bytes, **headers: str) -> HttpRequest:
    return RequestFactory().post("/", data=body, content_type="application/json", **headers)


def status(body: bytes, **headers: str) -> int:
    try:
        read_body(request(body, **headers))
    except IntakeError as error:
        return error.status
    return 200


@pytest.mark.parametrize(("more", "expected"), [(-1, 200), (0, 200), (1, 413)])
def test_a_body_has_so_many_bytes_and_no_more(more: int, expected: int) -> None:
    body = b" " * (MAX_BYTES + more)
    assert status(body) == expected
    assert status(gzip.compress(body), HTTP_CONTENT_ENCODING="gzip") == expected


def test_a_packed_body_is_not_longer_than_a_plain_one_may_be() -> None:
    body = b"\x00" * (MAX_BYTES + 1)
    assert status(body, HTTP_CONTENT_ENCODING="gzip") == 413


def refusal_of(document: Any) -> str | None:
    try:
        check_values(load_strictly(json.dumps(document).encode()))
    except IntakeError as error:
        return error.message
    return None


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return {"a": value}


@pytest.mark.parametrize(
    ("fits", "does_not", "word"),
    [
        (nested(MAX_DEPTH - 1), nested(MAX_DEPTH), "deeper"),
        ({"a": "x" * MAX_TEXT}, {"a": "x" * (MAX_TEXT + 1)}, "characters"),
        ({"x" * MAX_TEXT: 1}, {"x" * (MAX_TEXT + 1): 1}, "characters"),
        (
            {str(number): 1 for number in range(MAX_KEYS)},
            {str(number): 1 for number in range(MAX_KEYS + 1)},
            "keys",
        ),
        ({"a": 2**53 - 1}, {"a": 2**53}, "2^53"),
        # One value is the object itself, one the list.
        ({"a": [1] * (MAX_VALUES - 1)}, {"a": [1] * MAX_VALUES}, "values"),
    ],
    ids=["depth", "text", "key", "keys", "integer", "values"],
)
def test_a_limit_is_where_it_is_said_to_be(fits: Any, does_not: Any, word: str) -> None:
    assert refusal_of(fits) is None
    assert word in (refusal_of(does_not) or "")


def test_so_many_trials_and_no_more() -> None:
    document = make_document(suites=["reasonmath"])
    trial = {"suite": "a", "task_id": "b", "prompt_hash": "sha256:" + "0" * 64, "trial": 1}
    document["trials"] = [trial] * MAX_TRIALS
    assert len(intake.parse(json.dumps(document).encode()).trials) == MAX_TRIALS
    document["trials"].append(trial)
    with pytest.raises(IntakeError) as caught:
        intake.parse(json.dumps(document).encode())
    assert list(caught.value.fields) == ["trials"]


@pytest.mark.parametrize(
    "body",
    [b" " * (MAX_BYTES + 1), gzip.compress(b" " * (MAX_BYTES + 1))],
    ids=["plain", "gzip"],
)
def test_too_large_is_said_over_http_and_stores_nothing(body: bytes, uploader: Uploader) -> None:
    headers = {"Content_Encoding": "gzip"} if body[:2] == b"\x1f\x8b" else {}
    response = uploader.post(body, **headers)
    assert response.status_code == 413
    refused_fields(response)
    assert f"{MAX_BYTES:,}" in response.json()["message"]
    assert rows() == (0, 0)


PROGRAM = """
import gzip, io, resource, sys
from django.conf import settings
settings.configure(SECRET_KEY="x")
from django.core.handlers.wsgi import WSGIRequest
from submissions import intake

{body}

def peak_mb():
    scale = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale / 2**20

request = WSGIRequest({{
    "REQUEST_METHOD": "POST", "PATH_INFO": "/", "CONTENT_TYPE": "application/json",
    "CONTENT_LENGTH": str(length), "HTTP_CONTENT_ENCODING": encoding, "wsgi.input": stream,
    "SERVER_NAME": "x", "SERVER_PORT": "80",
}})
if not length:
    # As where the length is not known beforehand (chunked), and the body is read as it comes.
    request._stream = stream
before = peak_mb()
try:
    intake.parse(intake.read_body(request))
    print("read")
except intake.IntakeError as error:
    print(error.status)
print(round(peak_mb() - before))
"""

BOMB = """
# A gigabyte of noughts in a megabyte, made in pieces so that making it takes no memory.
packed = io.BytesIO()
with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=9) as out:
    for _ in range(1024):
        out.write(b"0" * 2**20)
length, encoding = packed.tell(), "gzip"
packed.seek(0)
stream = packed
"""

FLOOD = """
class Stream(io.RawIOBase):
    # Without an end: as long as it is read from.
    def read(self, size=-1):
        return b" " * (size if size > 0 else 2**30)
length, encoding, stream = 0, "", Stream()
"""

NESTED = """
body = gzip.compress(b'{"a":' + b"[" * 8_000_000 + b"]" * 8_000_000 + b"}")
length, encoding, stream = len(body), "gzip", io.BytesIO(body)
"""


def outcome(body: str) -> tuple[str, int]:
    """What the intake of a process of its own answers, and how many MB its memory grew by."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(body=body)],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    answer, grown = done.stdout.split()
    return answer, int(grown)


@pytest.mark.parametrize(
    ("body", "answer"),
    [(BOMB, "413"), (FLOOD, "413"), (NESTED, "400")],
    ids=["bomb", "flood", "nested"],
)
def test_memory_stays_flat_whatever_comes(body: str, answer: str) -> None:
    found, grown_mb = outcome(body)
    assert found == answer
    assert grown_mb < 64
