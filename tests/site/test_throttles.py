"""How often a key and an address may come, and who is believed about addresses."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import caches
from django.test import Client
from rest_framework.settings import api_settings

from benchloop_site.shared_cache import SQLiteCache
from submissions.keys import create_key
from submissions.throttles import wait_s
from tests.components import need_redis
from tests.site.make_result import make_bytes
from tests.site.uploads import SUBMISSIONS, Uploader, refused_fields

LIST = "/api/v1/leaderboard/"


@pytest.fixture
def rates(public_site: None, settings: Any) -> dict[str, tuple[int, int]]:
    """Two of everything in an hour."""
    settings.API_RATES = dict.fromkeys(settings.API_RATES, (2, 3600))
    return settings.API_RATES


def test_the_next_request_waits_as_long_as_it_is_told(rates: object) -> None:
    now = 1_000_000_800.0  # the beginning of an hour
    assert [wait_s("read", "a", now + second) for second in (0, 1)] == [None, None]
    wait = wait_s("read", "a", now + 2)
    assert wait is not None
    assert wait_s("read", "a", now + 2 + wait - 1) is not None
    assert wait_s("read", "a", now + 2 + wait + 1) is None


def test_the_turn_of_the_hour_does_not_double_the_rate(rates: object) -> None:
    turn = 1_000_000_800.0 + 3600
    assert [wait_s("read", "a", turn - 2), wait_s("read", "a", turn - 1)] == [None, None]
    assert wait_s("read", "a", turn + 1) is not None


def test_clients_and_rates_are_counted_apart(rates: object) -> None:
    assert [wait_s("read", "a"), wait_s("read", "a")] == [None, None]
    assert wait_s("read", "a") is not None
    assert wait_s("read", "b") is None
    assert wait_s("report", "a") is None


def test_a_client_that_came_too_often_is_told_when_to_come_back(rates: object) -> None:
    answers = [Client().get(LIST) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert 0 < int(answers[2]["Retry-After"]) <= 2 * 3600
    assert answers[2].json()["code"] == "throttled"
    refused_fields(answers[2])


def test_one_address_with_many_keys_is_one_client(rates: object, owner: User) -> None:
    keys = [create_key(owner)[1] for _ in range(3)]
    assert [Uploader(key).get(LIST).status_code for key in keys] == [200, 200, 429]


def test_one_key_at_many_addresses_is_one_client(rates: object, owner: User) -> None:
    headers = {"Authorization": f"Bearer {create_key(owner)[1]}"}
    statuses = [
        Client().get(LIST, headers=headers, REMOTE_ADDR=f"192.0.2.{number}").status_code
        for number in range(3)
    ]
    assert statuses == [200, 200, 429]


def test_uploads_and_dry_runs_have_rates_of_their_own(rates: object, owner: User) -> None:
    uploader = Uploader(create_key(owner)[1])
    uploads = [uploader.post(b"{}").status_code for _ in range(3)]
    dry_runs = [uploader.post(b"{}", address=f"{SUBMISSIONS}?dry_run=1") for _ in range(3)]
    assert uploads == [422, 422, 429]
    assert [answer.status_code for answer in dry_runs] == [422, 422, 429]


def test_an_address_with_bad_keys_is_slowed_and_a_good_key_is_heard(
    rates: object, owner: User
) -> None:
    bad = [Uploader("nonsense").get(LIST) for _ in range(3)]
    assert [answer.status_code for answer in bad] == [401, 401, 429]
    assert int(bad[2]["Retry-After"]) > 0
    assert Uploader(create_key(owner)[1]).get(LIST).status_code == 200


def test_a_local_site_counts_nothing(rates: object, settings: Any) -> None:
    settings.BENCHLOOP_ROLE = "local"
    assert {Client().get(LIST).status_code for _ in range(5)} == {200}


@pytest.mark.real
def test_redis_counts_for_several_machines(rates: object, settings: Any) -> None:
    settings.CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": need_redis(),
        }
    }
    caches["default"].clear()
    assert [wait_s("read", "a"), wait_s("read", "a")] == [None, None]
    assert wait_s("read", "a") is not None
    assert not any(isinstance(cache, SQLiteCache) for cache in caches.all())


def from_behind(proxies: int, forwarded: str, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Three requests of one neighbour that name other addresses in front of `forwarded`."""
    monkeypatch.setattr(api_settings, "NUM_PROXIES", proxies)
    return [
        Client()
        .get(LIST, headers={"X-Forwarded-For": f"198.51.100.{number}, {forwarded}"})
        .status_code
        for number in range(3)
    ]


