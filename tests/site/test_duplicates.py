"""The same run, sent by many at once."""

from __future__ import annotations

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.contrib.auth.models import User
from django.db import connection

from runs.models import Run
from submissions.keys import create_key
from submissions.models import AuditEvent, Submission, TimingMark
from tests.site.make_result import make_bytes
from tests.site.uploads import Uploader, rows

MANY = 20


def spelt(body: bytes, number: int) -> bytes:
    """The same run by another machine's id and label, with its keys and trials turned."""
    document = json.loads(body)
    document["machine"] |= {"machine_id": f"{number:016x}", "machine_label": f"desk {number}"}
    if number % 2:
        document = dict(reversed(document.items())) | {"trials": document["trials"][::-1]}
    return json.dumps(document, indent=number % 3 or None).encode()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("way", ["alike", "spelt in twenty ways"])
def test_d046_twenty_posts_at_the_same_moment_make_one_row(
    public_site: None, owner: User, stranger: User, way: str
) -> None:
    body = make_bytes()
    bodies = [body if way == "alike" else spelt(body, number) for number in range(MANY)]
    keys = [create_key(owner)[1], create_key(stranger)[1]]
    together = Barrier(MANY)

    def post(number: int) -> tuple[int, str]:
        together.wait(timeout=60)
        try:
            response = Uploader(keys[number % 2]).post(bodies[number])
            return response.status_code, response.json()["id"]
        finally:
            connection.close()

    with ThreadPoolExecutor(MANY) as threads:
        answers = list(threads.map(post, range(MANY)))
    assert Counter(status for status, _ in answers) == {201: 1, 200: MANY - 1}
    assert len({public_id for _, public_id in answers}) == 1
    assert rows() == (1, 1)
    assert Run.objects.get().data() in bodies
    assert AuditEvent.objects.count() == 1
    assert TimingMark.objects.values("run").distinct().count() == 1
    assert Submission.objects.get().findings == []


@pytest.mark.django_db(transaction=True)
def test_twenty_different_runs_at_the_same_moment_are_all_kept(
    public_site: None, owner: User
) -> None:
    key = create_key(owner)[1]
    bodies = [make_bytes(seed=number) for number in range(MANY)]
    together = Barrier(MANY)

    def post(body: bytes) -> int:
        together.wait(timeout=60)
        try:
            return int(Uploader(key).post(body).status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(MANY) as threads:
        assert list(threads.map(post, bodies)) == [201] * MANY
    assert rows() == (MANY, MANY)
