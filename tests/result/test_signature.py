"""Signatures of results: what holds, what does not, and the key of the installation."""

from __future__ import annotations

import json
import multiprocessing
import stat
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from bench_loop.errors import SetupError
from bench_loop.result.fingerprint import fingerprinted
from bench_loop.result.records import RunResult
from bench_loop.result.signature import (
    BadSignatureError,
    installation_public_key,
    short,
    signed,
    signed_if_possible,
    signed_like,
    signer_of,
)
from bench_loop.result.store import from_bytes, to_bytes
from tests.result.documents import result


def document(signed_result: RunResult) -> dict[str, Any]:
    """The JSON of its file."""
    read: dict[str, Any] = json.loads(to_bytes(signed_result))
    return read


def test_what_is_signed_stands_under_the_key_of_this_installation() -> None:
    key = signer_of(document(signed(result())))
    assert key is not None
    assert key == installation_public_key()


def whole(value: Any) -> Any:
    """Numbers without a fraction as RFC 8785 writes them."""
    if isinstance(value, dict):
        return {name: whole(item) for name, item in value.items()}
    if isinstance(value, list):
        return [whole(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def test_anybody_can_check_it_by_plain_ed25519_over_canonical_json() -> None:
    read = document(signed(result()))
    signature = read.pop("signature")
    text = json.dumps(whole(read), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(signature["public_key"]))
    key.verify(bytes.fromhex(signature["value"]), text.encode())


def test_what_is_not_signed_has_no_signer() -> None:
    assert signer_of(document(result())) is None


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("status", "aborted"),
        ("run_id", "20261129T140200Z-abcdefghik"),
        ("total_runtime_s", 60.5),
        ("aggregates", {"overall_score": 99.0}),
        ("more", None),
    ],
)
def test_any_change_is_seen(field: str, value: object) -> None:
    with pytest.raises(BadSignatureError, match="changed"):
        signer_of(document(signed(result())) | {field: value})


def test_a_field_that_is_gone_is_seen() -> None:
    read = document(signed(result()))
    del read["determinism"]
    with pytest.raises(BadSignatureError):
        signer_of(read)


def test_a_signature_by_another_key_is_seen(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ours = document(signed(result()))
    monkeypatch.setenv("BENCHLOOP_HOME", str(tmp_path / "other"))
    theirs = document(signed(result()))
    ours["signature"]["public_key"] = theirs["signature"]["public_key"]
    with pytest.raises(BadSignatureError):
        signer_of(ours)


def test_a_public_key_that_is_no_point_is_no_crash() -> None:
    read = document(signed(result()))
    read["signature"]["public_key"] = "ff" * 32
    with pytest.raises(BadSignatureError):
        signer_of(read)


POINTS_OF_SMALL_ORDER = (
    *("00" * 32, "01" + "00" * 31, "ec" + "ff" * 30 + "7f", "ed" + "ff" * 30 + "7f"),
    *("ee" + "ff" * 30 + "7f", "01" + "00" * 30 + "80"),
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
)


@pytest.mark.parametrize("public_key", POINTS_OF_SMALL_ORDER)
def test_no_key_is_taken_under_which_one_signature_fits_every_content(public_key: str) -> None:
    read = document(signed(result()))
    read["signature"]["public_key"] = public_key
    for index in range(32):
        for point in POINTS_OF_SMALL_ORDER:
            read["signature"]["value"] = point + "00" * 32
            with pytest.raises(BadSignatureError):
                signer_of(read | {"run_index": index})


def test_a_number_that_json_cannot_carry_is_no_crash() -> None:
    with pytest.raises(BadSignatureError):
        signer_of(document(signed(result())) | {"run_index": 2**60})


def test_the_order_of_the_fields_and_blanks_do_not_matter() -> None:
    read = document(signed(result()))
    assert signer_of(dict(reversed(read.items()))) is not None


def test_a_file_of_a_version_with_fewer_fields_still_verifies(benchloop_home: Path) -> None:
    own = signed(result())
    older = document(own)
    del older["scrubbed"], older["signature"]
    secret = bytes.fromhex((benchloop_home / "installation.key").read_text(encoding="utf-8"))
    key = Ed25519PrivateKey.from_private_bytes(secret)
    assert own.signature is not None
    value = key.sign(rfc8785.dumps(older)).hex()
    older["signature"] = own.signature.model_dump() | {"value": value}
    assert signer_of(older) == own.signature.public_key


def test_the_key_is_the_users_alone(benchloop_home: Path) -> None:
    signed(result())
    mode = (benchloop_home / "installation.key").stat().st_mode
    assert stat.S_IMODE(mode) == 0o600


def test_the_key_is_made_once() -> None:
    assert signer_of(document(signed(result()))) == signer_of(document(signed(result())))


def _public_key(_: int) -> str | None:
    signed(result())
    return installation_public_key()


def test_processes_that_make_it_at_once_agree() -> None:
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        assert len(set(pool.map(_public_key, range(8)))) == 1


@pytest.mark.parametrize("content", ["", "not hexadecimal", "abcd"])
def test_a_damaged_key_is_named_and_costs_no_run(benchloop_home: Path, content: str) -> None:
    benchloop_home.mkdir(parents=True, exist_ok=True)
    (benchloop_home / "installation.key").write_text(content, encoding="utf-8")
    with pytest.raises(SetupError, match=r"installation\.key"):
        signed(result())
    assert signed_if_possible(result()).signature is None


def test_the_fingerprint_does_not_depend_on_who_signs() -> None:
    made = signed(result())
    assert fingerprinted(made).fingerprint == made.fingerprint == result().fingerprint


def test_the_short_form_is_four_groups_of_four() -> None:
    assert [len(group) for group in short("ab" * 32).split()] == [4, 4, 4, 4]


def test_what_is_made_of_an_own_signed_file_is_signed_anew() -> None:
    before = signed(result())
    after = fingerprinted(before.model_copy(update={"run_index": 3}))
    made = signed_like(before, document(before), after)
    assert signer_of(document(made)) == installation_public_key()


def test_what_is_made_of_a_changed_file_is_not_signed() -> None:
    before = signed(result())
    changed = document(before) | {"total_runtime_s": 1.0}
    read = from_bytes(json.dumps(changed).encode(), "run.json")
    assert signed_like(read, changed, read).signature is None


def test_what_is_made_of_somebody_elses_file_is_not_signed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = signed(result())
    monkeypatch.setenv("BENCHLOOP_HOME", str(tmp_path / "other"))
    signed(result())
    assert signed_like(before, document(before), before).signature is None
