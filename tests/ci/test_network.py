"""Tests of the guard that keeps tests on this machine."""

from __future__ import annotations

import asyncio
import socket

import httpx
import pytest

from tests.network import OutsideNetworkError, is_loopback

# Reserved for documentation: no machine has it.
ELSEWHERE = "192.0.2.1"


def test_a_connection_to_another_machine_is_refused() -> None:
    with socket.socket() as client, pytest.raises(OutsideNetworkError, match=r"192\.0\.2\.1"):
        client.connect((ELSEWHERE, 80))


def test_a_name_is_refused_before_it_is_looked_up() -> None:
    with pytest.raises(OutsideNetworkError, match=r"registry\.example"):
        httpx.get("http://registry.example/")


def test_an_asynchronous_connection_is_refused() -> None:
    with pytest.raises(OutsideNetworkError):
        asyncio.run(asyncio.open_connection(ELSEWHERE, 80))


def test_a_server_on_this_machine_can_be_reached() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.53", "::1", "localhost", "", "::1%lo"])
def test_these_name_this_machine(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["10.0.0.1", "0.0.0.0", "::", "localhost.example", "127.0.0.1.x"])
def test_these_may_name_another_machine(host: str) -> None:
    assert not is_loopback(host)
