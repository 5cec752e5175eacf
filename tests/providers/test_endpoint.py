"""Addresses as people type them."""

from __future__ import annotations

import pytest

from bench_loop.errors import UsageError
from bench_loop.providers import ollama
from bench_loop.providers._endpoint import Endpoint, parse_endpoint


@pytest.mark.parametrize(
    ("text", "url", "is_local"),
    [
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080", True),
        ("http://127.0.0.1:8080/v1/", "http://127.0.0.1:8080", True),
        ("http://localhost:1234/v1", "http://localhost:1234", True),
        ("https://models.example.org/team/v1", "https://models.example.org/team", False),
        ("models.example.org", "http://models.example.org:11434", False),
        ("127.0.0.1:9000", "http://127.0.0.1:9000", True),
        ("0.0.0.0", "http://127.0.0.1:11434", True),
        ("http://0.0.0.0:9000", "http://127.0.0.1:9000", True),
        (":9000", "http://127.0.0.1:9000", True),
        ("[::1]:9000", "http://[::1]:9000", True),
        ("http://[::]:9000", "http://[::1]:9000", True),
        ("http://192.168.1.7:8080", "http://192.168.1.7:8080", False),
        ("http://user:secret@127.0.0.1:8080", "http://127.0.0.1:8080", True),
        ("http://127.0.0.1.example.org", "http://127.0.0.1.example.org", False),
    ],
)
def test_it_becomes_a_base_url(text: str, url: str, is_local: bool) -> None:
    assert parse_endpoint(text, 11434) == Endpoint(url, is_local)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ftp://host",
        "http://",
        "http://host:port",
        "http://h?x=1",
        "http://[::1",
        "a b",
        "http://a\x00b",
        "http://-.\ud800",
    ],
)
def test_what_is_no_address_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match="no address") as caught:
        parse_endpoint(text)
    assert "http://127.0.0.1:8080" in (caught.value.remedy or "")


def test_ollama_is_looked_for_where_its_own_variable_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "0.0.0.0:11500")
    assert ollama.usual_endpoint().url == "http://127.0.0.1:11500"


def test_ollama_is_looked_for_on_its_usual_port(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OLLAMA_HOST", raising=False)
    assert ollama.usual_endpoint().url == "http://127.0.0.1:11434"
