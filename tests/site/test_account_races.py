"""Two people at the same moment."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connection
from django.test import Client

from tests.site.accounts import sign_up


@pytest.mark.django_db(transaction=True)
def test_a_name_that_many_take_at_once_is_one_persons(settings: object) -> None:
    settings.BENCHLOOP_ROLE = "public"  # type: ignore[attr-defined]
    cache.clear()
    gate = Barrier(6)

    def attempt(number: int) -> int:
        client = Client(raise_request_exception=False)
        gate.wait()
        try:
            return sign_up(client, "ada", f"person{number}@x.example").status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as threads:
        codes = list(threads.map(attempt, range(6)))
    assert max(codes) < 500, codes
    assert User.objects.filter(username="ada").count() == 1
