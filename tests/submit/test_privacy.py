"""What is found private in a file, and what is left in peace."""

from __future__ import annotations

import json

import pytest

from bench_loop.privacy import MOST_FINDINGS, Person, private_findings, this_person

ANNA = Person(frozenset({"annalena", "studio-pc"}), "/data/people/annalena")


def kinds(text: str) -> list[str]:
    """The kinds found in a document whose only text is `text`."""
    return [finding.kind for finding in private_findings(json.dumps([text]).encode(), ANNA)]


@pytest.mark.parametrize(
    "text",
    [
        "sk-proj-" + "Ab1" * 10,
        "hf_" + "Ab1" * 12,
        "ghp_" + "Ab1" * 12,
        "github_pat_" + "Ab1" * 12,
        "AKIA" + "ABCD" * 4,
        "xoxb-1234567890-abc",
        "bl_abcdefgh_" + "x" * 43,
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w",
        "Authorization: Bearer abcdefghijklmnopqrstuvwx",
        "-----BEGIN RSA PRIVATE KEY-----",
    ],
)
def test_a_key_is_found(text: str) -> None:
    assert "key" in kinds(f"It is {text} as agreed.")


@pytest.mark.parametrize(
    "text",
    [
        "/home/mueller/models/a.gguf",
        "/Users/mueller/a",
        r"C:\Users\mueller\a",
        "c:/Users/mueller/a",
        "file:///home/mueller/x",
    ],
)
def test_a_home_folder_is_found(text: str) -> None:
    assert kinds(text) == ["home folder"]


def test_this_users_own_home_is_found_wherever_it_lies() -> None:
    assert "home folder" in kinds("open /data/people/annalena/notes")


def test_user_and_host_name_are_found_as_words_in_any_case() -> None:
    assert kinds("from Studio-PC by ANNALENA") == ["user or host name", "user or host name"]


@pytest.mark.parametrize(
    "text",
    [
        "/home/user/project is the usual example",
        "C:\\Users\\<name>\\Documents",
        "cd /home && ls",
        "annalenas",
        "a sk- prefix marks a key",
        "bearer of bad news",
        "the risk-adjusted-return-on-capital-of-2026",
        "hf_transfer",
    ],
)
def test_what_points_to_nobody_is_left_in_peace(text: str) -> None:
    assert kinds(text) == []


def test_a_finding_names_the_field() -> None:
    document = {"trials": [{"output": "x"}, {"output": "see /home/mueller/x"}]}
    findings = private_findings(json.dumps(document).encode(), ANNA)
    assert [finding.field for finding in findings] == ["trials[1].output"]


def test_a_key_is_not_repeated_in_its_finding() -> None:
    secret = "sk-" + "Zz9" * 12
    findings = private_findings(json.dumps([secret]).encode(), ANNA)
    assert secret not in findings[0].excerpt


def test_names_of_fields_are_read_too() -> None:
    assert private_findings(json.dumps({"/home/mueller/x": 1}).encode(), ANNA) != ()


def test_the_list_of_findings_has_an_end() -> None:
    document = json.dumps(["/home/mueller/x"] * 1000).encode()
    assert len(private_findings(document, ANNA)) == MOST_FINDINGS


def test_names_that_every_machine_has_are_not_taken_for_a_person() -> None:
    assert not this_person().names & {"root", "user", "localhost"}


@pytest.mark.parametrize(
    "text",
    [
        "a4:83:e7:12:34:56",
        "02-83-e7-ff-fe-12-34-56",
        "GPU-00000000-1111-2222-3333-444444444444",
        "http://192.168.1.50:11434",
        "10.0.0.7",
    ],
)
def test_an_address_of_a_computer_is_found(text: str) -> None:
    assert kinds(f"It is {text} here") == ["hardware or network address"]


@pytest.mark.parametrize(
    "text",
    [
        *("127.0.0.1:8080", "8.8.8.8", "10.0.19045", "12:30:45", "sha256:" + "ab" * 32),
        *("12:30" + ":15" * 7, "12:30" + ":15" * 300, "12:30" + ":15" * 300 + ":"),
    ],
)
def test_a_version_or_a_public_address_is_none(text: str) -> None:
    assert kinds(f"It is {text} here") == []
