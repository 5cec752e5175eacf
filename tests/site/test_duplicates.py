"""The same run, sent by many at once."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.contrib.auth.models import User
from django.db import connection

from submissions.keys import create_key
from tests.site.make_result import make_bytes
from tests.site.uploads import Uploader, rows


@pytest.mark.django_db(transaction=True)
def test_d046_twenty_posts_at_the_same_moment_make_one_row(
    public_site: None, owner: User, stranger: User
) -> None:
    body = make_bytes()
    keys = [create_key(owner)[1], create_key(stranger)[1]]

    def post(number: int) -> tuple[int, str]:
        try:
            response = Uploader(keys[number % 2]).post(body)
            return response.status_code, response.json()["id"]
        finally:
            connection.close()

    with ThreadPoolExecutor(20) as threads:
        answers = list(threads.map(post, range(20)))
    assert Counter(status for status, _ in answers) == {201: 1, 200: 19}
    assert len({public_id for _, public_id in answers}) == 1
    assert rows() == (1, 1)
