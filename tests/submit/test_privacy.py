"""What is found private in a file, and what is left in peace."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from bench_loop.privacy import (
    MOST_FINDINGS,
    Person,
    private_findings,
    this_person,
    without_private,
)

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


def cleaned(text: str, public: str = "", *, is_wide: bool = False) -> str:
    return without_private(text, "output", ANNA, public, is_wide=is_wide).text


@pytest.mark.parametrize(
    "text",
    [
        "threading.local() and socket.home",
        "write to jane@firm.com",
        "version 1.2.3.4 of 8.8.4.4",
        "token = next(tokens)",
        "serial numbers of parts",
        "a sha256 of " + "ab" * 32,
        "/home/ollama/models and /home/ubuntu",
        "$HOME/x, /home/$USER/x, /home/<user>/x, /home/{name}/x",
    ],
)
def test_what_models_make_up_is_left_in_peace(text: str) -> None:
    assert cleaned(text) == text


@pytest.mark.parametrize(
    ("text", "put"),
    [
        ("write to jane@firm.com", "write to <e-mail>"),
        ("write to jane@example.com", "write to jane@example.com"),
        ("from 8.8.4.4 and 127.0.0.1", "from <address> and 127.0.0.1"),
        ("from fe80::1ff:fe23:4567:890a%eth0", "from <address>"),
        ("api_key=abcd1234", "<key>"),
        ("https://jane:pw@host.example/x", "https://<user>@host.example/x"),
        ("on nas.local", "on <name>"),
        ("id 0123456789abcdef0123456789abcdef", "id <serial>"),
        ("in /media/jane/disk", "in ~/disk"),
        ("in C:\\Users\\Jane Doe\\x", "in ~\\x"),
    ],
)
def test_of_what_programs_say_more_is_taken(text: str, put: str) -> None:
    assert cleaned(text, is_wide=True) == put


def test_an_excerpt_of_another_finding_shows_no_part_of_a_key() -> None:
    secret = "sk-" + "Zz9" * 12
    found = without_private(f"{secret} /home/mueller/x", "output", ANNA)
    assert not any("Zz9" in one.excerpt[8:] for one in found.taken)


@pytest.mark.parametrize(
    ("text", "public"),
    [
        ("see /home/nut-cart/a.csv", "The nut cart sells nuts."),
        ("see /home/carol/a.csv", "Carol sells nuts."),
        ("at 192.168.1.50", "The server has the address 192.168.1.50."),
        ("key AKIA" + "ABCD" * 4, "Mask AKIA" + "ABCD" * 4),
        ("Annalena sells nuts", "ANNALENA sells nuts."),
    ],
)
def test_what_a_task_says_itself_is_public(text: str, public: str) -> None:
    assert cleaned(text, public) == text
    assert cleaned(text, "It says something else.") != text


def test_the_users_own_home_is_private_even_where_their_name_is_a_word_of_the_task() -> None:
    assert cleaned("see /home/annalena/x", "Annalena sells nuts.") == "see ~/x"
    assert cleaned("see /home/annalena/x", "ls /home/annalena") == "see /home/annalena/x"


def test_a_word_of_the_task_that_holds_the_name_makes_it_not_public() -> None:
    assert cleaned("by annalena", "The annalenas sell nuts.") == "by <name>"


def test_keys_of_the_environment_and_the_config_file_are_known(
    benchloop_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "a-token-of-mine")
    monkeypatch.setenv("OPENAI_API_KEY", "short")
    benchloop_home.mkdir(parents=True, exist_ok=True)
    (benchloop_home / "config.toml").write_text(
        '[site]\ntoken = "key-of-a-site"\n[providers.ollama]\napi_key = "key-of-a-server"\n',
        encoding="utf-8",
    )
    secrets = this_person().secrets
    assert {"a-token-of-mine", "key-of-a-site", "key-of-a-server"} <= secrets
    assert "short" not in secrets


def test_a_config_file_that_is_damaged_is_no_crash(benchloop_home: Path) -> None:
    benchloop_home.mkdir(parents=True, exist_ok=True)
    (benchloop_home / "config.toml").write_text("[[", encoding="utf-8")
    assert this_person().names is not None


@pytest.mark.parametrize("is_wide", [False, True])
@pytest.mark.parametrize(
    "word",
    [
        "a-",
        "a.",
        "/",
        "a",
        "a@",
        "ab:",
        "serial",
        "1.2.",
        "a://",
        "/home/",
        "C:\\",
        "eyJabcdefghijk.",
        "-----BEGIN PRIVATE KEY-----",
        ":",
        "token=",
    ],
)
def test_words_without_end_cost_time_in_proportion(word: str, is_wide: bool) -> None:
    """Small models repeat themselves; twice the text may take twice the time, with much room."""

    def seconds(length: int) -> float:
        text = word * (length // len(word))
        began = time.process_time()
        cleaned(text, is_wide=is_wide)
        return time.process_time() - began

    assert seconds(80_000) < 20 * seconds(10_000) + 0.5
