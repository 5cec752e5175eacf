"""Endpoints under names: kept, found, forgotten, and never lost to a damaged file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench_loop.errors import SetupError, UsageError
from bench_loop.providers.discover.endpoints import (
    SavedEndpoint,
    find_endpoint,
    remove_endpoint,
    save_endpoint,
    saved_endpoints,
)


def test_nothing_is_saved_at_first() -> None:
    assert saved_endpoints() == ()
    assert find_endpoint("lab") is None


def test_several_are_kept_by_name() -> None:
    save_endpoint("lab", "192.168.1.20:8080/v1", "openai_compat")
    save_endpoint("attic", "http://10.0.0.5:11434")
    assert saved_endpoints() == (
        SavedEndpoint("attic", "http://10.0.0.5:11434"),
        SavedEndpoint("lab", "http://192.168.1.20:8080", "openai_compat"),
    )
    assert find_endpoint("lab") == saved_endpoints()[1]


def test_an_address_without_a_port_is_on_the_port_of_its_provider() -> None:
    assert save_endpoint("lab", "gpu-box", "ollama").url == "http://gpu-box:11434"
    assert save_endpoint("attic", "gpu-box").url == "http://gpu-box"


def test_one_of_the_same_name_takes_the_place_of_the_other() -> None:
    save_endpoint("lab", "http://127.0.0.1:1")
    save_endpoint("lab", "http://127.0.0.1:2")
    assert [one.url for one in saved_endpoints()] == ["http://127.0.0.1:2"]


def test_a_password_in_the_address_is_not_kept(benchloop_home: Path) -> None:
    save_endpoint("lab", "http://user:hunter2@127.0.0.1:8080")
    assert "hunter2" not in (benchloop_home / "endpoints.json").read_text()


def test_one_is_forgotten_and_the_others_stay() -> None:
    save_endpoint("lab", "http://127.0.0.1:1")
    save_endpoint("attic", "http://127.0.0.1:2")
    remove_endpoint("lab")
    assert [one.name for one in saved_endpoints()] == ["attic"]


def test_forgetting_what_is_not_saved_names_similar_ones() -> None:
    with pytest.raises(UsageError, match="No endpoint is saved"):
        remove_endpoint("lab")
    save_endpoint("lab", "http://127.0.0.1:1")
    with pytest.raises(UsageError, match="no saved endpoint called 'labb'") as caught:
        remove_endpoint("labb")
    assert "lab" in (caught.value.remedy or "")


@pytest.mark.parametrize("name", ["", "Lab", "a.b", "a:1", "localhost", "../x", "a b", "x" * 41])
def test_a_name_that_could_be_an_address_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="cannot be the name"):
        save_endpoint(name, "http://127.0.0.1:1")


def test_what_is_no_address_is_refused() -> None:
    with pytest.raises(UsageError, match="no address"):
        save_endpoint("lab", "ftp://host")


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        '{"lab": 1}',
        '{"lab": {}}',
        '{"lab": {"url": "ftp://x"}}',
        '{"lab": {"url": "http://x", "provider": "openai"}}',
        "[" * 100_000,
    ],
)
def test_a_damaged_file_is_an_error_and_is_left_as_it_is(
    benchloop_home: Path, content: str
) -> None:
    file = benchloop_home / "endpoints.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(content)
    for act in (saved_endpoints, lambda: save_endpoint("a", "http://127.0.0.1:1")):
        with pytest.raises(SetupError, match=r"endpoints\.json is damaged"):
            act()
    assert file.read_text() == content


def test_the_file_is_replaced_in_one_step(benchloop_home: Path) -> None:
    save_endpoint("lab", "http://127.0.0.1:1")
    assert [file.name for file in benchloop_home.iterdir()] == ["endpoints.json"]
    assert json.loads((benchloop_home / "endpoints.json").read_text()) == {
        "lab": {"url": "http://127.0.0.1:1"}
    }