def test_nobody_says_their_own_address(rates: object, monkeypatch: pytest.MonkeyPatch) -> None:
    assert from_behind(0, "203.0.113.9", monkeypatch) == [200, 200, 429]


def test_the_last_proxy_says_the_address(rates: object, monkeypatch: pytest.MonkeyPatch) -> None:
    assert from_behind(1, "203.0.113.9", monkeypatch) == [200, 200, 429]


def test_two_proxies_are_believed_where_there_are_two(
    rates: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert from_behind(2, "203.0.113.9", monkeypatch) == [200, 200, 200]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("BENCHLOOP_RATE_UPLOAD", "many"),
        ("BENCHLOOP_RATE_READ", "0/minute"),
        ("BENCHLOOP_RATE_REPORT", "5/week"),
        ("BENCHLOOP_PROXIES", "-1"),
    ],
)
def test_a_setting_that_cannot_be_is_named_at_the_start(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    ended = subprocess.run(
        [sys.executable, "-c", "import benchloop_site.settings"], capture_output=True, text=True
    )
    assert ended.returncode != 0
    assert name in ended.stderr.splitlines()[-1]


COUNT = """
import sys
from benchloop_site.shared_cache import SQLiteCache
cache = SQLiteCache(sys.argv[1], {})
for _ in range(500):
    cache.add("n", 0)
    cache.incr("n")
"""


def test_processes_that_count_at_once_miss_nothing(tmp_path: Path) -> None:
    file = str(tmp_path / "cache.sqlite3")
    command = [sys.executable, "-c", COUNT, file]
    with ThreadPoolExecutor(4) as threads:
        ended = list(threads.map(lambda _: subprocess.run(command, check=False), range(4)))
    assert [one.returncode for one in ended] == [0] * 4
    assert SQLiteCache(file, {}).get("n") == 2000


def test_the_cache_keeps_what_it_is_given_until_its_time(tmp_path: Path) -> None:
    cache = SQLiteCache(str(tmp_path / "cache.sqlite3"), {})
    cache.set("a", {"b": (1, "c")})
    cache.set("gone", 1, timeout=0)
    assert (cache.get("a"), cache.get("gone"), cache.get("never", 7)) == ({"b": (1, "c")}, None, 7)
    assert (cache.add("a", 2), cache.add("gone", 2)) == (False, True)
    assert (cache.touch("a", 0), cache.get("a"), cache.touch("a")) == (True, None, False)
    assert (cache.delete("gone"), cache.delete("gone")) == (True, False)
    cache.set("text", "7")
    for name in ("text", "never"):
        with pytest.raises(ValueError, match="no count"):
            cache.incr(name)
    cache.clear()
    assert cache.get("text") is None


def test_what_has_expired_is_swept_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchloop_site.shared_cache.SWEEP_EVERY", 10)
    file = tmp_path / "cache.sqlite3"
    cache = SQLiteCache(str(file), {})
    for number in range(21):
        cache.set(f"k{number}", 1, timeout=0)
    assert cache._connection.execute("SELECT count(*) FROM entries").fetchone()[0] <= 10


def test_the_counters_lie_in_a_file_of_the_sites_own(public_site: None) -> None:
    cache = caches["default"]
    assert isinstance(cache, SQLiteCache)
    Client().get(LIST, REMOTE_ADDR="192.0.2.7")
    assert cache._path.stat().st_mode & 0o077 == 0
    rows = cache._connection.execute("SELECT name FROM entries").fetchall()
    assert rows
    assert "192.0.2.7" not in str(rows)


def test_a_stored_run_is_not_lost_to_a_throttle(rates: object, owner: User) -> None:
    uploader = Uploader(create_key(owner)[1])
    first = uploader.post(make_bytes())
    again = [uploader.post(make_bytes()).status_code for _ in range(2)]
    assert (first.status_code, again) == (201, [200, 429])
