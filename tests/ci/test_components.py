"""Tests of the functions that give a test its real component."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import components


def test_a_missing_component_skips_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BENCHLOOP_REQUIRE_ALL", raising=False)
    monkeypatch.delenv("BENCHLOOP_TEST_REDIS_URL", raising=False)
    with pytest.raises(pytest.skip.Exception, match="set BENCHLOOP_TEST_REDIS_URL"):
        components.need_redis()


def test_a_missing_component_fails_where_all_are_required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHLOOP_REQUIRE_ALL", "1")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(pytest.fail.Exception, match="Chromium: apt-get install chromium"):
        components.need_chromium()


def test_a_configured_database_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHLOOP_TEST_DATABASE_URL", "postgres://me@127.0.0.1:5433/tests")
    assert components.need_postgresql() == "postgres://me@127.0.0.1:5433/tests"


def test_weights_in_the_cache_are_taken_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    weights = tmp_path / components.SMOLLM2_FILE
    weights.touch()
    monkeypatch.setenv("BENCHLOOP_TEST_MODELS", str(tmp_path))
    assert components.need_llama_cpp() == weights
